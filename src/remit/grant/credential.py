"""The passphrase by which a person is told from a program: kept as a salted scrypt hash, and slow to guess.

An attempt is counted as failed in the store before it is looked at, so that neither ending the process nor trying in
several at once makes it free; only the right passphrase takes the count back. Every answer is in the ledger before it
is given.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.model.moments import exact_moment
from remit.record.append import append
from remit.record.entry import event_entry
from remit.store.interface import Store, Transaction

NAME = "person"
SHORTEST, LONGEST = 8, 1_000
"""Characters, after normalisation. A terminal hands over no longer line in one piece."""
FREE = 5
"""Wrong answers before there is a wait."""
LONGEST_WAIT = 60
"""Seconds."""
WRITER = "credential"
_SECOND = 1_000_000_000
_SALT = 16
_MEMORY = 1 << 30


class CredentialError(RemitError):
    """A credential that is not there, not good enough, not right, or can't be read."""

    code = "bad-credential"


class Throttled(CredentialError):
    """Too many wrong answers: there has to be a wait before the next one is looked at."""

    code = "credential-throttled"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many wrong passphrases; the next one counts in {seconds} s")
        self.seconds = seconds


class Parameters(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What scrypt was told. Kept with each hash, so that it can be raised later."""

    n: int
    r: int
    p: int
    length: int


_STORED = Decoding(dict[str, Parameters])
NOW = Parameters(n=2**15, r=8, p=1, length=32)


class Kept(NamedTuple):
    """What the store has."""

    salt: bytes
    parameters: str
    hash: bytes
    failures: int
    failed_at: int


class Status(NamedTuple):
    """What may be told about a credential."""

    kind: str
    set_at: str
    failures: int


def is_set(store: Store) -> bool:
    """Whether there is a passphrase. Raises StoreError."""
    return status(store) is not None


def status(store: Store) -> Status | None:
    """Since when there is a passphrase, and how many wrong answers in a row. Raises StoreError."""
    with store.read() as view:
        row = view.row("SELECT kind, set_at, failures FROM credential WHERE name = ?", NAME)
    return Status(*row) if row is not None else None


def unfit(text: str) -> str | None:
    """Why a text can't be a passphrase; None if it can."""
    if _material(text) is None:
        return "it has half of a surrogate pair in it"
    size = len(unicodedata.normalize("NFC", text))
    if size < SHORTEST:
        return f"it has fewer than {SHORTEST} characters"
    if size > LONGEST:
        return f"it has more than {LONGEST} characters"
    return "it has control characters in it" if any(unicodedata.category(c) == "Cc" for c in text) else None


def set_passphrase(
    store: Store, text: str, *, old: str | None = None, who: str = "unknown", clock: Callable[[], int] = time.time_ns
) -> None:
    """Sets the passphrase; to change one, `old` must be it. Raises CredentialError, LedgerError and StoreError."""
    fault = unfit(text)
    if fault is not None:
        raise CredentialError(f"this can't be a passphrase: {fault}", code="unfit-passphrase")
    before = None
    if is_set(store):
        if old is None:
            raise CredentialError("there is a passphrase already: changing it needs the old one", code="credential-set")
        before = _proved(store, old, who, "change the passphrase", clock)
        if before is None:
            raise CredentialError("wrong passphrase", code="wrong-passphrase")
    salt, at = os.urandom(_SALT), clock()
    found = _hash(_material(text) or b"", salt, NOW)
    what = "set" if before is None else "changed"
    with store.write() as change:
        now = _row(change)
        if (now.hash if now is not None else None) != before:
            raise CredentialError("somebody else has set a passphrase meanwhile", code="credential-set")
        change.run("DELETE FROM credential WHERE name = ?", NAME)
        change.run(
            "INSERT INTO credential (name, kind, salt, parameters, hash, set_at) VALUES (?, ?, ?, ?, ?, ?)",
            *(NAME, "passphrase", salt, _written(NOW), found, exact_moment(at)),
        )
        _record(change, at, what, who, f"{what} the passphrase")


def check_passphrase(
    store: Store, text: str, *, who: str = "unknown", doing: str = "", clock: Callable[[], int] = time.time_ns
) -> bool:
    """Whether this is the passphrase; false if there is none. Raises CredentialError, LedgerError and StoreError."""
    return _proved(store, text, who, doing, clock) is not None


def _proved(store: Store, text: str, who: str, doing: str, clock: Callable[[], int]) -> bytes | None:
    """The hash that is stored, if this is the passphrase."""
    kept = _attempt(store, clock)
    if kept is None:
        return None
    parameters = _read(kept.parameters)
    material = _material(text)
    found = _hash(material if material is not None else b"", kept.salt, parameters)
    right = hmac.compare_digest(found, kept.hash) and material is not None
    raised = _raised(material, parameters) if right and material is not None else None
    with store.write() as change:
        if right:
            # Not any more, if it was changed while we looked.
            right = change.run("UPDATE credential SET failures = 0 WHERE name = ? AND hash = ?", NAME, kept.hash) == 1
            if raised is not None:
                sql = "UPDATE credential SET salt = ?, parameters = ?, hash = ? WHERE name = ? AND hash = ?"
                change.run(sql, *raised, NAME, kept.hash)
        _record(change, clock(), "given" if right else "refused", who, doing)
    if not right:
        return None
    return raised[2] if raised is not None else kept.hash


def wait_after(failures: int) -> int:
    """Seconds between so many wrong answers and the next that counts."""
    return 0 if failures < FREE else min(LONGEST_WAIT, 1 << min(failures - FREE, 10))


def _attempt(store: Store, clock: Callable[[], int]) -> Kept | None:
    """Counts an attempt; what is kept, to compare with. Raises Throttled."""
    with store.write() as change:
        kept = _row(change)
        if kept is None:
            return None
        now, wait = clock(), wait_after(kept.failures)
        passed = now - kept.failed_at
        if passed < 0:
            # The clock went back: the wait begins anew, and a failure in the future doesn't lock anybody out for long.
            change.run("UPDATE credential SET failed_at = ? WHERE name = ?", now, NAME)
            passed = 0
        left = wait * _SECOND - passed
        if left <= 0:
            count = "UPDATE credential SET failures = failures + 1, failed_at = ? WHERE name = ?"
            change.run(count, now, NAME)
    if left > 0:
        raise Throttled(-(-left // _SECOND))
    return kept


def _row(view: Transaction) -> Kept | None:
    row = view.row("SELECT salt, parameters, hash, failures, failed_at FROM credential WHERE name = ?", NAME)
    return Kept(bytes(row[0]), row[1], bytes(row[2]), row[3], row[4]) if row is not None else None


def _record(change: Transaction, at: int, what: str, who: str, doing: str) -> None:
    about = {"what": what, "who": who[:200], "doing": doing[:200]}
    append(change, [event_entry("credential", at, WRITER, about, {})], WRITER)


def _material(text: str) -> bytes | None:
    """The bytes that are hashed: in NFC, so that it doesn't matter how a keyboard composes a letter."""
    try:
        return unicodedata.normalize("NFC", text).encode()
    except UnicodeEncodeError:
        return None


def _hash(material: bytes, salt: bytes, parameters: Parameters) -> bytes:
    n, r, p = parameters.n, parameters.r, parameters.p
    try:
        return hashlib.scrypt(material, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=parameters.length)
    except (ValueError, OverflowError, MemoryError):
        raise CredentialError("the stored passphrase can't be read", code="credential-corrupt") from None


def _raised(material: bytes, parameters: Parameters) -> tuple[bytes, str, bytes] | None:
    """The same passphrase hashed as it is done now, if it was done with less."""
    if parameters == NOW:
        return None
    salt = os.urandom(_SALT)
    return salt, _written(NOW), _hash(material, salt, NOW)


def _written(parameters: Parameters) -> str:
    return msgspec.json.encode({"scrypt": parameters}).decode()


def _read(text: str) -> Parameters:
    try:
        found = _STORED.decode(text)["scrypt"]
    except (msgspec.MsgspecError, KeyError):
        found = Parameters(0, 0, 0, 0)
    usable = 1 < found.n <= 1 << 20 and 0 < found.r <= 32 and 0 < found.p <= 16 and 16 <= found.length <= 64
    if not usable:
        raise CredentialError("the stored passphrase can't be read", code="credential-corrupt")
    return found
