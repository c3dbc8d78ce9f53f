"""The passphrase by which a person is told from a program: kept as a salted scrypt hash, and slow to guess.

The project has one, and where the policy names people, each of them has one, set with an invitation.

The same scrypt run gives the seed of an Ed25519 key, which exists only while somebody who gave the passphrase acts. Its
public part stands in the ledger, so that what this person does can be told from what anybody else writes there.

An attempt is counted as failed in the store before it is looked at, so that neither ending the process nor trying in
several at once makes it free; only the right passphrase takes the count back. Every answer is in the ledger before it
is given.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import time
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import msgspec

from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.errors import RemitError
from remit.model.moments import exact_moment, seconds_of
from remit.record.append import append
from remit.record.entry import event_entry
from remit.record.people import PERSON, people_of
from remit.record.state import CREDENTIAL, INVITATION, Sign, StateForged, check_row, newest, put
from remit.store.interface import Store, Transaction

SHORTEST, LONGEST = 8, 1_000
"""Characters, after normalisation. A terminal hands over no longer line in one piece."""
FREE = 5
"""Wrong answers before there is a wait."""
LONGEST_WAIT = 60
"""Seconds."""
INVITED_FOR = 7 * 24 * 3600
"""Seconds that an invitation counts."""
WRITER = "credential"
_SECOND = 1_000_000_000
_SALT = 16
_SEED = 32
_MEMORY = 1 << 30


class CredentialError(RemitError):
    """A credential that is not there, not good enough, not right, or can't be read."""

    code = "bad-credential"


class Throttled(CredentialError):
    """Too many wrong answers: there has to be a wait before the next one is looked at."""

    code = "credential-throttled"

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many wrong passphrases; try again in {seconds} s")
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
    set_at: str
    key: bytes | None
    failures: int
    failed_at: int


class Proof(NamedTuple):
    """That somebody gave the right passphrase: what is kept of it, and the key that belongs to it."""

    hash: bytes
    sign: Sign


class Status(NamedTuple):
    """What may be told about a credential."""

    kind: str
    set_at: str
    failures: int


def is_set(store: Store, name: str = PERSON) -> bool:
    """Whether there is a passphrase, the project's or a person's. Raises StoreError."""
    return status(store, name) is not None


def status(store: Store, name: str = PERSON) -> Status | None:
    """Since when there is a passphrase, and how many wrong answers in a row. Raises StoreError."""
    with store.read() as view:
        row = view.row("SELECT kind, set_at, failures FROM credential WHERE name = ?", name)
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
    store: Store,
    text: str,
    *,
    old: str | None = None,
    who: str = "unknown",
    name: str = PERSON,
    clock: Callable[[], int] = time.time_ns,
) -> None:
    """Sets the passphrase; to change one, `old` must be it. Raises CredentialError, LedgerError and StoreError."""
    _check_fit(text)
    before = None
    if is_set(store, name):
        if old is None:
            raise CredentialError("a passphrase is already set: changing it needs the old one", code="credential-set")
        before = _proved(store, old, who, "change the passphrase", clock, name)
        if before is None:
            raise CredentialError("wrong passphrase", code="wrong-passphrase")
    elif name != PERSON:
        what = f"{name} sets the first passphrase with the code of an invitation"
        raise CredentialError(what, code="not-invited", help=f"an owner runs `remit people invite {name}`")
    at = clock()
    fresh = _made(_material(text) or b"", exact_moment(at), name)
    what = "set" if before is None else "changed"
    with store.write() as change:
        now = _row(change, name)
        if (now.hash if now is not None else None) != (before.hash if before is not None else None):
            raise CredentialError("somebody else has set a passphrase meanwhile", code="credential-set")
        sign = before.sign if before is not None else None
        _keep(change, fresh, at, what, who, f"{what} the passphrase", sign)


def _check_fit(text: str) -> None:
    fault = unfit(text)
    if fault is not None:
        raise CredentialError(f"this passphrase can't be used: {fault}", code="unfit-passphrase")


def invite(store: Store, name: str, *, by: str, sign: Sign | None, clock: Callable[[], int] = time.time_ns) -> str:
    """A code with which somebody sets a passphrase of their own, once, within a week. Raises StoreError.

    `sign` signs for the owner who invites, or for the project. One that was given before counts no more.
    """
    code = base64.b32encode(os.urandom(20)).decode().lower()
    at = clock()
    row = {"key": base64.b64encode(_public(_invited(name, code))).decode(), "at": exact_moment(at), "by": by}
    about = {"what": "invited", "who": name, "by": by}
    with store.write() as change:
        put(change, INVITATION, (name,), row, event="credential", at=at, writer=WRITER, about=about, sign=sign)
    return "-".join(code[at : at + 8] for at in range(0, len(code), 8))


