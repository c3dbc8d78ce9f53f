"""What git would change is asked of git itself, in a real repository; nothing that the repository names is run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce import git_look
from remit.enforce.paths import look_up, open_root
from remit.model import Call
from remit.model.call import Context
from remit.model.decision import Decision
from remit.model.facts import NO_FACTS, Facts

BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "tiers": {2: "allow", 3: "allow", 4: "allow"},
        "agents": {"a": {"may": ["terminal"]}},
    }
)
WHO = {f"GIT_{who}_{what}": "a@b.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C", **WHO}


def git(root: Path, text: str, *, check: bool = True) -> str:
    ran = subprocess.run(["git", *text.split()], cwd=root, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0 or not check, ran.stderr
    return ran.stdout


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def commit(root: Path, files: dict[str, str]) -> None:
    write(root, files)
    git(root, "add -A -f")
    git(root, "commit -q -m x")


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A repository: `main` is checked out, `dev` and `feature/x` are harmless, `evil` brings settings along."""
    root = tmp_path_factory.mktemp("made").resolve() / "project"
    root.mkdir()
    git(root, "init -q -b main")
    lines = "".join(f"line {n}\n" for n in range(20))
    commit(root, {"a.txt": lines, "src/b.py": "b\n", "old/one.txt": "one\n" * 9, "old/two.txt": "two\n" * 9})
    git(root, "branch base")
    git(root, "switch -q -c dev")
    commit(root, {"a.txt": lines + "more\n", "src/c.py": "c\n", "old/new.txt": "new\n"})
    git(root, "switch -q -c feature/x base")
    commit(root, {"src/x.py": "x\n"})
    commit(root, {"src/x.py": "y\n"})
    git(root, "switch -q -c evil base")
    commit(root, {".claude/settings.json": "{}\n", "src/evil.py": "e\n"})
    git(root, "switch -q -c passing base")
    commit(root, {".claude/settings.json": "{}\n"})
    git(root, "rm -q .claude/settings.json")
    git(root, "commit -q -m y")
    git(root, "switch -q -c mover base")
    (root / "cfg").mkdir()
    git(root, "mv old/one.txt old/two.txt cfg")
    git(root, "commit -q -m moved")
    git(root, "switch -q main")
    commit(root, {"src/main.py": "m\n", ".gitignore": "build/\n"})
    (root / "good.patch").write_text(git(root, "diff base dev"))
    (root / "evil.patch").write_text(git(root, "diff base evil"))
    (root / "gone.patch").write_text(git(root, "diff evil base"))
    write(root, {"build/out.o": "o", "untracked.txt": "u"})
    return root


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    shutil.copytree(made, root, symlinks=True)
    return root


def facts_of(root: Path, command: str, cwd: str | None = None) -> Facts:
    call = Call("a", "terminal", {"command": command}, context=Context(cwd=cwd))
    return look_up(BOOK, call, open_root(root, root, NO_FACTS)[1])


def decided(root: Path, command: str, cwd: str | None = None) -> Decision:
    call = Call("a", "terminal", {"command": command}, context=Context(cwd=cwd))
    return decide(BOOK, call, facts_of(root, command, cwd))


def files(root: Path) -> dict[str, str]:
    places = [path for path in root.rglob("*") if ".git" not in path.parts and not path.is_dir()]
    return {str(path.relative_to(root)): f"{path.stat().st_ino} {path.read_text()}" for path in places}


HARMLESS = """
git switch dev
git switch -
git switch -c new
git switch -c new dev
git switch --detach dev
git switch -f dev
git checkout dev
git checkout feature/x
git checkout -b new
git checkout -b new dev
git checkout -- .
git checkout .
git checkout a.txt
git checkout dev -- .
git checkout dev a.txt
git restore .
git restore --source dev .
git restore --source=dev --staged --worktree .
git stash
git stash -u
git stash -a
git stash push -m words
git merge dev
git merge --no-ff --no-edit feature/x
git merge mover
git rebase dev
git rebase feature/x
git cherry-pick dev
git cherry-pick feature/x
git revert --no-edit HEAD
git revert --no-commit base..HEAD
git revert --no-edit base..
git reset --hard
git reset --hard HEAD~1
git reset --hard dev
git clean -fd
git clean -fdx
git rm -r -q .
git checkout -f -b new
git apply good.patch
git apply --index good.patch
git apply -R gone.patch
git status && git switch dev
git switch dev && git status
git switch dev 2>&1 | tail -5
cd src && git switch dev
git switch dev && git commit -m x --allow-empty
"""


