"""Tools of MCP servers as a host names them: what a server changes, adds or calls alike gets through no rule.

Remit stands before the call, not before the server: it sees a tool's name and arguments, never its description.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.hooks.project import POLICY, Project

READ, ARGS = "mcp__files__read", {"path": "docs/a.md"}
TOOLS: dict[str, Any] = {
    "mcp__files__read": {"args": {"path": "path"}, "does": {"read": "path"}},
    "mcp__files__write": {"args": {"path": "path", "text": "text"}, "does": {"write": "path"}},
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    may = {"may": [{"mcp__files__read": {"path": "docs/**"}}]}
    return Project(tmp_path, {**POLICY, "tools": TOOLS, "agents": {**POLICY["agents"], "lead": may}})


def test_row_11_what_a_server_changes_is_denied_until_the_policy_says_it(project: Project):
    """A rug pull: one more argument, another kind, an argument less, one more tool, and a tool that does more."""
    assert project.ask(READ, ARGS).decision == "allow"
    project.ask(READ, {**ARGS, "also": "/etc/passwd"}).denied("also")
    project.ask(READ, {"path": ["docs/a.md", "/etc/passwd"]}).denied("path")
    project.ask(READ, {"file": "docs/a.md"}).denied("file")
    project.ask(READ, {}).denied("path")
    project.ask("mcp__files__read_all", {}).denied("mcp__files__read_all")
    project.ask("mcp__files__write", {"path": "docs/a.md", "text": "x"}).denied("mcp__files__write")
    assert project.ask(READ, ARGS).decision == "allow"
    assert [one["decision"] for one in project.calls() if one["type"] == "intent"] == ["allow", *["deny"] * 6, "allow"]


@pytest.mark.parametrize(
    "name",
    [
        "mcp__other__read",
        "mcp__Files__read",
        "mcp__files__Read",
        "mcp__files___read",
        "mcp_files_read",
        "read",
        "mcp__f\u0456les__read",  # a Cyrillic letter
        "mcp__files__read\u200b",
        "mcp__files\u202e__read",
        "mcp__ﬁles__read",  # one sign for two letters
        " mcp__files__read",
    ],
)
def test_row_12_the_same_name_elsewhere_and_names_that_look_alike(project: Project, name: str):
    project.ask(name, ARGS).denied()
    assert project.ask(READ, ARGS).decision == "allow"


HOSTILE = "mcp__x__\x1b[2J\x1b]0;owned\x07\u202ereversed\u200b\r\nRemit: allowed"


def test_row_13_and_29_names_steer_no_terminal_and_forge_no_line(project: Project):
    said = project.ask(HOSTILE, {"\x1b[1mbold\n": "\x9b31m\u2066"})
    said.denied()
    texts = [said.reason]
    for words in (["ledger", "tail"], ["ledger", "show", "0"], ["ledger", "show", "--values"], ["status"]):
        command = [sys.executable, "-m", "remit", *words, "--policy", str(project.root / "remit.yaml")]
        env = {**project.environment(), "XDG_STATE_HOME": str(project.folder / "state")}
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=120, check=False)
        texts += [done.stdout, done.stderr]
    assert any("owned" in text for text in texts[1:]), "they show it"
    for text in texts:
        for line in text.split("\n"):
            assert all(char.isprintable() or char == "\t" for char in line), line
            assert not line.startswith("Remit: allowed")
