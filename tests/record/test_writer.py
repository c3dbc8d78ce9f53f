"""The writer: what is on disk when, what callers are told, and that nobody pays for another one's mistake."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.model.decision import Decision
from remit.model.terms import ASK
from remit.record import writer as module
from remit.record.append import append
from remit.record.batch import Receipt
from remit.record.entry import Entry, event_entry, outcome_entry
from remit.record.errors import LedgerError, LedgerUnavailable
from remit.record.reader import entry_at, values_of
from remit.record.writer import Ledger
from remit.store import Store
from tests.record.stores import FaultyStore, allowed, call, denied, new_store, said


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    found = FaultyStore(new_store(tmp_path))
    yield found
    found.fault = None
    found.release.set()
    found.close()


@pytest.fixture
def ledger(store: FaultyStore) -> Iterator[Ledger]:
    found = Ledger(store, point="test", deadline=5)
    yield found
    store.fault = None
    store.release.set()
    found.close()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches wait long for others: what is on disk earlier was made durable."""
    monkeypatch.setattr(module, "LINGER", 30.0)


def running(store: Store) -> list[tuple[Any, ...]]:
    with store.read() as view:
        return view.rows("SELECT call, seq FROM running ORDER BY seq")


def results(store: Store) -> list[tuple[Any, Any]]:
    return [(entry["type"], entry.get("result")) for entry in said(store)]


def test_intent_and_outcome(ledger: Ledger, store: FaultyStore):
    receipt = ledger.intent(call({"file": "a"}, session="s"), allowed(tier=1, rule="r"))
    assert (receipt.seq, receipt.head is not None and receipt.head.size) == (0, 1)
    assert running(store) == [(receipt.call, 0)]
    ledger.outcome(receipt.call, "done", took=12)
    ledger.flush()
    intent, outcome = said(store)
    assert (intent["type"], intent["call"], intent["session"], intent["rule"]) == ("intent", receipt.call, "s", "r")
    assert (outcome["intent"], outcome["result"], outcome["took"]) == (0, "done", 12)
    assert intent["writer"] == outcome["writer"] == ledger.writer
    assert running(store) == []


DURABLE = {
    "tier 1": allowed(tier=1),
    "data tier 2": allowed(data_tier=2),
    "not understood": allowed(grade="not understood"),
    "would be denied": allowed(would="deny"),
    "denied": denied(),
    "asked": Decision(ASK, "writer", "read", "asks", "ask"),
}


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("decision", DURABLE)
def test_what_counts_is_on_disk_when_it_returns(ledger: Ledger, store: FaultyStore, decision: str):
    receipt = ledger.intent(call(), DURABLE[decision])
    assert receipt.seq == 0
    assert [entry["call"] for entry in said(store)] == [receipt.call]


@pytest.mark.usefixtures("slow")
@pytest.mark.parametrize("decision", [allowed(), allowed(data_tier=1), allowed(grade="project code")])
def test_harmless_reads_are_queued(ledger: Ledger, store: FaultyStore, decision: Decision):
    receipt = ledger.intent(call(), decision)
    assert (receipt.seq, receipt.head) == (None, None)
    assert said(store) == []
    ledger.flush()
    assert [entry["call"] for entry in said(store)] == [receipt.call]


def test_queued_ones_follow_within_the_time_said(ledger: Ledger, store: FaultyStore):
    ledger.intent(call(), allowed())
    end = time.monotonic() + 5
    while not said(store) and time.monotonic() < end:
        time.sleep(0.01)
    assert len(said(store)) == 1


@pytest.mark.usefixtures("slow")
def test_a_durable_one_takes_the_queued_ones_along(ledger: Ledger, store: FaultyStore):
    first = ledger.intent(call(), allowed())
    second = ledger.intent(call(), denied())
    assert [entry["call"] for entry in said(store)] == [first.call, second.call]
    assert second.seq == 1


@pytest.mark.usefixtures("slow")
def test_a_full_queue_waits(ledger: Ledger, store: FaultyStore, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "QUEUE", 10)
    receipts = [ledger.intent(call(), allowed()) for _ in range(11)]
    assert [receipt.seq for receipt in receipts] == [None] * 10 + [10]
    assert len(said(store)) == 11


@pytest.mark.usefixtures("slow")
def test_arguments_are_those_that_were_decided(ledger: Ledger, store: FaultyStore):
    args: dict[str, Any] = {"files": ["a"], "deep": {"x": [1]}}
    ledger.intent(call(args), allowed())
    args["files"].append("b")
    args["deep"]["x"] = "changed"
    args["new"] = 1
    ledger.flush()
    with store.read() as view:
        values = values_of(view, entry_at(view, 0))
    assert values == {"args.files": ["a"], "args.deep": {"x": [1]}}


