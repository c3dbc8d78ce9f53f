"""A file elsewhere, on another disk or host: one checkpoint after the other, each followed by an empty line."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from remit.record.anchor import AnchorError, AnchorMalformed
from remit.record.checkpoint import Checkpoint
from remit.record.log import Log
from remit.record.note import NoteError

TAIL = 1024 * 1024
"""Bytes at the end of the file that are looked at: some thousand checkpoints."""


class FileAnchor:
    """An append-only file."""

    def __init__(self, path: Path, log: Log) -> None:
        self.path, self.log = path, log

    def describe(self) -> str:
        return f"file:{self.path}"

    def push(self, note: bytes) -> None:
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
            with open(os.open(self.path, flags, 0o644), "rb+", buffering=0) as file:
                self._plain(file.fileno())
                size = file.seek(0, os.SEEK_END)
                torn = size and os.pread(file.fileno(), 2, max(0, size - 2)) != b"\n\n"
                record = (b"\n\n" if torn else b"") + note + b"\n"
                if file.write(record) != len(record):
                    raise AnchorError(f"{self.describe()} took only a part of the checkpoint")
                os.fsync(file.fileno())
        except OSError as error:
            raise AnchorError(f"can't write to {self.describe()}: {error.strerror or error}") from None

    def last(self) -> Checkpoint | None:
        try:
            with open(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
                self._plain(file.fileno())
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - TAIL))
                data = file.read(TAIL)
        except FileNotFoundError:
            if self.path.parent.is_dir():
                return None  # nothing was pushed yet
            raise AnchorError(f"can't read {self.describe()}: its folder is not there") from None
        except OSError as error:
            raise AnchorError(f"can't read {self.describe()}: {error.strerror or error}") from None
        found = self._largest(data)
        if found is None and data.strip():
            raise AnchorMalformed(f"what {self.describe()} keeps is not a checkpoint of this log")
        return found

    def _plain(self, handle: int) -> None:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise AnchorError(f"{self.describe()} is not a plain file")

    def _largest(self, data: bytes) -> Checkpoint | None:
        """The largest of those that verify, the newest first: what is torn or foreign is passed over."""
        parts = data.split(b"\n\n")
        best: Checkpoint | None = None
        for text, lines in zip(reversed(parts[:-1]), reversed(parts[1:]), strict=True):
            if not lines.startswith("— ".encode()):
                continue
            try:
                found = self.log.read(text.lstrip(b"\n") + b"\n\n" + lines.rstrip(b"\n") + b"\n")
            except NoteError:
                continue
            if best is None or found.size > best.size:
                best = found
        return best
