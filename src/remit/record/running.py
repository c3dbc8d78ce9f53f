"""Calls that run: intents that have no outcome yet, and who is to write it.

Most calls end soon, so the entries alone tell that they run: the lease of a writer says from which entry on (`since`).
A call has a row in the table `running` if another process is to report its outcome, if it ran when its writer renewed
the lease, or if its writer was closed meanwhile.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from remit.model.decoding import Decoding
from remit.record.entry import ASKED_OF_HOST
from remit.store.interface import Transaction


class RunningCall(NamedTuple):
    """A call without an outcome, the place of its intent, and who is to write the outcome."""

    call: str
    seq: int
    writer: str


class _Said(msgspec.Struct, frozen=True):
    """What intents and outcomes say of it."""

    type: str = ""
    call: str | None = None
    writer: str = ""
    decision: str | None = None
    approval: str | None = None
    intent: int | None = None

    @property
    def opens(self) -> bool:
        return self.type == "intent" and (self.decision == "allow" or self.approval == ASKED_OF_HOST)


_SAID = Decoding(_Said)


def running_calls(view: Transaction) -> list[RunningCall]:
    """All of them, in the order of their intents. Raises StoreError."""
    return sorted([*listed(view), *unlisted(view)], key=lambda one: one.seq)


def listed(view: Transaction) -> list[RunningCall]:
    """Those that have a row. Raises StoreError."""
    rows = view.rows("SELECT call, seq, writer FROM running ORDER BY seq")
    return [RunningCall(str(call), int(seq), str(writer)) for call, seq, writer in rows]


def runs(view: Transaction, one: RunningCall) -> bool:
    """Whether a row is of a call that an entry lets run: anybody can add a row. Raises StoreError."""
    row = view.row("SELECT body FROM leaf WHERE seq = ?", one.seq)
    try:
        said = _SAID.decode(bytes(row[0])) if row is not None else _Said()
    except (msgspec.MsgspecError, UnicodeError):
        return False
    return said.opens and said.call == one.call


def unlisted(view: Transaction, only: str | None = None) -> list[RunningCall]:
    """Those that have none, by what the entries say; of one writer, or of all. Raises StoreError."""
    since = leases(view)
    if only is not None:
        since = {only: since[only]} if only in since else {}
    if not since:
        return []
    found: dict[int, RunningCall] = {}
    query = "SELECT seq, body FROM leaf WHERE seq >= ? AND length(body) > 0 ORDER BY seq"
    for seq, body in view.each(query, min(since.values())):
        try:
            said = _SAID.decode(bytes(body))
        except (msgspec.MsgspecError, UnicodeError):
            continue
        if said.type == "outcome" and said.intent is not None:
            found.pop(said.intent, None)
        elif said.opens and said.call is not None and since.get(said.writer, seq + 1) <= seq:
            found[seq] = RunningCall(said.call, seq, said.writer)
    for one in listed(view) if found else ():
        found.pop(one.seq, None)
    return list(found.values())


def leases(view: Transaction) -> dict[str, int]:
    """From which entry on the calls of each writer have no row. Raises StoreError."""
    rows = view.rows("SELECT id, since FROM writer_process WHERE since IS NOT NULL")
    return {str(writer): int(since) for writer, since in rows}
