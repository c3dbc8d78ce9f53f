"""Whoever may not read a folder sees nothing of it through git, whatever subcommand and option of its profile is given.

Each command that a policy allows runs in a repository whose files in that folder hold a mark, staged and committed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit import Call, build_rulebook, decide_call
from remit.enforce.paths import look_up, open_root
from remit.languages.programs.profiles import Profile, profile_of
from remit.model import Facts

MARK = "m4rked"
POLICY = {
    "remit": 1,
    "tools": {"Bash": {"args": {"command": "shell"}}},
    "agents": {"a": {"may": ["Bash"], "may_not": [{"path": ["private/**"]}]}},
}
WORDS = ("", "HEAD", "HEAD~1", f"{MARK} HEAD", "v1.0", "feature/x.y")
VALUES = ("1", "HEAD:private/p.txt", "always")
SERVERS = frozenset(("daemon", "gui", "citool"))
FRESH = 30
"""After so many commands the repository is made anew."""


def commands(profile: Profile, name: str) -> Iterator[str]:
    """Every subcommand with some words, and with each of its options."""
    for sub, inner in profile.sub.items():
        yield from commands(inner, f"{name} {sub}") if sub not in SERVERS else ()
    own = profile.bare if profile.sub else profile
    for words in WORDS if own is not None else ():
        yield f"{name} {words}".rstrip()
    for option, about in own.options.items() if own is not None else ():
        glue = "=" if option.startswith("--") else ""
        values = [""] if about.kind is None or about.glued else []
        values += [f"{glue}{value}" for value in VALUES] if about.kind is not None else []
        for value in values if about.refuse is None else ():
            yield f"{name} {option}{value}"
            yield f"{name} {option}{value} HEAD~1"


def every(step: int) -> list[str]:
    """Each step-th of them."""
    git = profile_of("git")
    return list(dict.fromkeys(commands(git, "git")))[::step] if git is not None else []


def make(root: Path) -> None:
    """A repository with three commits, a branch and a tag whose names look like files, and something staged."""
    for name in ("private", "docs"):
        (root / name).mkdir(parents=True)
    (root / "remit.yaml").write_text("remit: 1\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@x.example"]
    subprocess.run([*git, "init", "-q", "-b", "main"], cwd=root, check=True)
    for count in range(3):
        (root / "private/p.txt").write_text(f"key={MARK}\n" * (count + 1))
        (root / "docs/a.md").write_text("a\n" * (count + 1))
        subprocess.run([*git, "add", "-A"], cwd=root, check=True)
        subprocess.run([*git, "commit", "-qm", "x"], cwd=root, check=True)
    for words in (["tag", "v1.0", "HEAD~1"], ["branch", "feature/x.y", "HEAD~2"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    (root / "private/p.txt").write_text(f"new={MARK}\n")
    subprocess.run([*git, "add", "-A"], cwd=root, check=True)


@pytest.mark.parametrize("step", [pytest.param(60, marks=pytest.mark.more), pytest.param(1, marks=pytest.mark.long)])
def test_nothing_of_it_is_shown(tmp_path: Path, step: int) -> None:
    seen, where = tmp_path / "seen", tmp_path / "run"
    make(seen)
    rulebook = build_rulebook(POLICY)
    _, facts = open_root(seen, seen / "remit.yaml", Facts(now="2026-11-16T12:00:00Z"))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LC_ALL": "C", "GIT_PAGER": "cat", "GIT_EDITOR": "true"}
    shown, run = [], 0
    for command in every(step):
        call = Call("a", "Bash", {"command": command})
        if decide_call(rulebook, call, look_up(rulebook, call, facts)).verdict.word != "allow":
            continue
        if run % FRESH == 0:
            shutil.rmtree(where, ignore_errors=True)
            shutil.copytree(seen, where)
        run += 1
        words = ["timeout", "20", "bash", "-c", command]
        found = subprocess.run(words, cwd=where, env=env, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if any(f"{line}={MARK}".encode() in found.stdout + found.stderr for line in ("key", "new")):
            shown.append(command)
    assert not shown
    assert run > 2000 / step
