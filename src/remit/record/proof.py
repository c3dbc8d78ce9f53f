"""Receipts (C2SP tlog-proof@v1): one entry, its place, and a checkpoint that it is under; verified without the ledger.

The entry's own bytes travel in the `extra` line. The format calls that line unauthenticated; here it is what gets
hashed, so a receipt whose entry was changed does not verify.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass

from remit.record.checkpoint import Checkpoint, open_checkpoint, parse_hash, parse_number
from remit.record.errors import LedgerError
from remit.record.note import NoteError, Verifier, decode_base64, split_note
from remit.record.tiles import MAX_ENTRY
from remit.record.tree import leaf_hash, verify_inclusion

HEADER = "c2sp.org/tlog-proof@v1"
MAX_PROOF = 512 * 1024
MAX_HASHES = 63


class ProofError(LedgerError):
    """A receipt that is malformed, or does not show what it should."""

    code = "bad-proof"


@dataclass(frozen=True, slots=True)
class Proof:
    """A receipt. `entry` is None when the entry is handed over apart from it."""

    index: int
    hashes: tuple[bytes, ...]
    note: str
    entry: bytes | None = None

    def __post_init__(self) -> None:
        if self.entry is not None and not 0 < len(self.entry) <= MAX_ENTRY:
            raise ProofError(f"an entry has 1 to {MAX_ENTRY} bytes")

    @property
    def text(self) -> str:
        extra = [] if self.entry is None else [f"extra {base64.b64encode(self.entry).decode()}"]
        path = [base64.b64encode(part).decode() for part in self.hashes]
        return "\n".join([HEADER, *extra, f"index {self.index}", *path, "", self.note])

    @classmethod
    def parse(cls, text: str | bytes) -> Proof:
        """Reads a receipt, verifying nothing. Raises ProofError, and nothing else."""
        if len(text) > MAX_PROOF:
            raise ProofError(f"a receipt longer than {MAX_PROOF} bytes")
        try:
            return cls._parse(text.decode() if isinstance(text, bytes) else text)
        except UnicodeDecodeError as error:
            raise ProofError("a receipt that is not UTF-8") from error
        except NoteError as error:
            raise ProofError(f"a receipt that is malformed: {error}") from error

    @classmethod
    def _parse(cls, text: str) -> Proof:
        head, _, note = text.partition("\n\n")
        lines = head.split("\n")
        if lines.pop(0) != HEADER:
            raise ProofError(f"not a receipt: its first line is not {HEADER}")
        entry = None
        if lines and lines[0].startswith("extra "):
            entry = decode_base64(lines.pop(0).removeprefix("extra "))
        if not lines or not lines[0].startswith("index "):
            raise ProofError("a receipt without the index of its entry")
        index = parse_number(lines.pop(0).removeprefix("index "))
        if len(lines) > MAX_HASHES:
            raise ProofError(f"a receipt with more than {MAX_HASHES} hashes")
        split_note(note)
        return cls(index, tuple(parse_hash(line) for line in lines), note, entry)


def verify_proof(proof: Proof, verifiers: Sequence[Verifier], entry: bytes | None = None) -> Checkpoint:
    """The checkpoint under which the entry is, if the log signed it and the hashes lead there. Raises ProofError."""
    if entry is None:
        entry = proof.entry
    elif proof.entry is not None and proof.entry != entry:
        raise ProofError("the receipt is for another entry")
    if entry is None:
        raise ProofError("the receipt does not contain its entry, and none was given")
    try:
        checkpoint, _ = open_checkpoint(proof.note, verifiers)
    except NoteError as error:
        raise ProofError(f"the checkpoint of the receipt: {error}") from error
    if not verify_inclusion(leaf_hash(entry), proof.index, checkpoint.size, proof.hashes, checkpoint.root):
        raise ProofError(f"the hashes do not lead from the entry, as number {proof.index}, to the checkpoint's root")
    return checkpoint
