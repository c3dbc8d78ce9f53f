"""What walks concluded from the names in each directory, kept in this process until the directory changes.

walk = Walk(("look", root, digest))
value = walk.known(directory, status)       # None: look at it, and keep what you find
walk.keep(directory, status, value)
walk.done()                                 # what this walk did not meet is forgotten

Whoever adds, removes, renames or replaces something in a directory changes the time of its inode, which nobody can
set. That clock ticks coarsely: a directory that has changed a moment ago may change again within the same tick, so
nothing is kept of it. Modes and contents of files don't show in their directory: no conclusion may rest on them.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Hashable
from typing import Generic, TypeVar

SLACK = 2_000_000_000
"""Nanoseconds: longer than any tick of a file system's clock."""
MOST = 16
"""Walks whose conclusions are kept: the last ones."""

T = TypeVar("T")
_Stamp = tuple[int, int, int]
_lock = threading.Lock()
_kept: dict[Hashable, dict[Hashable, tuple[_Stamp, object]]] = {}


class Walk(Generic[T]):
    """One walk over a root. Its conclusions must follow from its key, the directory's path and the names in it."""

    def __init__(self, key: Hashable) -> None:
        self._key = key
        self._settled = time.time_ns() - SLACK
        with _lock:
            self._last = _kept.get(key, {})
        self._now: dict[Hashable, tuple[_Stamp, object]] = {}

    def known(self, directory: Hashable, status: os.stat_result) -> T | None:
        """What was concluded the last time, if the directory is as it was; `status` is its own, taken just now."""
        found = self._last.get(directory)
        if found is None or found[0] != (status.st_dev, status.st_ino, status.st_ctime_ns):
            return None
        self._now[directory] = found
        return found[1]  # type: ignore[return-value]  # `keep` put it there

    def keep(self, directory: Hashable, status: os.stat_result, value: T) -> None:
        """`status` was taken before the directory was listed."""
        if status.st_ctime_ns < self._settled:
            self._now[directory] = (status.st_dev, status.st_ino, status.st_ctime_ns), value

    def done(self) -> None:
        """The walk is over, and met all that there is."""
        with _lock:
            _kept.pop(self._key, None)
            _kept[self._key] = self._now
            while len(_kept) > MOST:
                del _kept[next(iter(_kept))]
