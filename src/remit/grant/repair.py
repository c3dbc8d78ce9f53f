"""Repairing the clock: what still lasts ends as much later as it would have by the old clock, and no moment after.

What has expired stays so. Where nobody knows how long the machine was off, everything that ends by itself ends now.
"""

from __future__ import annotations

from typing import NamedTuple

from remit.grant.asks import close
from remit.grant.capsules import end
from remit.grant.clock import Clock, seconds_of
from remit.grant.expiry import BY, end_late
from remit.model.moments import moment
from remit.store.interface import Transaction

_ENDS = {
    "ask": "SELECT seq, expires FROM ask WHERE state IN ('open', 'approved', 'refused') ORDER BY seq",
    "ticket": "SELECT digest, expires FROM ticket WHERE used IS NULL AND expired IS NULL ORDER BY digest",
    "capsule": "SELECT id, expires FROM capsule WHERE ended IS NULL AND expires IS NOT NULL ORDER BY id",
}
_MOVE = {
    "ask": "UPDATE ask SET expires = ? WHERE seq = ?",
    "ticket": "UPDATE ticket SET expires = ? WHERE digest = ?",
    "capsule": "UPDATE capsule SET expires = ? WHERE id = ?",
}


class Repaired(NamedTuple):
    """What a repair did."""

    was: str
    now: str
    gap: bool
    """Nobody knew how long the machine was off, so everything that ends by itself has ended."""
    moved: int
    """How many approvals, questions, tickets and tasks end at another moment now."""


def repair(change: Transaction, clock: Clock, *, by: str, writer: str) -> Repaired:
    """Sets the clock of authority to the wall clock. Raises GrantError (`clock-sound`), StoreError and LedgerError."""
    late = clock.now(change)
    end_late(change, late, writer)
    before, at, wall = clock.repair(change, by=by)
    gap = before.doubt is not None and before.doubt.gap
    moved = 0
    if gap:
        _end_all(change, moment(wall), writer)
    for what, query in _ENDS.items():
        for key, expires in change.rows(query):
            change.run(_MOVE[what], moment(seconds_of(expires) - (at - wall)), key)
            moved += 1
    return Repaired(before.now, moment(wall), gap, moved)


def _end_all(change: Transaction, now: str, writer: str) -> None:
    """Asks, tickets and capsules that end by themselves; a refusal goes on to count."""
    for (seq,) in change.rows("SELECT seq FROM ask WHERE state IN ('open', 'approved') ORDER BY seq"):
        close(change, seq, "expired", {"because": "clock-repaired"}, writer)
    change.run("UPDATE ticket SET expired = ? WHERE used IS NULL AND expired IS NULL", now)
    query = "SELECT id FROM capsule WHERE ended IS NULL AND expires IS NOT NULL ORDER BY id"
    while (row := change.row(query)) is not None:
        end(change, str(row[0]), by=BY, now=now, writer=writer)
