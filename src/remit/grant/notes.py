"""What is changed about authority stands in the ledger, in the same transaction: neither is there without the other."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from remit.record.append import add
from remit.record.entry import event_entry
from remit.record.lease import ELSEWHERE
from remit.record.state import LOOK_UP, Key, Kind, Row, Sign, put
from remit.store.interface import Transaction


class Scribe(NamedTuple):
    """Who writes changes of authority, and what signs them where a person makes them."""

    writer: str
    made: set[int]
    """The entries that were written: what this process did itself needs no signature here."""
    sign: Sign | None = None

    def put(
        self,
        change: Transaction,
        kind: Kind,
        key: tuple[Key, ...],
        row: Row | None,
        event: str,
        about: Mapping[str, Any],
        private: Mapping[str, Any] | None = None,
        *,
        after: int | None = LOOK_UP,
    ) -> int:
        """Writes a new state, and the entry that says it; gives its place. Raises StoreError and LedgerError.

        `after` as in `put`.
        """
        at = time.time_ns()
        place = put(
            change,
            kind,
            key,
            row,
            event=event,
            at=at,
            writer=self.writer,
            about=about,
            private=private,
            sign=self.sign,
            after=after,
        )
        self.made.add(place)
        return place

    def note(self, change: Transaction, kind: str, about: Mapping[str, Any]) -> None:
        """Writes an event that is no state. Raises StoreError and LedgerError."""
        note(change, self.writer, kind, about)


def note(change: Transaction, writer: str, kind: str, about: Mapping[str, Any]) -> None:
    """Writes an event. Raises StoreError and LedgerError."""
    add(change, event_entry(kind, time.time_ns(), writer, about, {}), ELSEWHERE)
