"""What has run out is marked so, once anybody has noticed: a clock that goes back brings nothing to life again."""

from __future__ import annotations

from remit.grant.asks import close
from remit.grant.capsules import end
from remit.grant.clock import Clock
from remit.grant.notes import note
from remit.store.interface import Store, Transaction

BY = "expiry"
_LATE_ASKS = "SELECT seq FROM ask WHERE state IN ('open', 'approved') AND expires <= ? ORDER BY seq"
_LATE_TICKETS = (
    "SELECT digest, capsule FROM ticket WHERE used IS NULL AND expired IS NULL AND expires <= ? ORDER BY digest"
)
_LATE_CAPSULES = "SELECT id FROM capsule WHERE ended IS NULL AND expires <= ? ORDER BY id"


def sweep(store: Store, clock: Clock, writer: str) -> None:
    """Ends what has run out. Raises StoreError and LedgerError."""
    with store.read() as view:
        now = clock.now(view)
        late = any(view.row(query, now) is not None for query in (_LATE_ASKS, _LATE_TICKETS, _LATE_CAPSULES))
    if late or clock.news:
        with store.write() as change:
            end_late(change, clock.tick(change), writer)


def end_late(change: Transaction, now: str, writer: str) -> None:
    """The same inside a transaction."""
    for (seq,) in change.rows(_LATE_ASKS, now):
        close(change, seq, "expired", {}, writer)
    for digest, capsule in change.rows(_LATE_TICKETS, now):
        change.run("UPDATE ticket SET expired = ? WHERE digest = ?", now, digest)
        note(change, writer, "capsule", {"what": "offer-expired", "capsule": capsule})
    while (row := change.row(_LATE_CAPSULES, now)) is not None:
        end(change, str(row[0]), by=BY, now=now, writer=writer)
