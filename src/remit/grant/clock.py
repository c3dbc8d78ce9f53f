"""The clock of authority: it follows the wall clock forwards and never goes back, unless a person repairs it.

It is never behind any of these: the wall clock, the latest moment in the store, and what the steady clock of this
start of the machine makes of the last moment that was written on it. So time runs on for every process of a machine,
whatever its wall clock is set to.

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
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from remit.grant.errors import GrantError
from remit.grant.notes import note
from remit.store.interface import Transaction

TOLERANCE = 300
"""Seconds by which wall clocks may differ or be set without anybody taking notice."""
WRITER = "clock"
_ROW = (
    "SELECT m.seen, m.era, b.steady, b.at, b.behind, b.gap FROM moment m LEFT JOIN boot b ON b.id = ? WHERE m.one = 1"
)
_FRESH = 5.0
"""Seconds for which a process may go without a look at the store, where somebody may have repaired the clock."""


def written(seconds: float) -> str:
    """`2026-11-15T12:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def seconds_of(moment: str) -> float:
    """The opposite; 0 for the empty text."""
    return datetime.fromisoformat(moment).timestamp() if moment else 0.0


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
    """What the store knows: the latest moment, the era, and the anchor of this start of the machine, if there is."""

    seen: float
    era: int
    anchor: tuple[float, float] | None
    behind: int | None
    gap: bool

    def ran(self, steady: float) -> float | None:
        """The moment by the anchor; None without one, or if the steady clock is not the one that it was."""
        if self.anchor is None or steady < self.anchor[0] - 1:
            return None
        return self.anchor[1] + steady - self.anchor[0]


class Clock:
    """Moments as texts that compare. Safe to use from many threads."""

    def __init__(
        self,
        wall: Callable[[], float] = time.time,
        steady: Callable[[], float] = steady_time,
        boot: str | None = None,
    ) -> None:
        self._wall, self._steady = wall, steady
        self.boot = boot if boot is not None else boot_id()
        self._latest: float | None = self._wall()
        self._at = self._steady()
        self._era = -1
        self._gap = False
        self._looked: float | None = None
        self._lock = threading.Lock()
        self.news = False
        """Whether the last look at the store found a jump that nobody has recorded yet."""
        _clocks.add(self)

    def read(self, view: Transaction | None = None) -> Reading:
        """The moment, not before any that this process or the store has seen, and whether it is in doubt.

        Raises StoreError.
        """
        kept = self._kept(view) if view is not None else None
        with self._lock:
            return self._read(kept)[0]

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
            steady, wall = self._steady(), self._wall()
            if self._looked is None or self._latest is None or not 0 <= steady - self._looked < _FRESH:
                return False
            return abs(wall - self._latest - (steady - self._at)) <= TOLERANCE

    def tick(self, change: Transaction) -> str:
        """The moment, written: nobody who uses the store will be told an earlier one. Raises StoreError.

        A jump that is noticed goes to the ledger with it.
        """
        kept = self._kept(change)
        with self._lock:
            found, forward, steady, at = self._read(kept)
        change.run("UPDATE moment SET seen = ? WHERE one = 1 AND seen < ?", found.now, found.now)
        doubt = found.doubt
        about = {"machine": self.boot[:8], "now": found.now}
        if forward:
            note(change, WRITER, WRITER, {"what": "jumped-forwards", "by": forward, **about})
            # Whoever handed work to whom is forgotten after a while, but not because of a jump.
            change.run("UPDATE launch SET at = ?", found.now)
        if doubt is not None and kept.behind is None:
            note(change, WRITER, WRITER, {"what": "in-doubt", "by": -doubt.behind, "gap": doubt.gap, **about})
        if doubt is None and kept.behind is not None:
            note(change, WRITER, WRITER, {"what": "recovered", **about})
        ran = kept.ran(steady)
        if ran is None or at - ran >= 1 or (doubt is None) != (kept.behind is None):
            self._anchor(change, steady, at, doubt)
        return found.now

    def repair(self, change: Transaction, *, by: str) -> tuple[Reading, float, float]:
        """The clock shows what the wall clock shows, by word of a person; returns what it showed before, and the two
        moments. What ends by the clock has to be moved by the caller, in the same transaction.

        Raises GrantError (`clock-sound`) if nothing is in doubt.
        """
        kept = self._kept(change)
        with self._lock:
            before, _, steady, at = self._read(kept)
            wall = self._wall()
            if before.doubt is None:
                raise GrantError("the clock is not in doubt: there is nothing to repair", code="clock-sound")
            self._latest = None
        back = at - wall
        change.run("UPDATE moment SET seen = ?, era = era + 1 WHERE one = 1", written(wall))
        change.run("UPDATE boot SET at = at - ?", int(back * 1000))
        self._anchor(change, steady, wall, None)
        about = {"machine": self.boot[:8], "was": before.now, "now": written(wall), "by": by}
        note(change, WRITER, WRITER, {"what": "repaired", "gap": before.doubt.gap, **about})
        return before, at, wall

    def after(self, moment: str, seconds: float) -> str:
        """The moment so many seconds later."""
        return written(seconds_of(moment) + seconds)

    def _kept(self, view: Transaction) -> _Kept:
        row = view.row(_ROW, self.boot)
        if row is None:
            return _Kept(0.0, 0, None, None, False)
        seen, era, steady, at, behind, gap = row
        anchor = (steady / 1000, at / 1000) if steady is not None else None
        return _Kept(seconds_of(seen), int(era), anchor, behind, bool(gap))

    def _read(self, kept: _Kept | None) -> tuple[Reading, int, float, float]:
        """The reading; by how many seconds the wall clock has jumped forwards; the steady clock and the moment."""
        steady, wall = self._steady(), self._wall()
        if kept is not None and kept.era != self._era:
            if self._era >= 0:
                self._latest = None  # somebody has repaired it meanwhile
            self._era = kept.era
        own = self._latest + max(0.0, steady - self._at) if self._latest is not None else None
        ran = kept.ran(steady) if kept is not None else None
        known = ran if ran is not None else own
        at = max(wall, own or 0.0, ran or 0.0, kept.seen if kept is not None else 0.0)
        self._latest, self._at = at, steady
        forward = 0
        if kept is not None:
            if known is not None and wall > max(known, kept.seen) + TOLERANCE:
                forward = int(wall - max(known, kept.seen))
            self._gap = kept.gap or (ran is None and wall < kept.seen - TOLERANCE)
            self._looked = steady
        behind = int(at - wall) if wall < at - TOLERANCE else None
        self._gap = self._gap and behind is not None
        if kept is not None:
            self.news = bool(forward) or (behind is None) != (kept.behind is None)
        return Reading(written(at), Doubt(behind, self._gap) if behind is not None else None), forward, steady, at

    def _anchor(self, change: Transaction, steady: float, at: float, doubt: Doubt | None) -> None:
        values = (int(steady * 1000), int(at * 1000))
        behind, gap = (doubt.behind, int(doubt.gap)) if doubt is not None else (None, 0)
        sql = "UPDATE boot SET steady = ?, at = ?, behind = ?, gap = ? WHERE id = ?"
        if change.run(sql, *values, behind, gap, self.boot) == 0:
            sql = "INSERT INTO boot (steady, at, behind, gap, id) VALUES (?, ?, ?, ?, ?)"
            change.run(sql, *values, behind, gap, self.boot)


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
