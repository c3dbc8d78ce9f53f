"""Finds the host programs. What is not there is skipped, with the reason."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.hosts.claude import Claude

ROOT = Path(__file__).parents[2]


def claude_binary() -> Path | None:
    """The program that REMIT_CLAUDE names, else the one that `make test-hosts` installs."""
    named = os.environ.get("REMIT_CLAUDE")
    if named:
        return Path(named)
    found = ROOT.glob(".venv-hosts/[Ll]ib/**/site-packages/claude_agent_sdk/_bundled/claude*")
    return next((path for path in found if path.name in ("claude", "claude.exe")), None)


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    """The real Claude Code, with an empty project and a home of its own."""
    binary = claude_binary()
    if binary is None:
        pytest.skip("Claude Code is not here: run `make test-hosts`, or name the program in REMIT_CLAUDE")
    if not os.access(binary, os.X_OK):
        pytest.fail(f"not a program: {binary}")
    home, project = tmp_path / "home", tmp_path / "project"
    (home / ".claude").mkdir(parents=True)
    project.mkdir()
    return Claude(binary, project, home)
