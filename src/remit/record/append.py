"""Appending: entries become leaves of the tree, in one transaction, whoever else is writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from remit.record.entry import Entry
from remit.record.errors import LedgerError
from remit.record.tree import CompactRange, leaf_hash
from remit.store.interface import Transaction


class Head(NamedTuple):
    """The log at one moment: how many entries, and the root of the tree over them."""

    size: int
    root: bytes


Pending = Entry | Callable[[Callable[[str], int | None]], Entry]
"""An entry, or what makes it once it is known which intent it answers: a function of `place of a call → seq`."""


class Appended(NamedTuple):
    """What one transaction wrote: the entries, the place of the first of them, and the head after them."""

    first: int
    entries: list[Entry]
    head: Head


def append(change: Transaction, pending: Sequence[Pending], writer: str) -> Appended:
    """Writes the entries. Raises StoreError and LedgerError."""
    row = change.row("SELECT size, range FROM head WHERE one = 1")
    if row is None:
        raise LedgerError("the ledger has no head", code="ledger-corrupt")
    tree = CompactRange.from_bytes(row[0], bytes(row[1]))
    first = tree.size
    fresh: dict[str, int] = {}

    def place(call: str) -> int | None:
        found = fresh.get(call)
        if found is not None:
            return found
        known = change.row("SELECT max(seq) FROM running WHERE call = ?", call)
        return int(known[0]) if known is not None and known[0] is not None else None

    entries: list[Entry] = []
    for one in pending:
        entry = one if isinstance(one, Entry) else one(place)
        if entry.opens and entry.call is not None:
            fresh[entry.call] = first + len(entries)
        entries.append(entry)
    leaves = [leaf_hash(entry.body) for entry in entries]
    tree.extend(leaves)
    places = list(range(first, first + len(entries)))
    change.run_many(
        "INSERT INTO leaf (seq, hash, body) VALUES (?, ?, ?)",
        [(seq, leaf, entry.body) for seq, leaf, entry in zip(places, leaves, entries, strict=True)],
    )
    fields = [(seq, f.path, f.salt, f.value) for seq, entry in zip(places, entries, strict=True) for f in entry.fields]
    if fields:
        change.run_many("INSERT INTO secret (seq, path, salt, value) VALUES (?, ?, ?, ?)", fields)
    _open_and_close(change, first, entries, writer)
    moved = "UPDATE head SET size = ?, range = ? WHERE one = 1 AND size = ?"
    changed = change.run(moved, tree.size, tree.to_bytes(), first)
    if changed != 1:
        raise LedgerError("another writer moved the head", code="ledger-corrupt")
    return Appended(first, entries, Head(tree.size, tree.root()))


def _open_and_close(change: Transaction, first: int, entries: list[Entry], writer: str) -> None:
    """Keeps the list of calls that run: opened by an intent that allows, closed by the outcome that answers it."""
    opened: dict[int, str] = {}
    closed = []
    for seq, entry in enumerate(entries, first):
        if entry.opens and entry.call is not None:
            opened[seq] = entry.call
        elif entry.answers is not None and opened.pop(entry.answers, None) is None:
            closed.append((entry.answers,))
    if opened:
        rows = [(call, seq, writer) for seq, call in opened.items()]
        change.run_many("INSERT INTO running (call, seq, writer) VALUES (?, ?, ?)", rows)
    if closed:
        change.run_many("DELETE FROM running WHERE seq = ?", closed)


def is_there(view: Transaction, seq: int, body: bytes) -> bool:
    """Whether this very entry stands at that place: how a commit that failed half-way is looked after."""
    row = view.row("SELECT hash FROM leaf WHERE seq = ?", seq)
    return row is not None and bytes(row[0]) == leaf_hash(body)


def head_of(view: Transaction) -> Head:
    """The head as it is stored. Raises LedgerError."""
    row = view.row("SELECT size, range FROM head WHERE one = 1")
    if row is None:
        raise LedgerError("the ledger has no head", code="ledger-corrupt")
    return Head(int(row[0]), CompactRange.from_bytes(row[0], bytes(row[1])).root())
