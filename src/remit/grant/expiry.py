"""What has run out is marked so, once anybody has noticed: a clock that goes back brings nothing to life again."""

from __future__ import annotations

from remit.grant.asks import close
from remit.grant.capsules import end
from remit.grant.clock import Clock
from remit.store.interface import Store, Transaction

BY = "expiry"
_LATE_ASKS = "SELECT seq FROM ask WHERE state IN ('open', 'approved') AND expires <= ? ORDER BY seq"
_LATE_CAPSULES = "SELECT id FROM capsule WHERE ended IS NULL AND expires <= ? ORDER BY id"


def sweep(store: Store, clock: Clock, writer: str) -> None:
    """Ends what has run out. Raises StoreError and LedgerError."""
    with store.read() as view:
        now = clock.now(view)
        late = view.row(_LATE_ASKS, now) is not None or view.row(_LATE_CAPSULES, now) is not None
    if late:
        with store.write() as change:
            _end(change, clock.tick(change), writer)


def _end(change: Transaction, now: str, writer: str) -> None:
    for (seq,) in change.rows(_LATE_ASKS, now):
        close(change, seq, "expired", {}, writer)
    while (row := change.row(_LATE_CAPSULES, now)) is not None:
        end(change, str(row[0]), by=BY, now=now, writer=writer)
