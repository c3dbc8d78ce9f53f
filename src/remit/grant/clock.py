"""The clock of authority: it follows the wall clock forwards and never goes back, unless a person repairs it.

It is never behind any of these: the wall clock (on PostgreSQL the server's, one for all machines), the latest moment
in the store, and what the steady clock of this start of the machine makes of the last moment that was written on it.
So time runs on for every process of a machine, whatever the wall clock is set to.

A wall clock that jumps forwards is followed and recorded. One that is behind by more than `TOLERANCE` puts the clock
in doubt: nothing that ends by itself can be given or used, until the wall clock is right again or a person says that
it is (`remit clock repair`). Repairing moves every end along with the clock, so that nobody gains time.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from remit.grant.daily import carry
from remit.grant.errors import GrantError
from remit.grant.notes import Scribe, note
from remit.model import moments
from remit.record.state import StateForged
from remit.store.interface import Transaction

TOLERANCE = 300
"""Seconds by which wall clocks may differ or be set without anybody taking notice."""
WRITER = "clock"
_SCRIBE = Scribe(WRITER, set())
_COLUMNS = "m.seen, m.era, m.behind, m.gap, b.steady, b.at"
_FROM = "FROM moment m LEFT JOIN boot b ON b.id = ? WHERE m.one = 1"
_CACHED = "clock"
_FRESH = 5.0
"""Seconds for which a process may go without a look at the store, where somebody may have repaired the clock."""


def seconds_of(moment: str) -> float:
    """The opposite; 0 for the empty text."""
    return moments.seconds_of(moment) if moment else 0.0


def steady_time() -> float:
    """Seconds that only go on, counting those in which the machine sleeps."""
    return time.clock_gettime(_STEADY)


_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_id() -> str:
    """Which start of the machine this is; where that can't be told, which machine."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return f"host {os.uname().nodename}"


class Doubt(NamedTuple):
    """The wall clock shows an earlier moment than is known to have passed."""

    behind: int
    """Seconds."""
    gap: bool
    """Nobody knows how long the machine was off: time has passed that no clock counted."""

    @property
    def reason(self) -> str:
        return (
            f"the clock is in doubt: it shows {lasting(self.behind)} less than has passed already;"
            " a person sets it right, or runs `remit clock repair` if it is"
        )


class Reading(NamedTuple):
    """What the clock shows."""

    now: str
    doubt: Doubt | None


class _Kept(NamedTuple):
    """What the store knows."""

    text: str
    seen: float
    """The latest moment that anybody has acted at, as it is stored, and in seconds."""
    era: int
    behind: int | None
    gap: bool
    anchor: tuple[float, float] | None
    """Of this start of the machine: what its steady clock showed, and the moment."""
    shared: float | None
    """The clock of the server that all who use the store share."""


class _Found(NamedTuple):
    """What one look at all the clocks comes to."""

    at: float
    wall: float
    steady: float
    forward: int
    """Seconds by which the wall clock has jumped forwards."""
    doubt: Doubt | None
    anchored: bool

    @property
    def reading(self) -> Reading:
        return Reading(moments.moment(self.at), self.doubt)


