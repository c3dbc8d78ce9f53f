"""Stamps: which entries this project's Remit wrote, and not somebody who can only write to the store.

    keys/stamp.key      32 bytes of a secret key

Beside every entry but those of calls stands a keyed hash of its place and its own hash. Without the key nobody can
add an entry that counts, change one together with its hash, or move it to another place: an entry whose stamp does not
fit counts as not there. That one was taken away is known from the memory of this machine (`state_memory.py`).

A log of an older Remit is stamped once, when it is first opened: if it is the one that was signed.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from remit.model.digest import sha256
from remit.record.errors import LedgerError
from remit.record.secret_file import make_secret, read_secret
from remit.store.files import sync_folder
from remit.store.interface import Store, Transaction

if TYPE_CHECKING:
    from hashlib import blake2s
    from hmac import compare_digest
else:
    try:  # without OpenSSL, which takes long to load
        from _blake2 import blake2s
        from _operator import _compare_digest as compare_digest
    except ImportError:
        from hashlib import blake2s
        from hmac import compare_digest

FILE = "stamp.key"
STAMPS = "stamps"
"""What a process knows of the keys, among the notes of its store."""
CALLS = frozenset(("intent", "outcome"))
"""Entries without stamps: they give nobody anything, and are many."""
_KEY, _PLACE, _LENGTH = 32, 8, 16
_NOWHERE = 2**64 - 1
"""No entry has this place."""
_NEW = f"{FILE}.new"
_ANY = "SELECT seq, hash, stamp FROM leaf WHERE stamp IS NOT NULL LIMIT 1"
_WHAT = f"the key {FILE}"
_HELP = (
    "restore it from a copy; on another host, copy the folder there whole;"
    " without a copy, keep this log as evidence and start a new one"
)


class Stamps(NamedTuple):
    """What makes stamps, and tells whether they fit."""

    key: bytes

    def make(self, place: int, leaf: bytes) -> bytes:
        """The stamp of the entry at a place, by its hash."""
        return blake2s(place.to_bytes(_PLACE, "big") + leaf, key=self.key, digest_size=_LENGTH).digest()

    def of_text(self, name: str, data: bytes) -> bytes:
        """The stamp of something else that is kept under a name."""
        return self.make(_NOWHERE, sha256(name.encode() + b"\0" + data).digest())

    def fits(self, place: int, leaf: bytes, stamp: object) -> bool:
        """Whether an entry counts."""
        if not isinstance(stamp, (bytes, memoryview)) or not 0 <= place < _NOWHERE:
            return False
        return compare_digest(self.make(place, leaf), bytes(stamp))


def stamps_of(view: Transaction) -> Stamps | None:
    """Those of this process; None where the store was opened without its keys, so that nobody can tell."""
    found: Stamps | None = view.noted(STAMPS, STAMPS)
    return found


def fitting(view: Transaction, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Of rows that begin with place and hash and end with the stamp, those that count."""
    stamps = stamps_of(view)
    return rows if stamps is None else [row for row in rows if stamps.fits(int(row[0]), bytes(row[1]), row[-1])]


def is_stamped(view: Transaction, place: int) -> bool:
    """Whether the entry at a place counts, as far as anybody can tell here."""
    rows = view.rows("SELECT seq, hash, stamp FROM leaf WHERE seq = ?", place)
    return bool(fitting(view, rows))


def read_stamps(folder: Path) -> Stamps | None:
    """Those of a keys folder; None if it has none. Raises LedgerError."""
    data = read_secret(folder / FILE, _KEY, _WHAT)
    return Stamps(data) if data is not None else None


def check_stamps(view: Transaction, folder: Path) -> None:
    """That the key is there and in order, if the log has stamps. Raises LedgerError and StoreError."""
    if read_stamps(folder) is None and view.row(_ANY) is not None:
        raise LedgerError(f"{_WHAT} is missing", code="key-missing", help=_HELP)


def make_stamps(store: Store, folder: Path, stamp_all: Callable[[Transaction, Stamps], None]) -> Stamps:
    """Those of a keys folder, made if it has none yet. Raises LedgerError and StoreError.

    `stamp_all` stamps the entries of a log that is older. One that has stamps already has a key somewhere else, and
    gets no other. The key has its name once all is stamped: whoever is killed before leaves a log without stamps, or
    a key under the other name that fits it. Meanwhile, all others wait: there is one key, whoever opens at once.
    """
    found = read_stamps(folder)
    if found is not None:
        return found
    with _alone(folder):
        with store.write() as change:
            found = read_stamps(folder) or _left(change, folder)
            if found is not None:
                return found
            check_stamps(change, folder)
            try:
                (folder / _NEW).unlink(missing_ok=True)
            except OSError:
                raise _unwritable() from None
            found = Stamps(make_secret(folder / _NEW, os.urandom(_KEY), _WHAT))
            stamp_all(change, found)
        _name(folder)
    return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Raises LedgerError."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        raise _unwritable() from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _name(folder: Path) -> None:
    """The key that all is stamped with gets its name, on the disk. Raises LedgerError."""
    try:
        os.replace(folder / _NEW, folder / FILE)
        sync_folder(folder)
    except OSError:
        raise _unwritable() from None


def _unwritable() -> LedgerError:
    return LedgerError(f"{_WHAT} can't be written", code="key-unwritable")


def _left(view: Transaction, folder: Path) -> Stamps | None:
    """The key of somebody who was killed after all was stamped."""
    data = read_secret(folder / _NEW, _KEY, _WHAT)
    row = view.row(_ANY)
    if data is None or row is None or not Stamps(data).fits(int(row[0]), bytes(row[1]), row[2]):
        return None
    _name(folder)
    return Stamps(data)


def keep_stamps(store: Store, stamps: Stamps | None) -> None:
    """From now on, this store makes stamps, and what has none that fits does not count."""
    if stamps is not None:
        store.keep_notes(STAMPS, {STAMPS: stamps})
