"""The files of an SQLite store: that they are ours, that they are the same ones as before, and who has them open.

Beside the database lies a lock file. Whoever has the store open holds a shared lock on it, which the kernel drops when
the process ends, however it ends. So a process that gets it exclusively is alone: it may make the database, and if the
log was left behind, the last user did not close it.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from remit.store.errors import StoreBusy, StoreCorrupt, StoreUnavailable, from_os_error
from remit.store.filesystem import check_file_system
from remit.store.place import check_private_file, make_private

Identity = tuple[int, int]
"""Device and inode: the file itself, whatever its name."""

_PAUSE = 0.005
_SMALLEST = 512
_inherited: set[Identity] = set()
"""Databases whose connections this process has from its parent: it must not open them (see `pool`)."""


class Files:
    """The files of one store, with a share of its lock."""

    def __init__(self, path: Path) -> None:
        if not path.is_absolute():
            raise StoreUnavailable(f"`{path}` is not an absolute path")
        make_private(path.parent)
        check_file_system(path.parent)
        self.path = path
        self.log = path.with_name(path.name + "-wal")
        self.memory = path.with_name(path.name + "-shm")
        self.journal = path.with_name(path.name + "-journal")
        self.lock = path.with_name(path.name + "-lock")
        self._names = (str(path), str(self.log), str(self.memory))
        self._folder = str(path.parent)
        self._descriptor = -1
        self.identity: Identity = (0, 0)

    @contextmanager
    def opening(self, deadline: float) -> Iterator[bool]:
        """Takes a share of the lock. The block runs before anyone else can open the store, if it gets True."""
        check_private_file(self.lock)
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._descriptor = os.open(self.lock, flags, 0o600)
        except OSError as error:
            raise from_os_error(error, f"open `{self.lock}`") from error
        try:
            alone = self._share(deadline)
            self.check()
            yield alone
            if alone:
                self._wait(fcntl.LOCK_SH, deadline)
        except BaseException:
            self.release()
            raise

    def _share(self, deadline: float) -> bool:
        while True:
            if self._try(fcntl.LOCK_EX):
                self._make()
                return True
            self._wait(fcntl.LOCK_SH, deadline)
            if os.path.lexists(self.path):
                return False

    def _try(self, how: int) -> bool:
        try:
            fcntl.flock(self._descriptor, how | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError as error:
            raise from_os_error(error, f"lock `{self.lock}`") from error
        return True

    def _wait(self, how: int, deadline: float) -> None:
        while not self._try(how):
            if time.monotonic() >= deadline:
                raise StoreBusy(f"another process is preparing `{self.path}`, and has not finished in time")
            time.sleep(_PAUSE)

    def _make(self) -> None:
        """An empty database, if there is none. Nobody has it open, so closing it here drops nobody's locks."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600))
        except FileExistsError:
            return
        except OSError as error:
            raise from_os_error(error, f"make `{self.path}`") from error

    def left_behind(self) -> bool:
        """Whether there is a log with something in it: true after a crash, and while others have the store open."""
        for path in (self.log, self.journal):
            found = check_private_file(path)
            if found is not None and found.st_size:
                return True
        return False

    def check(self) -> None:
        """The files may be opened: they are ours alone, and the database is the one that was opened first."""
        found = check_private_file(self.path)
        if found is None:
            raise StoreUnavailable(f"`{self.path}` is gone")
        if 0 < found.st_size < _SMALLEST:  # SQLite would take it for empty, and overwrite it
            raise StoreCorrupt(f"`{self.path}` is not a database")
        for path in (self.log, self.memory, self.journal):
            check_private_file(path)
        identity = (found.st_dev, found.st_ino)
        if identity in _inherited:
            raise StoreUnavailable("this process was forked while the store was in use; start a new program instead")
        if self.identity == (0, 0):
            self.identity = identity
        elif identity != self.identity:
            raise StoreCorrupt(f"`{self.path}` was replaced by another file while it was in use")

    def identities(self) -> tuple[Identity | None, ...]:
        """Which files stand under the three names now."""
        return tuple(map(_identity, self._names))

    def place(self) -> tuple[int, ...] | None:
        """The directory, last the moment at which a name in it changed, to the tick of the kernel's clock."""
        try:
            found = os.lstat(self._folder)
        except OSError:
            return None
        return (found.st_dev, found.st_ino, found.st_ctime_ns)

    def log_size(self) -> int:
        """How long the log is; 0 if there is none."""
        try:
            return os.stat(self._names[1]).st_size
        except OSError:
            return 0

    def inherit(self) -> None:
        """Called in a forked child: the parent was using the database."""
        _inherited.add(self.identity)

    def release(self) -> None:
        """Gives the share of the lock back."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _identity(path: str) -> Identity | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
