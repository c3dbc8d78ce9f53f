"""Every attack runs confined: nothing protected and nothing outside changes, nothing leaks, nothing survives.

Afterwards a person works on with git, unconfined: what the command left behind must not run or come to light then.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attacks.confined.arena import SECRET, Arena, Listeners, alive, contents
from tests.attacks.confined.commands import ATTACKS

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]
ROWS = [(cause, command) for cause, commands in ATTACKS.items() for command in commands]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Arena.build(tmp_path_factory.mktemp("template") / "t")


@pytest.fixture
def arena(template: Path, tmp_path: Path) -> Arena:
    return Arena(tmp_path / "a", template)


@pytest.fixture
def listeners(arena: Arena, tmp_path: Path) -> Iterator[Listeners]:
    found = Listeners(arena.folder, arena.root / "docs/peer")
    yield found
    found.close()


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same user, which nothing may end or look into."""
    process = subprocess.Popen(["sleep", "600"], env={"TOKEN": SECRET})
    yield process
    process.kill()
    process.wait()


def test_there_are_enough():
    assert len(ROWS) >= 120
    assert len(ROWS) == len(set(ROWS))


@pytest.mark.parametrize(("cause", "command"), ROWS, ids=[f"{cause[:24]}-{n}" for n, (cause, _) in enumerate(ROWS)])
def test_an_attack_has_no_effect(
    cause: str, command: str, arena: Arena, listeners: Listeners, bystander: subprocess.Popen[bytes]
):
    nap = f"31337{os.getpid()}"  # seconds; no other worker's
    text = command.format(
        nap=nap,
        out=arena.folder,
        home=arena.home,
        state=arena.state,
        port=listeners.port,
        socket=listeners.path,
        abstract=listeners.name,
        peer=listeners.peer,
        pid=bystander.pid,
    )
    protected, outside = arena.protected(), arena.outside()
    ran = arena.run(text)
    assert arena.protected() == protected, ran
    assert arena.outside() == outside, ran
    assert SECRET not in ran.out + ran.err
    assert SECRET not in "".join(map(_text, arena.root.rglob("*")))
    assert alive(nap) == []
    assert bystander.poll() is None
    assert (listeners.heard, listeners.datagrams()) == (0, 0)
    for path, about in contents(arena.root).items():
        assert not int(about.split()[0], 8) & (stat.S_ISUID | stat.S_ISGID), path
    arena.a_person_works()
    assert arena.protected() == protected, ran.messages
    assert arena.outside() == outside, ran.messages


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace") if path.is_file() and not path.is_symlink() else ""


SAFE = (
    *("a target that the text does not tell", "derived names", "git removes the hook", "git runs programs"),
    *("git keeps it for later", "project code", "new names at new depths", "links that are swapped"),
)
"""Causes whose commands reach only the folder of the test."""


def test_most_attacks_do_harm_where_nothing_is_protected(template: Path, tmp_path: Path):
    """Otherwise the tests above would show nothing."""
    rows = [command for cause, command in ROWS if cause in SAFE]
    harmful = 0
    for number, command in enumerate(rows):
        arena = Arena(tmp_path / str(number), template)
        before = arena.protected(), arena.outside()
        names = {"nap": 9, "port": 1, "socket": "s", "abstract": "a", "peer": "p", "pid": 1}
        arena.loose(command.format(out=arena.folder, home=arena.home, state=arena.state, **names))
        try:
            harmed = (arena.protected(), arena.outside()) != before
            arena.a_person_works()
            harmful += harmed or (arena.protected(), arena.outside()) != before
        except PermissionError:
            harmful += 1  # something was closed to its owner
        subprocess.run(["chmod", "-R", "u+rwx", arena.folder], check=False, capture_output=True)
        shutil.rmtree(arena.folder, ignore_errors=True)
    print(f"{harmful} of {len(rows)} attacks do harm where nothing is protected")
    assert harmful >= len(rows) * 0.7
