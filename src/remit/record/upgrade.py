"""Stamping the entries of a log that is older than stamps."""

from __future__ import annotations

import time

from remit.record.append import append
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.reader import entries
from remit.record.stamp import CALLS, STAMPS, Stamps
from remit.record.tree import CompactRange
from remit.store.interface import Transaction

WRITER = "stamp"


def stamp_all(change: Transaction, stamps: Stamps, signed: CompactRange | None) -> None:
    """Stamps every entry but those of calls, and writes down that it was done. An empty log has nothing to stamp.

    Raises LedgerError if the entries are not those that were signed, and StoreError.
    """
    tree, found, fits = CompactRange(), [], False
    for stored in entries(change, archived=True):
        tree.extend([stored.hash])
        if signed is not None and tree.size == signed.size:
            fits = tree.hashes == signed.hashes
        if stored.body and stored.data.get("type") not in CALLS:  # raises for one that was changed
            found.append((stamps.make(stored.seq, stored.hash), stored.seq))
    if tree.size == 0:
        return
    if not fits and (signed is None or signed.size):
        what = "the log is older than stamps, and not the one that was signed last: it can't be stamped"
        raise LedgerError(what, code="ledger-forked", help="restore the newest copy, with its `keys` folder")
    change.run_many("UPDATE leaf SET stamp = ? WHERE seq = ?", found)
    change.note(STAMPS, STAMPS, stamps)
    append(change, [event_entry("start", time.time_ns(), WRITER, {"what": "stamps"}, {})], WRITER)
