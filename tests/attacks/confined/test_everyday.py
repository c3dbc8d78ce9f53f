"""Everyday commands run confined as they run unconfined: the same exit code and the same effect, under the profile by
which the attacks fail."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remit.confine.interface import Backend
from remit.confine.run import run
from tests.attacks.confined.arena import PROFILE, Arena, backend, contents
from tests.attacks.confined.everyday import EVERYDAY
from tests.confine.populated import environment

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]
ROWS = [(area, command) for area, commands in EVERYDAY.items() for command in commands]
LEAST = 0.97
TOOLS = os.pathsep.join(dict.fromkeys((str(Path(sys.executable).parent), os.path.expanduser("~/.cargo/bin"))))
"""Where pytest and ruff are, wherever this checkout lies (below `/tmp`, too), and cargo."""


Outcome = tuple[int | None, dict[str, object]]
"""The exit code, and the effect."""


class Pair:
    """The same project at the same place, once for each way."""

    def __init__(
        self, folder: Path, template: Path, chosen: Callable[[Path], Backend] = backend, tools: str = f"{TOOLS}:"
    ) -> None:
        self.folder, self._template, self._backend, self._tools = folder, template, chosen, tools

    def both(self, command: str) -> tuple[Outcome, Outcome]:
        return self._done(command, confined=False), self._done(command, confined=True)

    def _done(self, command: str, *, confined: bool) -> Outcome:
        shutil.rmtree(self.folder, ignore_errors=True)
        arena = Arena(self.folder, self._template)
        env = environment(arena.home)
        env["PATH"] = f"{self._tools}{env['PATH']}"
        env["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", os.path.expanduser("~/.rustup"))
        words = ("bash", "-c", command)
        if confined:
            found = run(words, PROFILE, arena.place, backend=self._backend(arena.place.state), environment=env)
            code, said = found.code, (found.messages, found.err[-500:])
        else:
            done = subprocess.run(
                words, cwd=arena.root, env=env, capture_output=True, stdin=subprocess.DEVNULL, check=False
            )
            code = done.returncode if done.returncode >= 0 else 128 - done.returncode  # as a shell says it
            said = ((), done.stderr[-500:].decode("utf-8", "replace"))
        self.said = said
        return code, effect(arena)


def effect(arena: Arena) -> dict[str, object]:
    """The files, and what git says: its own files have times in them."""
    files = {
        path: about
        for path, about in contents(arena.root).items()
        if not any(part in (".git", "__pycache__") or part.endswith(".git") for part in path.split("/"))
        and not path.startswith(".ruff_cache/")
        and not any(part in (".venv", "node_modules") for part in path.split("/"))
        and not path.endswith((".tgz", ".zip", ".db", ".cpio", ".gz", ".bundle"))
    }
    words = {
        "status": ["status", "--porcelain", "--ignored=no"],
        "refs": ["for-each-ref", "--format=%(refname) %(objectname:short=0)%(tree)"],
        "log": ["log", "--all", "--format=%T %s", "--date-order"],
        "stash": ["stash", "list", "--format=%gs"],
        "config": ["config", "--list", "--local"],
    }
    said: dict[str, object] = {name: arena_git(arena, *rest) for name, rest in words.items()}
    said["refs"] = [line.split()[0] for line in str(said["refs"]).splitlines()]
    said["log"] = sorted(str(said["log"]).splitlines())
    outside = {p: a for p, a in arena.outside().items() if not p.startswith("home/")}
    return {**said, "files": files, "outside": outside}


def arena_git(arena: Arena, *words: str) -> str:
    env = environment(arena.home)
    return subprocess.run(["git", *words], cwd=arena.root, env=env, capture_output=True, text=True, check=False).stdout


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    folder = tmp_path_factory.mktemp("everyday")
    yield Pair(folder / "a", Arena.build(folder / "t"))
    shutil.rmtree(folder / "a", ignore_errors=True)


def test_no_command_hides_how_it_ended():
    assert [command for _, command in ROWS if command.endswith(("true", "|| :"))] == []


def test_everyday_commands_are_unchanged(pair: Pair):
    assert len(ROWS) >= 270
    lost = []
    for area, command in ROWS:
        plain, confined = pair.both(command)
        if plain != confined:
            lost.append((area, command, difference(plain, confined), pair.said))
    for one in lost:
        print(*one, sep="\n    ", file=sys.stderr)
    print(f"{len(ROWS) - len(lost)} of {len(ROWS)} everyday commands are unchanged", file=sys.stderr)
    assert len(lost) <= len(ROWS) * (1 - LEAST), f"{len(lost)} of {len(ROWS)}"


def difference(plain: Outcome, confined: Outcome) -> str:
    """In a few words."""
    if plain[0] != confined[0]:
        return f"exit code {plain[0]} and {confined[0]}"
    parts = []
    for name, one in plain[1].items():
        other = confined[1][name]
        if isinstance(one, dict) and isinstance(other, dict):
            keys = sorted(key for key in one.keys() | other.keys() if one.get(key) != other.get(key))
            parts += [f"{name}: {keys[:5]}"] if keys else []
        elif one != other:
            parts.append(f"{name}: {one!r:.200} and {other!r:.200}")
    return "; ".join(parts)
