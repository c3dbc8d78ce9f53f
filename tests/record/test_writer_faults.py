"""The writer when something is wrong: with an entry, which concerns its caller alone, or with the store."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.model.decision import Decision
from remit.record.batch import Receipt
from remit.record.errors import LedgerError, LedgerUnavailable
from remit.record.reader import entry_at, values_of
from remit.record.running import running_calls
from remit.record.writer import Ledger
from remit.store import Store
from remit.store.interface import Transaction
from tests.record.stores import FaultyStore, allowed, call, denied, said


def running(store: Store) -> list[tuple[Any, ...]]:
    with store.read() as view:
        return [(one.call, one.seq) for one in running_calls(view)]


def results(store: Store) -> list[tuple[Any, Any]]:
    return [(entry["type"], entry.get("result")) for entry in said(store)]


BAD: dict[str, dict[str, Any]] = {
    "bytes that are no text": {"a": "\ud800"},
    "an object": {"a": object()},
    "a huge number": {"a": 10**5000},
    "a name with half a character": {"\ud800": 1},
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("decision", [allowed(), denied()])
def test_arguments_that_are_no_json(ledger: Ledger, store: FaultyStore, bad: str, decision: Decision):
    with pytest.raises(LedgerError) as caught:
        ledger.intent(call(BAD[bad]), decision)
    assert caught.value.code == "bad-entry"
    assert ledger.intent(call(), denied()).seq == 0


def test_arguments_without_end(ledger: Ledger):
    args: dict[str, Any] = {}
    args["self"] = args
    with pytest.raises(LedgerError):
        ledger.intent(call(args), allowed())
    assert ledger.intent(call(), denied()).seq == 0


def test_arguments_nested_deeply_are_recorded(ledger: Ledger, store: FaultyStore):
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    ledger.intent(call({"deep": deep}), allowed())
    ledger.flush()
    assert len(said(store)) == 1
    assert ledger.lost == 0


@pytest.mark.parametrize("decision", [allowed(), denied()])
def test_an_entry_that_is_too_large_concerns_its_caller_alone(ledger: Ledger, store: FaultyStore, decision: Decision):
    caught: list[str] = []

    def large() -> None:
        try:
            ledger.intent(call(session="s" * 70_000), decision)
        except LedgerError as error:
            caught.append(error.code)

    def small() -> None:
        ledger.intent(call(), denied())

    threads = [threading.Thread(target=large if number % 2 else small) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert caught == ["entry-too-large"] * 6
    assert len(said(store)) == 6


def test_very_many_arguments(ledger: Ledger, store: FaultyStore):
    args = {f"argument {number}": number for number in range(3000)}
    assert ledger.intent(call(args), denied()).seq == 0
    [entry] = said(store)
    assert list(entry["args"]) == ["$c"]
    with store.read() as view:
        assert values_of(view, entry_at(view, 0))["args"] == args


WRONG: list[dict[str, Any]] = [
    {"took": 1.5},
    {"took": 2**60},
    {"error": "e" * 70_000},
    {"error": "\ud800"},
    {"error": object()},
]


@pytest.mark.parametrize("wrong", WRONG, ids=["float", "huge", "long", "half", "object"])
def test_a_bad_outcome_is_told_and_holds_nobody_up(ledger: Ledger, store: FaultyStore, wrong: dict[str, Any]):
    receipt = ledger.intent(call(), allowed(tier=1))
    with pytest.raises(LedgerError):
        ledger.outcome(receipt.call, "done", **wrong)
    assert ledger.intent(call(), denied()).seq == 1
    ledger.outcome(receipt.call, "done")
    ledger.flush()
    assert results(store)[-1] == ("outcome", "done")


def test_results_ids_and_events_that_are_none(ledger: Ledger, store: FaultyStore):
    for act in (
        lambda: ledger.outcome("x", "fine"),
        lambda: ledger.outcome("x\0", "done"),
        lambda: ledger.outcome("x" * 201, "done"),
        lambda: ledger.intent(call(), denied(), call_id="a b"),
        lambda: ledger.intent(call(), denied(), call_id=""),
        lambda: ledger.event("party", {}),
        lambda: ledger.event("grant", {"x": 1.5}),
    ):
        with pytest.raises(LedgerError) as caught:
            act()
        assert caught.value.code == "bad-entry"
    assert ledger.event("grant", {"who": "x"}, {"why": "y"}).seq == 0


def test_an_id_that_comes_again_is_answered_each_time(ledger: Ledger, store: FaultyStore, slow: None):
    for _ in range(2):
        ledger.intent(call(), allowed(), call_id="again")
        ledger.outcome("again", "done")
    ledger.intent(call(), allowed(), call_id="again")
    ledger.flush()
    assert running(store) == [("again", 4)]
    ledger.intent(call(), allowed(tier=1), call_id="again")
    ledger.outcome("again", "failed")
    assert running(store) == [("again", 4)]
    assert [entry.get("intent") for entry in said(store)] == [None, 0, None, 2, None, None, 5]


def test_a_table_that_is_gone_lets_nothing_pass(ledger: Ledger, store: FaultyStore, tmp_path: Path):
    """It looks like a mistake in a statement, one entry at a time; nobody may go on as if it were recorded."""
    import sqlite3

    with sqlite3.connect(tmp_path / "state" / "remit.db") as connection:
        connection.execute("ALTER TABLE secret RENAME TO elsewhere")
    connection.close()
    ledger.intent(call({"a": 1}), allowed())
    with pytest.raises(LedgerUnavailable):
        ledger.flush()
    with pytest.raises(LedgerError):
        ledger.intent(call({"a": 1}), allowed())
    with sqlite3.connect(tmp_path / "state" / "remit.db") as connection:
        connection.execute("ALTER TABLE elsewhere RENAME TO secret")
    connection.close()
    ledger.intent(call({"a": 2}), denied())
    assert len(said(store)) == 2, "what was queued was kept"
    assert ledger.lost == 0


@pytest.mark.parametrize("fault", ["begin", "end", "lost"])
def test_a_store_that_fails_denies_everybody_and_recovers(ledger: Ledger, store: FaultyStore, fault: str):
    queued = ledger.intent(call(), allowed())
    ledger.flush()
    kept = ledger.intent(call(), allowed())
    store.fault = fault
    with pytest.raises(LedgerUnavailable) as caught:
        ledger.flush()
    assert caught.value.code == "ledger-unavailable"
    for decision in (allowed(), denied(), allowed(tier=3)):
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), decision)
    store.fault = None
    last = ledger.intent(call(), allowed())
    ledger.flush()
    assert [entry["call"] for entry in said(store)] == [queued.call, kept.call, last.call]
    assert ledger.intent(call(), allowed()).seq is None, "it is queued again"


def test_a_commit_that_was_kept_although_it_failed(ledger: Ledger, store: FaultyStore, slow: None):
    """The call was denied, so it did not run; what nobody waited for is there once."""
    quiet = ledger.intent(call(), allowed())
    store.fault, store.once = "kept", True
    with pytest.raises(LedgerUnavailable):
        ledger.intent(call(), allowed(tier=2), call_id="denied-after-all")
    end = time.monotonic() + 60
    while len(said(store)) < 3 and time.monotonic() < end:
        time.sleep(0.3)
        ledger.flush()
    assert [(entry["call"], entry.get("result")) for entry in said(store)] == [
        (quiet.call, None),
        ("denied-after-all", None),
        ("denied-after-all", "not-run"),
    ]
    assert running(store) == [(quiet.call, 0)]
    assert ledger.intent(call(), denied()).seq == 3


def test_commits_that_fail_again_and_again_leave_no_entry_twice(ledger: Ledger, store: FaultyStore):
    told: set[str] = set()
    for number, fault in enumerate(["kept", "lost", "end", "kept", "begin", "kept", "lost", "kept"] * 3):
        told.add(ledger.intent(call(), denied(), call_id=f"good-{number}").call)
        store.fault, store.once = fault, True
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), denied(), call_id=f"bad-{number}")
    ledger.flush()
    ledger.intent(call(), denied(), call_id="last")
    intents = [entry["call"] for entry in said(store) if entry["type"] == "intent"]
    assert len(intents) == len(set(intents))
    assert told <= set(intents)
    not_run = [entry["call"] for entry in said(store) if entry.get("result") == "not-run"]
    assert sorted(not_run) == sorted(call for call in intents if call.startswith("bad"))


def test_a_store_that_hangs(store: FaultyStore):
    """Whoever writes waits for its disk; everybody else is told in time, and their calls did not run."""
    ledger = Ledger(store, point="test", deadline=0.3)
    store.fault = "hang"
    hung: list[Receipt] = []
    first = threading.Thread(target=lambda: hung.append(ledger.intent(call(), allowed(tier=1), call_id="hung")))
    first.start()
    while ledger._turn is None:
        time.sleep(0.01)
    with pytest.raises(LedgerUnavailable):
        ledger.intent(call(), denied(), call_id="behind")
    store.fault = None
    store.release.set()
    first.join()
    end = time.monotonic() + 60
    while len(said(store)) < 3 and time.monotonic() < end:
        time.sleep(0.02)
    by_call = [(entry["call"], entry.get("result")) for entry in said(store)]
    assert by_call == [("hung", None), ("behind", None), ("behind", "not-run")]
    assert [receipt.seq for receipt in hung] == [0]
    assert running(store) == [("hung", 0)]
    ledger.close()


def test_a_thread_that_meets_the_unexpected_does_not_die(store: FaultyStore):
    broken = threading.Event()

    def clock() -> int:
        if broken.is_set() and threading.current_thread().name == "remit-ledger":
            raise RuntimeError("no clock")
        return time.time_ns()

    ledger = Ledger(store, point="test", clock=clock, heartbeat=0.05)
    ledger.intent(call(), denied())
    broken.set()
    _until(lambda: ledger._down)
    assert ledger.intent(call(), allowed()).seq is not None, "nobody relies on the thread"
    broken.clear()
    beats = results(store).count(("heartbeat", None))
    _until(lambda: results(store).count(("heartbeat", None)) > beats)
    ledger.close()


def _until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("kept", [False, True])
def test_a_caller_that_is_interrupted_while_it_writes(ledger: Ledger, store: FaultyStore, slow: None, kept: bool):
    """Its tool does not run, and the log says so if it has the call; what others had queued is there once."""
    quiet = ledger.intent(call(), allowed())

    @contextmanager
    def interrupted(look: str | None = None) -> Iterator[Transaction]:
        with FaultyStore.write(store, look) as change:
            yield change
            if not kept:
                raise KeyboardInterrupt
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            ledger.intent(call(), allowed(tier=2), call_id="interrupted")
    ledger.intent(call(), denied(), call_id="next")
    ledger.flush()
    found = [(entry["call"], entry.get("result")) for entry in said(store)]
    assert sorted(found, key=str) == sorted(
        [(quiet.call, None), ("next", None), *([("interrupted", None), ("interrupted", "not-run")] if kept else [])],
        key=str,
    )
    assert running(store) == [(quiet.call, 0)]


def test_a_call_from_within_a_write_is_refused_at_once(ledger: Ledger, store: FaultyStore):
    """As of a signal handler, or of what the garbage collector runs: it can't wait for its own thread."""
    told: list[str] = []

    def also(change: Transaction) -> None:
        with pytest.raises(LedgerUnavailable) as caught:
            ledger.intent(call(), denied(), call_id="within")
        told.append(str(caught.value))

    ledger.intent(call(), allowed(tier=1), call_id="around", also=also)
    assert ["this very thread" in one for one in told] == [True]
    assert [entry["call"] for entry in said(store)] == ["around"]


def test_a_ledger_that_is_stopped(ledger: Ledger):
    ledger.stopped = LedgerError("cut", code="ledger-truncated")
    for decision in (allowed(), denied()):
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), decision)
