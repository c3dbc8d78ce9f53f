"""The check before a log is used: it must go on from what its anchors keep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from remit.record.anchor import Anchor, AnchorError, AnchorMalformed, configured
from remit.record.anchors import open_anchor
from remit.record.anchors.syslog import SyslogAnchor
from remit.record.append import head_of
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.log import Log, root_of
from remit.record.memory import Handed, Memory
from remit.record.tree import TreeError
from remit.store.interface import Transaction

HELP = "look at `remit ledger verify`; restore the newest copy, or keep this one as evidence and begin a new log"

REPLACED = "which never handed it any: the state directory was removed or replaced, or the anchor is not its own"
NEW_LOG = "restore it from a copy; for a new log, name a new place for the anchor, and keep the old one as evidence"


class AnchorReply(NamedTuple):
    """What came of asking one anchor."""

    anchor: str
    checkpoint: Checkpoint | None = None
    error: LedgerError | None = None
    asked: bool = True
    """Whether it can be asked what it keeps."""


def check_anchors(log: Log, memory: Memory, *, full: bool = True, also: Sequence[str] = ()) -> list[str]:
    """Warnings: anchors that can't be reached, or keep less than they were handed. Raises LedgerError
    (`ledger-truncated`, `ledger-forked`, `anchor-malformed`) for a log that is shorter than what an anchor keeps, or
    is another one.

    `also` are anchors besides those that the store names. `full` computes roots from all leaves; without it, roots that
    the log has signed itself are believed.
    """
    warnings = []
    handed = memory.anchored()
    for found in ask_anchors(log, named(log, also)):
        if isinstance(found.error, AnchorError):
            warnings.append(str(found.error))
        elif isinstance(found.error, AnchorMalformed) and found.anchor not in handed:
            raise AnchorMalformed(f"{found.error}, {REPLACED}", help=NEW_LOG)
        elif found.error is not None:
            raise found.error
        elif found.checkpoint is not None:
            with log.store.read() as view:
                compare(view, log, found.checkpoint, found.anchor, full=full)
        kept, last = found.checkpoint, handed.pop(found.anchor, None)
        if last is not None and found.error is None and found.asked and (kept is None or kept.size < last.size):
            has = f"only {kept.size}" if kept is not None else "none"
            warnings.append(f"{found.anchor} was handed a checkpoint of {last.size} entries, and keeps {has}")
    warnings += [f"{name} is no longer an anchor, and no command removed it" for name in handed]
    return warnings


def named(log: Log, also: Sequence[str] = ()) -> list[str]:
    """The anchors that the store names, and others besides. Raises LedgerError."""
    with log.store.read() as view:
        return list(dict.fromkeys((*configured(view), *also)))


def hand_out(log: Log, memory: Memory, note: bytes, also: Sequence[str] = ()) -> list[AnchorReply]:
    """Hands a checkpoint to every anchor, and remembers who got it. Raises LedgerError and StoreError."""
    found = push_to_anchors(log, named(log, also), note)
    known = memory.anchored()
    fresh = {one.anchor: Handed(one.checkpoint.size, one.checkpoint.root) for one in found if one.checkpoint}
    if fresh and {**known, **fresh} != known:
        memory.keep_anchored({**known, **fresh})
    return found


def forget_anchors(log: Log, memory: Memory, specs: Iterable[str]) -> None:
    """These are anchors no more: nobody misses what they were handed. Raises LedgerError."""
    gone = {open_anchor(spec, log).describe() for spec in specs}
    known = memory.anchored()
    if gone & known.keys():
        memory.keep_anchored({name: one for name, one in known.items() if name not in gone})


def ask_anchors(log: Log, specs: Iterable[str]) -> list[AnchorReply]:
    """What each anchor keeps, or why it can't be said."""
    found = []
    for spec in specs:
        anchor: Anchor | None = None
        try:
            anchor = open_anchor(spec, log)
            found.append(AnchorReply(anchor.describe(), anchor.last(), asked=not isinstance(anchor, SyslogAnchor)))
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
