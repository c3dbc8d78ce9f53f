"""Somebody has the database, and neither the state directory nor a passphrase: what was used up, refused or taken away
is put back, row and entry.

An entry that says how something stands is found by its subject, a column beside the entry. Taken out of there, the
entry before it would count; with the row set back to what that one says, nothing in the store looks wrong. The state
directory remembers the newest place of each subject.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from remit.enforce.errors import CallDenied, CallPending
from remit.record import keeper
from remit.record.audit import audit
from remit.record.errors import LedgerUnavailable
from remit.record.open import open_log
from remit.record.state_memory import STATES_FILE, StateMemory
from tests.enforce.team import Team

pytestmark = pytest.mark.filterwarnings("ignore::remit.record.errors.LedgerWarning")


def _change(folder: Path, *statements: str) -> None:
    """Triggers are dropped, and come back: nothing shows that they were away."""
    link = sqlite3.connect(folder / "state" / "remit.db", isolation_level=None, timeout=10)
    kept = link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in kept:
        link.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert link.execute(statement).rowcount == 1
    for _, text in kept:
        link.execute(text)
    link.close()


def replay(folder: Path) -> None:
    """An approval that was used counts again."""
    _change(
        folder,
        "UPDATE leaf SET subject = NULL WHERE seq = (SELECT max(seq) FROM leaf WHERE subject = '[\"ask\",1]')",
        "UPDATE ask SET state = 'approved' WHERE seq = 1",
    )


def rename(folder: Path) -> None:
    """The same, and as many entries have a subject as before."""
    _change(
        folder,
        "UPDATE leaf SET subject = '[\"ask\",99]' WHERE seq ="
        " (SELECT max(seq) FROM leaf WHERE subject = '[\"ask\",1]')",
        "UPDATE ask SET state = 'approved' WHERE seq = 1",
    )


ATTACKS = pytest.mark.parametrize("attack", [replay, rename])
FORGED = "state-forged"


@pytest.fixture
def used(tmp_path: Path) -> Team:
    """A call that was asked about, approved, and run."""
    team = Team(tmp_path)
    with team.guard, team.guard.agent("worker"):
        team.approve(lambda: team.deploy("1"))
        assert team.deploy("1") == "deployed 1"
    return team


def _refused(act: Callable[[], object], code: str = FORGED) -> None:
    with pytest.raises(CallDenied) as caught:
        act()
    assert caught.value.decision.code == code


@ATTACKS
def test_the_next_call_of_a_guard_that_runs_notices(tmp_path: Path, attack: Callable[[Path], None]):
    team = Team(tmp_path)
    with team.guard, team.guard.agent("worker"):
        team.approve(lambda: team.deploy("1"))
        assert team.deploy("1") == "deployed 1"
        team.guard.flush()
        attack(tmp_path)
        _refused(lambda: team.deploy("1"))
        assert len(team.ran) == 1


@ATTACKS
def test_so_does_a_guard_that_is_started_afterwards(tmp_path: Path, used: Team, attack: Callable[[Path], None]):
    attack(tmp_path)
    team = Team(tmp_path)
    with team.guard, team.guard.agent("worker"):
        _refused(lambda: team.deploy("1"))
        assert team.ran == []


@ATTACKS
def test_without_its_memory_the_background_pass_notices_and_stops_the_log(
    tmp_path: Path, used: Team, attack: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(keeper, "SIGN_EVERY", 0.05)
    attack(tmp_path)
    (tmp_path / "state" / "keys" / STATES_FILE).unlink()
    team = Team(tmp_path)
    with suppress(LedgerUnavailable), team.guard, team.guard.agent("worker"):  # it can't even record the refusal
        end = time.monotonic() + 60
        while not (tmp_path / "state" / "stopped").exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        _refused(lambda: team.deploy("1"), "ledger-unavailable")
    assert "was hidden" in (tmp_path / "state" / "stopped").read_text()


@ATTACKS
def test_verify_names_it(tmp_path: Path, used: Team, attack: Callable[[Path], None]):
    attack(tmp_path)
    with open_log(None, state=tmp_path / "state") as opened:
        assert "subject-wrong" in {fault.code for fault in audit(opened.log, opened.signer).problems}


def test_what_was_approved_counts_once_as_before(tmp_path: Path, used: Team):
    """Nothing of this is in the way of an honest store."""
    team = Team(tmp_path)
    with team.guard, team.guard.agent("worker"):
        with pytest.raises(CallPending):
            team.deploy("1")
        team.approve(lambda: team.deploy("2"))
        assert team.deploy("2") == "deployed 2"


def test_it_remembers_the_newest_of_each(tmp_path: Path):
    one, other = StateMemory(tmp_path), StateMemory(tmp_path)
    subjects = [f'["ask",{number}]' for number in range(300)]
    for round_ in range(3):
        for number, subject in enumerate(subjects):
            one.update({subject: 1000 * round_ + number})
        assert [other.get(subject) for subject in subjects] == [1000 * round_ + number for number in range(300)]
    assert other.get("another") is None
    with (tmp_path / STATES_FILE).open("ab") as file:
        file.write(b"torn")
    assert StateMemory(tmp_path).get(subjects[7]) == 2007
    assert StateMemory(tmp_path).get(subjects[9]) == 2009
    one.update({subjects[7]: 9000})
    assert StateMemory(tmp_path).get(subjects[7]) == 9000, "what is added after a torn record is found"
    often = StateMemory(tmp_path)
    for _ in range(3):
        assert [often.get(subject) for subject in subjects[:7]] == [2000 + number for number in range(7)]
        assert [often.get(subject) for subject in subjects[8:]] == [2008 + number for number in range(292)]
    assert one.get(subjects[7]) == 9000
