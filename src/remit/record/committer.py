"""The committer: turns a batch into leaves in one transaction, and sorts out what went wrong when it can't."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from remit.model.errors import RemitError
from remit.record.append import GATHERING, HEAD, Appended, Gathering, is_there
from remit.record.batch import Batch, Item
from remit.record.entry import intent_entry
from remit.record.errors import LedgerError, LedgerStopped
from remit.record.lease import ELSEWHERE, Lease
from remit.record.stop_mark import CODES
from remit.store.errors import StoreError, StoreMisused, StoreRefused
from remit.store.interface import Store, Transaction

Sink = Callable[[list[tuple[int, bytes]]], None]
"""A second place for entries, given their places and bytes once they are in the log."""
OnBreak = Callable[[LedgerError], object]
"""Is told when the log does not go on from what this process has seen of it."""


class Doubt(NamedTuple):
    """A commit that failed half-way: it may have been kept."""

    done: Appended
    items: list[Item]
    places: list[int]


class Committer:
    """Writes batches for one process, one at a time."""

    def __init__(
        self,
        store: Store,
        writer: str,
        sink: Sink | None = None,
        *,
        elsewhere: bool = False,
        on_break: OnBreak | None = None,
        lease: Lease,
    ) -> None:
        self.store, self.writer, self.sink, self.on_break, self.lease = store, writer, sink, on_break, lease
        self.closer = ELSEWHERE if elsewhere else writer
        """Who is to report the outcomes."""
        self.sink_errors = 0
        self.lost = 0
        """Entries that nobody waited for and that could not be made or kept: a mistake in this program."""
        self._settled: list[Item] = []
        self._doubt: Doubt | None = None

    def commit(self, batch: Batch) -> list[Item]:
        """Writes the batch, or sets its error; returns the items that nobody waits for and that must be tried again."""
        items = self._built(batch.items)
        if not items and not self.doubtful:
            return []
        try:
            self._write(batch, items)
        except Exception as error:  # whatever it is: callers must not wait for a thread that died
            if _concerns_an_entry(error):
                return self._one_by_one(batch, items)
            batch.error = error
            return [item for item in items if not item.waited and item.seq is None]
        return []

    @property
    def doubtful(self) -> bool:
        """Whether something may have been kept, and nobody has looked yet."""
        return self._doubt is not None

    def settled(self) -> list[Item]:
        """What turned out to have been kept, since this was asked last."""
        found, self._settled = self._settled, []
        return found

    def _built(self, items: list[Item]) -> list[Item]:
        """The items whose entries could be made; what is wrong with one concerns its caller alone."""
        good = []
        for item in items:
            try:
                if item.pending is None and item.snapshot is not None:
                    item.pending = intent_entry(item.snapshot, self.writer)
                if item.pending is not None:
                    good.append(item)
            except LedgerError as error:
                self._refuse(item, error)
            except Exception as error:
                self._refuse(item, LedgerError(f"the entry can't be made ({type(error).__name__})", code="bad-entry"))
        return good

    def _refuse(self, item: Item, error: RemitError) -> None:
        item.error = error
        self.lost += not item.waited

    def _write(self, batch: Batch, items: list[Item]) -> None:
        done: Appended | None = None
        places: list[int] = []
        try:
            with self.store.write(HEAD) as change:
                if self._doubt is not None:
                    self._settle(change)
                    items = [item for item in items if item.seq is None]
                if items:
                    own = self.lease if self.closer == self.writer else None
                    gathering = Gathering(change, self.closer, head=change.looked, own=own)
                    self.lease.hold(change, gathering.done.first)
                    places = _gathered(gathering, items, change)
                    done = gathering.write()
        except LedgerError as error:
            if error.code in CODES and not isinstance(error, LedgerStopped) and self.on_break is not None:
                self.on_break(error)
            raise
        except BaseException as error:
            interrupted = not isinstance(error, Exception)
            if done is not None and (interrupted or getattr(error, "uncertain", False)):
                self._doubt = Doubt(done, items, places)
            raise
        if done is None:
            return
        self.lease.kept()
        self._opened(done)
        for place, item in zip(places, items, strict=True):
            item.seq = place
        batch.tree = done.tree
        if self.sink is not None:
            self._tell(done, self.sink)

    def _opened(self, done: Appended) -> None:
        """The lease knows which calls these entries open and close."""
        if self.closer == self.writer:
            self.lease.note(done.entries, done.first)

    def _settle(self, change: Transaction) -> None:
        """Looks whether a commit that failed half-way was kept after all: then its items are done."""
        doubt = self._doubt
        if doubt is not None and is_there(change, doubt.done.first, doubt.done.entries[0].body):
            self._opened(doubt.done)
            for place, item in zip(doubt.places, doubt.items, strict=True):
                item.seq = place
            self._settled += doubt.items
        self._doubt = None

    def _one_by_one(self, batch: Batch, items: list[Item]) -> list[Item]:
        """Something in the batch was refused: whoever brought it is told, the others go on.

        If nothing at all could be written it is the store that is at fault, and what nobody waits for is kept.
        """
        kept, refused = [], list[tuple[Item, Exception]]()
        for item in items:
            alone = Batch()
            try:
                self._write(alone, [item])
                batch.tree = alone.tree or batch.tree
            except Exception as error:
                if _concerns_an_entry(error):
                    refused.append((item, error))
                else:
                    batch.error = error
                    kept += [item] if not item.waited and item.seq is None else []
        written = any(item.seq is not None for item in items)
        for item, why in refused:
            if isinstance(why, RemitError) and not isinstance(why, (LedgerError, StoreError)):
                self._refuse(item, why)  # what was to be done with it
            elif item.waited or written:
                self._refuse(item, LedgerError(f"the entry was refused: {why}", code="bad-entry"))
            else:
                batch.error = why
                kept.append(item)
        return kept

    def _tell(self, done: Appended, sink: Sink) -> None:
        try:
            sink([(done.first + place, entry.body) for place, entry in enumerate(done.entries)])
        except Exception:  # the second sink is a convenience; the log itself is written
            self.sink_errors += 1


def _gathered(gathering: Gathering, items: list[Item], change: Transaction) -> list[int]:
    """The places of the items. What is done together with one follows it. Raises RemitError."""
    places = []
    change.local[GATHERING] = gathering
    for item in items:
        if item.pending is not None:
            places.append(gathering.add(item.pending))
        if item.also is not None and not item.abandoned:
            item.also(change)
    return places


def _concerns_an_entry(error: Exception) -> bool:
    if isinstance(error, LedgerError):
        return error.code in ("bad-entry", "entry-too-large")
    if isinstance(error, StoreError):
        return isinstance(error, (StoreRefused, StoreMisused))
    return isinstance(error, RemitError)
