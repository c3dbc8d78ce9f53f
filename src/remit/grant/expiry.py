"""What has run out is marked so, once anybody has noticed: a clock that goes back brings nothing to life again."""

from __future__ import annotations

from contextlib import suppress

from remit.grant.asks import close
from remit.grant.capsules import end
from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.grant.tickets import expire
from remit.record.state import StateForged
from remit.store.interface import Store, Transaction

BY = "expiry"
_LATE_ASKS = "SELECT seq FROM ask WHERE state IN ('open', 'approved') AND expires <= ? ORDER BY seq"
TICKETS = (
    "SELECT digest, expires FROM ticket WHERE used IS NULL AND expired IS NULL"
    " AND capsule IN (SELECT id FROM capsule WHERE ended IS NULL)"
)
"""Those that can still be taken: with its capsule a ticket is over, too."""
_LATE_TICKETS = f"{TICKETS} AND expires <= ? ORDER BY digest"
_LATE_CAPSULES = "SELECT id FROM capsule WHERE ended IS NULL AND expires <= ? ORDER BY id"


def sweep(store: Store, clock: Clock, scribe: Scribe) -> None:
    """Ends what has run out. Raises StoreError and LedgerError."""
    with store.read() as view:
        now = clock.now(view)
        late = any(view.row(query, now) is not None for query in (_LATE_ASKS, _LATE_TICKETS, _LATE_CAPSULES))
    if late or clock.news:
        with store.write() as change:
            end_late(change, clock.tick(change), scribe)


def end_late(change: Transaction, now: str, scribe: Scribe) -> None:
    """The same inside a transaction. What somebody forged is left to be found: it counts for nothing."""
    for (seq,) in change.rows(_LATE_ASKS, now):
        with suppress(StateForged):
            close(change, seq, "expired", {}, scribe)
    for digest, _ in change.rows(_LATE_TICKETS, now):
        with suppress(StateForged):
            expire(change, str(digest), now, scribe)
    end_capsules(change, [str(name) for (name,) in change.rows(_LATE_CAPSULES, now)], now, scribe)


def end_capsules(change: Transaction, names: list[str], now: str, scribe: Scribe) -> None:
    """Ends each that has not ended with one before it."""
    for name in names:
        with suppress(StateForged):
            try:
                end(change, name, by=BY, now=now, scribe=scribe)
            except GrantError as error:
                if error.code != "capsule-ended":
                    raise
