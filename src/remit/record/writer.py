"""The writer: takes what enforcement points say, and commits it in groups.

    ledger = Ledger(store, point="guard")
    receipt = ledger.intent(call, decision)     # on disk when this returns, or queued where that is allowed
    ledger.outcome(receipt.call, "done")

A durable entry waits for its group; whatever arrives meanwhile is the next group, so that many callers share one commit.
A batched entry costs its caller only the serialising: at most LINGER seconds or QUEUE entries of these can be lost when
the machine dies, and none of them when only the program ends in order. When the store can't be written, every caller gets
`LedgerUnavailable`, also those that would be batched, until a commit succeeds again.
"""

from __future__ import annotations

import itertools
import os
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from remit.model.call import Call
from remit.model.decision import Decision
from remit.record.append import Head, append
from remit.record.batch import Batch, Item, Receipt
from remit.record.entry import (
    Entry,
    durability,
    event_entry,
    intent_entry,
    intent_snapshot,
    outcome_entry,
)
from remit.record.errors import LedgerError, LedgerUnavailable
from remit.record.processes import enter, leave, unfinished
from remit.store.errors import StoreError
from remit.store.interface import Store

LINGER = 0.02
QUEUE = 1_000
GROUP = 512
RETRY = 0.25
Sink = Callable[[list[tuple[int, bytes]]], None]


