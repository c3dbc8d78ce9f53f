"""The signer: signs a head only if it extends the last one that it signed.

It trusts no head that it is handed: it keeps its own tree of what it has signed, in a file apart from the store, and
adds the leaves since then to it by itself. A log that was cut, replaced or restored from an old copy gets no signature.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from remit.model.moments import exact_moment
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.keys import Keys
from remit.record.tree import CompactRange, TreeError
from remit.store.files import write_whole
from remit.store.interface import Store, Transaction

_CUT = "the log is shorter than what was signed: it was cut, or restored from an old copy"
_FORKED = "the log is not the one that was signed before: entries were changed or replaced"


class CheckpointSigner:
    """Signs the heads of one log."""

    def __init__(self, store: Store, keys: Keys, origin: str) -> None:
        self.store, self.keys, self.origin = store, keys, origin
        self.file = keys.folder / "signed"

    def sign(self) -> bytes:
        """A signed note of the log as it is now, stored with it. Raises LedgerError."""
        with self._locked():
            size, signed = self._last()
            with self.store.read() as view:
                now = _extended(view, size, signed)
                known = _known(view, now.size) if now.size == size else None
            if known is not None:
                return known
            body = Checkpoint(self.origin, now.size, now.root())
            note = body.sign(*self.keys.signers(exact_moment(time.time_ns()))).encode()
            self._keep(now)
            with self.store.write() as change:
                if change.row("SELECT 1 FROM checkpoint WHERE size = ?", now.size) is None:
                    change.run("INSERT INTO checkpoint (size, note) VALUES (?, ?)", now.size, note)
            return note

    def check(self) -> int:
        """That the log goes on from what was signed, without signing; gives the size that was. Raises LedgerError."""
        size, signed = self._last()
        with self.store.read() as view:
            _extended(view, size, signed)
        return size

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

    def _last(self) -> tuple[int, CompactRange]:
        """The size that was signed last, and the tree of that size."""
        try:
            data = json.loads(self.file.read_text("ascii"))
            size = int(data["size"])
            return size, CompactRange.from_bytes(size, base64.b64decode(data["range"], validate=True))
        except FileNotFoundError:
            return 0, CompactRange()
        except (OSError, ValueError, KeyError, TypeError, RecursionError, TreeError):
            problem = "what was signed last can't be read"
            raise LedgerError(problem, code="signer-unreadable", help=f"look at {self.file}") from None

    def _keep(self, tree: CompactRange) -> None:
        """Remembers the tree before the signature leaves this function."""
        text = json.dumps({"size": tree.size, "range": base64.b64encode(tree.to_bytes()).decode()})
        try:
            write_whole(self.file, text.encode("ascii"))
        except OSError as error:
            raise LedgerError(f"can't remember what is signed: {error.strerror}", code="signer-unwritable") from None


def _extended(view: Transaction, size: int, signed: CompactRange) -> CompactRange:
    """The tree that was signed, with the leaves since then: it must be the tree of the head. Raises LedgerError."""
    head = view.row("SELECT size, range FROM head WHERE one = 1")
    if head is None or head[0] < size:
        raise LedgerError(_CUT, code="ledger-truncated")
    signed.extend(bytes(leaf) for (leaf,) in view.each("SELECT hash FROM leaf WHERE seq >= ? ORDER BY seq", size))
    now = CompactRange.from_bytes(head[0], bytes(head[1]))
    if signed.size != now.size or signed.root() != now.root():
        raise LedgerError(_FORKED, code="ledger-forked")
    return now


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
