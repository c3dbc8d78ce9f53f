"""Anchors: places elsewhere that keep the log's checkpoints, so that a log that was cut or replaced is noticed.

file:/mnt/other/checkpoints       an append-only file
git:/srv/anchors.git#remit        a branch of a git repository
syslog:                           the system's log; it can't be asked
https://anchors.example/remit     PUT to keep, GET for the latest
witness:https://w.example+VKEY    a second host that checks and cosigns (C2SP tlog-witness)
"""

from __future__ import annotations

from typing import Protocol

from remit.record.canonical import CanonicalError, decode, encode
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.log import Log
from remit.record.note import NoteError
from remit.store.interface import Store, Transaction

META = "anchors"
MAX_SPEC = 2048
MAX_ANCHORS = 32


class AnchorError(LedgerError):
    """The anchor can't be reached now: a warning, and the others still count."""

    code = "anchor-unreachable"


class AnchorMalformed(LedgerError):
    """What the anchor keeps is not a checkpoint of this log, so nobody can say that the log is whole."""

    code = "anchor-malformed"


class Anchor(Protocol):
    """One place. All methods raise AnchorError, AnchorMalformed, or LedgerError where the log was found cut."""

    def push(self, note: bytes) -> None:
        """Keeps a signed checkpoint."""

    def last(self) -> Checkpoint | None:
        """The largest checkpoint kept there that the log signed; None if there is none, or it can't be asked."""

    def describe(self) -> str:
        """What and where it is, for people."""


def read_kept(log: Log, note: bytes, where: str) -> Checkpoint:
    """The checkpoint that an anchor handed out. Raises AnchorMalformed."""
    try:
        return log.read(note)
    except NoteError as error:
        raise AnchorMalformed(f"what {where} keeps is not a checkpoint of this log: {error}") from None


def configured(view: Transaction) -> list[str]:
    """The anchors of this log. Raises LedgerError."""
    row = view.row("SELECT value FROM meta WHERE name = ?", META)
    if row is None or row[0] is None:
        return []
    try:
        found = decode(bytes(row[0]))
    except CanonicalError:
        found = None
    if not isinstance(found, list) or not all(isinstance(spec, str) for spec in found):
        raise LedgerError("the list of anchors can't be read", code="ledger-corrupt")
    return found


def configure(store: Store, specs: list[str]) -> None:
    """Sets the anchors of this log. Raises StoreError."""
    if len(specs) > MAX_ANCHORS:
        raise LedgerError(f"more than {MAX_ANCHORS} anchors", code="bad-anchor")
    with store.write() as change:
        if not change.run("UPDATE meta SET value = ? WHERE name = ?", encode(specs), META):
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", META, encode(specs))
