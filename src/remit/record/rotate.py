"""Rotation of the ledger's key: an entry names the new key, signed by the old one, and both sign for a while.

The order makes every crash harmless: the new key is written, then the entry, and only then does the key count. A
rotation that was interrupted is simply done again.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from remit.model.moments import exact_moment
from remit.record.append import append
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.keys import Keys
from remit.record.note import NoteError, Verifier, open_note
from remit.store.interface import Store

OVERLAP_DAYS = 7
DAY = 86_400 * 10**9
WRITER = "rotate"


def statement(origin: str, old: str, new: str, until: str) -> str:
    """What the old key signs."""
    return f"remit ledger rotation\n{origin}\n{old}\n{new}\n{until}\n"


def rotate(store: Store, keys: Keys, *, days: int = OVERLAP_DAYS, who: str) -> Verifier:
    """Makes a new key; gives it. Raises LedgerError and StoreError."""
    if not 0 <= days <= 3650:
        raise LedgerError("the keys overlap for 0 to 3650 days", code="bad-rotation")
    now = time.time_ns()
    until = exact_moment(now + days * DAY)
    old = keys.signers(exact_moment(now))[0]
    new = keys.prepare()
    text = statement(keys.name, old.verifier.vkey, new.vkey, until)
    about = {"old": old.verifier.vkey, "new": new.vkey, "until": until, "who": who, "signature": old.line(text)}
    with store.write() as change:
        append(change, [event_entry("rotation", now, WRITER, about, {})], WRITER)
    keys.adopt(new)
    keys.retire(until)
    return new


def check_rotations(said: Iterable[dict[str, Any]], verifiers: list[Verifier]) -> None:
    """That every key but the first was named by the one before it, in the rotation entries. Raises LedgerError."""
    introduced = {str(entry.get("new")): entry for entry in said}
    for old, new in pairwise(verifiers):
        entry = introduced.get(new.vkey, {})
        parts = [entry.get(name) for name in ("old", "new", "until", "signature")]
        if parts[:2] != [old.vkey, new.vkey] or not all(isinstance(part, str) for part in parts):
            raise LedgerError(f"no entry says that the key {new.key_id.hex()} follows", code="key-not-introduced")
        text = statement(old.name, str(parts[0]), str(parts[1]), str(parts[2]))
        try:
            open_note(f"{text}\n{parts[3]}", [old])
        except NoteError:
            message = f"the key {new.key_id.hex()} was not signed by the one before it"
            raise LedgerError(message, code="key-not-introduced") from None
