"""Checkpoints (C2SP tlog-checkpoint): which log, how many entries, and the root over all of them, as three lines.

Lines beyond these three are refused. The format allows them, but no reader of the entries could check them.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from remit.record.note import KeyKind, Note, NoteError, Signer, Verifier, decode_base64, open_note, sign
from remit.record.tree import EMPTY_ROOT, HASH_SIZE, MAX_SIZE

MAX_ORIGIN = 255

_NUMBER = re.compile(r"0|[1-9][0-9]{0,18}")
_CONTROLS = re.compile(r"[\x00-\x1f]")


class CheckpointError(NoteError):
    """A text that is not a checkpoint, or a checkpoint that the log has not signed."""

    code = "bad-checkpoint"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a log at one size."""

    origin: str
    size: int
    root: bytes

    def __post_init__(self) -> None:
        if not 0 < len(self.origin) <= MAX_ORIGIN or _CONTROLS.search(self.origin):
            raise CheckpointError("the origin of a checkpoint is one line, not empty and not long")
        if not 0 <= self.size <= MAX_SIZE:
            raise CheckpointError("the size of a checkpoint is out of range")
        if len(self.root) != HASH_SIZE:
            raise CheckpointError(f"the root of a checkpoint has {HASH_SIZE} bytes")
        if not self.size and self.root != EMPTY_ROOT:
            raise CheckpointError("the root of an empty log is always the same, and this is another")

    @property
    def text(self) -> str:
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Raises CheckpointError unless the text is exactly what `text` gives."""
        lines = text.split("\n", 4)
        if len(lines) != 4 or lines[3]:
            raise CheckpointError("a checkpoint is three lines: origin, size, root")
        return cls(lines[0], parse_number(lines[1]), parse_hash(lines[2]))

    def sign(self, *signers: Signer) -> str:
        """The checkpoint as a note. A log's key has the origin as its name."""
        if any(signer.name != self.origin for signer in signers):
            raise CheckpointError(f"the key that signs a checkpoint is named as its origin: {self.origin}")
        return sign(self.text, *signers)


def open_checkpoint(note: str | bytes, verifiers: Sequence[Verifier]) -> tuple[Checkpoint, Note]:
    """A checkpoint that the log itself has signed, and its note with all known signatures. Raises NoteError.

    A witness's cosignature alone is not enough: it says that the log has signed, but this is the place to look.
    """
    opened = open_note(note, verifiers)
    checkpoint = Checkpoint.parse(opened.text)
    if not any(s.by.kind is KeyKind.ED25519 and s.by.name == checkpoint.origin for s in opened.signatures):
        raise CheckpointError("the checkpoint is not signed by a key of its own log that is known here")
    return checkpoint, opened


def parse_number(text: str) -> int:
    """A number from 0 to 2⁶³ − 1 in its one decimal spelling. Raises CheckpointError."""
    if _NUMBER.fullmatch(text) is None or int(text) > MAX_SIZE:
        raise CheckpointError("not a number in its decimal form")
    return int(text)


def parse_hash(text: str) -> bytes:
    """A hash in base64. Raises CheckpointError."""
    try:
        found = decode_base64(text) if len(text) == 44 else b""
    except NoteError:
        found = b""
    if len(found) != HASH_SIZE:
        raise CheckpointError("not a hash in base64")
    return found