FAILS = """
git switch nowhere
git switch -c new nowhere
git checkout -b new nowhere
git merge nowhere
git merge nowhere~2
git rebase nowhere
git rebase --onto nowhere dev
git cherry-pick nowhere
git cherry-pick 0c01a9
git revert HEAD~99
git reset --hard nowhere
git apply nowhere.patch
git merge --abort
git rebase --continue
git rebase --skip
git rebase --abort
git cherry-pick --abort
git revert --continue
git am --abort
"""


@pytest.mark.parametrize("command", FAILS.strip().splitlines())
def test_a_command_that_fails_before_it_changes_anything_is_no_question(project, command):
    write(project, {"src/b.py": "changed\n", "new.txt": "new\n"})
    before = files(project)
    assert decided(project, command).code == "allowed"
    ran = subprocess.run(command.split(), cwd=project, env=ENVIRONMENT, capture_output=True, check=False)
    assert ran.returncode != 0
    assert files(project) == before


@pytest.mark.parametrize(
    "place", ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "sequencer"]
)
@pytest.mark.parametrize("command", ["git rebase --abort", "git cherry-pick --continue", "git merge --abort"])
def test_what_is_under_way_is_asked_about(project, command, place):
    write(project, {f".git/{place}": "x"})
    assert decided(project, command).code == "target-unknown"


@pytest.mark.sample(15)
@pytest.mark.parametrize("command", [line for line in HARMLESS.strip().splitlines() if "gone" not in line])
def test_everyday_git_is_no_question_and_changes_no_more_than_was_seen(project, command):
    write(project, {"src/b.py": "changed\n"} if "stash" in command or "hard" in command or "-- ." in command else {})
    assert decided(project, command).code == "allowed", command
    seen = {path for paths in facts_of(project, command).changes.values() for path in paths}
    before = files(project)
    subprocess.run(["bash", "-c", command], cwd=project, env=ENVIRONMENT, capture_output=True, check=False)
    after = files(project)
    assert {name for name in before | after if before.get(name) != after.get(name)} <= seen


PROTECTED = """
git switch evil
git switch -c new evil
git checkout evil
git checkout evil -- .
git checkout evil .
git restore --source evil .
git merge evil
git rebase evil
git cherry-pick evil
git reset --hard evil
git apply evil.patch
git apply -R gone.patch
git apply gone.patch
git apply -R evil.patch
"""


@pytest.mark.parametrize("command", PROTECTED.strip().splitlines())
def test_what_would_change_something_protected_is_asked_and_named(project, command):
    decision = decided(project, command)
    assert (decision.verdict.word, decision.code) == ("ask", "target-unknown")
    assert ".claude/settings.json, which is protected" in decision.reason


@pytest.mark.parametrize(
    "command", ["git stash", "git reset --hard", "git checkout .", "git restore .", "git switch -f dev"]
)
def test_a_protected_file_that_was_changed_is_not_put_back(project, command):
    commit(project, {".claude/settings.json": "{}"})
    git(project, "branch -f dev main")
    write(project, {".claude/settings.json": "{1}"})
    assert "which is protected" in decided(project, command).reason


@pytest.mark.parametrize("command", ["git stash -u", "git clean -fd", "git clean -fdx", "git stash -a"])
def test_a_protected_file_that_git_does_not_know_is_not_removed(project, command):
    write(project, {".claude/settings.json": "{}"})
    assert "which is protected" in decided(project, command).reason


def test_what_a_stash_would_bring_back_is_seen(project):
    write(project, {"src/b.py": "changed\n"})
    git(project, "stash")
    assert decided(project, "git stash pop").code == "allowed"
    write(project, {".claude/settings.json": "{}"})
    git(project, "stash -u")
    assert decided(project, "git stash apply 1").code == "allowed"
    assert "which is protected" in decided(project, "git stash pop").reason
    assert "which is protected" in decided(project, "git stash apply stash@{0}").reason


