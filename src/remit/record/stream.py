"""Streams: every entry as an OCSF event, taken to a file, a syslog server or an HTTP collector as it falls.

A stream reads the log itself, from where it stopped: `meta` keeps its place, which moves only after the destination
has taken the events. So nothing is skipped, whoever dies when. An event may arrive twice; `metadata.uid` tells.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.model.moments import moment
from remit.model.policy import Stream
from remit.record.append import head_of
from remit.record.errors import LedgerError
from remit.record.export import as_line
from remit.record.ocsf import event_of
from remit.record.reader import Stored, archives, entries, said
from remit.record.stamp import Stamps, stamps_of
from remit.store.interface import Store, Transaction

META = "stream:"
BATCH = 500
BATCH_BYTES = 1_000_000
EVERY = 1.0
"""Seconds between looks at a log that has nothing new."""
LONGEST = 60.0
"""Seconds between attempts at a destination that fails, at the most."""


class StreamError(LedgerError):
    """The destination did not take the events: they stay where they are, and are tried again."""

    code = "stream-failed"


class Event(NamedTuple):
    """One entry, ready to go out."""

    seq: int
    kind: str
    at: str
    severity: int
    body: bytes
    """The OCSF event as JSON, in ASCII, without a line end."""


class Destination(Protocol):
    """Where events go."""

    def send(self, events: Sequence[Event]) -> None:
        """All of them are taken when this returns. Raises StreamError: then none of them counts as taken."""

    def close(self) -> None:
        """Gives everything back."""


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a stream has come."""

    next: int = 0
    """The first entry that was not delivered yet."""
    to: str = ""
    at: str | None = None
    """When something was delivered last."""
    error: str | None = None
    """Why the last attempt failed; None once one succeeded."""
    archived: int = 0
    """Entries that were in an archive before this stream came to them: it never had them."""
    stamp: str | None = None
    """By Remit, over the rest: somebody else could move it past events that would never be sent."""


_PLACE = Decoding(Place)


def place_of(view: Transaction, name: str) -> Place:
    """How far a stream has come; at the beginning if it never ran, or if somebody else says how far.

    Raises LedgerError and StoreError.
    """
    row = view.row("SELECT value FROM meta WHERE name = ?", META + name)
    if row is None or row[0] is None:
        return Place()
    try:
        found = _PLACE.decode(bytes(row[0]))
    except msgspec.MsgspecError:
        raise LedgerError(f"the place of the stream `{name}` can't be read", code="ledger-corrupt") from None
    stamps = stamps_of(view)
    if stamps is None or found.next == 0 or found.stamp == _stamp(stamps, name, found):
        return found
    return Place(to=found.to, error="its position was changed by something other than Remit: everything is sent again")


def _stamp(stamps: Stamps, name: str, place: Place) -> str:
    return stamps.of_text(META + name, msgspec.json.encode(msgspec.structs.replace(place, stamp=None))).hex()


def keep_place(store: Store, name: str, place: Place) -> None:
    """Remembers it, unless another process has come further. Raises LedgerError and StoreError."""
    with store.write() as change:
        if place_of(change, name).next > place.next:
            return
        stamps = stamps_of(change)
        stamp = _stamp(stamps, name, place) if stamps is not None else None
        data = msgspec.json.encode(msgspec.structs.replace(place, stamp=stamp))
        if not change.run("UPDATE meta SET value = ? WHERE name = ?", data, META + name):
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", META + name, data)


class Backlog(NamedTuple):
    """One stream at a glance."""

    name: str
    to: str
    next: int
    waiting: int
    at: str | None = None
    error: str | None = None
    archived: int = 0


def backlogs(view: Transaction, streams: Sequence[Stream]) -> list[Backlog]:
    """What each stream still has to deliver. Raises LedgerError and StoreError."""
    size = head_of(view).size
    found = []
    for one in streams:
        place = place_of(view, one.name)
        waiting = max(0, size - place.next)
        found.append(Backlog(one.name, one.to, place.next, waiting, place.at, place.error, place.archived))
    return found


def undelivered(view: Transaction, names: Sequence[str]) -> tuple[str, int] | None:
    """The stream that is behind the most, and what it has delivered; None if there are no streams. One that never ran
    has delivered nothing. Raises LedgerError and StoreError."""
    places = [(name, place_of(view, name).next) for name in names]
    return min(places, key=lambda place: place[1], default=None)


def known_streams(view: Transaction) -> list[str]:
    """The streams that have a place in the log, whether or not a policy still has them. Raises StoreError."""
    rows = view.rows("SELECT name FROM meta WHERE name >= ? AND name < ? ORDER BY name", META, "stream;")
    return [str(row[0]).removeprefix(META) for row in rows]


