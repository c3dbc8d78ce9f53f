"""A batch: entries that are committed together, and the callers that wait for it."""

from __future__ import annotations

import base64
import threading
from collections.abc import Callable

import msgspec

from remit.model.decision import Decision, LedgerHead
from remit.model.errors import RemitError
from remit.record.append import Head, Pending
from remit.record.entry import Snapshot
from remit.store.interface import Transaction


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


Also = Callable[[Transaction], None]
"""What takes effect together with an entry. Raises RemitError: then neither does."""


class Item(msgspec.Struct, kw_only=True, eq=False):
    """One thing to be written: serialised already, built when its turn comes. One without content only waits."""

    waited: bool
    call: str
    snapshot: Snapshot | None = None
    pending: Pending | None = None
    also: Also | None = None
    """What is done in the same transaction, or the entry is not written."""
    abandoned: bool = False
    """Its caller stopped waiting, and has denied the call."""
    seq: int | None = None
    error: RemitError | None = None
    """What is wrong with this very entry; the others don't suffer from it."""
    waiting: threading.Lock | None = None
    """What its caller waits for: its own lock, since many waiting for one event get in each other's way."""


class Batch:
    """Items gathered while the one before is written."""

    __slots__ = ("error", "head", "items", "over", "urgent")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.urgent = False
        """Somebody waits for it."""
        self.over = False
        """Nobody writes it any more."""
        self.head: Head | None = None
        self.error: Exception | None = None

    def finish(self) -> None:
        """Lets everybody go on who waits for it."""
        self.over = True
        for item in self.items:
            if item.waiting is not None:
                item.waiting.release()
                item.waiting = None