def accept(
    store: Store, name: str, code: str, text: str, *, who: str = "unknown", clock: Callable[[], int] = time.time_ns
) -> None:
    """Sets somebody's passphrase by the code of their invitation. Raises CredentialError, LedgerError, StoreError."""
    _check_fit(text)
    at, seed = clock(), _invited(name, code.strip().lower().replace("-", ""))
    fresh = _made(_material(text) or b"", exact_moment(at), name)
    with store.write() as change:
        invitation = people_of(change).invitations.get(name)
        [said] = newest(change, (INVITATION, (name,)))
        old = said is None or seconds_of(exact_moment(at)) - seconds_of(str(said.row.get("at"))) > INVITED_FOR
        right = invitation is not None and hmac.compare_digest(invitation.key, _public(seed))
        if right and not old:
            _keep(change, fresh, at, "set", who, "accepted an invitation", signer(seed, name))
        _record(change, at, "given" if right and not old else "refused", who, f"accept the invitation of {name}")
    if not right or old:
        what = "the invitation is more than a week old" if right else "this is not a valid invitation"
        raise CredentialError(what, code="not-invited", help=f"an owner runs `remit people invite {name}`")


def _invited(name: str, code: str) -> bytes:
    """The seed of an invitation's key. The code is random, and long enough not to be guessed."""
    return sha256(f"remit invitation v1\n{name}\n{code}".encode("utf-8", "replace")).digest()


def check_passphrase(
    store: Store,
    text: str,
    *,
    who: str = "unknown",
    doing: str = "",
    name: str = PERSON,
    clock: Callable[[], int] = time.time_ns,
) -> bool:
    """Whether this is the passphrase; false if there is none. Raises CredentialError, LedgerError and StoreError."""
    return _proved(store, text, who, doing, clock, name) is not None


def unlock(
    store: Store,
    text: str,
    *,
    who: str = "unknown",
    doing: str = "",
    name: str = PERSON,
    clock: Callable[[], int] = time.time_ns,
) -> Sign | None:
    """The same; what signs for the person who gave it, None if this is not the passphrase."""
    found = _proved(store, text, who, doing, clock, name)
    return found.sign if found is not None else None


def _proved(store: Store, text: str, who: str, doing: str, clock: Callable[[], int], name: str) -> Proof | None:
    """What is stored and the key, if this is the passphrase. One that was kept in an older way is kept anew."""
    kept = _attempt(store, clock, name)
    if kept is None:
        return None
    parameters = _read(kept.parameters)
    material = _material(text)
    found, seed = _derived(material if material is not None else b"", kept.salt, parameters)
    right = hmac.compare_digest(found, kept.hash) and material is not None
    fresh = None
    if right and material is not None and (parameters != NOW or kept.key is None):
        fresh = _made(material, kept.set_at, name)
    with store.write() as change:
        if right:
            # Not any more, if it was changed while we looked.
            right = change.run("UPDATE credential SET failures = 0 WHERE name = ? AND hash = ?", name, kept.hash) == 1
            if right and fresh is not None:
                sign = signer(seed, name) if kept.key is not None else None
                _keep(change, fresh, clock(), "renewed", who, doing, sign)
        _record(change, clock(), "given" if right else "refused", who, doing)
    if not right:
        return None
    return Proof(fresh.hash, signer(fresh.seed, name)) if fresh is not None else Proof(kept.hash, signer(seed, name))


def derive(text: str, salt: bytes, parameters: str, name: str) -> Sign:
    """What signs for somebody, from the passphrase and what is kept with it; for another machine.

    Whether it was the passphrase shows when the signature is verified. Raises CredentialError.
    """
    return signer(_derived(_material(text) or b"", salt, _read(parameters))[1], name)


def kept_with(store: Store, name: str) -> tuple[bytes, str]:
    """The salt and the parameters of somebody's passphrase. Raises CredentialError and StateForged."""
    with store.read() as view:
        kept = _row(view, name)
    if kept is None:
        raise CredentialError(f"{name} has not set a passphrase yet", code="no-credential")
    return kept.salt, kept.parameters


