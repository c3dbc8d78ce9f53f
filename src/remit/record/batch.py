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
from remit.record.tree import CompactRange
from remit.store.interface import Transaction


class Receipt(msgspec.Struct, frozen=True):
    """What a caller gets back: which call it is, and for a durable one where it stands."""

    call: str
    seq: int | None = None
    tree: CompactRange | None = None

    @property
    def head(self) -> Head | None:
        """The log with its entry in it; None while it is only queued."""
        return Head(self.tree.size, self.tree.root()) if self.tree is not None else None

    def on(self, decision: Decision) -> Decision:
        """The decision with the head of the log that holds it; as it is while it is only queued."""
        if self.tree is None:
            return decision
        root = base64.b64encode(self.tree.root()).decode()
        return msgspec.structs.replace(decision, ledger=LedgerHead(self.tree.size, root))


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
    leads: bool = False
    """It is the turn of its caller to write."""
    waiting: threading.Lock | None = None
    """What its caller waits for: its own lock, since many waiting for one event get in each other's way."""


class Batch:
    """Items gathered while the one before is written."""

    __slots__ = ("error", "items", "over", "tree")

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.over = False
        """Nobody writes it any more."""
        self.tree: CompactRange | None = None
        """The log with the batch in it."""
        self.error: BaseException | None = None

    def next(self) -> bool:
        """Whether somebody waits for it: then the first of them is woken to write it."""
        for item in self.items:
            if item.waiting is not None:
                item.leads = True
                item.waiting.release()
                item.waiting = None
                return True
        return False

    def finish(self) -> None:
        """Lets everybody go on who waits for it."""
        self.over = True
        for item in self.items:
            if item.waiting is not None:
                item.waiting.release()
                item.waiting = None
