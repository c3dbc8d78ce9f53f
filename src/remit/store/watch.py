"""A folder by which programs that run on learn, for the price of one `stat`, that something in a store has changed.

INVARIANT: whoever changes it puts a file into the folder before the store is told, and takes the file away afterwards.
Both change the folder. So what was read while no such file lay there stays true until the folder changes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

TICK = 50_000_000
"""Nanoseconds: two changes of a directory that lie further apart have different times on every file system."""
Mark = tuple[int, ...]


def mark_of(folder: str) -> Mark:
    """What changes when a file is put into the directory or taken out of it; last the time. Empty: it isn't there."""
    try:
        found = os.stat(folder)
    except OSError:
        return ()
    return (found.st_ino, found.st_mode, found.st_ctime_ns)


class Watch:
    """One folder that is watched; the files by which somebody says that a change is under way begin with `prefix`."""

    __slots__ = ("_name", "folder", "prefix")

    def __init__(self, folder: Path, prefix: str) -> None:
        self.folder, self.prefix = folder, prefix
        self._name = str(folder)

    def mark(self) -> Mark:
        """Changes whenever something may have changed."""
        return mark_of(self._name)

    def is_settled(self, mark: Mark) -> bool:
        """Nobody is changing anything, and another change would change the mark: what is read now may be kept."""
        if not mark:
            return not self.folder.exists()
        fresh = 0 <= time.time_ns() - mark[-1] < TICK
        return not fresh and not any(self.folder.glob(f"{self.prefix}*"))
