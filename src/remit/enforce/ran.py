"""What is recorded of a command that ran confined, the same wherever it ran."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from remit.confine.interface import Change
from remit.confine.sweep import Finding
from remit.model.errors import RemitError

if TYPE_CHECKING:
    from remit.confine.destinations import Contact
    from remit.enforce.attempt import Enforcer

MAX_RECORDED = 40


def record_ran(
    enforcer: Enforcer,
    *,
    call: str,
    agent: str,
    tool: str,
    backend: str,
    profile: str,
    policy: str,
    capsule: str | None,
    findings: Sequence[Finding],
    changes: Sequence[Change] | None,
    sweep: int,
    code: int | None = None,
) -> None:
    """What held it and what was found, and an incident for what it did, as far as these can be written."""
    about = {
        "what": "ran",
        "call": call,
        "agent": agent,
        "tool": tool,
        "backend": backend,
        "profile": profile,
        "code": code,
        "changes": len(changes) if changes is not None else None,
        "sweep": sweep,
        "findings": [
            {"code": one.code, "path": one.path[:300], "text": one.what[:300], "by_run": one.by_run, "aside": one.aside}
            for one in findings[:MAX_RECORDED]
        ],
    }
    with suppress(RemitError):
        enforcer.ledger.event("confined", about)
    guilty = [one for one in findings if one.by_run]
    if guilty:
        with suppress(RemitError):
            enforcer.authority.found_incident(
                code=guilty[0].code,
                reason="; ".join(one.message for one in guilty[:5])[:1_000],
                agent=agent,
                tool=tool,
                point=enforcer.ledger.point,
                policy=policy,
                capsule=capsule,
            )


def record_contact(enforcer: Enforcer, agent: str, contact: Contact) -> None:
    """What a command tried to reach, and what became of it. Raises LedgerError."""
    about = {"target": contact.target[:500], "verdict": contact.verdict, "code": contact.code}
    more = {"method": contact.method, "address": contact.address}
    enforcer.ledger.event("confined", {"what": "contact", "agent": agent, **about, **more})
