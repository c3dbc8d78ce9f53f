"""The check before a log is used: it must go on from what its signer remembers and from what its anchors keep."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from remit.record.anchor import Anchor, AnchorError, configured
from remit.record.anchors import open_anchor
from remit.record.append import head_of
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.log import Log, root_of
from remit.record.signer import CheckpointSigner
from remit.record.tree import TreeError
from remit.store.interface import Transaction

HELP = "look at `remit ledger verify`; restore the newest copy, or keep this one as evidence and begin a new log"


class AnchorReply(NamedTuple):
    """What came of asking one anchor."""

    anchor: str
    checkpoint: Checkpoint | None = None
    error: LedgerError | None = None


def start_up_check(log: Log, signer: CheckpointSigner | None, *, full: bool = True) -> list[str]:
    """Warnings: anchors that can't be reached. Raises LedgerError (`ledger-truncated`, `ledger-forked`) for a log that
    is shorter than what was signed or anchored, or is another one.

    `full` computes roots from all leaves; without it, roots that the log has signed itself are believed.
    """
    if signer is not None:
        signer.check()
    with log.store.read() as view:
        specs = configured(view)
    warnings = []
    for found in ask_anchors(log, specs):
        if isinstance(found.error, AnchorError):
            warnings.append(str(found.error))
        elif found.error is not None:
            raise found.error
        elif found.checkpoint is not None:
            with log.store.read() as view:
                compare(view, log, found.checkpoint, found.anchor, full=full)
    return warnings


def ask_anchors(log: Log, specs: Iterable[str]) -> list[AnchorReply]:
    """What each anchor keeps, or why it can't be said."""
    found = []
    for spec in specs:
        anchor: Anchor | None = None
        try:
            anchor = open_anchor(spec, log)
            found.append(AnchorReply(anchor.describe(), anchor.last()))
        except LedgerError as error:
            found.append(AnchorReply(anchor.describe() if anchor is not None else spec, error=error))
    return found


def compare(view: Transaction, log: Log, kept: Checkpoint, where: str, *, full: bool) -> None:
    """That the log goes on from a checkpoint. Raises LedgerError."""
    size = head_of(view).size
    if size < kept.size:
        message = f"the log has {size} entries, and {where} keeps a checkpoint of {kept.size}: it was cut"
        raise LedgerError(message, code="ledger-truncated", help=HELP)
    try:
        root = _root(view, log, kept.size, full=full)
    except TreeError:
        root = b""
    if root != kept.root:
        message = f"at {kept.size} entries the log is not what {where} keeps: entries were changed or replaced"
        raise LedgerError(message, code="ledger-forked", help=HELP)


def _root(view: Transaction, log: Log, size: int, *, full: bool) -> bytes:
    row = None if full else view.row("SELECT note FROM checkpoint WHERE size = ?", size)
    signed = log.read(bytes(row[0])) if row is not None else None
    return signed.root if signed is not None and signed.size == size else root_of(view, size)


def push_to_anchors(log: Log, specs: Iterable[str], note: bytes) -> list[AnchorReply]:
    """Hands a checkpoint to every anchor; what fails at one does not keep the others from it."""
    found = []
    for spec in specs:
        anchor: Anchor | None = None
        try:
            anchor = open_anchor(spec, log)
            anchor.push(note)
            found.append(AnchorReply(anchor.describe(), log.read(note)))
        except LedgerError as error:
            found.append(AnchorReply(anchor.describe() if anchor is not None else spec, error=error))
    return found
