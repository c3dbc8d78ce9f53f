"""A counter by which programs that run on learn, for almost nothing, that something in a store has changed.

The file holds two numbers: how many changes were begun, and how many of them the store has. INVARIANT: whoever changes
something counts it as begun before the store is told, and as done afterwards. So what was read while both were equal
stays true until one of them changes. Where somebody was killed in between they differ, and the store is read each time.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remit.store.errors import from_os_error

_NUMBERS = struct.Struct("<QQ")
_LOOK_AGAIN = 1.0
"""Seconds after which it is looked whether the file is still the one that was opened."""


class Counter:
    """One such file. Safe to use from many threads and after a fork."""

    __slots__ = ("_identity", "_looked", "_path", "_seen")

    def __init__(self, path: Path) -> None:
        self._path = str(path)
        self._seen: mmap.mmap | bytes = b""
        self._identity: tuple[int, int] | None = None
        self._looked = 0.0

    def read(self) -> bytes:
        """Changes whenever something may have changed; empty if nobody can tell."""
        now = time.monotonic()
        if now - self._looked > _LOOK_AGAIN:
            self._look(now)
        return self._seen[: _NUMBERS.size]

    def is_settled(self, mark: bytes) -> bool:
        """Nobody is changing anything: what was read since the mark was may be kept."""
        if len(mark) != _NUMBERS.size:
            return False
        begun, done = _NUMBERS.unpack(mark)
        return bool(begun == done and self.read() == mark)

    @contextmanager
    def changing(self) -> Iterator[None]:
        """For as long as the store is told. One at a time on this machine. Raises StoreError."""
        try:
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise from_os_error(error, "write to the state directory") from error
        try:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
                data = os.pread(file, _NUMBERS.size, 0)
                begun = max(_NUMBERS.unpack(data)) + 1 if len(data) == _NUMBERS.size else 1
                _write(file, begun, begun - 1)
            except OSError as error:
                raise from_os_error(error, "write to the state directory") from error
            yield
            try:
                _write(file, begun, begun)
            except OSError as error:
                raise from_os_error(error, "write to the state directory") from error
        finally:
            os.close(file)

    def _look(self, now: float) -> None:
        """Opens the file, or the one that stands in its place now; makes it where that can be done."""
        self._looked = now
        try:
            there = os.stat(self._path, follow_symlinks=False)
            if self._identity == (there.st_dev, there.st_ino) and there.st_size >= _NUMBERS.size:
                return
        except OSError:
            pass
        self._seen, self._identity = b"", None
        with suppress(OSError, ValueError):
            file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                if os.fstat(file).st_size < _NUMBERS.size:
                    fcntl.flock(file, fcntl.LOCK_EX)
                    if os.fstat(file).st_size < _NUMBERS.size:
                        _write(file, 0, 0)
                    fcntl.flock(file, fcntl.LOCK_UN)  # the memory keeps the file open, and would keep the lock
                found = os.fstat(file)
                self._seen = mmap.mmap(file, _NUMBERS.size, prot=mmap.PROT_READ)
                self._identity = (found.st_dev, found.st_ino)
            finally:
                os.close(file)


def _write(file: int, begun: int, done: int) -> None:
    os.pwrite(file, _NUMBERS.pack(begun, done), 0)
