"""What git has in its store is not what lies on the disk: a prohibited file may be gone from there, and be shown."""

import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce.git_look import other_objects
from remit.enforce.paths import look_up, open_root
from remit.model import Call
from remit.model.facts import Facts

BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {
            "a": {
                "may": ["terminal"],
                "may_not": [{"path": ["private/**", "src/old/**", "**/.env"], "effect": "read"}],
            },
            "w": {"may": ["terminal"], "may_not": [{"path": "private/**", "effect": ["write", "delete"]}]},
        },
    }
)


def git(root: Path, *words: str) -> str:
    config = ("-c", "user.name=a", "-c", "user.email=a@x.example")
    done = subprocess.run(["git", *config, *words], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """Nothing prohibited is on the disk or in the last two commits. Before that there were `private/k`, `src/old/x` and
    `src/m`, which came from `private/m`; a stash has another file of `private`, which git did not keep."""
    top = tmp_path_factory.mktemp("kept") / "project"
    put(top, private__k="one\n", src__old__x="old\n", src__a="a = 1\n", src__sub__c="c\n", docs__d="d\n")
    put(top, private__m="".join(f"line {at}\n" for at in range(9)))
    git(top.parent, "init", "-q", "-b", "main", "project")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "first")
    git(top, "tag", "v1")
    git(top, "mv", "private/m", "src/m")
    git(top, "commit", "-qm", "second")
    put(top, private__k="two\n")
    git(top, "commit", "-qam", "third")
    git(top, "branch", "other")
    git(top, "rm", "-rq", "private", "src/old")
    git(top, "commit", "-qm", "fourth")
    for text in ("2", "3"):
        put(top, src__a=f"a = {text}\n")
        git(top, "commit", "-qam", text)
    put(top, src__a="a = 4\n", private__u="u\n")
    for name in "abcde":
        (top / name).mkdir()
    git(top, "stash", "-qu")
    git(top, "branch", "same")
    git(top, "tag", "file", "v1:private/k")
    git(top, "tag", "folder", "v1:private")
    git(top, "tag", "later", "other:private")
    put(top, src__a="a = 5\n")
    return top


def code(root: Path, command: str, agent: str = "a") -> str:
    _, facts = open_root(root, root / "remit.yaml", Facts())
    call = Call(agent, "terminal", {"command": command})
    return str(decide(BOOK, call, look_up(BOOK, call, facts)).code)


@pytest.mark.parametrize(
    "command",
    [
        "git log -p --all -- src",
        "git diff HEAD~1 HEAD -- ':(attr:x)'",
        "git log -p --full-history -- src",
        "git log -p v1 src",
        "git diff v1 -- src",
        "git diff v1 src",
        "git diff v1 HEAD -- src",
        "git -C docs diff v1 -- ..",
        "git -C docs diff v1 -- ../private",
        "git show v1 -- src",
        "git grep o v1 -- src",
        "git grep o v1 src",
        "git grep -e o other",
        "git grep o $(git rev-list --all) -- src",
        "git archive v1 src",
        "git format-patch --stdout v1 -- src",
        "git diff-tree -p v1 HEAD -- src",
        "git diff-index -p v1 -- src",
        "git whatchanged -p -- src",
        "git difftool -y v1 -- src",
        "hg cat -r 1 src",
        "svn cat src",
    ],
)
def test_what_is_gone_from_the_disk(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git stash show -u",
        "git stash show -p -u",
        "git stash show -up stash@{0}",
        "git stash show --include-untracked -p",
        "git stash show --only-untracked -p",
    ],
)
def test_what_git_had_not_kept_and_a_stash_has(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git log -p --follow -- src/m",
        "git log --follow -p src/m",
        "git -c log.follow=true log -p -- src/m",
        "git log -p --all --follow -- src/a",
        "git diff --follow v1 -- src/m",
        "printf 'other\\n--\\nprivate\\n' | git log -p --stdin -- src",
        "echo v1:private/k | git show --stdin -- src",
        "git show --tags -- src",
        "git show --tags='f*' -- src/a",
        "git show --all -- src",
        "git show --glob=refs/tags/* -- src",
        "git show --reflog -- src/a",
    ],
)
def test_an_option_brings_more_than_the_paths_limit(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git diff folder..later -- k",
        "git diff v1^{tree}..later -- k",
        "git diff v1..later -- k",
        "git diff ^folder later -- k",
        "git log -p v1..file -- src",
        "git show ^main folder -- k",
        "; ".join(
            [*(f"git -C {folder} log -1 main" for folder in ("docs", "src", ".")), "git -C src/sub show file -- c"]
        ),
        "; ".join(
            [
                *(f"git -C {at} log -1 main" for at in ("docs", ".git/..", "src", "src/..")),
                "git -C src/sub show file -- c",
            ]
        ),
        "for at in docs src src/sub docs/.. tests x; do git -C $at log -1 main; done; git -C z show file -- c",
    ],
)
def test_a_range_or_many_folders_hide_what_is_no_commit(root, command):
    assert code(root, command) == "may-not"


