"""The writer: takes what enforcement points say, and commits it in groups.

    ledger = Ledger(store, point="guard")
    receipt = ledger.intent(call, decision)     # on disk when this returns, or queued where that is allowed
    ledger.outcome(receipt.call, "done")

A durable entry is committed by its own caller, together with all that is queued; whoever comes meanwhile is the next
group, which one of them commits, so that many callers share one commit. A batched entry costs its caller only the
serialising: when the machine dies, at most LINGER seconds or QUEUE entries of these are lost, and the group that is
just being written; none when the program ends in order. When the store can't be written, every caller gets
`LedgerUnavailable`, also those that would be batched, until a commit succeeds.
"""

from __future__ import annotations

import atexit
import itertools
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.digest import expect_much
from remit.record.batch import Also, Batch, Item, Receipt
from remit.record.committer import Committer, OnBreak, Sink
from remit.record.entry import RESULTS, Entry, durability, event_entry, intent_snapshot, outcome_entry
from remit.record.errors import LedgerError, LedgerUnavailable
from remit.record.ids import checked_id
from remit.record.lease import RENEW, Lease, recover
from remit.record.tree import CompactRange
from remit.store.errors import StoreError
from remit.store.interface import Store
from remit.store.process import here

LINGER = 0.02
QUEUE = 1_000
GATHER = 0.002
NOBODY = 0
"""No thread has this number."""
RETRY = 0.25
LARGE = 16_384
"""Bytes: what is as large as that may be too large for an entry, so its caller waits to be told."""


