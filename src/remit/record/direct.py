"""The ledger without a thread: each entry in a transaction of its own, for a process that records one call and ends."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from typing import Any

from remit.model.call import Call
from remit.model.decision import Decision
from remit.record.append import HEAD, Appended, Pending, append, is_there, tree_of
from remit.record.batch import Also, Receipt
from remit.record.entry import Entry, event_entry, intent_entry, intent_snapshot, outcome_entry
from remit.record.errors import LedgerUnavailable
from remit.record.ids import checked_id
from remit.record.lease import ELSEWHERE
from remit.record.memory import Memory
from remit.store.errors import StoreError
from remit.store.interface import Store


class DirectLedger:
    """The same road into the log as `Ledger`, walked once. What it opens, another process closes."""

    def __init__(
        self, store: Store, *, point: str, memory: Memory | None = None, clock: Callable[[], int] = time.time_ns
    ) -> None:
        """`memory` gets the newest tree: nobody has signed it yet."""
        self.store, self.point, self.memory, self.clock = store, point, memory, clock
        self.writer = os.urandom(8).hex()

    def intent(
        self, call: Call, decision: Decision, *, call_id: str | None = None, also: Also | None = None
    ) -> Receipt:
        """Records a decision before the tool runs, on disk when this returns. Raises LedgerError.

        `also` is done in the same transaction; what it raises propagates, and then nothing is recorded.
        """
        name = checked_id(call_id) if call_id is not None else f"{self.writer}-1"
        snapshot = intent_snapshot(name, call, decision, self.point, self.clock())
        return self._write(intent_entry(snapshot, self.writer), name, also)

    def outcome(self, call: str, result: str, *, error: str | None = None, took: int | None = None) -> Receipt:
        """Records how a call ended. Raises LedgerError."""
        at, name = self.clock(), checked_id(call)

        def build(place: Callable[[str], int | None]) -> Entry:
            return outcome_entry(name, place(name), result, at, self.writer, error=error, took=took)

        return self._write(build, name)

    def event(self, kind: str, about: Mapping[str, Any]) -> Receipt:
        """Records anything else that counts. Raises LedgerError."""
        return self._write(event_entry(kind, self.clock(), self.writer, about, {}), "")

    def flush(self) -> None:
        """Nothing is queued."""

    def queue_intent(self, call: Call, decision: Decision) -> Receipt | None:
        """None: nothing is queued in a process that ends."""
        return None

    def queue_done(self, call: str, took: int) -> bool:
        """False, for the same reason."""
        return False

    def _write(self, pending: Pending, call: str, also: Also | None = None) -> Receipt:
        done: Appended | None = None
        try:
            with self.store.write(HEAD) as change:
                done = append(change, [pending], ELSEWHERE, head=change.looked)
                if also is not None:
                    also(change)
        except StoreError as error:
            if done is None or not error.uncertain or not self._was_kept(done):
                raise LedgerUnavailable(f"the ledger can't be written: {error}") from None
            with self.store.read() as view:
                return Receipt(call, done.first, tree_of(view))
        if self.memory is not None:
            self.memory.keep_seen(done.tree)
        return Receipt(call, done.first, done.tree)

    def _was_kept(self, done: Appended) -> bool:
        """A commit that failed half-way may have been kept."""
        try:
            with self.store.read() as view:
                return is_there(view, done.first, done.entries[0].body)
        except StoreError:
            return False
