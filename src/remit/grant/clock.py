"""The clock of authority: it never goes back, so that nothing that has ended begins again.

Three things hold it: the wall clock, the latest moment that anybody has written to the store, and in this process the
time that has passed since it was asked first.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable

from remit.store.interface import Transaction


def written(seconds: float) -> str:
    """`2026-11-15T12:00:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Clock:
    """Moments as texts that compare. Safe to use from many threads."""

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._steady = wall, steady
        self._latest = self._wall()
        self._at = self._steady()
        self._seen = ""
        self._lock = threading.Lock()
        self.informed = False
        """Whether it knows what others have written to the store."""
        _clocks.add(self)

    def now(self, view: Transaction | None = None) -> str:
        """The moment, not before any that this process or the store has seen. Raises StoreError."""
        row = view.row("SELECT seen FROM moment WHERE one = 1") if view is not None else None
        with self._lock:
            self.informed = self.informed or view is not None
            steady = self._steady()
            self._latest = max(self._wall(), self._latest + max(0.0, steady - self._at))
            self._at = steady
            self._seen = max(self._seen, written(self._latest), str(row[0]) if row is not None else "")
            return self._seen

    def tick(self, change: Transaction) -> str:
        """The same, and nobody who uses the store will be told an earlier one. Raises StoreError."""
        now = self.now(change)
        change.run("UPDATE moment SET seen = ? WHERE one = 1 AND seen < ?", now, now)
        return now

    def after(self, moment: str, seconds: float) -> str:
        """The moment so many seconds later."""
        import calendar

        return written(calendar.timegm(time.strptime(moment, "%Y-%m-%dT%H:%M:%SZ")) + seconds)


_clocks: weakref.WeakSet[Clock] = weakref.WeakSet()


def _forked() -> None:
    """A lock that another thread of the parent held is held by nobody here."""
    for clock in _clocks:
        clock._lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
