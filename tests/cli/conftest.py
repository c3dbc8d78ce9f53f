"""A folder with the small policy, and a command line in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.cli import person
from tests.cli.kit import Remit
from tests.cli.living_kit import FREE, Team
from tests.explain.kit import POLICY


@pytest.fixture
def remit(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    """The command line, in a folder with the small policy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REMIT_DEBUG", raising=False)
    found = Remit(tmp_path, capsys, monkeypatch)
    found.policy(POLICY)
    return found


@pytest.fixture
def team(
    remit: Remit, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Team:
    """A project with a team, its state elsewhere, and no terminal in this process."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.delenv("REMIT_STORE", raising=False)
    monkeypatch.setattr(person, "TERMINAL", str(tmp_path / "no-terminal"))
    return Team(tmp_path, remit)


@pytest.fixture
def free(team: Team) -> Team:
    """The same, with a policy in force that asks for no passphrase."""
    team.policy(FREE)
    return team
