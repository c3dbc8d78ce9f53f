"""Tickets: how a task is handed to another process. A ticket is a secret that lets one caller in, once."""

from __future__ import annotations

import os

from remit.grant.capsules import CapsuleState, line
from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.notes import note
from remit.model.digest import sha256
from remit.store.interface import Transaction

WITHIN = 3600.0


def make(change: Transaction, capsule: str, *, clock: Clock, writer: str, within: float = WITHIN) -> str:
    """A ticket for the capsule, which must be alive. Raises GrantError."""
    clock.tick(change)
    now = clock.sure(change)
    found = line(change, capsule, now)
    text = os.urandom(24).hex()
    change.run(
        "INSERT INTO ticket (digest, capsule, expires) VALUES (?, ?, ?)",
        _digest(text),
        capsule,
        clock.after(now, within),
    )
    note(change, writer, "capsule", {"what": "offered", "capsule": capsule, "agent": found[0].task.capsule.agent})
    return text


def take(change: Transaction, text: str, *, clock: Clock, writer: str, agent: str | None = None) -> list[CapsuleState]:
    """The capsule that the ticket is for, and those above it; the ticket is used up. Raises GrantError."""
    clock.tick(change)
    now = clock.sure(change)
    row = change.row("SELECT capsule, expires, used, expired FROM ticket WHERE digest = ?", _digest(text))
    if row is None:
        raise GrantError("there is no such hand-over", code="unknown-ticket")
    capsule, expires, used, expired = row
    if used is not None:
        raise GrantError("this hand-over was taken already", code="ticket-used")
    if expired is not None or expires <= now:
        raise GrantError("this hand-over was not taken in time", code="ticket-expired")
    found = line(change, capsule, now)
    if agent is not None and found[0].task.capsule.agent != agent:
        raise GrantError(f"this hand-over is not for {agent[:80]}", code="not-for-agent")
    change.run("UPDATE ticket SET used = ? WHERE digest = ?", now, _digest(text))
    note(change, writer, "capsule", {"what": "entered", "capsule": capsule, "agent": found[0].task.capsule.agent})
    return found


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()
