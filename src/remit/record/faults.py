"""What is wrong with a ledger, as far as a quick look tells: one list for `remit status`, Guard, daemon and commands.

Each fault has a code, and words that an operator acts on. Whether the whole log is right says `remit ledger verify`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from remit.model.moments import exact_moment
from remit.model.text import shown
from remit.record.continuity import check_continuity, check_key
from remit.record.cosigned import check_witnesses
from remit.record.errors import LedgerError
from remit.record.log import Log, newest_checkpoint
from remit.record.note import NoteError, Verifier
from remit.record.open import OpenLog
from remit.record.reader import Stored, commitments, entries, type_of
from remit.record.reread import read_progress
from remit.record.rotate import check_rotations
from remit.record.stamp import check_stamps, fitting, is_stamped
from remit.record.startup import check_anchors
from remit.record.stop_mark import read_mark
from remit.record.tree import leaf_hash
from remit.store.interface import Transaction
from remit.store.migrate import shipped, steps

TAIL = 200
"""Entries at the end of the log that are looked at."""
BACK = 60
"""Seconds that entries of several writers may be out of order."""
_ROTATIONS = {
    "sqlite": """SELECT seq, hash, body, stamp FROM leaf WHERE instr(body, CAST('"type":"rotation"' AS BLOB)) > 0""",
    "postgres": (
        "SELECT seq, hash, body, stamp FROM leaf"
        """ WHERE position(convert_to('"type":"rotation"', 'UTF8') in body) > 0 ORDER BY seq"""
    ),
}
_VERIFY = "look at `remit ledger verify`"
_EDITED = "restore the newest copy; if there is none, a person runs `remit ledger resume --accept-loss`"
_TRIGGER = re.compile(r"CREATE TRIGGER (\w+)")
_TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgres": (
        "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = 'remit'"
        " AND tgenabled <> 'D' AND NOT tgisinternal"
    ),
}


class LedgerFault(NamedTuple):
    """One thing that is wrong."""

    code: str
    message: str
    help: str | None = None

    def __str__(self) -> str:
        return f"{self.message} ({self.code})" + (f"; {self.help}" if self.help else "")


def faults(opened: OpenLog, *, anchors: bool = True, full: bool = False) -> list[LedgerFault]:
    """Everything that is wrong. With `anchors` they are asked; `full` is that of `check_anchors`. Raises StoreError."""
    found = [*_attempt(lambda: check_key(opened.state, opened.origin))]
    found += _attempt(lambda: opened.keys.signers(exact_moment(time.time_ns())))
    found += _attempt(lambda: check_continuity(opened.store, opened.state))
    with opened.store.read() as view:
        found += _attempt(lambda: check_stamps(view, opened.state / "keys"))
        mark = read_mark(view, opened.state)
        if mark is not None and mark.missing is not None:
            found.append(LedgerFault("stop-mark-removed", f"the stop mark is missing in {mark.missing}"))
        for table in ("running", "writer_process"):  # all others are read here anyway
            view.row(f"SELECT 1 FROM {table} LIMIT 1")  # noqa: S608
        found += tail_faults(view)
        found += trigger_faults(view, opened.store.kind)
        found += _attempt(lambda: check_introduced(view, opened.store.kind, opened.log.verifiers))
        found += _attempt(lambda: check_newest_checkpoint(view, opened.log))
    settings = opened.settings
    before = read_progress(opened.state)
    if before.code is not None and before.found is not None:
        found.append(LedgerFault(before.code, before.found, _VERIFY))
    if anchors:
        try:
            asked = check_anchors(opened.log, opened.memory, full=full, also=settings.anchors)
            found += map(anchor_fault, asked)
        except LedgerError as error:
            found.append(LedgerFault(error.code, str(error), error.help))
    with opened.store.read() as view:
        found += [LedgerFault(one.code, str(one), one.help) for one in check_witnesses(view, opened.log, settings)]
    return list(dict.fromkeys(found))


def anchor_fault(message: str) -> LedgerFault:
    """What is wrong with an anchor, and stops nobody."""
    return LedgerFault("anchor", message, "look at `remit ledger anchor list`")


def _attempt(act: Callable[[], object]) -> Iterator[LedgerFault]:
    try:
        act()
    except LedgerError as error:
        yield LedgerFault(error.code, str(error), error.help)


def check_introduced(view: Transaction, kind: str, verifiers: Sequence[Verifier]) -> None:
    """That each key but the first was named by the one before it. With a single key, nothing is read.

    Raises LedgerError and StoreError.
    """
    if len(verifiers) < 2:
        return
    rows = fitting(view, view.rows(_ROTATIONS[kind]))
    said = [Stored(int(seq), bytes(leaf), bytes(body)).data for seq, leaf, body, _ in rows]
    check_rotations([data for data in said if data.get("type") == "rotation"], list(verifiers))


def check_newest_checkpoint(view: Transaction, log: Log) -> None:
    """That the newest checkpoint is one of this log, signed by a key of it. Raises LedgerError and StoreError."""
    found = newest_checkpoint(view)
    if found is None:
        return
    size, note = found
    try:
        signed = log.read(note).size
    except NoteError as error:
        raise LedgerError(
            f"the newest checkpoint does not hold: {error}", code="checkpoint-wrong", help=_VERIFY
        ) from None
    if signed != size:
        raise LedgerError(f"the checkpoint of {size} entries is one of {signed}", code="checkpoint-wrong", help=_VERIFY)


def check_newest(view: Transaction, count: int = TAIL) -> None:
    """That none of the newest entries was edited since a person let the log go on. Raises LedgerError, StoreError."""
    row = view.row("SELECT size FROM head WHERE one = 1")
    edited: LedgerError | None = None
    for stored in entries(view, max(0, (int(row[0]) if row is not None else 0) - count)):
        if leaf_hash(stored.body) != stored.hash:
            what = f"entry {stored.seq} was changed: it does not have its hash"
            edited = edited or LedgerError(what, code="entry-changed", help=_EDITED)
        elif edited is not None and type_of(stored.body) == "resume" and is_stamped(view, stored.seq):
            edited = None
    if edited is not None:
        raise edited


def trigger_faults(view: Transaction, kind: str) -> Iterator[LedgerFault]:
    """Triggers that keep the log append-only, and are gone; and others, which may do anything. Raises StoreError."""
    wanted = {name for step in steps(kind, shipped()) for name in _TRIGGER.findall(step.text)}
    there = {str(name) for (name,) in view.rows(_TRIGGERS[kind])}
    help_ = "whoever can change the tables did so; `remit ledger verify` shows what else was changed"
    if gone := sorted(wanted - there):
        yield LedgerFault("trigger-missing", f"{gone[0]}, which keeps the log append-only, was dropped", help_)
    if more := sorted(there - wanted):
        yield LedgerFault("trigger-added", f"`{shown(more[0])}` is not a trigger of Remit's", help_)


def tail_faults(view: Transaction, count: int = TAIL) -> Iterator[LedgerFault]:
    """What is wrong with the newest entries: a changed body, values that nobody erased, a clock that ran backwards.

    An erasure stands behind what it erased: those that concern these entries are among them. Raises StoreError.
    """
    row = view.row("SELECT size FROM head WHERE one = 1")
    first = max(0, (int(row[0]) if row is not None else 0) - count)
    kept = {(int(seq), str(path)) for seq, path in view.rows("SELECT seq, path FROM secret WHERE seq >= ?", first)}
    missing: list[int] = []
    erased: list[tuple[int, int]] = []
    latest, late = "", None
    for stored in entries(view, first):
        try:
            data = stored.data
            if any((stored.seq, path) not in kept for path, _ in commitments(data)):
                missing.append(stored.seq)
        except LedgerError as error:
            yield LedgerFault("entry-changed", str(error), _VERIFY)
            return
        if data.get("type") == "erasure" and is_stamped(view, stored.seq):
            erased += [(run[0], run[1]) for run in data["entries"]]
        at = str(data.get("at", ""))
        if late is None and _seconds(latest) - _seconds(at) > BACK:
            late = stored.seq
        latest = max(latest, at)
    lost = [seq for seq in missing if not any(a <= seq <= b for a, b in erased)]
    if lost:
        yield LedgerFault("value-missing", f"values of entry {lost[0]} are gone, and no erasure says so")
    if late is not None:
        yield LedgerFault("clock-backwards", f"entry {late} is older than those before it: the clock was set back")
    if _seconds(latest) - time.time() > BACK:
        yield LedgerFault("clock-backwards", f"the newest entry is of {latest}: the clock here is behind it")


def _seconds(text: str) -> float:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
