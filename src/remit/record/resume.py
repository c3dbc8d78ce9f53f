"""Resuming: a person lifts the stop mark of a log, with a reason that is recorded."""

from __future__ import annotations

import time
from base64 import b64encode
from contextlib import suppress
from typing import Any, NamedTuple

from remit.record.append import append
from remit.record.continuity import check_continuity, check_extends
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.faults import check_newest
from remit.record.memory import SEEN
from remit.record.open import OpenLog
from remit.record.reader import Stored
from remit.record.stamp import check_stamps
from remit.record.startup import check_anchors
from remit.record.state_memory import STATES_FILE
from remit.record.stop_mark import StopMark, lift_mark, read_mark, remove_file
from remit.record.tree import CompactRange
from remit.store.interface import Transaction

WRITER = "resume"


class Found(NamedTuple):
    """What stands in the way of writing, and whether the log itself is as it should be by now."""

    mark: StopMark | None
    fault: LedgerError | None
    """The log still does not go on from what this machine remembers."""


def look(opened: OpenLog) -> Found:
    """Raises StoreError, and LedgerError without the key of stamps: then nobody can prove who they are."""
    with opened.store.read() as view:
        check_stamps(view, opened.state / "keys")
        mark = read_mark(view, opened.state)
    try:
        check_continuity(opened.store, opened.state, despite_mark=True)
        with opened.store.read() as view:
            check_newest(view)
    except LedgerError as error:
        return Found(mark, error)
    return Found(mark, None)


def resume(opened: OpenLog, *, because: str, who: str, accept_loss: bool) -> int:
    """Lifts the mark and signs the log as it is; gives the place of the entry that says so.

    With `accept_loss` this machine forgets what it remembered, and goes on from the log as it is: the entry names what
    was remembered. An anchor that keeps more refuses all the same. Raises LedgerError and StoreError.
    """
    found = look(opened)
    if found.mark is None and found.fault is None:
        raise LedgerError("the ledger is not stopped: there is nothing to resume", code="not-stopped")
    about: dict[str, Any] = {"what": "ledger", "because": because, "by": who}
    if found.mark is not None:
        about |= {"code": found.mark.code, "found": found.mark.message, "since": found.mark.at}
    forgotten: CompactRange | None = None
    if found.fault is not None:
        if not accept_loss:
            help_ = "restore the newest copy; if there is none, `--accept-loss` continues from the log as it is"
            raise LedgerError(f"the log is still not what it was: {found.fault}", code=found.fault.code, help=help_)
        with suppress(LedgerError):
            forgotten = opened.memory.signed()
        about["lost"] = {"fault": str(found.fault), **(_described(forgotten) if forgotten is not None else {})}
    check_anchors(opened.log, opened.memory, also=opened.settings.anchors)
    if found.fault is not None:
        _forget(opened)
    with opened.store.write() as change:
        lift_mark(change)
        if found.fault is not None:
            _drop_lost_calls(change)
        done = append(change, [event_entry("resume", time.time_ns(), WRITER, about, {})], WRITER)
    remove_file(opened.state)
    opened.checkpoint()
    return done.first


def _drop_lost_calls(change: Transaction) -> None:
    """Nobody reports the outcome of a call whose intent was lost."""
    for seq, call in change.rows("SELECT seq, call FROM running"):
        row = change.row("SELECT seq, hash, body FROM leaf WHERE seq = ?", seq)
        if row is None or Stored(int(row[0]), bytes(row[1]), bytes(row[2])).data.get("call") != call:
            change.run("DELETE FROM running WHERE seq = ?", seq)
    change.run("UPDATE writer_process SET since = (SELECT size FROM head) WHERE since > (SELECT size FROM head)")


def _described(tree: CompactRange) -> dict[str, Any]:
    return {"size": tree.size, "root": b64encode(tree.root()).decode()}


def _forget(opened: OpenLog) -> None:
    """This machine remembers the log as it is."""
    opened.store.forget()
    with opened.store.read() as view:
        row = view.row("SELECT size, range FROM head WHERE one = 1")
    if row is None:
        raise LedgerError("the ledger has no head", code="ledger-corrupt")
    opened.memory.keep_signed(CompactRange.from_bytes(int(row[0]), bytes(row[1])))
    for name in (SEEN, STATES_FILE):
        (opened.memory.folder / name).unlink(missing_ok=True)
    opened.remember_states()
    with suppress(LedgerError), opened.store.read() as view:
        check_extends(view, CompactRange())  # which notes where the newest entry about each thing is
    kept = {name: one for name, one in opened.memory.anchored().items() if one.size <= int(row[0])}
    opened.memory.keep_anchored(kept)
