"""Who handed work to whom in a session of a host, which does not say so itself with the calls of a subagent.

Every hand-over that was allowed is kept. Where several could have started an agent, each counts: its calls must pass
for all of them.
"""

from __future__ import annotations

import json

from remit.grant.clock import Clock
from remit.store.interface import Store

KEPT = 30 * 24 * 3600.0
"""Seconds: no session of a host lasts longer."""
MOST = 16
"""Different ways to one agent in one session; with more of them nobody can follow."""


def add_launch(store: Store, clock: Clock, session: str, agent: str, chain: tuple[str, ...]) -> None:
    """The agent may be at work for the last of the chain from now on. Raises StoreError."""
    text = json.dumps(chain)
    known = "SELECT 1 FROM launch WHERE session = ? AND agent = ? AND chain = ?"
    with store.write() as change:
        now = clock.tick(change)
        change.run("DELETE FROM launch WHERE at < ?", clock.after(now, -KEPT))
        if change.row(known, session, agent, text) is None:
            change.run("INSERT INTO launch (session, agent, chain, at) VALUES (?, ?, ?, ?)", session, agent, text, now)


def launches(store: Store, session: str, agent: str) -> list[tuple[str, ...]]:
    """The chains by which the agent may have come to its work. Raises StoreError."""
    query = "SELECT chain FROM launch WHERE session = ? AND agent = ? ORDER BY chain"
    with store.read() as view:
        return [tuple(json.loads(row[0])) for row in view.rows(query, session, agent)]
