"""One judgement for one use of a tool, however many hooks see it.

A host runs every hook that its settings name: the user's, a managed one, the project's. Whoever comes first judges the
call, and writes the answer down; whoever comes later about the very same question gives the same answer. So one
decision is recorded, one approval is used and one unit of a budget is spent. The same goes for how a call ended.

Where nothing can be written down, each hook judges for itself: what the first one used up, the others are refused, and
the host takes the strictest.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from remit.adapters.hosts.interface import Event, Reply
from remit.model.decoding import Decoding
from remit.model.digest import sha256

FOLDER = "uses"
FRESH = 60.0
"""Seconds for which an answer counts: hooks of one call run side by side."""
OLD = 3600.0
PATIENCE = 8.0
"""Seconds for another hook that judges the same call."""


class _Kept(msgspec.Struct, frozen=True):
    """What is written down about one use."""

    question: str
    out: bytes = b""
    err: bytes = b""
    code: int = 0
    ended: bool = False


_KEPT = Decoding(_Kept)


class Use:
    """One use of a tool, as long as nobody else looks at it."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._age = time.time() - os.fstat(descriptor).st_mtime
        self._kept: _Kept | None = None
        with suppress(msgspec.MsgspecError, UnicodeError):
            self._kept = _KEPT.decode(os.pread(descriptor, 64 * 1024 * 1024, 0))

    @property
    def ended(self) -> bool:
        """It was recorded how it ended."""
        return self._kept is not None and self._kept.ended

    def answered(self, event: Event) -> Reply | None:
        """What another hook answered to this very question just now."""
        kept = self._kept
        if kept is None or kept.ended or kept.question != _mark(event) or not -FRESH < self._age < FRESH:
            return None
        return Reply(kept.out, kept.err, kept.code)

    def answer(self, event: Event, reply: Reply) -> None:
        """This is the answer, whoever asks again."""
        self._write(_Kept(_mark(event), *reply))

    def end(self) -> None:
        """It is over."""
        self._write(_Kept("", ended=True))

    def _write(self, kept: _Kept) -> None:
        data = msgspec.json.encode(kept)
        with suppress(OSError):  # then whoever asks again judges for itself
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, data, 0)


class Uses:
    """What was answered lately, in the state directory."""

    def __init__(self, state: Path) -> None:
        self.folder = state / "hooks" / FOLDER

    @contextmanager
    def of(self, call: str) -> Iterator[Use | None]:
        """The use with this id, alone; None where nothing can be written down, or another hook takes too long."""
        descriptor = None
        with suppress(OSError):
            descriptor = self._taken(self.folder / sha256(call.encode("utf-8", "replace")).hexdigest()[:40])
        try:
            yield Use(descriptor) if descriptor is not None else None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def sweep(self) -> None:
        """What is old is gone."""
        before = time.time() - OLD
        with suppress(OSError):
            for entry in os.scandir(self.folder):
                with suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        os.unlink(entry.path)

    def _taken(self, path: Path) -> int | None:
        """The file of one use, locked. Raises OSError."""
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            descriptor = os.open(path, flags, 0o600)
        except FileNotFoundError:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, flags, 0o600)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return descriptor
            except BlockingIOError:
                if time.monotonic() > end:
                    os.close(descriptor)
                    return None
                time.sleep(0.01)
            except BaseException:
                os.close(descriptor)
                raise


def _mark(event: Event) -> str:
    """What must be the same for a question to be the same."""
    return sha256(msgspec.json.encode(event)).hexdigest()