class Clock:
    """Moments as texts that compare. Safe to use from many threads.

    The wall clock is the server's where the store has one (`shared`), and otherwise that of the machine.
    """

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = steady_time,
        boot: str | None = None,
        *,
        shared: bool = True,
    ) -> None:
        self._machine, self._steady, self._shared = wall, steady, shared
        self.boot = boot if boot is not None else boot_id()
        self._skew = 0.0
        self._latest: float | None = None
        self._at = self._steady()
        self._era = -1
        self._gap = False
        self._looked: float | None = None
        self._lock = threading.Lock()
        self.news = False
        """Whether the last look at the store found something that nobody has written there yet."""
        _clocks.add(self)

    def read(self, view: Transaction | None = None) -> Reading:
        """The moment, not before any that this process or the store has seen, and whether it is in doubt.

        Raises StoreError.
        """
        kept = self._kept(view) if view is not None else None
        with self._lock:
            return self._look(kept).reading

    def now(self, view: Transaction | None = None) -> str:
        """Only the moment. Raises StoreError."""
        return self.read(view).now

    def sure(self, view: Transaction) -> str:
        """The moment. Raises GrantError (`clock-in-doubt`) and StoreError."""
        found = self.read(view)
        if found.doubt is not None:
            raise GrantError(found.doubt.reason, code="clock-in-doubt")
        return found.now

    @property
    def fresh(self) -> bool:
        """Whether it has looked at the store lately and nothing has happened since that others should know of."""
        with self._lock:
            steady, wall = self._steady(), self._machine() + self._skew
            if self._looked is None or self._latest is None or not 0 <= steady - self._looked < _FRESH:
                return False
            return not self.news and abs(wall - self._latest - (steady - self._at)) <= TOLERANCE

    def tick(self, change: Transaction) -> str:
        """The moment, written: nobody who uses the store will be told an earlier one. Raises StoreError.

        A jump that is noticed goes to the ledger with it.
        """
        kept = self._kept(change)
        with self._lock:
            found = self._look(kept)
        now, doubt = found.reading
        if kept.text < now:
            change.run("UPDATE moment SET seen = ? WHERE one = 1 AND seen < ?", now, now)
        if found.forward or doubt is not None or kept.behind is not None or kept.gap:
            self._tell(change, found, kept)
        if not found.anchored:
            self._anchor(change, found.steady, found.at)
        return now

    def _tell(self, change: Transaction, found: _Found, kept: _Kept) -> None:
        """What happened to the clock goes to the ledger and to the store, if it did not before. Raises StoreError."""
        now, doubt = found.reading
        about = {"machine": self.boot[:8], "now": now}
        if found.forward:
            note(change, WRITER, WRITER, {"what": "jumped-forwards", "by": found.forward, **about})
            carry(change, moments.moment(found.at - found.forward), now, _SCRIBE)
        if doubt is not None and kept.behind is None:
            note(change, WRITER, WRITER, {"what": "in-doubt", "by": -doubt.behind, "gap": doubt.gap, **about})
        if doubt is None and kept.behind is not None:
            note(change, WRITER, WRITER, {"what": "recovered", **about})
        behind, gap = doubt if doubt is not None else (None, False)
        if (behind, gap) != (kept.behind, kept.gap):
            change.run("UPDATE moment SET behind = ?, gap = ? WHERE one = 1", behind, int(gap))

    def repair(self, change: Transaction, *, by: str) -> tuple[Reading, float, float]:
        """The clock shows what the wall clock shows, by word of a person; returns what it showed before, and the two
        moments. What ends by the clock has to be moved by the caller, in the same transaction.

        Raises GrantError (`clock-sound`) if nothing is in doubt.
        """
        kept = self._kept(change)
        with self._lock:
            found = self._look(kept)
            if found.doubt is None:
                raise GrantError("the clock is not in doubt: there is nothing to repair", code="clock-sound")
            self._latest, self._gap = None, False
        at, now = found.at, moments.moment(found.wall)
        sql = "UPDATE moment SET seen = ?, era = era + 1, behind = NULL, gap = 0 WHERE one = 1"
        change.run(sql, now)
        change.run("UPDATE boot SET at = at - ?", int((at - found.wall) * 1000))
        self._anchor(change, found.steady, found.wall)
        carry(change, moments.moment(at), now, _SCRIBE)
        about = {"machine": self.boot[:8], "was": moments.moment(at), "now": now, "by": by}
        note(change, WRITER, WRITER, {"what": "repaired", "gap": found.doubt.gap, **about})
        return found.reading, at, found.wall

    def after(self, moment: str, seconds: float) -> str:
        """The moment so many seconds later."""
        return moments.moment(seconds_of(moment) + seconds)

    def _kept(self, view: Transaction) -> _Kept:
        known: _Kept | None = view.cached((_CACHED, self.boot))
        if known is not None:
            return known
        server = f", {view.clock}" if self._shared and view.clock is not None else ""
        row = view.row(f"SELECT {_COLUMNS}{server} {_FROM}", self.boot)
        seen, era, behind, gap, steady, at, *shared = row if row is not None else ("", 0, None, 0, None, None)
        try:
            anchor = (steady / 1000, at / 1000) if steady is not None else None
            by_server = shared[0] / 1000 if shared else None
            kept = _Kept(seen, seconds_of(seen), int(era), _whole(behind), bool(gap), anchor, by_server)
        except (ValueError, TypeError, OverflowError):
            what = "the latest moment in the store can't be read"
            raise StateForged(what, help="somebody changed the table `moment` or `boot`") from None
        if shared:
            return kept
        view.cache((_CACHED, self.boot), kept)
        return kept

    def _look(self, kept: _Kept | None) -> _Found:
        """All clocks at once. INVARIANT: `at` is at least what has passed since any moment that is known here."""
        steady, machine = self._steady(), self._machine()
        if kept is None:
            wall = machine + self._skew
            own = self._ran(steady)
            at = max(wall, own or 0.0)
            anchored, forward, seen = True, 0, 0.0
        else:
            if kept.era != self._era:
                self._latest, self._gap, self._era = None, False, kept.era  # somebody has repaired it meanwhile
            self._skew = kept.shared - machine if kept.shared is not None else 0.0
            wall = machine + self._skew
            own, ran = self._ran(steady), None
            if kept.anchor is not None and steady >= kept.anchor[0] - 1:
                ran = kept.anchor[1] + steady - kept.anchor[0]
            # On a new start of the machine a wall clock that was behind is so still.
            carried = wall + (kept.behind or 0) if own is None and ran is None else wall
            known, seen = max(carried, own or 0.0, ran or 0.0), kept.seen
            at = max(known, seen)
            # Not by what only this process knows: a jump is news until it is written.
            since = max(ran, seen) if ran is not None else wall
            forward = int(wall - since) if wall > since + TOLERANCE else 0
            self._gap = self._gap or kept.gap or known < seen - TOLERANCE
            self._looked = steady
            anchored = ran is not None and at - ran < 1
        self._latest, self._at = at, steady
        behind = int(at - wall) if wall < at - TOLERANCE else None
        self._gap = self._gap and behind is not None
        if kept is not None:
            jumped = (behind is None) != (kept.behind is None) or self._gap != kept.gap
            self.news = bool(forward) or jumped or kept.anchor is None
        doubt = Doubt(behind, self._gap) if behind is not None else None
        return _Found(at, wall, steady, forward, doubt, anchored)

    def _ran(self, steady: float) -> float | None:
        """The moment by what this process knew before; None if it knew nothing."""
        return self._latest + max(0.0, steady - self._at) if self._latest is not None else None

    def _anchor(self, change: Transaction, steady: float, at: float) -> None:
        values = (int(steady * 1000), int(at * 1000), self.boot)
        if change.run("UPDATE boot SET steady = ?, at = ? WHERE id = ?", *values) == 0:
            change.run("INSERT INTO boot (steady, at, id) VALUES (?, ?, ?)", *values)


def _whole(value: object) -> int | None:
    """Raises TypeError."""
    if value is not None and (type(value) is not int or value < 0):
        raise TypeError
    return value


def lasting(seconds: int) -> str:
    """`3 years`, `2 hours`: about how long."""
    for size, word in ((365 * 86400, "year"), (86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 2 * size or seconds == size:
            return f"{seconds // size} {word}{'s' if seconds // size > 1 else ''}"
    return f"{seconds} seconds"


_clocks: weakref.WeakSet[Clock] = weakref.WeakSet()


def _forked() -> None:
    """A lock that another thread of the parent held is held by nobody here."""
    for clock in _clocks:
        clock._lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
