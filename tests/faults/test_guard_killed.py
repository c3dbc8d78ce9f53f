"""Row 10: a program that is killed between the answer and the tool. What was approved runs at most once."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallPending
from tests.enforce.team import Team

PROGRAM = """
import os, signal, sys
from pathlib import Path
from remit.enforce.guard import GuardCarrier
from tests.enforce.team import Team

team = Team(Path(sys.argv[1]))
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
with team.guard, team.guard.agent("worker"):
    if sys.argv[2] == "before the start":
        team.guard.authority.begin_within = die
    elif sys.argv[2] == "before the tool":
        GuardCarrier.run = die
    elif sys.argv[2] == "after the tool":
        run = GuardCarrier.run
        GuardCarrier.run = lambda *args: (run(*args), die())
    team.deploy("1")
"""


def _killed(folder: Path, when: str) -> None:
    here = Path(__file__).parents[2]
    command = [sys.executable, "-c", PROGRAM, str(folder), when]
    assert subprocess.run(command, cwd=here, timeout=120).returncode == -signal.SIGKILL


def _outcomes(team: Team) -> list[tuple[str, Any]]:
    return [(entry["result"], entry.get("error")) for entry in team.said() if entry["type"] == "outcome"]


@pytest.mark.sample(1)
@pytest.mark.parametrize("when", ["before the start", "before the tool", "after the tool"])
def test_row_10_killed_between_answer_and_tool(tmp_path: Path, when: str):
    team = Team(tmp_path)
    with team.guard, team.guard.agent("worker"):
        name = team.approve(lambda: team.deploy("1"))
    _killed(tmp_path, when)
    team = Team(tmp_path)
    with team.guard:
        # What the call uses up and its intent are one commit: neither is there without the other.
        begun = [] if when == "before the start" else [("unknown", "the process ended")]
        assert _outcomes(team) == begun, "recovered, and never guessed"
        state = team.guard.authority.asked(name).state
        with team.guard.agent("worker"):
            if when == "before the start":
                assert state == "approved", "it was not used: it may run, once"
                assert team.deploy("1") == "deployed 1"
            else:
                assert state == "used", "whether it ran is not known: it must be asked again"
            with pytest.raises(CallPending):
                team.deploy("1")
        assert len(team.ran) == (when == "before the start")
    with Team(tmp_path).guard as again:
        assert again.authority.asked(name).state == "used"
