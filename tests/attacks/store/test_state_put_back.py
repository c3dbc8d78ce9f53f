"""Somebody has the database, and neither the state directory nor a passphrase: what was used up, refused or taken away
is put back, row and entry.

An entry that says how something stands is found by its subject, a column beside the entry. Taken out of there, the
entry before it would count; with the row set back to what that one says, nothing in the store looks wrong. The state
directory remembers the newest place of each subject.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest

from remit.enforce.errors import CallDenied, CallPending
from remit.record import keeper, state_memory
from remit.record.audit import audit
from remit.record.errors import LedgerUnavailable
from remit.record.open import open_log
from remit.record.state_memory import STATES_FILE, StateMemory
from remit.record.writer import Ledger
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


def _ledger(team: Team) -> Ledger:
    return cast("Ledger", team.guard.enforcer.ledger)


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
        while not (tmp_path / "state" / "stopped").exists() or _ledger(team).stopped is None:
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


def test_a_file_that_is_mostly_outdated_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(state_memory, "LARGE", 16 * 100)
    one, other = StateMemory(tmp_path), StateMemory(tmp_path)
    largest = 0
    for place in range(2_000):
        (one if place % 3 else other).update({f"subject {place % 7}": place})
        largest = max(largest, (tmp_path / STATES_FILE).stat().st_size)
        assert {memory.get(f"subject {place % 7}") for memory in (one, other, StateMemory(tmp_path))} == {place}
    assert largest <= 16 * 102
    assert [StateMemory(tmp_path).get(f"subject {number}") for number in range(7)] == [
        max(place for place in range(2_000) if place % 7 == number) for number in range(7)
    ]


def test_processes_that_add_while_it_is_replaced_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(state_memory, "LARGE", 16 * 40)
    children = []
    for number in range(3):
        child = os.fork()
        if not child:
            memory = StateMemory(tmp_path)
            for place in range(1_500):
                memory.update({f"{number} {place % 4}": place})
            os._exit(0)
        children.append(child)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0, 0, 0]
    found = StateMemory(tmp_path)
    assert [found.get(f"{number} {rest}") for number in range(3) for rest in range(4)] == [1496, 1497, 1498, 1499] * 3


def test_many_threads_read_what_another_process_adds(tmp_path: Path):
    ours, theirs = StateMemory(tmp_path), StateMemory(tmp_path)
    theirs.update({"one": 0})
    wrong: list[int | None] = []

    def read() -> None:
        last = 0
        for _ in range(2_000):
            found = ours.get("one")
            if found is None or found < last:
                wrong.append(found)
            last = found or 0

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for place in range(1, 500):
        theirs.update({"one": place, f"two {place}": place})
    for thread in threads:
        thread.join()
    assert wrong == []
    assert [ours.get(f"two {place}") for place in range(1, 500)] == list(range(1, 500))


def test_a_memory_that_can_only_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    StateMemory(tmp_path).update({"one": 5})
    opened, plain = os.open, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW

    def refuses(path: Any, flags: int, *more: Any, **named: Any) -> int:
        if str(path).endswith(STATES_FILE) and flags != plain:
            raise PermissionError(13, "read-only")
        return opened(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", refuses)
    memory = StateMemory(tmp_path)
    assert memory.get("one") == 5
    memory.update({"one": 6})
    assert memory.get("one") == 6