class Ledger:
    """The one road into the log for this process. Safe to use from many threads, and after a fork."""

    def __init__(
        self,
        store: Store,
        *,
        point: str,
        deadline: float = 5.0,
        heartbeat: float | None = None,
        sink: Sink | None = None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.store, self.point = store, point
        self.deadline, self.heartbeat, self.sink, self.clock = deadline, heartbeat, sink, clock
        self.sink_errors = 0
        self.head: Head | None = None
        """The newest head that this process has seen."""
        self._pid = 0
        self._start()

    # What enforcement points say

    def intent(self, call: Call, decision: Decision, *, call_id: str | None = None) -> Receipt:
        """Records a decision before the tool runs. Raises LedgerUnavailable: then the call is denied."""
        name = call_id or f"{self.writer}-{next(self._numbers):x}"
        snapshot = intent_snapshot(name, call, decision, self.point, self._now())
        waited = durability(decision) == "durable"
        return self._put(Item(snapshot=snapshot, waited=waited, call=name))

    def outcome(self, call: str, result: str, *, error: str | None = None, took: int | None = None) -> Receipt:
        """Records how a call ended; `result` is one of RESULTS."""
        at, writer = self._now(), self.writer

        def build(place: Callable[[str], int | None]) -> Entry:
            return outcome_entry(call, place(call), result, at, writer, error=error, took=took)

        return self._put(Item(pending=build, waited=result != "done", call=call))

    def event(self, kind: str, about: Mapping[str, Any], private: Mapping[str, Any] | None = None) -> Receipt:
        """Records anything else that counts; on disk when this returns."""
        entry = event_entry(kind, self._now(), self.writer, about, private or {})
        return self._put(Item(pending=entry, waited=True, call=""))

    def flush(self) -> None:
        """Everything that was queued is on disk. Raises LedgerUnavailable."""
        with self._lock:
            batch = self._open
            waiting = bool(batch.items) or self._writing
            batch.urgent = True
        if waiting:
            self._wake.set()
            self._wait(batch)

    def close(self) -> None:
        """Writes what is queued, and ends the thread. Raises LedgerUnavailable if something could not be written."""
        if self._pid != os.getpid():
            return
        try:
            self.flush()
        finally:
            self._ending = True
            self._wake.set()
            self._thread.join(self.deadline)
            leave(self.store, self.writer)

    def recover(self) -> int:
        """Writes `outcome: unknown` for calls whose process is gone; returns how many. Raises LedgerUnavailable."""
        try:
            with self.store.write() as change:
                lost = unfinished(change, self.writer)
                entries = [
                    outcome_entry(call, seq, "unknown", self._now(), self.writer, error="the process ended")
                    for call, seq in lost
                ]
                if entries:
                    append(change, entries, self.writer)
                return len(entries)
        except StoreError as error:
            raise LedgerUnavailable(f"the ledger can't be written: {error}") from None

    # The queue

    def _put(self, item: Item) -> Receipt:
        if self._pid != os.getpid():
            self._start()
        with self._lock:
            if self._ending:
                raise LedgerUnavailable("the ledger is closed")
            waited = item.waited or self._down or len(self._open.items) >= QUEUE
            batch = self._open
            batch.items.append(item)
            item.waited = waited
            wake = waited or len(batch.items) == 1
            batch.urgent = batch.urgent or waited
        if wake:
            self._wake.set()
        if not waited:
            return Receipt(item.call)
        try:
            self._wait(batch)
        except LedgerUnavailable:
            item.abandoned = True
            raise
        if item.error is not None:
            raise item.error
        return Receipt(item.call, item.seq, batch.head)

    def _wait(self, batch: Batch) -> None:
        if not batch.done.wait(self.deadline):
            raise LedgerUnavailable("the ledger did not answer in time")
        if batch.error is not None:
            raise LedgerUnavailable(f"the ledger can't be written: {batch.error}")

    # The thread

    def _start(self) -> None:
        """Begins anew, also in a child after a fork: what the parent had queued is the parent's to write."""
        self.writer = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._open = Batch()
        self._down = self._ending = self._writing = False
        self._pid = os.getpid()
        self._entered = False
        self._numbers = itertools.count(1)
        self._thread = threading.Thread(target=self._run, name="remit-ledger", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        last = time.monotonic()
        while True:
            pause = RETRY if self._down else self.heartbeat
            self._wake.wait(pause)
            self._wake.clear()
            if not self._open.urgent and not self._ending and not self._down:
                self._linger()
            with self._lock:
                batch, self._open = self._open, Batch()
                self._writing = True
            if not batch.items and self._due(last):
                beat = event_entry("heartbeat", self._now(), self.writer, {"point": self.point}, {})
                batch.items.append(Item(pending=beat, waited=False, call=""))
            if batch.items:
                self._commit(batch)
                last = time.monotonic()
            else:
                batch.done.set()
            self._writing = False
            if self._ending and not self._open.items:
                return

    def _linger(self) -> None:
        """Gives others the time to join, until somebody waits or enough are there."""
        end = time.monotonic() + LINGER
        while not self._open.urgent and len(self._open.items) < GROUP and not self._ending:
            left = end - time.monotonic()
            if left <= 0 or self._wake.wait(left):
                self._wake.clear()
                if left <= 0:
                    return

    def _due(self, last: float) -> bool:
        return self.heartbeat is not None and time.monotonic() - last >= self.heartbeat

    def _commit(self, batch: Batch) -> None:
        items = self._built(batch.items)
        try:
            if items:
                with self.store.write() as change:
                    if not self._entered:
                        enter(change, self.writer)
                    pending = [item.pending for item in items if item.pending is not None]
                    places, head = append(change, pending, self.writer)
                for item, seq in zip(items, places, strict=True):
                    item.seq = seq
                batch.head = self.head = head
                self._entered = True
            self._down = False
        except (StoreError, LedgerError) as error:
            self._failed(batch, items, error)
        except Exception as error:  # whatever it is: callers must not wait for a thread that died
            self._failed(batch, items, error)
        else:
            self._after(items)
        batch.done.set()

    def _built(self, items: list[Item]) -> list[Item]:
        """The items whose entries could be made; what is wrong with one concerns its caller alone."""
        good = []
        for item in items:
            try:
                if item.pending is None and item.snapshot is not None:
                    item.pending = intent_entry(item.snapshot, self.writer)
                good.append(item)
            except LedgerError as error:
                item.error = error
            except Exception as error:
                item.error = LedgerError(f"the entry can't be made ({type(error).__name__})", code="bad-entry")
        return good

    def _failed(self, batch: Batch, items: list[Item], error: Exception) -> None:
        """Those who wait are told; what nobody waits for is kept for the next attempt."""
        self._down = True
        batch.error = error
        kept = [item for item in items if not item.waited]
        with self._lock:
            self._open.items[:0] = kept

    def _after(self, items: list[Item]) -> None:
        """A call that was denied because nobody waited any longer did not run."""
        late = [item for item in items if item.abandoned and item.snapshot is not None]
        for item in late:
            entry = outcome_entry(item.call, item.seq, "not-run", self._now(), self.writer)
            with self._lock:
                self._open.items.append(Item(pending=entry, waited=False, call=item.call))
            self._wake.set()
        if self.sink is not None:
            try:
                self.sink([(item.seq or 0, item.pending.body) for item in items if isinstance(item.pending, Entry)])
            except Exception:  # the second sink is a convenience; the log itself is written
                self.sink_errors += 1

    def _now(self) -> int:
        return self.clock()