def test_what_a_rebase_writes_on_its_way_is_seen(project):
    git(project, "switch -q passing")
    assert "which is protected" in decided(project, "git rebase dev").reason
    assert decided(project, "git switch dev").code == "allowed"


def test_what_a_row_of_reverts_writes_on_its_way_is_seen(project):
    git(project, "switch -q passing")
    assert "which is protected" in decided(project, "git revert --no-commit base..HEAD").reason
    git(project, "merge -q --no-edit dev")
    assert not facts_of(project, "git revert --no-commit base..HEAD").changes
    git(project, "switch -q feature/x")
    write(project, {"src/x.py": "z\n"})
    assert facts_of(project, "git revert --no-commit base..HEAD").changes
    git(project, "add -A")
    assert not facts_of(project, "git revert --no-commit base..HEAD").changes


def test_files_that_move_along_with_a_renamed_folder_are_seen(project):
    git(project, "switch -q mover")
    seen = facts_of(project, "git merge dev").changes["git merge dev"]
    git(project, "merge -q --no-edit dev", check=False)
    assert (project / "cfg/new.txt").exists()
    assert "cfg/new.txt" in seen


UNSEEN = """
git pull
git fetch && git merge dev
git add -A && git stash
touch x && git switch dev
pytest; git switch dev
git switch dev; git switch dev
git switch dev && git switch -
git switch dev && echo x > y
for b in dev main; do git switch $b; done
while true; do git switch dev; done
(git switch dev)
git switch dev & true
git stash -m "$(touch x)"
if true; then git switch dev; fi
timeout 5 git switch dev
git switch -m dev
git switch --orphan x
git merge dev feature/x
git merge -s ours dev
git rebase --onto dev base main
git cherry-pick base..dev
git cherry-pick dev feature/x
git revert --no-edit base..dev
git revert --no-edit base...HEAD
git -C src switch dev
git bisect start
git am good.patch
echo x > src/b.py; git stash
git stash > log
"""


@pytest.mark.parametrize("command", UNSEEN.strip().splitlines())
def test_what_nobody_can_tell_before_is_asked(project, command):
    assert decided(project, command).verdict.word == "ask"
    assert not set(facts_of(project, command).changes) - {"git add -A"}


def test_pull_says_how_it_could_be_told():
    decision = decide(BOOK, Call("a", "terminal", {"command": "git pull"}))
    assert decision.reason.endswith("`git fetch`, then `git merge`, shows which")


@pytest.mark.sample(1)
@pytest.mark.parametrize("setting", ["core.fsmonitor", "core.pager", "diff.external", "core.alternateRefsCommand"])
def test_no_program_of_the_configuration_is_run(project, tmp_path, setting):
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    spy.chmod(0o755)
    git(project, f"config {setting} {spy}")
    for command in HARMLESS.strip().splitlines():
        facts_of(project, command)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "key", ["filter.x.clean", "remote.o.promisor", "extensions.partialClone", "core.worktree", "include.path"]
)
def test_a_repository_with_an_odd_configuration_is_not_looked_at(project, tmp_path, key):
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    spy.chmod(0o755)
    (project / ".gitattributes").write_text("* filter=x\n")
    write(project, {"src/b.py": "changed\n"})
    git(project, f"config {key} {spy}")
    assert not facts_of(project, "git stash").changes
    assert not (tmp_path / "ran").exists()


def test_links_and_repositories_within_are_not_looked_at(project):
    (project / "link").symlink_to(".claude")
    commit(project, {})
    git(project, "switch -q dev")
    assert not facts_of(project, "git switch main").changes
    git(project, "init -q nested")
    assert not facts_of(project, "git clean -ffd").changes


def test_only_a_repository_at_or_above_the_root_is_looked_at(project):
    git(project / "src", "init -q")
    commit(project / "src", {"z": "z"})
    assert not facts_of(project, "cd src && git stash").changes
    assert not facts_of(project, "git stash", "src").changes
    assert facts_of(project, "git stash").changes


def test_what_lies_above_the_root_counts_as_well(project):
    found = facts_of(project / "src", "git switch dev").changes["git switch dev"]
    assert set(found) == {"c.py", "main.py", *(f"{project}/{name}" for name in (".gitignore", "a.txt", "old/new.txt"))}


