"""Calls that run: the table and the leases together tell them, whatever happened to their writers meanwhile."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.record import lease as module
from remit.record.audit import _check_running
from remit.record.errors import LedgerUnavailable
from remit.record.lease import recover
from remit.record.running import leases, listed, running_calls, unlisted
from remit.record.writer import Ledger
from remit.store import open_store
from tests.postgres import Postgres
from tests.record.stores import FaultyStore, allowed, call, new_store, said


@pytest.fixture(params=["sqlite", "postgres"])
def store(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[FaultyStore]:
    if request.param == "sqlite":
        inner = new_store(tmp_path)
    else:
        server: Postgres = request.getfixturevalue("postgres")
        inner = open_store(server.uri_of(server.new_database()), tmp_path)
    found = FaultyStore(inner)
    yield found
    found.fault = None
    found.close()


def without_outcome(store: FaultyStore) -> set[tuple[str, int]]:
    """The same, by all entries and nothing else."""
    found = {}
    for seq, entry in enumerate(said(store)):
        if entry["type"] == "intent" and entry["decision"] == "allow":
            found[seq] = entry["call"]
        elif entry["type"] == "outcome":
            found.pop(entry["intent"], None)
    return {(call, seq) for seq, call in found.items()}


def check(store: FaultyStore) -> None:
    must = without_outcome(store)
    with store.read() as view:
        found = running_calls(view)
        assert {(one.call, one.seq) for one in found} == must
        assert len(found) == len(must), "none stands in both places"
        assert list(_check_running(view, {seq for _, seq in must})) == []


class Life:
    """Ledgers on one store that open and close calls, renew, fail, end and are killed, as chance has it."""

    def __init__(self, store: FaultyStore, seed: int) -> None:
        self.store, self.chance = store, random.Random(seed)  # noqa: S311
        self.ledgers: list[Ledger] = []
        self.open: list[tuple[Ledger, str]] = []

    def step(self) -> None:
        step = self.chance.choice([self.begins, self.begins, self.ends, self.ends, self.renews, self.fails, self.stops])
        step()
        check(self.store)

    def ledger(self) -> Ledger:
        if len(self.ledgers) < 2:
            self.ledgers.append(Ledger(self.store, point="test", heartbeat=None))
        return self.chance.choice(self.ledgers)

    def begins(self) -> None:
        ledger = self.ledger()
        self.open.append((ledger, ledger.intent(call(), allowed(tier=1)).call))

    def ends(self) -> None:
        if self.open:
            ledger, name = self.open.pop(self.chance.randrange(len(self.open)))
            ledger.outcome(name, "failed")

    def renews(self) -> None:
        lease = self.ledger()._lease
        lease._renewed = None
        lease.renew(self.store)

    def fails(self) -> None:
        """Nobody knows whether it was kept."""
        ledger = self.ledger()
        ledger._lease._renewed = self.chance.choice([None, ledger._lease._renewed])
        self.store.fault, self.store.once = self.chance.choice(["kept", "lost", "end"]), True
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), allowed(tier=1))
        ledger.flush()
        ledger.flush()

    def stops(self) -> None:
        if self.ledgers:
            ledger = self.ledgers.pop()
            self.open = [one for one in self.open if one[0] is not ledger]
            ledger.close()

    def over(self) -> None:
        while self.ledgers:
            self.stops()


@pytest.mark.sample(4)
@pytest.mark.parametrize("seed", range(12))
def test_the_table_and_the_leases_tell_what_the_entries_do(store: FaultyStore, seed: int):
    life = Life(store, seed)
    for _ in range(30):
        life.step()
    life.over()
    check(store)
    left = len(without_outcome(store))
    assert recover(store, None, "me") == left
    assert without_outcome(store) == set()
    check(store)


def test_a_call_that_ends_soon_has_no_row(store: FaultyStore):
    ledger = Ledger(store, point="test")
    name = ledger.intent(call(), allowed(tier=1)).call
    with store.read() as view:
        assert listed(view) == []
        assert [one.call for one in unlisted(view)] == [name]
    ledger._lease._renewed = None
    ledger._lease.renew(store)
    with store.read() as view:
        assert [one.call for one in listed(view)] == [name], "it has run for a while"
        assert unlisted(view) == []
    ledger.outcome(name, "failed")
    with store.read() as view:
        assert running_calls(view) == []
    ledger._lease._renewed = None
    ledger._lease.renew(store)
    with store.read() as view:
        assert leases(view) == {}, "nobody has to read entries for it"
    ledger.close()


def test_an_outcome_that_another_writer_reports_finds_its_intent(store: FaultyStore):
    one, other = Ledger(store, point="test"), Ledger(store, point="test")
    receipt = one.intent(call(), allowed(tier=1))
    other.outcome(receipt.call, "failed")
    assert said(store)[-1]["intent"] == receipt.seq
    with store.read() as view:
        assert running_calls(view) == []
    one.close()
    other.close()


def test_a_process_that_was_taken_for_gone_lists_no_call_again(store: FaultyStore, monkeypatch: pytest.MonkeyPatch):
    ledger = Ledger(store, point="test")
    name = ledger.intent(call(), allowed(tier=1)).call
    monkeypatch.setattr(module, "LEASE", -1.0)
    assert recover(store, None, "another") == 1
    monkeypatch.undo()
    ledger._lease._renewed = 0.0
    later = ledger.intent(call(), allowed(tier=1)).call
    check(store)
    ledger.outcome(name, "failed")
    with store.read() as view:
        assert [one.call for one in running_calls(view)] == [later]
    ledger.outcome(later, "failed")
    check(store)
    ledger.close()


def test_a_lease_that_was_moved_is_found(store: FaultyStore):
    ledger = Ledger(store, point="test")
    seq = ledger.intent(call(), allowed(tier=1)).seq
    assert seq is not None
    with store.write() as change:
        change.run("UPDATE writer_process SET since = since + 1")
    with store.read() as view:
        [fault] = _check_running(view, {seq})
    assert fault.code == "running-wrong"
    ledger.close()
