"""`remit init` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Remit
from tests.scan.repositories import REVIEWER, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {".claude/agents/code-reviewer.md": REVIEWER})


def test_from_definitions_to_a_checked_policy(remit: Remit, project: Path):
    ran = remit("init", str(project))
    assert ran.code == 0, ran.err
    assert "For you to decide" in ran.out
    assert "call themselves read-only" in ran.out or "calls itself read-only" in ran.out
    checked = remit("check", "--policy", str(project / "remit.yaml"))
    assert checked.code == 0, checked.out
    assert "1 passed" in checked.out


def test_nothing_is_overwritten(remit: Remit, project: Path):
    (project / "remit.yaml").write_text("mine")
    ran = remit("init", str(project))
    assert ran.code == 2
    assert "is there already" in ran.err
    assert (project / "remit.yaml").read_text() == "mine"
    assert remit("init", str(project), "--output", str(project / "draft.yaml")).code == 0
    assert (project / "draft.test.yaml").read_text().count("policy: draft.yaml") == 1


@pytest.mark.parametrize("team", ["coding", "data", "ops", "support"])
def test_a_kind_of_team(remit: Remit, tmp_path: Path, team: str):
    folder = tmp_path / "empty"
    folder.mkdir()
    assert remit("init", str(folder), "--team", team).code == 0
    checked = remit("check", "--policy", str(folder / "remit.yaml"))
    assert checked.code == 0, checked.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--team", "codng"], "did you mean `coding`"),
        ([], "no agents found here; start from a kind of team"),
        (["--tools", "nope.json"], "can't read"),
        (["--tools", "x", "--team", "data"], "one of them"),
        (["--tools", "tools.json", "--server", "a b"], "--server"),
    ],
)
def test_wrong_input_writes_nothing(remit: Remit, tmp_path: Path, arguments: list[str], said: str):
    folder = tmp_path / "empty"
    folder.mkdir()
    ran = remit("init", str(folder), *arguments, stdin=b"")
    assert ran.code == 2
    assert said in ran.err
    assert list(folder.iterdir()) == []


def test_from_a_servers_tools(remit: Remit, tmp_path: Path):
    folder = tmp_path / "empty"
    folder.mkdir()
    tools = {
        "tools": [
            {
                "name": "get",
                "inputSchema": {"properties": {"id": {"type": "string"}}},
                "annotations": {"readOnlyHint": True},
            }
        ]
    }
    ran = remit("init", str(folder), "--tools", "-", "--server", "db", "--json", stdin=json.dumps(tools).encode())
    assert ran.code == 0, ran.err
    assert ran.json["tests"] is None
    assert remit("check", "--policy", str(folder / "remit.yaml")).code == 0
