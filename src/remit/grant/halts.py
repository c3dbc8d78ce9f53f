"""Halts and incidents: an agent that breaks a rule stops until a person has looked at what happened.

A halt is of an agent, of a task (`capsule:ID`) or of everybody (`system`). It counts until a person resumes it, on
every machine that shares the store. What led to it is an incident, which a person closes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.decoding import Decoding
from remit.model.moments import duration, seconds_of
from remit.model.policy import Halting
from remit.model.text import shown
from remit.record.people import Trust, check_person
from remit.record.state import HALT, INCIDENT, VIOLATIONS, Said, newest, newest_under
from remit.store.interface import Transaction

SYSTEM = "system"
"""The halt of everybody."""
TASK = "capsule:"
"""What precedes a task's id in its halt."""
BY_POLICY = "remit"
"""Who halts an agent that broke a rule."""
REASONS = {
    "protected": "protected",
    "may-not": "may_not",
    "project-code": "may_not",
    "reserved": "reserved",
    "not-accessible": "access",
    "not-permitted": "permission",
    "outside-root": "permission",
    "broken-chain": "chain",
    "capsule-constraint": "chain",
    "capsule-required": "chain",
    "unknown-capsule": "chain",
    "data-tier": "data",
    "locked": "data",
    "skill-not-allowed": "data",
    "api-not-allowed": "data",
    "delegation-not-allowed": "chain",
}
"""By the code of a violation, what a policy calls it in `on_violation: {halt: {for: […]}}`."""


class Halted(msgspec.Struct, frozen=True, omit_defaults=True):
    """A halt that counts."""

    who: str
    at: str
    by: str
    because: str
    incident: str | None = None


