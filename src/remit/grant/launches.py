"""Who handed work to whom in a session of a host, which does not say so itself with the calls of a subagent.

And which of its tasks an agent with several works on there, as it said itself.

Every hand-over that was allowed is kept. Where several could have started an agent, each counts: its calls must pass
for all of them.
"""

from __future__ import annotations

from remit.grant.notes import Scribe
from remit.record.state import CHOICE, LAUNCH, newest
from remit.store.interface import Store, Transaction

MOST = 16
"""Different ways to one agent in one session; with more of them nobody can follow."""


def add_launch(store: Store, scribe: Scribe, session: str, agent: str, chain: tuple[str, ...]) -> None:
    """The agent may be at work for the last of the chain from now on. Raises StoreError and LedgerError."""
    with store.read() as view:
        if chain in _launches(view, session, agent):
            return
    with store.write() as change:
        known = _launches(change, session, agent)
        if chain not in known:
            row = {"chains": [list(one) for one in sorted([*known, chain])]}
            about = {"session": session, "agent": agent}
            scribe.put(change, LAUNCH, (session, agent), row, "handover", about)


def launches(store: Store, session: str, agent: str) -> list[tuple[str, ...]]:
    """The chains by which the agent may have come to its work. Raises StoreError and StateForged."""
    with store.read() as view:
        return _launches(view, session, agent)


def _launches(view: Transaction, session: str, agent: str) -> list[tuple[str, ...]]:
    [said] = newest(view, (LAUNCH, (session, agent)))
    return [tuple(chain) for chain in said.row["chains"]] if said is not None else []


def choose_task(store: Store, scribe: Scribe, session: str, agent: str, capsule: str) -> None:
    """The agent works on this task of its own in the session, until it says otherwise. Raises StoreError."""
    with store.write() as change:
        about = {"session": session, "agent": agent, "capsule": capsule}
        scribe.put(change, CHOICE, (session, agent), {"capsule": capsule}, "handover", about)


def chosen_task(store: Store, session: str, agent: str) -> str | None:
    """The task that the agent chose. Raises StoreError and StateForged."""
    with store.read() as view:
        [said] = newest(view, (CHOICE, (session, agent)))
    return str(said.row["capsule"]) if said is not None else None