class Ledger:
    """The one road into the log for this process. Safe to use from many threads, and after a fork."""

    def __init__(
        self,
        store: Store,
        *,
        point: str,
        deadline: float = 5.0,
        heartbeat: float | None = None,
        elsewhere: bool = False,
        sink: Sink | None = None,
        clock: Callable[[], int] = time.time_ns,
        on_break: OnBreak | None = None,
        state: Path | None = None,
    ) -> None:
        """`on_break` is told when the log was cut or forked. `state` is where the lock of this process lies."""
        self.store, self.point = store, point
        self.deadline, self.heartbeat, self.sink, self.clock = deadline, heartbeat, sink, clock
        self.on_break, self.state, self.elsewhere = on_break, state, elsewhere
        """The outcomes of these calls are reported by others, as by the hooks of a host: a stop leaves them open."""
        self._tree: CompactRange | None = None
        """The newest that this process has seen."""
        self.stopped: LedgerError | None = None
        """Why nothing may be written any more: the log is not the one that was signed."""
        self._pid = 0
        self._ending = self._down = self._resting = False
        self._open = Batch()
        self._turn: int | None = None
        """The thread that writes, or NOBODY who has woken yet to do so."""
        self._failure: BaseException | None = None
        """Why the last batch was not written, if it was not."""
        expect_much()
        self._thread: threading.Thread
        self._committer: Committer
        self._lease: Lease
        self._start()

    # What enforcement points say

    def intent(
        self, call: Call, decision: Decision, *, call_id: str | None = None, also: Also | None = None
    ) -> Receipt:
        """Records a decision before the tool runs. Raises LedgerUnavailable: then the call is denied.

        `also` is done in the same transaction; what it raises propagates, and then nothing is recorded.
        """
        if self._pid != here[0]:
            self._start()
        name = f"{self.writer}-{next(self._numbers):x}" if call_id is None else checked_id(call_id)
        snapshot = intent_snapshot(name, call, decision, self.point, self.clock())
        waited = also is not None or durability(decision) == "durable" or len(snapshot.said) > LARGE
        return self._put(Item(snapshot=snapshot, waited=waited, call=name, also=also))

    def outcome(self, call: str, result: str, *, error: str | None = None, took: int | None = None) -> Receipt:
        """Records how a call ended; `result` is one of RESULTS. Raises LedgerError."""
        if result not in RESULTS:
            raise LedgerError(f"no call ends with `{result}`", code="bad-entry")
        self._here()
        at, writer = self.clock(), self.writer
        checked_id(call)
        outcome_entry(call, None, result, at, writer, error=error, took=took)  # what is wrong with it is told here

        def build(place: Callable[[str], int | None]) -> Entry:
            return outcome_entry(call, place(call), result, at, writer, error=error, took=took)

        return self._put(Item(pending=build, waited=result != "done", call=call))

    def queue_intent(self, call: Call, decision: Decision) -> Receipt | None:
        """Queues a decision that nobody has to wait for; None: `intent` must be used.

        Raises LedgerError for arguments that can't be written down.
        """
        if self._pid != here[0]:
            self._start()
        if durability(decision) == "durable":
            return None
        name = f"{self.writer}-{next(self._numbers):x}"
        snapshot = intent_snapshot(name, call, decision, self.point, self.clock())
        if len(snapshot.said) > LARGE:
            return None
        return Receipt(name) if self._queue(Item(snapshot=snapshot, waited=False, call=name)) else None

    def queue_done(self, call: str, took: int) -> bool:
        """Queues that a call of `queue_intent` has run; False: `outcome` must be used."""
        return self._pid == here[0] and self._queue(
            Item(pending=partial(_done, call, self.clock(), self.writer, took), waited=False, call=call)
        )

    def event(self, kind: str, about: Mapping[str, Any], private: Mapping[str, Any] | None = None) -> Receipt:
        """Records anything else that counts; on disk when this returns. Raises LedgerError."""
        self._here()
        entry = event_entry(kind, self.clock(), self.writer, about, private or {})
        return self._put(Item(pending=entry, waited=True, call=""))

    def flush(self) -> None:
        """Everything that was queued is on disk. Raises LedgerUnavailable."""
        self._here()
        self._wait_for_all()

    def close(self) -> None:
        """Writes what is queued, and ends the thread. Raises LedgerUnavailable if something could not be written."""
        if self._pid != here[0] or self._ending:
            return
        atexit.unregister(self._at_exit)
        with self._lock:
            self._ending = True  # whatever is queued was queued before: the thread finds it
        try:
            self._wait_for_all()
            self._ring()
            self._thread.join(self.deadline)
            if self._open.items:
                raise LedgerUnavailable("the ledger was closed with entries that could not be written")
        finally:
            self._ring()
            self._lease.release(self.store)

    def recover(self) -> int:
        """Writes `outcome: unknown` for calls whose process is gone; returns how many. Raises LedgerUnavailable."""
        self._here()
        try:
            return recover(self.store, self.state, self.writer, self.clock)
        except StoreError as error:
            raise LedgerUnavailable(f"the ledger can't be written: {error}") from None

    @property
    def lost(self) -> int:
        """Entries that nobody waited for and that could not be made or kept: each is a mistake in this program."""
        return self._committer.lost

    @property
    def sink_errors(self) -> int:
        """How often the second sink failed."""
        return self._committer.sink_errors

    # The queue

    def _queue(self, item: Item) -> bool:
        """Whether the item is queued: not if the queue is full or can't be written right now."""
        with self._lock:
            items = self._open.items
            if self._down or self._ending or self.stopped is not None or len(items) >= QUEUE:
                return False
            items.append(item)
            rests, self._resting = self._resting, False
        if rests:
            self._ring()
        return True

    def _put(self, item: Item) -> Receipt:
        if self.stopped is not None:
            raise LedgerUnavailable(f"nothing can be recorded: {self.stopped}")
        if not item.waited and self._queue(item):
            return Receipt(item.call)
        batch = self._written(item)
        if batch is None:
            raise LedgerUnavailable("the ledger is closed")
        if item.error is not None:
            raise item.error
        return Receipt(item.call, item.seq, batch.tree or self._tree)

    def _wait_for_all(self) -> None:
        """Everything that is queued now is written. Raises LedgerUnavailable."""
        if self._written(Item(waited=True, call=""), ending=True) is None and self._open.error is not None:
            raise _unavailable(self._open)

    # Whose turn it is: one thread writes at a time, the others gather in the open batch

    def _written(self, item: Item, *, ending: bool = False) -> Batch | None:
        """The batch that holds the item, written; None if the ledger is closed. Raises LedgerUnavailable.

        Whoever finds nobody writing writes the open batch itself. The others wait, and the first of them is next.
        """
        item.waited = True
        with self._lock:
            if self._open.over or (self._ending and not ending):
                return None
            batch = self._open
            batch.items.append(item)
            first = self._turn is None
            if first:
                self._turn = threading.get_ident()
            elif self._turn == threading.get_ident():
                batch.items.remove(item)  # a signal handler, or what the garbage collector calls
                raise LedgerUnavailable("the ledger is being written by this very thread")
            else:
                item.waiting = waiting = threading.Lock()
                waiting.acquire()
        if first or self._is_next(item, waiting):
            try:
                self._take_turn()
            except BaseException:
                self._give_up(item)
                raise
        if batch.error is not None or not batch.over:
            with self._lock:
                item.abandoned = item.seq is None
            if item.abandoned:
                raise _unavailable(batch)
        return batch

    def _is_next(self, item: Item, waiting: threading.Lock) -> bool:
        """Waits until the item is written, or it is its caller's turn to write; which of them it is."""
        try:
            if waiting.acquire(timeout=self.deadline):
                return item.leads
        except BaseException:
            self._give_up(item)
            if item.leads:
                self._take_turn()
            raise
        with self._lock:
            item.waiting = None  # nobody gives it the turn any more
            return item.leads

    def _give_up(self, item: Item) -> None:
        """Its caller was interrupted, and does not run the tool: if the intent stands, the outcome says so."""
        with self._lock:
            item.waiting, item.abandoned = None, item.seq is None
            if item.seq is not None and item.snapshot is not None:
                self._open.items.append(self._not_run(item))
                self._ring()

    def _take_turn(self, *, upkeep: bool = False) -> None:
        """Writes the open batch, and gives the turn on. For whoever has it. With `upkeep` also what is due anyway."""
        batch = None
        try:
            self._gather()
            with self._lock:
                self._turn = threading.get_ident()
                batch, self._open = self._open, Batch()
            self._write(batch, upkeep)
        finally:
            with self._lock:
                if batch is not None:
                    batch.finish()
                self._turn = NOBODY if self._open.next() else None
                renews = self._renews or not self._lease.is_held
                left = self._resting and (self._down or bool(self._open.items) or not renews)
            if left:  # with nobody who waits for it, or a lease that it is to renew from now on
                self._ring()

    def _gather(self) -> None:
        """Lets those join who were in the group before and come again at once; somebody alone never waits for it."""
        if self._waiters <= 1:
            return
        end = time.monotonic() + GATHER
        while len(self._open.items) < self._waiters and not (self._ending or self._down) and time.monotonic() < end:
            time.sleep(GATHER / 8)

    def _write(self, batch: Batch, upkeep: bool) -> None:
        """Commits the batch; what nobody waits for and could not be written is queued again."""
        self._waiters = len([item for item in batch.items if item.waited])
        kept: list[Item] = []
        try:
            if upkeep:
                self._keep_up(batch)
            kept = self._committer.commit(batch)
            self._down = batch.error is not None
            self._tree = batch.tree or self._tree
        except BaseException as error:  # nobody may go on as if it were written
            self._down, batch.error = True, error
            kept = [item for item in batch.items if not item.waited and item.seq is None]
            if not isinstance(error, Exception):
                raise
        finally:
            self._failure, settled = batch.error, self._committer.settled()
            if batch.items or settled:
                self._last = time.monotonic()
                self._queue_again(kept, (*batch.items, *settled))

    def _queue_again(self, kept: list[Item], done: Iterable[Item]) -> None:
        """And of calls that were denied because their callers did not wait any longer, that they did not run."""
        with self._lock:
            late = [item for item in done if item.abandoned and item.seq is not None and item.snapshot is not None]
            if kept or late:
                self._open.items[:0] = [*kept, *map(self._not_run, late)]

    def _not_run(self, item: Item) -> Item:
        item.abandoned = False
        entry = outcome_entry(item.call, item.seq, "not-run", self.clock(), self.writer)
        return Item(pending=entry, waited=False, call=item.call)

    def _keep_up(self, batch: Batch) -> None:
        """The lease is renewed where that is due, and after a pause there is a heartbeat."""
        self._lease.renew(self.store)
        if self.heartbeat is not None and not batch.items and time.monotonic() - self._last >= self.heartbeat:
            beat = event_entry("heartbeat", self.clock(), self.writer, {"point": self.point}, {})
            batch.items.append(Item(pending=beat, waited=False, call=""))

    # The thread, which writes what nobody waits for

    def _ring(self) -> None:
        """Wakes the thread."""
        with suppress(RuntimeError):  # somebody else has, just now
            self._bell.release()

    def _here(self) -> None:
        if self._pid != here[0]:
            self._start()

    def _at_exit(self) -> None:
        """The program ends in order, and nobody closed the ledger."""
        with suppress(LedgerError):
            self.close()

    def _start(self) -> None:
        """Begins anew, also in a child after a fork: what the parent had queued is the parent's to write."""
        self.writer = secrets.token_hex(8)
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._bell = threading.Lock()
        """What the thread waits for; whoever releases it wakes the thread."""
        self._bell.acquire()
        self._resting = False
        """The thread sleeps until it is woken; otherwise it looks by itself within LINGER seconds."""
        self._renews = False
        """And wakes by itself when the lease is to be renewed."""
        self._open = Batch()
        self._turn = None
        self._down = False
        self._failure = None
        self._ending = False
        self._waiters = 0
        self._last = time.monotonic()
        self._lease = Lease(self.writer, self.state, lists=self.elsewhere)
        self._committer = Committer(
            self.store, self.writer, self.sink, elsewhere=self.elsewhere, on_break=self.on_break, lease=self._lease
        )
        self._pid = here[0]
        self._thread = threading.Thread(target=self._run, name="remit-ledger", daemon=True)
        self._thread.start()
        atexit.unregister(self._at_exit)
        atexit.register(self._at_exit)

    def _run(self) -> None:
        while True:
            self._watch()
            with self._lock:
                free = self._turn is None
                if free:
                    self._turn = threading.get_ident()
            if free:  # otherwise somebody writes, and takes what is queued along
                self._take_turn(upkeep=True)
            if self._ending:
                with self._lock:
                    if self._turn is None and (self._down or not self._open.items):
                        self._open.over, self._open.error = True, self._failure if self._down else None
                        return

    def _watch(self) -> None:
        """Returns when it is woken, when an entry was queued LINGER seconds ago, and when a pause is over."""
        if self._bell.acquire(timeout=RETRY if self._down else LINGER) or self._down or self._open.items:
            return
        with self._lock:
            self._resting = not self._open.items
            pause, self._renews = self._pause(), self._lease.is_held
        if not self._resting:
            return
        woken = self._bell.acquire(timeout=-1 if pause is None else pause)
        self._resting = False
        if woken and not self._ending:
            self._bell.acquire(timeout=LINGER)  # others join

    def _pause(self) -> float | None:
        """How long nothing has to be done unless somebody comes; None: for ever."""
        if self._lease.is_held:
            return RENEW if self.heartbeat is None else min(RENEW, self.heartbeat)
        return self.heartbeat


def _done(call: str, at: int, writer: str, took: int, place: Callable[[str], int | None]) -> Entry:
    return outcome_entry(call, place(call), "done", at, writer, took=took)


def _unavailable(batch: Batch) -> LedgerUnavailable:
    if batch.error is None:
        return LedgerUnavailable("the ledger did not answer in time")
    return LedgerUnavailable(f"the ledger can't be written: {batch.error}")
