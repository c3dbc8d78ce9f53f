"""A file of events, one a line; a new one is begun when it is large enough."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from remit.record.stream import Event, StreamError
from remit.store.files import sync_folder


class FileDestination:
    """Appends to a file, which only its owner may read. What a crash left of a line is cut off: it comes again."""

    def __init__(self, path: str, *, rotate: int, keep: int | None) -> None:
        self.path, self.rotate, self.keep = Path(path), rotate, keep
        self.handle = -1

    def send(self, events: Sequence[Event]) -> None:
        try:
            self._open()
            if os.fstat(self.handle).st_size >= self.rotate:
                self._begin_another(events[0].seq)
            whole = os.fstat(self.handle).st_size
            try:
                _write(self.handle, b"".join(event.body + b"\n" for event in events))
                os.fsync(self.handle)
            except OSError:
                os.ftruncate(self.handle, whole)  # the disk is full: no half line stays
                raise
        except OSError as error:
            self.close()
            raise StreamError(f"{self.path} can't be written: {error.strerror or error}") from None

    def close(self) -> None:
        if self.handle >= 0:
            os.close(self.handle)
            self.handle = -1

    def _open(self) -> None:
        if self.handle >= 0 and _same(self.handle, self.path):
            return
        self.close()
        flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        self.handle = os.open(self.path, flags, 0o600)
        _drop_half_line(self.handle)

    def _begin_another(self, seq: int) -> None:
        """The finished file gets the number of the first entry that is no longer in it."""
        self.close()
        finished = self.path.with_name(f"{self.path.name}.{seq:012d}")
        if not finished.exists():  # never over what is there
            os.rename(self.path, finished)
            sync_folder(self.path.parent)
        if self.keep is not None:
            for old in self._finished()[: -self.keep]:
                old.unlink()
        self._open()

    def _finished(self) -> list[Path]:
        digits = (path for path in self.path.parent.glob(f"{self.path.name}.*") if path.name[-12:].isdigit())
        return sorted(path for path in digits if len(path.name) == len(self.path.name) + 13)


def _same(handle: int, path: Path) -> bool:
    """Whether the name still stands for the open file: another program may rotate it too."""
    try:
        there = os.lstat(path)
    except OSError:
        return False
    ours = os.fstat(handle)
    return (there.st_dev, there.st_ino) == (ours.st_dev, ours.st_ino)


def _write(handle: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(handle, left) :]


def _drop_half_line(handle: int) -> None:
    end = os.fstat(handle).st_size
    at = end
    while at > 0:
        start = max(0, at - 65_536)
        found = os.pread(handle, at - start, start).rfind(b"\n")
        if found >= 0:
            at = start + found + 1
            break
        at = start
    if at < end:
        os.ftruncate(handle, at)