def test_git_that_takes_too_long_or_says_too_much_is_no_answer(project, monkeypatch):
    monkeypatch.setattr(git_look, "SECONDS", 0.0)
    assert not facts_of(project, "git switch dev").changes
    monkeypatch.setattr(git_look, "SECONDS", 5.0)
    monkeypatch.setattr(git_look, "MAX_OUTPUT", 10)
    assert not facts_of(project, "git switch dev").changes


def test_variables_that_lead_git_elsewhere_are_no_answer(project, monkeypatch):
    monkeypatch.setenv("GIT_DIR", "/x")
    assert not facts_of(project, "git switch dev").changes


def test_changes_count_for_one_command_only():
    call = Call("a", "terminal", {"command": "git switch dev; git switch dev"})
    assert decide(BOOK, call, Facts(changes={"git switch dev": ()})).code == "target-unknown"


def test_the_answer_follows_the_repository(project):
    assert decided(project, "git switch dev").code == "allowed"
    git(project, "branch -f dev evil")
    assert decided(project, "git switch dev").code == "target-unknown"
    git(project, "branch -f dev base")
    assert decided(project, "git switch dev").code == "allowed"


def fetched(project: Path, specs: list[str], *what: str) -> Path:
    """The project has a remote, with two branches that it has not, and a clone that fetches by these patterns."""
    clone = project.parent / "clone"
    git(project.parent, f"init -q -b main {clone}")
    git(clone, f"remote add o {project}")
    git(clone, "config --unset-all remote.o.fetch")
    for spec in specs:
        git(clone, f"config --add remote.o.fetch {spec}")
    git(clone, " ".join(("fetch -q o", *what)))
    git(clone, "reset -q --hard refs/remotes/o/main" if not what else "reset -q --hard FETCH_HEAD")
    return clone


@pytest.mark.parametrize(
    ("specs", "seen"),
    [
        (["+refs/heads/*:refs/remotes/o/*"], True),
        (["+refs/heads/*:refs/remotes/o/*", "+refs/tags/*:refs/pulled/t-*"], True),
        (["+refs/heads/main:refs/remotes/o/main", "refs/heads/evil:refs/remotes/o/evil"], True),
        (["+refs/heads/*:refs/remotes/o/pre-*", "+refs/heads/main:refs/remotes/o/main"], False),
        (["refs/heads/evil:refs/remotes/o/good", "+refs/heads/main:refs/remotes/o/main"], False),
        (["+refs/heads/ev*:refs/remotes/o/*", "+refs/heads/main:refs/remotes/o/main"], False),
    ],
)
@pytest.mark.parametrize("command", ["git switch evil", "git checkout evil"])
def test_a_branch_of_a_remote_is_seen_whatever_its_name_is_here(project, specs, seen, command):
    clone = fetched(project, specs)
    decision = decided(clone, command)
    assert decision.code == "target-unknown"
    assert ("which is protected" in decision.reason) == seen
    git(clone, command.removeprefix("git "))
    assert (clone / ".claude/settings.json").exists()


@pytest.mark.parametrize(("what", "code"), [(("main",), "allowed"), (("main", "evil"), "target-unknown")])
def test_all_that_was_fetched_is_merged(project, what, code):
    clone = fetched(project, ["+refs/heads/*:refs/remotes/o/*"], *what)
    git(clone, "reset -q --hard HEAD~1")
    assert decided(clone, "git merge FETCH_HEAD").code == code
    git(clone, "merge -q --no-edit FETCH_HEAD")
    assert (clone / ".claude/settings.json").exists() == ("evil" in what)


def test_git_that_fails_for_another_reason_has_not_said_that_there_is_none(project, monkeypatch):
    assert decided(project, "git switch nowhere").code == "allowed"
    limited = project.parent / "git"
    limited.write_text('#!/bin/sh\ncase "$*" in *nowhere*) exit 128;; esac\nexec git "$@"\n')
    limited.chmod(0o755)
    monkeypatch.setattr(
        git_look.Repository, "program", property(lambda _: str(limited), lambda *_: None), raising=False
    )
    assert decided(project, "git switch nowhere").code == "target-unknown"
