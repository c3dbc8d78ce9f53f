"""The signer: signs a head only if it extends the last one that it signed.

It trusts no head that it is handed: it keeps its own tree of what it has signed, in a file apart from the store, and
adds the leaves since then to it by itself. A log that was cut, replaced or restored from an old copy gets no signature.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from remit.model.moments import exact_moment
from remit.record.checkpoint import Checkpoint
from remit.record.continuity import check_extends, none_signed
from remit.record.errors import LedgerError
from remit.record.keys import Keys
from remit.record.memory import Memory
from remit.record.tree import CompactRange
from remit.store.interface import Store, Transaction


class CheckpointSigner:
    """Signs the heads of one log."""

    def __init__(self, store: Store, keys: Keys, origin: str) -> None:
        self.store, self.keys, self.origin = store, keys, origin
        self.memory = Memory(keys.folder)

    def sign(self) -> bytes:
        """A signed note of the log as it is now, stored with it. Raises LedgerError."""
        with self._locked():
            signed = self._last()
            seen = self.memory.seen()
            with self.store.read() as view:
                now = check_extends(view, signed)
                if seen is not None and seen.size > signed.size:
                    check_extends(view, seen)
                known = _known(view, now.size) if now.size == signed.size else None
            if known is not None:
                return known
            body = Checkpoint(self.origin, now.size, now.root())
            note = body.sign(*self.keys.signers(exact_moment(time.time_ns()))).encode()
            self.memory.keep_signed(now)  # before the signature leaves this function
            with self.store.write() as change:
                if change.row("SELECT 1 FROM checkpoint WHERE size = ?", now.size) is None:
                    change.run("INSERT INTO checkpoint (size, note) VALUES (?, ?)", now.size, note)
            return note

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One signer at a time on this machine."""
        try:
            handle = os.open(self.keys.folder / "signing", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise LedgerError(f"can't sign: {error.strerror}", code="key-unreadable") from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def _last(self) -> CompactRange:
        """The tree that was signed last. Raises LedgerError: without it nobody knows whether the log goes on."""
        found = self.memory.signed()
        if found is not None:
            return found
        with self.store.read() as view:
            return none_signed(view)


def _known(view: Transaction, size: int) -> bytes | None:
    """The note of this size that is stored already."""
    found = view.row("SELECT note FROM checkpoint WHERE size = ?", size)
    note = bytes(found[0]) if found is not None else b""
    return note if note.split(b"\n", 2)[1:2] == [str(size).encode()] else None


def open_signer_folder(state: Path) -> Path:
    """The folder of the keys, made so that nobody else can look into it."""
    folder = state / "keys"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
