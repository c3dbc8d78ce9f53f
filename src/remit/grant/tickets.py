"""Tickets: how a task is handed to another process. A ticket is a secret that lets one caller in, once."""

from __future__ import annotations

import os

from remit.grant.capsules import CapsuleState, line
from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.model.digest import sha256
from remit.record.state import TICKET, Row, check_row, newest
from remit.store.interface import Transaction

WITHIN = 3600.0


def make(change: Transaction, capsule: str, *, clock: Clock, scribe: Scribe, within: float = WITHIN) -> str:
    """A ticket for the capsule, which must be alive. Raises GrantError and StateForged."""
    clock.tick(change)
    now = clock.sure(change)
    found = line(change, capsule, now)
    text = os.urandom(24).hex()
    digest = _digest(text)
    row = {"digest": digest, "capsule": capsule, "expires": clock.after(now, within), "used": None, "expired": None}
    about = {"what": "offered", "capsule": capsule, "agent": found[0].task.capsule.agent}
    scribe.put(change, TICKET, (digest,), row, "capsule", about)
    return text


def take(
    change: Transaction, text: str, *, clock: Clock, scribe: Scribe, agent: str | None = None
) -> list[CapsuleState]:
    """The capsule that the ticket is for, and those above it; the ticket is used up.

    Raises GrantError and StateForged.
    """
    clock.tick(change)
    now = clock.sure(change)
    row = _row(change, _digest(text))
    if row is None:
        raise GrantError("there is no such hand-over", code="unknown-ticket")
    if row["used"] is not None:
        raise GrantError("this hand-over was taken already", code="ticket-used")
    if row["expired"] is not None or row["expires"] <= now:
        raise GrantError("this hand-over was not taken in time", code="ticket-expired")
    found = line(change, row["capsule"], now)
    for_ = found[0].task.capsule.agent
    if agent is not None and for_ != agent:
        raise GrantError(f"this hand-over is not for {agent[:80]}", code="not-for-agent")
    about = {"what": "entered", "capsule": row["capsule"], "agent": for_}
    scribe.put(change, TICKET, (row["digest"],), {**row, "used": now}, "capsule", about)
    return found


def expire(change: Transaction, digest: str, now: str, scribe: Scribe) -> None:
    """Nobody took it in time. Raises StateForged."""
    row = _row(change, digest)
    if row is not None:
        about = {"what": "offer-expired", "capsule": row["capsule"]}
        scribe.put(change, TICKET, (digest,), {**row, "expired": now}, "capsule", about)


def move(change: Transaction, digest: str, expires: str, scribe: Scribe) -> None:
    """It ends at another moment, since the clock was repaired. Raises StateForged."""
    row = _row(change, digest)
    if row is not None:
        about = {"what": "offer-moved", "capsule": row["capsule"]}
        scribe.put(change, TICKET, (digest,), {**row, "expires": expires}, "capsule", about)


def _row(view: Transaction, digest: str) -> Row | None:
    """As the ledger says it. Raises StateForged."""
    found = view.row(f"SELECT {', '.join(TICKET.columns)} FROM ticket WHERE digest = ?", digest)  # noqa: S608
    if found is None:
        return None
    row = dict(zip(TICKET.columns, found, strict=True))
    [said] = newest(view, (TICKET, (digest,)))
    check_row(TICKET, (digest,), row, said)
    return row


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()
