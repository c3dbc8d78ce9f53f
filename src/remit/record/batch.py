"""A batch: entries that are committed together, and the callers that wait for it."""

from __future__ import annotations

import base64
import threading

import msgspec

from remit.model.decision import Decision, LedgerHead
from remit.record.append import Head, Pending
from remit.record.entry import Snapshot
from remit.record.errors import LedgerError


class Receipt(msgspec.Struct, frozen=True):
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


class Item(msgspec.Struct, kw_only=True, eq=False):
    """One thing to be written: serialised already, built when its turn comes."""

    waited: bool
    call: str
    snapshot: Snapshot | None = None
    pending: Pending | None = None
    abandoned: bool = False
    """Its caller stopped waiting, and has denied the call."""
    seq: int | None = None
    error: LedgerError | None = None
    """What is wrong with this very entry; the others don't suffer from it."""
    waiting: threading.Lock | None = None
    """What its caller waits for: its own lock, since many waiting for one event get in each other's way."""


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

    def finish(self) -> None:
        """Lets everybody go on who waits for it."""
        self.done.set()
        for item in self.items:
            if item.waiting is not None:
                item.waiting.release()
                item.waiting = None
