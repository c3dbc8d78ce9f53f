"""What this machine remembers of the state: the place of the newest entry about each subject, apart from the store.

    keys/states     16 bytes for each: ten of the hash of the subject, six of the place

An entry is found by its subject, a column that no hash covers. Whoever has the database alone could take the newest
entry about an approval out of there, set its row back, and have it count again; here it is still known. The file is
added to, and read on from where it was read before. Where records are lost in a crash, less is known, and nothing
wrong.

Once most of it is outdated, a new file takes its place, with the newest record of each subject. INVARIANT: no record
is lost by that. Whoever adds one looks afterwards whether the file is still the one in place, and otherwise adds it
again; whoever replaces it takes over what was added to the old file until the new one was in place.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from remit.model.digest import sha256
from remit.store.files import write_whole
from remit.store.process import here

STATES_FILE = "states"
_RECORD, _NAME = 16, 10
_FEW = 32
"""Lookups that search the file; a process with more of them sorts it once."""
LARGE = 256 * 1024
"""Bytes from which on a file that is mostly outdated is replaced."""
_TRIES = 5


class StateMemory(dict[str, int]):
    """Places by subject: those that this process has noted, and behind them the file.

    Safe to use from many threads and after a fork.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = str(folder / STATES_FILE)
        self._asked = self._process = 0
        self._file: _File | None = None
        self._lock = threading.Lock()

    def get(self, subject: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """The newest place that anybody on this machine has noted."""
        own, name = super().get(subject), _name(subject)
        self._asked += 1
        with self._here(), suppress(OSError):
            kept = self._current().place_of(name, often=self._asked > _FEW)
            if kept is not None:
                return max(kept, own if own is not None else -1)
        return own if own is not None else default

    def update(self, more: Mapping[str, int]) -> None:  # type: ignore[override]
        """Notes them, here and in the file; not there if it can't be written."""
        super().update(more)
        data = b"".join([_record(_name(subject), place) for subject, place in more.items()])
        with self._here():
            try:
                self._add(data)
            except OSError:
                return

    def _add(self, data: bytes) -> None:
        """Adds records to the file that is in place. Raises OSError."""
        for _ in range(_TRIES):
            file = self._file if self._file is not None else self._opened()
            file.add(data)
            there = os.stat(self._path, follow_symlinks=False)
            if file.is_(there) and not file.mended(there):
                file.read(there.st_size, data)
                if file.is_outdated:
                    self._replace(file)
                return
            self._file = file if file.is_(there) else None

    def _here(self) -> threading.Lock:
        """The lock; a child begins anew, since somebody in its parent may have held it."""
        if self._process != here[0]:
            self._lock, self._file, self._process = threading.Lock(), None, here[0]
        return self._lock

    def _current(self) -> _File:
        """The file, with what others have added meanwhile. Raises OSError."""
        there = os.stat(self._path, follow_symlinks=False)
        file = self._file
        if file is None or not file.is_(there):
            file = self._opened()
        file.read(there.st_size)
        return file

    def _opened(self) -> _File:
        self._file = _File(self._path)
        return self._file

    def _replace(self, old: _File) -> None:
        """A file with only the newest of each takes its place, unless another process does that. Raises OSError."""
        with old.alone():
            there = os.stat(self._path, follow_symlinks=False)
            if old.is_(there):
                end = old.read(there.st_size)
                data = b"".join(_record(*one) for one in old.places().items())
                write_whole(Path(self._path), data)
                self._opened().add(old.since(end))


class _File:
    """One file, and what was read of it so far."""

    def __init__(self, path: str) -> None:
        """Raises OSError."""
        flags = os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            self._handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | flags, 0o600)
        except OSError:
            self._handle = os.open(path, os.O_RDONLY | flags)  # a copy that may only be read
        found = os.fstat(self._handle)
        self._identity = (found.st_dev, found.st_ino)
        with suppress(OSError):
            self.mended(found)
        self._data = bytearray()
        self._places: dict[bytes, int] = {}
        """What was sorted of it, for a process that asks often: up to so many bytes."""
        self._sorted = 0

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            os.close(self._handle)

    def is_(self, there: os.stat_result) -> bool:
        return (there.st_dev, there.st_ino) == self._identity

    def add(self, data: bytes) -> None:
        """Raises OSError."""
        if data:
            os.write(self._handle, data)

    def mended(self, there: os.stat_result) -> bool:
        """Whether its last record was torn; it ends with a whole one then. Raises OSError."""
        torn = there.st_size % _RECORD
        if torn:
            self.add(bytes(_RECORD - torn))
        return bool(torn)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Raises OSError if another process is."""
        fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        try:
            yield
        finally:
            fcntl.flock(self._handle, fcntl.LOCK_UN)

    def read(self, size: int, added: bytes = b"") -> int:
        """Reads on up to that size; up to where that was, in bytes. Raises OSError.

        `added` was added to it just now.
        """
        size -= size % _RECORD
        if added and size == len(self._data) + len(added):
            self._data += added  # and nothing else was
        elif size > len(self._data):
            more = os.pread(self._handle, size - len(self._data), len(self._data))
            self._data += more[: len(more) - len(more) % _RECORD]
        return len(self._data)

    def since(self, start: int) -> bytes:
        """What was added after that. Raises OSError."""
        self.read(os.fstat(self._handle).st_size)
        return bytes(self._data[start:])

    def place_of(self, name: bytes, *, often: bool) -> int | None:
        if often:
            return self.places().get(name)
        after = self._data.split(name)[1:]
        return int.from_bytes(max(one[: _RECORD - _NAME] for one in after), "big") if after else None

    def places(self) -> dict[bytes, int]:
        """The newest place of each name."""
        data, end = self._data, len(self._data)
        for at in range(self._sorted, end, _RECORD):
            name, place = bytes(data[at : at + _NAME]), int.from_bytes(data[at + _NAME : at + _RECORD], "big")
            if place >= self._places.get(name, 0):  # one that was taken over from an old file may stand after it
                self._places[name] = place
        self._sorted = end
        return self._places

    @property
    def is_outdated(self) -> bool:
        """Whether it is large, and most of it is not the newest of its name."""
        return len(self._data) >= LARGE and len(self._data) >= 4 * _RECORD * len(self.places())


@lru_cache(1024)
def _name(subject: str) -> bytes:
    return sha256(subject.encode()).digest()[:_NAME]


def _record(name: bytes, place: int) -> bytes:
    return name + place.to_bytes(_RECORD - _NAME, "big")
