"""A folder by which programs that run on learn, for the price of one `stat`, that something in a store has changed.

INVARIANT: whoever changes it puts a file into the folder before the store is told, and takes the file away afterwards.
Both change the folder. So what was read while no such file lay there stays true until the folder changes.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remit.store.errors import from_os_error

TICK = 50_000_000
"""Nanoseconds: two changes of a directory that lie further apart have different times on every file system."""
CHANGING = "changing"
_LOCK = "lock"
Mark = tuple[int, ...]


def mark_of(folder: str) -> Mark:
    """What changes when a file is put into the directory or taken out of it; last the time. Empty: it isn't there."""
    try:
        found = os.stat(folder)
    except OSError:
        return ()
    return (found.st_ino, found.st_mode, found.st_ctime_ns)


class Watch:
    """One folder that is watched; the files in it that say `changing` begin with `prefix`."""

    __slots__ = ("_name", "folder", "prefix")

    def __init__(self, folder: Path, prefix: str = CHANGING) -> None:
        self.folder, self.prefix = folder, prefix
        self._name = str(folder)

    def prepare(self) -> None:
        """Makes the folder, where that can be done."""
        with suppress(OSError):
            os.mkdir(self._name, 0o700)

    def mark(self) -> Mark:
        """Changes whenever something may have changed."""
        return mark_of(self._name)

    def is_settled(self, mark: Mark) -> bool:
        """Nobody is changing anything, and another change would change the mark: what is read now may be kept."""
        if not mark:
            return not self.folder.exists()
        fresh = 0 <= time.time_ns() - mark[-1] < TICK
        return not fresh and not any(self.folder.glob(f"{self.prefix}*"))

    @contextmanager
    def changing(self) -> Iterator[None]:
        """For as long as the store is told. One at a time on this machine. Raises StoreError."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise from_os_error(error, "write to the state directory") from error
        file = self.folder / self.prefix
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                file.unlink(missing_ok=True)  # of somebody who was killed
                os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except OSError as error:
                raise from_os_error(error, "write to the state directory") from error
            yield
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                raise from_os_error(error, "write to the state directory") from error
        finally:
            os.close(lock)
