"""Obligations, carried out: only new files, where the path led when it was decided, and nothing left of what failed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallDenied
from tests.enforce.team import POLICY, Team


def test_one_of_many_creates_the_file(team: Team):
    meet = threading.Barrier(16)

    def work(number: int) -> str:
        with team.guard.agent("worker"):
            meet.wait()
            try:
                team.create(Path("research/deep/a"), str(number))
            except CallDenied as denied:
                return denied.code
            return "made"

    with ThreadPoolExecutor(16) as pool:
        heard = list(pool.map(work, range(16)))
    assert sorted(heard) == ["made", *["not-new"] * 15]
    [(_, _, content)] = team.ran
    assert (team.root / "research/deep/a").read_text() == content
    assert heard[int(content)] == "made"


def test_it_lies_below_the_working_directory(team: Team, tmp_path: Path):
    """`cwd` is relative to the root, whatever the program's own is."""
    (team.root / "sub").mkdir()
    (team.root / "sub/there").write_text("old")
    with team.guard.agent("worker", cwd="sub"):
        with pytest.raises(CallDenied) as caught:
            team.create(Path("there"))
        assert caught.value.code == "not-new"
    assert team.ran == []
    assert not Path("sub").exists()


def test_a_link_in_the_place_of_the_file(team: Team, tmp_path: Path):
    """A link to nowhere outside: it leads out of the root, so the call is denied before anything is made."""
    (team.root / "research").mkdir()
    (team.root / "research/a").symlink_to(tmp_path / "outside")
    with team.guard.agent("worker"), pytest.raises(CallDenied):
        team.create(Path("research/a"))
    assert not (tmp_path / "outside").exists()
    assert team.ran == []


@pytest.mark.parametrize("what", ["folder", "file"])
def test_a_link_that_is_put_there_after_the_decision(
    team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
):
    (team.root / "research").mkdir()
    (tmp_path / "outside").mkdir()
    judge = team.guard.enforcer.judge

    def swapped(*args: Any, **named: Any) -> Any:
        found = judge(*args, **named)
        if what == "folder":
            (team.root / "research").rename(team.root / "moved")
            (team.root / "research").symlink_to(tmp_path / "outside")
        else:
            (team.root / "research/a").symlink_to(tmp_path / "outside/a")
        return found

    monkeypatch.setattr(team.guard.enforcer, "judge", swapped)
    with team.guard.agent("worker"), pytest.raises(CallDenied) as caught:
        team.create(Path("research/a"))
    assert caught.value.code == "not-new"
    assert list((tmp_path / "outside").iterdir()) == []
    assert team.ran == []
    assert team.outcomes() == ["not-run"]


def test_the_tool_gets_the_path_that_was_judged(team: Team):
    """A link within the root: the tool is handed where it led."""
    (team.root / "real").mkdir()
    (team.root / "link").symlink_to("real")
    with team.guard.agent("worker"):
        assert team.write(Path("link/a")) == "real/a"
        assert team.write(Path("real/a")) == "real/a"


def _failing(folder: Path, writes: bool) -> Team:
    policy = POLICY | {"agents": POLICY["agents"] | {"worker": {"may": [_new("half"), _new("create")]}}}
    team = Team(folder, policy=policy)

    @team.guard.tool(does={"write": "path"}, tier=1)
    def half(path: Path) -> None:
        if writes:
            (team.root / path).write_text("half")
        raise RuntimeError("it stops")

    return team


def _new(tool: str) -> dict[str, Any]:
    return {tool: {"path": {"allow": ["**"], "new_only": True}}}


@pytest.mark.parametrize("writes", [False, True])
def test_after_a_failure(tmp_path: Path, writes: bool):
    """The empty file that was made for it goes; what the tool wrote stays."""
    team = _failing(tmp_path, writes)
    with team.guard, team.guard.agent("worker"):
        with pytest.raises(RuntimeError):
            team.guard.call("half", {"path": "a"})
        assert (team.root / "a").exists() is writes
        if not writes:
            team.create(Path("a"))
        assert team.outcomes()[0] == "failed"


def test_a_file_that_cannot_be_made(team: Team):
    (team.root / "research").write_text("a file, not a folder")
    with team.guard.agent("worker"), pytest.raises(CallDenied) as caught:
        team.create(Path("research/a"))
    assert caught.value.code == "not-new"
    assert team.outcomes() == ["not-run"]