def test_many_threads(ledger: Ledger, store: FaultyStore):
    receipts: list[Receipt] = []

    def work(number: int) -> None:
        for turn in range(20):
            receipt = ledger.intent(call({"n": turn}), denied() if turn % 2 else allowed())
            receipts.append(receipt)
            if not turn % 2:
                ledger.outcome(receipt.call, "done")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger.flush()
    found = said(store)
    assert len(found) == 16 * 30
    for receipt in receipts:
        if receipt.seq is not None:
            assert found[receipt.seq]["call"] == receipt.call
            assert receipt.head is not None
            assert receipt.head.size > receipt.seq
    assert len({receipt.call for receipt in receipts}) == 320
    intents = {entry["call"]: place for place, entry in enumerate(found) if entry["type"] == "intent"}
    assert all(entry["intent"] == intents[entry["call"]] for entry in found if entry["type"] == "outcome")
    assert running(store) == []


# Entries that are wrong


BAD = {
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


# Faults


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
        start = time.monotonic()
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), decision)
        assert time.monotonic() - start < 2
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
    end = time.monotonic() + 5
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
    ledger = Ledger(store, point="test", deadline=0.3)
    store.fault = "hang"
    start = time.monotonic()
    with pytest.raises(LedgerUnavailable):
        ledger.intent(call(), allowed(tier=1), call_id="hung")
    with pytest.raises(LedgerUnavailable):
        ledger.intent(call(), denied(), call_id="behind")
    assert time.monotonic() - start < 1.5
    store.fault = None
    store.release.set()
    end = time.monotonic() + 5
    while len(said(store)) < 4 and time.monotonic() < end:
        time.sleep(0.02)
    by_call = [(entry["call"], entry.get("result")) for entry in said(store)]
    assert sorted(by_call, key=str) == sorted(
        [("hung", None), ("hung", "not-run"), ("behind", None), ("behind", "not-run")], key=str
    )
    assert running(store) == []
    ledger.close()


def test_a_thread_that_meets_the_unexpected_does_not_die(store: FaultyStore):
    broken = threading.Event()

    def clock() -> int:
        if broken.is_set() and threading.current_thread().name == "remit-ledger":
            raise RuntimeError("no clock")
        return time.time_ns()

    ledger = Ledger(store, point="test", clock=clock)
    ledger.intent(call(), denied())
    broken.set()
    ledger.intent(call(), allowed())
    with pytest.raises(LedgerUnavailable):
        ledger.flush()
    broken.clear()
    ledger.intent(call(), denied())
    ledger.close()


def test_a_ledger_that_is_stopped(ledger: Ledger):
    ledger.stopped = LedgerError("cut", code="ledger-truncated")
    for decision in (allowed(), denied()):
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), decision)


# Ends


@pytest.mark.usefixtures("slow")
def test_closing_writes_what_is_queued(ledger: Ledger, store: FaultyStore):
    for _ in range(30):
        ledger.intent(call(), allowed())
    ledger.close()
    ledger.close()
    assert len(said(store)) == 30
    for decision in (allowed(), denied()):
        with pytest.raises(LedgerUnavailable):
            ledger.intent(call(), decision)


def test_closing_says_what_could_not_be_written(store: FaultyStore, slow: None):
    ledger = Ledger(store, point="test")
    ledger.intent(call(), allowed())
    store.fault = "end"
    with pytest.raises(LedgerUnavailable):
        ledger.close()
    assert said(store) == []


def test_threads_that_go_on_while_it_closes_lose_nothing_that_was_taken(store: FaultyStore):
    for _ in range(10):
        ledger = Ledger(store, point="test")
        taken: list[str] = []

        def work(ledger: Ledger = ledger, taken: list[str] = taken) -> None:
            try:
                while True:
                    taken.append(ledger.intent(call(), allowed()).call)
            except LedgerUnavailable:
                return

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        ledger.close()
        for thread in threads:
            thread.join()
        written = [entry["call"] for entry in said(store) if entry["writer"] == ledger.writer]
        assert sorted(written) == sorted(taken)


PROGRAM = """
import sys
from pathlib import Path
from remit.record import writer
from remit.record.writer import Ledger
from tests.record.stores import allowed, call, new_store
writer.LINGER = 30
ledger = Ledger(new_store(Path(sys.argv[1])), point="x")
for _ in range(40):
    ledger.intent(call(), allowed())
"""


def test_a_program_that_ends_in_order_loses_nothing(tmp_path: Path):
    here = Path(__file__).parents[2]
    subprocess.run([sys.executable, "-c", PROGRAM, str(tmp_path)], cwd=here, check=True, timeout=60)
    assert len(said(new_store(tmp_path))) == 40


