"""Hooks of git that lie in the project: what makes git run one is code of the project, and is tried with git itself."""

import os
import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.enforce.paths import facts_at, look_up
from remit.model import Call

BOOK = build_rulebook(
    {
        "remit": 1,
        "tiers": {3: "allow", 4: "allow"},
        "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
        "agents": {
            "strict": {"may": ["terminal"], "project_code": "deny"},
            "listed": {"may": [{"terminal": {"shell": {"run": [{"git": ["commit"]}]}}}]},
            "quiet": {"may": ["terminal"], "may_not": [{"effect": "execute"}]},
        },
    }
)
HOOKS = [
    *("pre-commit", "post-commit", "prepare-commit-msg", "post-checkout", "post-merge", "pre-merge-commit"),
    *("pre-rebase", "post-rewrite", "pre-push", "applypatch-msg", "commit-msg"),
]
COMMANDS = [
    *("git commit -qm x", "git commit -q --no-verify -m x", "git -C src commit -qm x", "cd src && git commit -qm x"),
    *("git checkout -q other", "git switch -q other", "git merge -q --no-edit other", "git rebase -q other"),
    *(
        "git push -q ../remote main",
        "git cherry-pick other",
        "git revert --no-edit HEAD",
        "git pull -q --no-rebase --no-edit . other",
    ),
    *("git worktree add -q ../tree other", "git am < x.patch", "rm -f $nothing; git commit -qm x"),
]
HARMLESS = [
    "git status",
    "git log --oneline",
    "git diff",
    "git add a.txt",
    "git branch new",
    "git tag t",
    "git fetch -q",
]


def sh(root: Path, text: str) -> None:
    subprocess.run(["bash", "-c", text], cwd=root, check=False, capture_output=True)


def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = folder / "project"
    (root / "src").mkdir(parents=True)
    (folder / "home").mkdir()
    monkeypatch.setenv("HOME", str(folder / "home"))
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    sh(root, "git config --global user.email a@x.example; git config --global user.name a; git init -qb main")
    sh(root, "git init -q --bare ../remote; echo a > a.txt; echo s > src/s; git add .; git commit -qm one")
    sh(
        root,
        "git checkout -qb other; echo b > b.txt; git add .; git commit -qm two; git format-patch -1 --stdout > ../p",
    )
    sh(root, "git checkout -q main; mv ../p x.patch; echo c > c.txt; git add c.txt")
    return root


def hooks(root: Path, folder: str, names: list[str]) -> None:
    for name in names:
        place = root / folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"#!/bin/sh\ntouch '{root}/../ran'\n", encoding="utf-8")
        place.chmod(0o755)


def code(root: Path, command: str, agent: str = "strict") -> str:
    call = Call(agent, "terminal", {"command": command})
    state = root.parent / "state"
    return str(decide(BOOK, call, look_up(BOOK, call, facts_at(root, state))).code)


WAYS = {
    "in the repository": "git config core.hooksPath .husky",
    "for the user": "git config --global core.hooksPath .husky",
    "absolute": 'git config core.hooksPath "$PWD/.husky"',
    "a link": "rm -r .git/hooks; ln -s ../.husky .git/hooks",
    "each a link": 'rm -r .git/hooks; mkdir .git/hooks; for f in .husky/*; do ln -s "../../$f" .git/hooks/; done',
}


@pytest.mark.parametrize("command", COMMANDS)
def test_what_runs_a_hook_of_the_project(command, tmp_path, monkeypatch):
    root = project(tmp_path, monkeypatch)
    if " commit " not in command:
        sh(root, "git reset -q --hard; echo t > t.txt; git add t.txt; git commit -qm three")
    assert code(root, command) != "project-code"
    hooks(root, ".husky", HOOKS)
    sh(root, WAYS["in the repository"])
    assert code(root, command) == "project-code"
    sh(root, command)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_ways_to_hooks_of_the_project(way, tmp_path, monkeypatch):
    root = project(tmp_path, monkeypatch)
    hooks(root, ".husky", HOOKS)
    sh(root, way)
    assert code(root, "git commit -qm x") == "project-code"
    sh(root, "git commit -qm x")
    assert (tmp_path / "ran").exists()


def test_what_runs_none(tmp_path, monkeypatch):
    root = project(tmp_path, monkeypatch)
    hooks(root, ".husky", HOOKS)
    sh(root, WAYS["in the repository"])
    for command in HARMLESS:
        assert code(root, command) == "allowed", command
        sh(root, command)
        assert not (tmp_path / "ran").exists(), command
    assert code(root, "git commit -qm x", "listed") == "allowed"
    assert code(root, "git commit -qm x", "quiet") == "may-not"


def test_hooks_that_nearly_every_command_runs(tmp_path, monkeypatch):
    root = project(tmp_path, monkeypatch)
    hooks(root, ".husky", ["reference-transaction"])
    sh(root, WAYS["in the repository"])
    assert code(root, "git tag t") == "project-code"
    sh(root, "git tag t")
    assert (tmp_path / "ran").exists()


def test_hooks_of_its_own_are_no_code_of_the_project(tmp_path, monkeypatch):
    root = project(tmp_path, monkeypatch)
    hooks(root, ".git/hooks", HOOKS)
    for command in ("git commit -qm x", "git switch other"):
        assert code(root, command) == "allowed"
    outside = tmp_path / "outside"
    outside.mkdir()
    assert code(outside, "git commit -qm x") == "allowed"  # no repository at all
