"""Repairing the clock: what still lasts ends as much later as it would have by the old clock, and no moment after.

What has expired stays so. Where nobody knows how long the machine was off, everything that ends by itself ends now.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

from remit.grant import asks, capsules, tickets
from remit.grant.clock import Clock, seconds_of
from remit.grant.expiry import TICKETS, end_capsules, end_late
from remit.grant.notes import Scribe
from remit.model.moments import moment
from remit.record.state import StateForged
from remit.store.interface import Transaction

_ENDS = (
    ("SELECT seq, expires FROM ask WHERE state IN ('open', 'approved', 'refused') ORDER BY seq", asks.move),
    (f"{TICKETS} ORDER BY digest", tickets.move),
    ("SELECT id, expires FROM capsule WHERE ended IS NULL AND expires IS NOT NULL ORDER BY id", capsules.move),
)


class Repaired(NamedTuple):
    """What a repair did."""

    was: str
    now: str
    gap: bool
    """Nobody knew how long the machine was off, so everything that expires has ended."""
    moved: int
    """How many approvals, questions, tickets and tasks end at another moment now."""


def repair(change: Transaction, clock: Clock, *, by: str, scribe: Scribe) -> Repaired:
    """Sets the clock of authority to the wall clock. Raises GrantError (`clock-sound`), StoreError and LedgerError."""
    late = clock.now(change)
    end_late(change, late, scribe)
    before, at, wall = clock.repair(change, by=by)
    gap = before.doubt is not None and before.doubt.gap
    moved = 0
    if gap:
        _end_all(change, moment(wall), scribe)
    for query, move in _ENDS:
        for key, expires in change.rows(query):
            with suppress(StateForged):
                move(change, key, moment(seconds_of(expires) - (at - wall)), scribe)
                moved += 1
    return Repaired(before.now, moment(wall), gap, moved)


def _end_all(change: Transaction, now: str, scribe: Scribe) -> None:
    """Asks, tickets and capsules that end by themselves; a refusal goes on to count."""
    for (seq,) in change.rows("SELECT seq FROM ask WHERE state IN ('open', 'approved') ORDER BY seq"):
        with suppress(StateForged):
            asks.close(change, seq, "expired", {"because": "clock-repaired"}, scribe)
    for digest, _ in change.rows(f"{TICKETS} ORDER BY digest"):
        with suppress(StateForged):
            tickets.expire(change, str(digest), now, scribe)
    query = "SELECT id FROM capsule WHERE ended IS NULL AND expires IS NOT NULL ORDER BY id"
    end_capsules(change, [str(name) for (name,) in change.rows(query)], now, scribe)