class Incident(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is kept of a violation that halted somebody. The call itself stands in the ledger under `call`."""

    id: str
    state: Literal["open", "closed"]
    at: str
    agent: str
    tool: str
    code: str
    reason: str
    call: str
    point: str
    policy: str
    rule: str | None = None
    tier: int = 0
    count: int = 1
    """How many violations led to it."""
    chain: tuple[str, ...] = ()
    capsule: str | None = None
    session: str | None = None
    closed: str | None = None
    closed_by: str | None = None
    because: str | None = None


_HALTED, _INCIDENT = Decoding(Halted), Decoding(Incident)


def counts(halting: Halting | None, decision: Decision) -> bool:
    """Whether a decision is a violation that the policy counts towards a halt."""
    if halting is None or not halting.after or not decision.violation:
        return False
    return not halting.reasons or REASONS.get(decision.code) in halting.reasons


def halts(view: Transaction, trust: Trust) -> list[Halted]:
    """Every halt that counts. One that nobody who is a person lifted counts on. Raises StateForged."""
    found = []
    for said in newest_under(view, HALT):
        if not said.row.get("halted"):
            check_person(view, HALT, said.row, said, trust)
            continue
        found.append(_halted(said))
    return found


def halt(
    change: Transaction, who: str, *, by: str, because: str, clock: Clock, scribe: Scribe, incident: str | None = None
) -> bool:
    """Halts an agent, a task or everybody; False if that was halted already. Raises StateForged and StoreError."""
    now = clock.tick(change)
    [said] = newest(change, (HALT, (who,)))
    if said is not None and said.row.get("halted"):
        return False
    row = {"halted": True, "at": now, "by": by, "because": because, "incident": incident}
    scribe.put(change, HALT, (who,), row, "halt", {"what": "halted", "who": who, "by": by, "incident": incident})
    return True


def resume(change: Transaction, who: str, *, by: str, because: str, clock: Clock, scribe: Scribe) -> Halted:
    """Lifts a halt, by word of a person. Raises GrantError if nothing of that name is halted, and StateForged."""
    now = clock.tick(change)
    [said] = newest(change, (HALT, (who,)))
    if said is None or not said.row.get("halted"):
        raise not_halted(who)
    row = {"halted": False, "at": now, "by": by, "because": because, "incident": None}
    scribe.put(change, HALT, (who,), row, "halt", {"what": "resumed", "who": who, "by": by, "because": because})
    return _halted(said)


def not_halted(who: str) -> GrantError:
    """What is wrong with resuming what nobody halted."""
    return GrantError(f"{name_of(who)}: not halted", code="not-halted", help="`remit incidents` lists the halts")


def name_of(who: str) -> str:
    """A halt's name for people."""
    if who == SYSTEM:
        return "everybody"
    return f"the task {who.removeprefix(TASK)}" if who.startswith(TASK) else who


def violated(
    change: Transaction,
    call: Call,
    decision: Decision,
    halting: Halting,
    *,
    call_id: str,
    point: str,
    clock: Clock,
    scribe: Scribe,
) -> Incident | None:
    """Counts a violation; with the last that the policy bears with, the agent is halted. Raises StateForged."""
    now = clock.tick(change)
    count = _counted(change, call.agent, halting, now, scribe)
    if count < halting.after:
        return None
    incident = _opened(change, call, decision, now, count, call_id, point, scribe)
    because = f"{incident.code}: {incident.reason}"
    halt(change, call.agent, by=BY_POLICY, because=because, clock=clock, scribe=scribe, incident=incident.id)
    return incident


def _counted(change: Transaction, agent: str, halting: Halting, now: str, scribe: Scribe) -> int:
    """How many violations there were within the time that counts, this one included."""
    if halting.after == 1:
        return 1
    [said] = newest(change, (VIOLATIONS, (agent,)))
    before: Iterable[str] = said.row.get("times", ()) if said is not None else ()
    if halting.within is not None:
        since = seconds_of(now) - duration(halting.within)
        before = [time for time in before if seconds_of(time) >= since]
    times = [*before, now][-halting.after :]
    kept = [] if len(times) >= halting.after else times  # after the halt it begins anew
    scribe.put(change, VIOLATIONS, (agent,), {"times": kept}, "violation", {"agent": agent, "count": len(times)})
    return len(times)


# Incidents


def _opened(
    change: Transaction, call: Call, decision: Decision, now: str, count: int, call_id: str, point: str, scribe: Scribe
) -> Incident:
    context = call.context
    made = Incident(
        id=_next_id(newest_under(change, INCIDENT)),
        state="open",
        at=now,
        agent=call.agent,
        tool=decision.tool,
        code=decision.code,
        reason=decision.reason,
        call=call_id,
        point=point,
        policy=decision.policy,
        rule=decision.rule,
        tier=decision.tier,
        count=count,
        chain=context.chain,
        capsule=context.capsule,
        session=context.session,
    )
    _put(change, made, {"what": "opened", "agent": made.agent, "code": made.code, "call": made.call}, scribe)
    return made


def found_incident(
    change: Transaction,
    *,
    code: str,
    reason: str,
    agent: str,
    tool: str,
    point: str,
    policy: str,
    capsule: str | None,
    clock: Clock,
    scribe: Scribe,
) -> Incident:
    """Opens an incident about what was found afterwards, and no call was denied for. It halts nobody.

    The same finding opens it once, while it is open.
    """
    now = clock.tick(change)
    known = newest_under(change, INCIDENT)
    for said in known:
        row = said.row
        if row.get("state") == "open" and (row.get("code"), row.get("reason"), row.get("capsule")) == (
            code,
            reason,
            capsule,
        ):
            return _INCIDENT.convert({"id": said.state.of[1], **row})
    made = Incident(
        id=_next_id(known),
        state="open",
        at=now,
        agent=agent,
        tool=tool,
        code=code,
        reason=reason,
        call="",
        point=point,
        policy=policy,
        capsule=capsule,
    )
    _put(change, made, {"what": "opened", "agent": agent, "code": code, "call": ""}, scribe)
    return made


def _next_id(known: Iterable[Said]) -> str:
    return f"I-{1 + max((int(str(said.state.of[1])[2:]) for said in known), default=0)}"


def _put(change: Transaction, incident: Incident, about: dict[str, object], scribe: Scribe) -> None:
    row = msgspec.to_builtins(incident)
    del row["id"]
    scribe.put(change, INCIDENT, (incident.id,), row, "incident", {"incident": incident.id, **about})


def incidents(view: Transaction, trust: Trust) -> list[Incident]:
    """Every incident, the oldest first. One that no person closed is open. Raises StateForged."""
    found = [_incident(view, said, trust) for said in newest_under(view, INCIDENT)]
    return sorted(found, key=lambda one: int(one.id[2:]))


def find_incident(view: Transaction, name: str, trust: Trust) -> Incident:
    """The incident of an id. Raises GrantError and StateForged."""
    [said] = newest(view, (INCIDENT, (name,)))
    if said is None:
        raise GrantError(
            f"there is no incident `{shown(name, 40)}`", code="unknown-incident", help="`remit incidents` lists them"
        )
    return _incident(view, said, trust)


def close_incident(
    change: Transaction, name: str, *, by: str, because: str, clock: Clock, scribe: Scribe, trust: Trust
) -> Incident:
    """Closes an incident, by word of a person. Its agent stays halted until it is resumed. Raises GrantError."""
    found = find_incident(change, name, trust)
    if found.state == "closed":
        raise GrantError(f"{name} was already closed by {found.closed_by}", code="incident-closed")
    now = clock.tick(change)
    done = msgspec.structs.replace(found, state="closed", closed=now, closed_by=by, because=because)
    _put(change, done, {"what": "closed", "by": by, "agent": done.agent}, scribe)
    return done


def _incident(view: Transaction, said: Said, trust: Trust) -> Incident:
    check_person(view, INCIDENT, said.row, said, trust)
    return _INCIDENT.convert({"id": said.state.of[1], **said.row})


def _halted(said: Said) -> Halted:
    row = {name: value for name, value in said.row.items() if name != "halted"}
    return _HALTED.convert({"who": said.state.of[1], **row})