def signer(seed: bytes, name: str = PERSON) -> Sign:
    """What signs with the key of a seed, for the project or for somebody."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey  # here, as below: it takes long

    return Sign(Ed25519PrivateKey.from_private_bytes(seed).sign, name if name != PERSON else None)


def _public(seed: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(seed).public_key().public_bytes_raw()


class _Fresh(NamedTuple):
    """A passphrase as it is kept now."""

    name: str
    salt: bytes
    hash: bytes
    seed: bytes
    key: bytes
    set_at: str


def _made(material: bytes, set_at: str, name: str) -> _Fresh:
    salt = os.urandom(_SALT)
    found, seed = _derived(material, salt, NOW)
    return _Fresh(name, salt, found, seed, _public(seed), set_at)


def _keep(change: Transaction, fresh: _Fresh, at: int, what: str, who: str, doing: str, sign: Sign | None) -> None:
    row = {
        "name": fresh.name,
        "kind": "passphrase",
        "salt": fresh.salt,
        "parameters": _written(NOW),
        "hash": fresh.hash,
        "set_at": fresh.set_at,
        "key": fresh.key,
        "failures": 0,
        "failed_at": 0,
    }
    about = {"what": what, "who": who[:200], "doing": doing[:200]}
    change.run("DELETE FROM credential WHERE name = ? AND key IS NULL", fresh.name)
    put(change, CREDENTIAL, (fresh.name,), row, event="credential", at=at, writer=WRITER, about=about, sign=sign)


def wait_after(failures: int) -> int:
    """Seconds between so many wrong answers and the next that counts."""
    return 0 if failures < FREE else min(LONGEST_WAIT, 1 << min(failures - FREE, 10))


def _attempt(store: Store, clock: Callable[[], int], name: str) -> Kept | None:
    """Counts an attempt; what is kept, to compare with. Raises Throttled."""
    with store.write() as change:
        kept = _row(change, name)
        if kept is None:
            return None
        now, wait = clock(), wait_after(kept.failures)
        passed = now - kept.failed_at
        if passed < 0:
            # The clock went back: the wait begins anew, and a failure in the future doesn't lock anybody out for long.
            change.run("UPDATE credential SET failed_at = ? WHERE name = ?", now, name)
            passed = 0
        left = wait * _SECOND - passed
        if left <= 0:
            count = "UPDATE credential SET failures = failures + 1, failed_at = ? WHERE name = ?"
            change.run(count, now, name)
    if left > 0:
        raise Throttled(-(-left // _SECOND))
    return kept


def _row(view: Transaction, whose: str = PERSON) -> Kept | None:
    """What is kept. Raises StateForged if the ledger says something else."""
    columns = "name, kind, salt, parameters, hash, set_at, key, failures, failed_at"
    row = view.row(f"SELECT {columns} FROM credential WHERE name = ?", whose)  # noqa: S608
    [said] = newest(view, (CREDENTIAL, (whose,)))
    if row is None:
        if said is not None:
            raise StateForged("the passphrase is gone from the store", help=_GONE)
        return None
    name, kind, salt, parameters, found, set_at, key, failures, failed_at = row
    if said is not None or key is not None:  # one that an older Remit set gets its key when it is next given
        known = {"name": name, "kind": kind, "salt": salt, "parameters": parameters, "hash": found}
        check_row(CREDENTIAL, (whose,), known | {"set_at": set_at, "key": key}, said)
    public = bytes(key) if key is not None else None
    return Kept(bytes(salt), parameters, bytes(found), set_at, public, failures, failed_at)


_GONE = "it can't be set again without it: `remit ledger verify` names what else was changed"


def _record(change: Transaction, at: int, what: str, who: str, doing: str) -> None:
    about = {"what": what, "who": who[:200], "doing": doing[:200]}
    append(change, [event_entry("credential", at, WRITER, about, {})], WRITER)


def _material(text: str) -> bytes | None:
    """The bytes that are hashed: in NFC, so that it doesn't matter how a keyboard composes a letter."""
    try:
        return unicodedata.normalize("NFC", text).encode()
    except UnicodeEncodeError:
        return None


def _derived(material: bytes, salt: bytes, parameters: Parameters) -> tuple[bytes, bytes]:
    """The hash that is kept, and the seed of the key, which is not."""
    n, r, p, length = parameters.n, parameters.r, parameters.p, parameters.length
    try:
        found = hashlib.scrypt(material, salt=salt, n=n, r=r, p=p, maxmem=_MEMORY, dklen=length + _SEED)
    except (ValueError, OverflowError, MemoryError):
        raise CredentialError("the stored passphrase can't be read", code="credential-corrupt") from None
    return found[:length], found[length:]


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