def test_a_forked_child_writes_for_itself(ledger: Ledger, store: FaultyStore):
    mine = ledger.intent(call(), allowed(tier=1))
    ledger.flush()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            ledger.flush()
            ledger.outcome(mine.call, "failed")
            ledger.event("start", {"point": "child"})
            ledger.intent(call(), allowed())
            ledger.close()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ledger.intent(call(), denied())
    found = said(store)
    assert [entry["type"] for entry in found] == ["intent", "outcome", "start", "intent", "intent"]
    assert [entry["writer"] == ledger.writer for entry in found] == [True, False, False, False, True]
    assert len({entry["call"] for entry in found if entry["type"] == "intent"}) == 3


def test_two_ledgers_share_a_store(ledger: Ledger, store: FaultyStore):
    other = Ledger(store, point="other")
    for number in range(20):
        receipt = (ledger, other)[number % 2].intent(call(), denied())
        assert receipt.seq == number
        assert receipt.head is not None
        assert receipt.head.size == number + 1
    other.close()
    assert len(said(store)) == 20


# The rest


def test_the_clock_may_go_backwards(store: FaultyStore):
    times = iter(range(2_000_000_000_000_000_000, 0, -86_400_000_000_000))
    ledger = Ledger(store, point="test", clock=lambda: next(times))
    for _ in range(10):
        ledger.intent(call(), denied())
    ledger.close()
    moments = [entry["at"] for entry in said(store)]
    assert moments == sorted(moments, reverse=True)


def test_the_second_sink_gets_everything_and_its_errors_are_counted(store: FaultyStore):
    got: list[tuple[int, bytes]] = []

    def sink(entries: list[tuple[int, bytes]]) -> None:
        got.extend(entries)
        if len(got) == 2:
            raise OSError("no room")

    ledger = Ledger(store, point="test", sink=sink)
    for _ in range(3):
        assert ledger.intent(call(), denied()).seq is not None
    with store.read() as view:
        assert got == [(seq, entry_at(view, seq).body) for seq in range(3)]
    assert ledger.sink_errors == 1
    ledger.close()


def test_heartbeats_come_when_nothing_else_does(store: FaultyStore):
    ledger = Ledger(store, point="test", heartbeat=0.1)
    time.sleep(0.8)
    beats = [entry for entry in said(store) if entry["type"] == "heartbeat"]
    assert 3 <= len(beats) <= 8
    assert beats[0]["point"] == "test"
    ledger.close()


def test_calls_of_a_process_that_is_gone_are_unknown_once(store: FaultyStore):
    with store.write() as change:
        change.run(
            "INSERT INTO writer_process (id, host, boot, pid, born, seen) VALUES (?, ?, ?, ?, ?, ?)",
            *("elsewhere-host", "another-host", "b", 1, "1", "x"),
        )
        for writer in ("gone", "elsewhere-host", "elsewhere"):
            body = event_entry("start", 0, writer, {}, {}).body
            append(change, [Entry(body, (), f"call-of-{writer}", "intent", opens=True)], writer)
    ledger = Ledger(store, point="test")
    mine = ledger.intent(call(), allowed(tier=1))
    assert [ledger.recover(), ledger.recover()] == [1, 0]
    assert said(store)[-1]["call"] == "call-of-gone"
    assert said(store)[-1]["result"] == "unknown"
    assert (mine.call, mine.seq) in running(store), "its process lives"
    assert {name for name, _ in running(store)} == {mine.call, "call-of-elsewhere-host", "call-of-elsewhere"}
    ledger.close()
    later = Ledger(store, point="test")
    assert later.recover() == 1, "it was closed with a call that had no outcome"
    later.close()


def test_recovering_from_a_store_that_fails(ledger: Ledger, store: FaultyStore):
    with store.write() as change:
        append(change, [Entry(b'{"x":1}', (), "lost", "intent", opens=True)], "gone")
    for fault in ("end", "kept"):
        store.fault = fault
        with pytest.raises(LedgerUnavailable):
            ledger.recover()
        store.fault = None
    assert ledger.recover() == 0, "it was kept the second time"
    assert [entry["call"] for entry in said(store)[1:]] == ["lost"]


def test_a_head_that_fits_nothing_is_refused(ledger: Ledger, store: FaultyStore):
    ledger.intent(call(), denied())
    with store.write() as change:
        change.run("UPDATE head SET size = 7")
    with pytest.raises(LedgerUnavailable):
        ledger.intent(call(), denied())
    with store.write() as change:
        change.run("UPDATE head SET size = 1")
    assert ledger.intent(call(), denied()).seq == 1


def test_outcomes_keep_within_an_entry():
    with pytest.raises(LedgerError):
        outcome_entry("c", 0, "failed", 0, "w", error="e" * 70_000)
