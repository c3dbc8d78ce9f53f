"""Under a prohibition of paths, git reads and changes what git itself says, whatever the words look like.

A file or folder of a commit has names in git's store (`main:private/k`, its hash, a tag). With such a word, a path that
stands beside it limits nothing.
"""

import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce.paths import look_up, open_root
from remit.model import Call
from remit.model.facts import Facts

AGENT = {"may": ["terminal"], "may_not": [{"path": ["private/**", "**/.env"]}]}
BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {"a": AGENT, "d": {"may": ["terminal"], "data_tiers": [0]}},
        "labels": {"data": {2: {"path": ["private/**"]}}},
    }
)


def git(root: Path, *words: str) -> str:
    config = ("-c", "user.name=a", "-c", "user.email=a@x.example")
    done = subprocess.run(["git", *config, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """`main` changes only `src`; `other` changes `private/k`; `plain` was before that."""
    top = tmp_path_factory.mktemp("git") / "project"
    for name in ("src", "private", "docs"):
        (top / name).mkdir(parents=True)
    (top / "private/k").write_text("one\n")
    (top / "src/a.py").write_text("a = 1\n")
    git(top, "init", "-q", "-b", "main")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "first")
    git(top, "branch", "plain")
    (top / "src/a.py").write_text("a = 2\n")
    git(top, "commit", "-qam", "second")
    git(top, "switch", "-qc", "other")
    (top / "private/k").write_text("two\n")
    git(top, "commit", "-qam", "third")
    git(top, "switch", "-q", "main")
    git(top, "tag", "file", "other:private/k")
    git(top, "tag", "folder", "other:private")
    (top / "src/a.py").write_text("a = 3\n")
    return top


def code(root: Path, command: str, agent: str = "a") -> str:
    _, facts = open_root(root, root / "remit.yaml", Facts())
    for word, name in (("BLOB", "other:private/k"), ("TREE", "other:private")):
        command = command.replace(word, git(root, "rev-parse", name)) if word in command else command
    call = Call(agent, "terminal", {"command": command})
    return str(decide(BOOK, call, look_up(BOOK, call, facts)).code)


@pytest.mark.parametrize(
    "command",
    [
        "git show other:private/k -- src",
        "git show BLOB -- src",
        "git show BLOB src/a.py",
        "git show file -- src",
        "git show folder -- src",
        "git show TREE -- src",
        "git show :private/k -- src",
        "git diff other:private/k -- src/a.py",
        "git diff BLOB -- src/a.py",
        "git diff other:private main:docs -- k",
        "git diff TREE plain -- k",
        "git log -p other:private -- k",
        "git grep one other:private -- k",
        "git grep one TREE -- k",
        "git grep -e one folder -- k",
        "git checkout TREE -- k",
        "git checkout folder k",
        "git restore --source=TREE k",
        "git restore -s other:private -- k",
        "git reset folder -- k",
    ],
)
def test_an_object_of_the_store_is_what_is_read(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git show other",
        "git show plain",
        "git show other:private/k",
        "git show main other",
        "git show ':/third'",
        "git diff other",
        "git diff main..other",
        "git diff main...other",
        "git diff plain other --stat -p",
        "git diff HEAD other -- .",
        "git log -p",
        "git log -p -1 other",
        "git log -p main..other",
        "git switch other",
        "git checkout other",
        "git checkout other -- .",
        "git merge other",
        "git cherry-pick other",
        "git rebase other",
        "git reset --hard other",
        "git diff > src/a.txt",
        "rm src/a.py; git diff other",
        "cd src && git diff other",
        "git -c core.pager=cat diff",
    ],
)
def test_git_says_that_it_would_touch_it_or_nobody_can_say(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git diff",
        "git diff HEAD",
        "git diff --cached",
        "git diff plain",
        "git diff plain main",
        "git diff plain..main",
        "git diff other...main",
        "git diff main other -- src",
        "git diff src/a.py",
        "git diff | head -50",
        "cd src && git diff",
        "git --no-pager diff -U3",
        "git show",
        "git show HEAD -- src",
        "git show --stat",
        "git show plain:src/a.py",
        "git log -p -1",
        "git log -p plain..main",
        "git log -p -- src",
        "git stash",
        "git switch plain",
        "git checkout plain",
        "git checkout plain -- src",
        "git checkout other -- src/a.py",
        "git checkout -- .",
        "git restore .",
        "git restore -s other src/a.py",
        "git merge plain",
        "git reset --hard",
    ],
)
def test_what_git_says_is_what_it_touches(root, command):
    assert code(root, command) == "allowed"


def test_data_tiers_know_it_too(root):
    assert [code(root, command, "d") for command in ("git diff", "git diff plain main", "git switch plain")] == [
        "allowed"
    ] * 3
    assert [code(root, command, "d") for command in ("git diff other", "git show BLOB -- src", "git switch other")] == [
        "data-tier"
    ] * 3


@pytest.mark.parametrize(
    "command",
    [
        "git diff",
        "git switch plain",
        "git stash",
    ],
)
def test_without_an_answer_it_could_be_anything(root, command):
    facts = Facts(root="/work/project")
    assert decide(BOOK, Call("a", "terminal", {"command": command}), facts).code == "may-not"


def test_a_repository_that_configures_filters_is_not_asked(root, tmp_path):
    own = tmp_path / "project"
    git(tmp_path, "clone", "-q", str(root), str(own))
    assert code(own, "git switch -d HEAD~1") == "allowed"
    git(own, "config", "filter.x.clean", "touch ran")
    (own / ".gitattributes").write_text("* filter=x\n")
    assert code(own, "git switch -d HEAD~1") == "may-not"
    assert code(own, "git diff") == "may-not"
    assert not (own / "ran").exists()


@pytest.mark.parametrize(
    "command",
    [
        "git tag t other:private/k && git show t -- src",
        "git tag t other:private; git diff t plain -- k",
        "git update-ref refs/tags/t TREE; git checkout t -- k",
        "git fetch . other:private:refs/tags/t; git grep one t -- k",
        "git push . other:private:refs/tags/t; git restore -s t k",
    ],
)
def test_the_text_itself_may_name_an_object(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize("command", ["git fetch origin && git diff plain -- src/a.py", "git tag t && git log -2"])
def test_names_of_commits_made_by_the_text(root, command):
    assert code(root, command) == "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "git diff -O src/a.py other",
        "git diff -O/dev/null other",
        "git show -O src/a.py other",
        "git log -p -O src/a.py",
        "git grep -f src/a.py",
        "git config --file private/k -l",
    ],
)
def test_a_file_that_an_option_names_limits_nothing(root, command):
    assert code(root, command) == "may-not"
