"""What this machine remembers of the state: the place of the newest entry about each subject, apart from the store.

    keys/states     16 bytes for each: ten of the hash of the subject, six of the place

An entry is found by its subject, a column that no hash covers. Whoever has the database alone could take the newest
entry about an approval out of there, set its row back, and have it count again; here it is still known. The file is
only added to. Where records are lost in a crash, less is known, and nothing wrong.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from remit.model.digest import sha256

STATES_FILE = "states"
_RECORD, _NAME = 16, 10
_FEW = 32
"""Lookups that search the file; a process with more of them sorts it once."""


class StateMemory(dict[str, int]):
    """Places by subject: those that this process has noted, and behind them the file."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._path = folder / STATES_FILE
        self._data = b""
        self._asked = 0
        self._places: dict[bytes, int] = {}
        """What the file says, of a process that asks often: up to so many bytes of it."""
        self._sorted = 0

    def get(self, subject: str, default: int | None = None) -> int | None:  # type: ignore[override]
        """The newest place that anybody on this machine has noted."""
        own = super().get(subject)
        self._read()
        self._asked += 1
        kept = self._sort().get(_name(subject)) if self._asked > _FEW else self._find(_name(subject))
        if kept is None:
            return own if own is not None else default
        return max(kept, own if own is not None else -1)

    def _find(self, name: bytes) -> int | None:
        at = len(self._data)
        while (at := self._data.rfind(name, 0, at)) >= 0:
            if at % _RECORD == 0:
                return int.from_bytes(self._data[at + _NAME : at + _RECORD], "big")
            at += _NAME - 1
        return None

    def _sort(self) -> dict[bytes, int]:
        for at in range(self._sorted, len(self._data), _RECORD):
            self._places[self._data[at : at + _NAME]] = int.from_bytes(self._data[at + _NAME : at + _RECORD], "big")
        self._sorted = len(self._data)
        return self._places

    def update(self, more: Mapping[str, int]) -> None:  # type: ignore[override]
        """Notes them, here and in the file; not there if it can't be written."""
        super().update(more)
        data = b"".join(_name(subject) + place.to_bytes(_RECORD - _NAME, "big") for subject, place in more.items())
        with suppress(OSError):
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                torn = os.fstat(handle).st_size % _RECORD
                os.write(handle, bytes(_RECORD - torn) + data if torn else data)
            finally:
                os.close(handle)

    def _read(self) -> None:
        """Takes in what others have added meanwhile."""
        try:
            size = os.stat(self._path, follow_symlinks=False).st_size // _RECORD * _RECORD
            if size == len(self._data):
                return
            with open(self._path, "rb") as file:
                self._data = file.read(size)
            if size < self._sorted:  # another file
                self._places, self._sorted = {}, 0
        except OSError:
            return


def _name(subject: str) -> bytes:
    return sha256(subject.encode()).digest()[:_NAME]
