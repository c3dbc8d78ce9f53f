"""People's acts: what a person brings about is signed by the key that belongs to their passphrase.

The public key stands in the ledger since the passphrase was set, and one that replaces it is signed by the one before.
So an approval, an activation, a task or a gate that nobody with the passphrase gave counts for nothing, whoever can
write to the store.
"""

from __future__ import annotations

import base64
from collections.abc import Container
from typing import NamedTuple

from remit.record.reader import Stored, entry_at
from remit.record.state import ACTIVATION, CREDENTIAL, Kind, Row, Said, StateForged, name_of, read_state, subject_of
from remit.store.interface import Transaction

PERSON = "person"
"""The one name that credentials have."""
_SUBJECT = subject_of(CREDENTIAL, PERSON)
NONE = "none"
UNSIGNED = "state-unsigned"


class PublicKey(NamedTuple):
    """A person's key, and the first entry that it can have signed."""

    since: int
    key: bytes


class Trust(NamedTuple):
    """What is accepted of a person without a signature."""

    made: Container[int] = ()
    """Entries that this very process made."""
    none_needed: bool = False
    """The policy in force says that people need no credential."""


def check_person(view: Transaction, kind: Kind, row: Row, said: Said, trust: Trust) -> None:
    """That a person brought it about, if only a person can. Raises StateForged (`state-unsigned`)."""
    if not kind.by_person(row) or said.seq in trust.made:
        return
    if not is_signed(view, said) and not trust.none_needed:
        what = f"nobody who knows the passphrase brought about {name_of(kind, said.state.of[1:])} (entry {said.seq})"
        raise StateForged(what, code=UNSIGNED, help="a person gives it again, with the passphrase")


def check_activation(view: Transaction, said: Said) -> None:
    """That a person activated it, or needed no credential under the policy before. Raises StateForged."""
    one: Said | None = said
    while one is not None and not is_signed(view, one):
        before = one.state.after
        kept = entry_at(view, before) if before is not None else None
        one = read_state(*kept) if kept is not None else None
        if one is None or one.type not in ACTIVATION.events or one.credential != NONE:
            what = f"nobody who knows the passphrase activated the policy of entry {said.seq}"
            raise StateForged(what, code=UNSIGNED, help="run `remit activate` again")


def is_signed(view: Transaction, said: Said) -> bool:
    """Whether a person's key signed the entry; also true if nobody had one then. Raises StateForged."""
    if said.signed is not None and (said.hash, said.signed) in _verified:
        return True
    keys = public_keys(view)
    if not keys or said.seq < keys[0].since:
        return True
    if said.signed is None:
        return False
    key = next(key for key in reversed(keys) if key.since <= said.seq)
    if not verifies(key.key, said.signed, said.message):
        return False
    if len(_verified) > 10_000:
        _verified.clear()
    _verified.add((said.hash, said.signed))
    return True


_verified: set[tuple[bytes, str]] = set()
"""Signatures that were verified, by the hash of their entry, which never changes."""
_keys: dict[bytes, list[PublicKey]] = {}


def public_keys(view: Transaction) -> list[PublicKey]:
    """The keys of the person, the newest last. Raises StateForged if one replaced another without its signature."""
    row = view.row("SELECT hash FROM leaf WHERE subject = ? ORDER BY seq DESC LIMIT 1", _SUBJECT)
    if row is None:
        return []
    newest = bytes(row[0])
    if newest not in _keys:
        if len(_keys) > 100:
            _keys.clear()
        rows = view.rows("SELECT seq, hash, body FROM leaf WHERE subject = ? ORDER BY seq", _SUBJECT)
        _keys[newest] = chained([Stored(int(seq), bytes(kept), bytes(body)) for seq, kept, body in rows])
    return _keys[newest]


def chained(entries: list[Stored]) -> list[PublicKey]:
    """The keys that entries introduce. Raises StateForged."""
    keys: list[PublicKey] = []
    before: int | None = None
    for seq, kept, body in entries:
        said = read_state(seq, kept, body)
        if said is None or said.state.of != (CREDENTIAL.name, PERSON) or said.state.after != before:
            raise StateForged(f"entry {seq} about the passphrase does not follow the one before it")
        if keys and (said.signed is None or not verifies(keys[-1].key, said.signed, said.message)):
            raise StateForged(f"entry {seq} replaces the passphrase, and who wrote it did not know the one before")
        keys.append(PublicKey(seq + 1, base64.b64decode(str(said.row.get("key")))))
        before = seq
    return keys


def verifies(key: bytes, signature: str, message: bytes) -> bool:
    """Whether the signature is of this key over this message."""
    from cryptography.exceptions import InvalidSignature  # here: it takes long, and few processes check signatures
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        Ed25519PublicKey.from_public_bytes(key).verify(base64.b64decode(signature, validate=True), message)
    except (InvalidSignature, ValueError):
        return False
    return True
