"""A batch: entries that are committed together, and the callers that wait for it."""

from __future__ import annotations

import base64
import threading
from typing import NamedTuple

import msgspec

from remit.model.decision import Decision, LedgerHead
from remit.record.append import Head, Pending
from remit.record.errors import LedgerError


class Receipt(NamedTuple):
    """What a caller gets back: which call it is, and for a durable one where it stands."""

    call: str
    seq: int | None = None
    head: Head | None = None

    def on(self, decision: Decision) -> Decision:
        """The decision with the head of the log that holds it; as it is while it is only queued."""
        if self.head is None:
            return decision
        root = base64.b64encode(self.head.root).decode()
        return msgspec.structs.replace(decision, ledger=LedgerHead(self.head.size, root))


class Item:
    """One thing to be written: serialised already, built when its turn comes."""

    __slots__ = ("abandoned", "call", "error", "pending", "seq", "snapshot", "waited")

    def __init__(
        self, *, snapshot: bytes | None = None, pending: Pending | None = None, waited: bool, call: str
    ) -> None:
        self.snapshot, self.pending = snapshot, pending
        self.waited, self.call = waited, call
        self.abandoned = False
        """Its caller stopped waiting, and has denied the call."""
        self.seq: int | None = None
        self.error: LedgerError | None = None
        """What is wrong with this very entry; the others don't suffer from it."""


class Batch:
    """Items gathered while the one before is written."""

    __slots__ = ("done", "error", "head", "items", "urgent")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.urgent = False
        """Somebody waits for it."""
        self.done = threading.Event()
        self.head: Head | None = None
        self.error: Exception | None = None
