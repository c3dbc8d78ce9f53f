"""`remit aside`, as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.confine.aside import Aside
from remit.confine.interface import state_for
from remit.record.open import open_log
from remit.record.reader import entries
from tests.cli.living_kit import FREE, Team


@pytest.fixture
def team(free: Team) -> Team:
    free.policy(FREE)
    return free


def moved(team: Team, name: str) -> str:
    """Something of an agent's, moved aside as a sweep does it."""
    path = team.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with open_log(team.root) as opened:
        state = state_for(opened.state)
    return Aside(state).move(str(team.root), name, why="is protected, and the command made it", agent="dev").id


def test_listed_put_back_and_deleted(team: Team) -> None:
    assert team("aside").out == "nothing lies aside\n"
    one, other = moved(team, "docs/.mcp.json"), moved(team, "src/.mcp.json")
    lines = team("aside").out.splitlines()
    assert len(lines) == 4
    assert any(line.startswith(one) and line.endswith("dev  docs/.mcp.json") for line in lines)
    assert {found["id"] for found in json.loads(team("aside", "--json").out)} == {one, other}
    done = team("aside", "restore", one, "--yes")
    assert (done.code, done.out.splitlines()[-1].startswith(f"✅ {one} is restored, by ")) == (0, True)
    assert Path(team.root, "docs/.mcp.json").read_text() == "mine"
    assert team("aside", "forget", other, "--yes").code == 0
    assert team("aside").out == "nothing lies aside\n"
    with open_log(team.root) as opened, opened.store.read() as view:
        said = [entry.data for entry in entries(view) if entry.data["type"] == "confined"]
    assert [(one["what"], one["path"]) for one in said] == [
        ("restored", "docs/.mcp.json"),
        ("forgotten", "src/.mcp.json"),
    ]


def test_nothing_is_overwritten_and_nobody_is_asked_in_vain(team: Team) -> None:
    one = moved(team, "docs/.mcp.json")
    (team.root / "docs/.mcp.json").write_text("a person's")
    refused = team("aside", "restore", one, "--yes")
    assert (refused.code, "there is something at `docs/.mcp.json` now" in refused.err) == (2, True)
    assert (team.root / "docs/.mcp.json").read_text() == "a person's"
    assert "nothing was moved aside as `Q-0`" in team("aside", "restore", "Q-0", "--yes").err
    assert team("aside", "restore", one).code != 0
