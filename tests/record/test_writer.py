"""The writer: what is on disk when, what callers are told, and that nobody pays for another one's mistake."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from remit.model.decision import Decision
from remit.model.terms import ASK
from remit.record import writer as module
from remit.record.append import append
from remit.record.batch import Receipt
from remit.record.canonical import encode
from remit.record.entry import Entry, event_entry, outcome_entry
from remit.record.errors import LedgerError, LedgerUnavailable
from remit.record.reader import entry_at, values_of
from remit.record.running import running_calls
from remit.record.writer import Ledger
from remit.store import Store
from tests.record.stores import FaultyStore, allowed, call, denied, new_store, said


def running(store: Store) -> list[tuple[Any, ...]]:
    with store.read() as view:
        return [(one.call, one.seq) for one in running_calls(view)]


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


@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.more)])
def test_threads_that_go_on_while_it_closes_lose_nothing_that_was_taken(store: FaultyStore, rounds: int):
    for _ in range(rounds):
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
    started, beats = time.monotonic(), list[dict[str, Any]]()
    while len(beats) < 3:
        time.sleep(0.05)
        beats = [entry for entry in said(store) if entry["type"] == "heartbeat"]
    assert len(beats) <= (time.monotonic() - started) / 0.1 + 1
    assert beats[0]["point"] == "test"
    ledger.close()


def _running(call: str, writer: str) -> Entry:
    """The intent of a call that may run."""
    body = encode({"type": "intent", "call": call, "writer": writer, "decision": "allow"})
    return Entry(body, (), call, "intent", opens=True)


def test_a_row_of_no_call_gets_no_outcome(store: FaultyStore):
    """Anybody who can write to the store can add one."""
    with store.write() as change:
        append(change, [event_entry("start", 0, "x", {}, {})], "x")
        for seq in (0, 10**12):
            change.run("INSERT INTO running (call, seq, writer) VALUES (?, ?, ?)", f"no-{seq}", seq, "gone")
    ledger = Ledger(store, point="test")
    assert ledger.recover() == 0
    assert running(store) == []
    ledger.close()


def test_calls_of_a_process_that_is_gone_are_unknown_once(store: FaultyStore):
    with store.write() as change:
        change.run(
            "INSERT INTO writer_process (id, host, boot, pid, seen) VALUES (?, ?, ?, ?, ?)",
            *("elsewhere-host", "another-host", "b", 1, f"{time.time_ns() // 1_000_000} 0"),
        )
        for writer in ("gone", "elsewhere-host", "elsewhere"):
            append(change, [_running(f"call-of-{writer}", writer)], writer)
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
        append(change, [_running("lost", "gone")], "gone")
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