def test_what_git_does_not_say_is_taken_for_the_worst(root, tmp_path, monkeypatch):
    git(tmp_path, "init", "-q")
    (tmp_path / ".git/config").write_text("[core\n")
    assert other_objects(str(tmp_path), ["main", "a..b"]) == {"main", "a..b"}
    assert other_objects(str(root), ["main", "file", "v1..later", "nothing"]) == {"file", "v1..later"}
    monkeypatch.setenv("GIT_DIR", str(root / ".git"))
    assert other_objects(str(root), ["main"]) == {"main"}


@pytest.mark.parametrize("name", ["GIT_ICASE_PATHSPECS", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_INDEX_FILE"])
def test_a_variable_lets_git_see_something_else(root, monkeypatch, name):
    assert code(root, "git diff HEAD~1 HEAD -- src") == "allowed"
    monkeypatch.setenv(name, "1")
    assert code(root, "git diff HEAD~1 HEAD -- src") == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git show HEAD | git reset -q --soft other",
        "git show HEAD | git symbolic-ref HEAD refs/heads/other",
        "git log -p -1 same | git branch -f same other",
        "git show HEAD | git fetch . other",
    ],
)
def test_what_runs_at_the_same_time_may_move_a_branch(root, command):
    assert code(root, command) == "may-not"


@pytest.mark.parametrize(
    "command",
    [
        "git checkout v1^{tree} .",
        "git checkout v1^{tree} private",
        "git checkout -f other^{tree} ./",
        "git checkout later .",
        "git checkout v1 .",
        "git restore -s v1 .",
        "git restore -s v1^{tree} -- .",
    ],
)
def test_a_folder_of_a_commit_brings_prohibited_files_back(root, command):
    assert code(root, command, "w") == "may-not"


def test_a_switch_while_the_branch_is_moved(root):
    assert code(root, "git switch -q same", "w") == "allowed"
    assert code(root, "git switch -q same | git branch -f same other", "w") != "allowed"


@pytest.mark.parametrize(
    "command",
    [
        "git log -p -2 -- src",
        "git log -p -1 src",
        "git log -p --follow -- src/a",
        "git log --follow --oneline -- src/m",
        "git log -p --follow -1 src/a",
        "git diff",
        "git diff src",
        "git diff HEAD~1 -- src",
        "git diff HEAD~1 HEAD src",
        "git show HEAD",
        "git show HEAD -- src",
        "git show HEAD src/a",
        "git show HEAD | head -5",
        "git diff | tee docs/x",
        "git grep a",
        "git grep -n a -- src",
        "git grep a src docs",
        "git grep -in a HEAD -- src",
        "git stash show -p",
        "git add src",
        "git add src && git diff --cached",
        "git mv src/sub docs",
        "grep -rn a src",
        "git log --all --oneline -- src",
        "git show --stat HEAD~1",
        "git commit -qam x",
        "git grep -A3 a src",
        "git rev-parse HEAD",
        "git fetch origin",
        "git reset HEAD~1",
        "git diff --stat v1 -- src",
    ],
)
def test_what_shows_nothing_of_it_passes(root, command):
    assert code(root, command) == "allowed"