class Delivery:
    """Delivers the streams of one log."""

    def __init__(
        self,
        store: Store,
        origin: str,
        state: Path,
        open_destination: Callable[[Stream], Destination],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store, self.origin, self.state = store, origin, state
        self.open_destination, self.clock = open_destination, clock

    def next_batch(self, stream: Stream, destination: Destination) -> int:
        """Delivers a batch; returns how many entries that were, 0 at the end of the log.

        Raises StreamError, whose text is kept with the stream, LedgerError for a changed entry, and StoreError.
        """
        with self.store.read() as view:
            place = place_of(view, stream.name)
            size = head_of(view).size
            batch = list(_batch(view, place.next, size))
        if not batch and place.next >= size:
            return 0
        after = batch[-1].seq + 1 if batch else size
        with self._noting(stream):
            with self.store.read() as view:
                events = [event(stored.seq, said(view, stored), self.origin) for stored in batch]
            if events:
                destination.send(events)
        archived = place.archived + (after - place.next - len(batch))
        keep_place(self.store, stream.name, Place(after, stream.to, moment(self.clock()), None, archived))
        return after - place.next

    def drain(self, stream: Stream, end: threading.Event, progress: Callable[[int], object] | None = None) -> int:
        """Delivers all that is there; returns how many entries. Raises what `next_batch` raises."""
        count = 0
        with self._noting(stream):
            destination = self.open_destination(stream)
        try:
            while not end.is_set() and (done := self.next_batch(stream, destination)):
                count += done
                if progress is not None:
                    progress(count)
        finally:
            destination.close()
        return count

    def follow(self, stream: Stream, end: threading.Event) -> None:
        """Delivers until told to end; waits longer after each failure. What fails is kept with the stream."""
        pause = EVERY
        while not end.is_set():
            try:
                with alone(self.state, stream.name) as mine:
                    if mine and self._is_behind(stream):
                        self.drain(stream, end)
                pause = EVERY
            except (RemitError, OSError):
                pause = min(LONGEST, pause * 2)
            end.wait(pause)

    def _is_behind(self, stream: Stream) -> bool:
        with self.store.read() as view:
            return backlogs(view, [stream])[0].waiting > 0

    @contextmanager
    def _noting(self, stream: Stream) -> Iterator[None]:
        """What goes wrong in the block is kept with the stream."""
        try:
            yield
        except LedgerError as error:
            with self.store.read() as view:
                place = place_of(view, stream.name)
            if place.error != str(error):
                keep_place(self.store, stream.name, msgspec.structs.replace(place, error=str(error), to=stream.to))
            raise


def event(seq: int, data: dict[str, Any], origin: str) -> Event:
    """The event of what an entry says."""
    found = event_of(seq, data, origin)
    body = as_line(found).rstrip(b"\n")
    return Event(seq, str(data.get("type", "")), str(data.get("at", "")), int(found["severity_id"]), body)


def _batch(view: Transaction, first: int, end: int) -> Iterator[Stored]:
    """The next entries, all of them; those that were archived are left out. Raises LedgerError if one is missing."""
    archived, size, count, place = archives(view), 0, 0, first
    for stored in entries(view, first, end, archived=True):
        if stored.seq != place or (not stored.body and not any(one.first <= place < one.end for one in archived)):
            if count:
                return
            raise LedgerError(f"entry {place} is missing: nothing is sent past it", code="entry-missing")
        place += 1
        if not stored.body:
            continue
        size, count = size + len(stored.body), count + 1
        if count > BATCH or (size > BATCH_BYTES and count > 1):
            return
        yield stored


@contextmanager
def alone(state: Path, name: str) -> Iterator[bool]:
    """Whether nobody else on this machine delivers this stream: daemon and commands take turns."""
    safe = "".join(char if char.isalnum() or char in "_.-" else "_" for char in name)
    handle = os.open(state / f"stream-{safe}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(handle)


class Streaming:
    """Delivers streams in the background, each in a thread of its own, for as long as a process runs.

    What fails here affects nobody's call: it is kept with the stream, for `status`.
    """

    def __init__(self, delivery: Delivery, streams: Callable[[], Sequence[Stream]]) -> None:
        """`streams` gives those of the policy in force."""
        self._run, self._streams = delivery.follow, streams
        self._end = threading.Event()
        self._threads: dict[Stream, tuple[threading.Thread, threading.Event]] = {}
        self._thread = threading.Thread(target=self._look, name="remit-streams", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends all of them; what is just being delivered gets a moment."""
        self._end.set()
        self._thread.join(5)
        for _, end in self._threads.values():
            end.set()
        for thread, _ in self._threads.values():
            thread.join(5)

    def _look(self) -> None:
        """Begins what the policy in force has, and ends what it has no longer."""
        while True:
            try:
                wanted = set(self._streams())
            except (RemitError, OSError):
                wanted = set(self._threads)  # nobody knows what is in force: go on
            for gone in self._threads.keys() - wanted:
                self._threads.pop(gone)[1].set()
            for one in wanted - self._threads.keys():
                end = threading.Event()
                thread = threading.Thread(
                    target=self._run, args=(one, end), name=f"remit-stream-{one.name}", daemon=True
                )
                self._threads[one] = (thread, end)
                thread.start()
            if self._end.wait(EVERY):
                return
