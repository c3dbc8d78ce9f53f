"""A log as those see it who prove something about it: its store, name and keys; roots and proofs from its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from remit.record.checkpoint import Checkpoint, open_checkpoint
from remit.record.errors import LedgerError
from remit.record.note import NoteError, Verifier, add_lines
from remit.record.proof import Proof
from remit.record.reader import Stored, entry_at
from remit.record.tree import HashSource, consistency_proof, inclusion_proof, leaf_hash, root_at
from remit.store.interface import Store, Transaction

COSIGNED = "cosigned"
"""In `meta`: the newest checkpoint that a witness has cosigned, with its lines."""


class Log(NamedTuple):
    """One log."""

    store: Store
    origin: str
    verifiers: Sequence[Verifier]

    def read(self, note: bytes | str) -> Checkpoint:
        """A checkpoint of this very log, signed by one of its keys. Raises NoteError."""
        checkpoint, _ = open_checkpoint(note, self.verifiers)
        if checkpoint.origin != self.origin:
            raise NoteError("the checkpoint is of another log")
        return checkpoint


def hashes(view: Transaction) -> HashSource:
    """The hashes of subtrees, computed from the stored hashes of the leaves."""

    def read(start: int, count: int) -> list[bytes]:
        rows = view.rows("SELECT hash FROM leaf WHERE seq >= ? AND seq < ? ORDER BY seq", start, start + count)
        return [bytes(row[0]) for row in rows]

    return HashSource(read)


def root_of(view: Transaction, size: int) -> bytes:
    """The root over the first entries. Raises TreeError if they are not all there."""
    return root_at(size, hashes(view).hash_at)


def consistency(view: Transaction, old: int, new: int) -> list[bytes]:
    """The hashes that show that the log of one size goes on from that of another."""
    return consistency_proof(old, new, hashes(view).hash_at)


def newest_checkpoint(view: Transaction) -> tuple[int, bytes] | None:
    """The largest signed head that is stored."""
    row = view.row("SELECT size, note FROM checkpoint ORDER BY size DESC LIMIT 1")
    return (int(row[0]), bytes(row[1])) if row is not None else None


def cosigned(view: Transaction) -> bytes | None:
    """The newest checkpoint that a witness has cosigned."""
    row = view.row("SELECT value FROM meta WHERE name = ?", COSIGNED)
    return bytes(row[0]) if row is not None and row[0] is not None else None


def keep_cosigned(log: Log, note: bytes, lines: Sequence[str]) -> None:
    """Adds a witness's lines to the stored checkpoint of that size. Raises LedgerError and StoreError."""
    fresh = log.read(note)
    with log.store.write() as change:
        there = cosigned(change)
        text = note.decode()
        if there is not None:
            old = log.read(there)
            if old.size > fresh.size:
                return
            text = there.decode() if old == fresh else text
        value = add_lines(text, lines).encode()
        if there is None:
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", COSIGNED, value)
        else:
            change.run("UPDATE meta SET value = ? WHERE name = ?", value, COSIGNED)


def prove(view: Transaction, log: Log, seq: int, entry: Stored | None = None) -> Proof:
    """The receipt of an entry, under a cosigned checkpoint where there is one. Raises LedgerError.

    `entry`: the entry itself, where it comes from an archive."""
    entry = entry if entry is not None else entry_at(view, seq)
    if leaf_hash(entry.body) != entry.hash:
        raise LedgerError(f"entry {seq} was changed: it does not have its hash", code="ledger-corrupt")
    for note in (cosigned(view), (newest_checkpoint(view) or (0, None))[1]):
        checkpoint = log.read(note) if note is not None else None
        if note is not None and checkpoint is not None and checkpoint.size > seq:
            path = inclusion_proof(seq, checkpoint.size, hashes(view).hash_at)
            return Proof(seq, tuple(path), note.decode(), entry.body)
    help_ = "`remit ledger anchor push` signs one"
    raise LedgerError(f"no checkpoint covers entry {seq} yet", code="not-signed", help=help_)
