"""`remit incidents`: what halted an agent, and what a person made of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from remit.cli.answer import YesOption, check_reason
from remit.cli.common import FINE
from remit.cli.living import Living, must_look, out_data, to_change, to_look
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.explain.visible import bounded
from remit.grant.halts import Incident, name_of
from remit.model.people import OPERATOR
from remit.record.reader import all_said

IncidentArgument = Annotated[str, Argument(metavar="INCIDENT", help="Such as I-3.")]
BEFORE = 10
"""Calls of the agent that are shown before the one that halted it."""
OPEN = 1


def list_(
    all: Annotated[bool, Option("--all", help="Include closed incidents.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """List who is halted, and the incidents that are open. The exit code is 1 if there are any.

    Examples: `remit incidents`, `remit incidents --all`
    """
    with to_look(policy) as living:
        halted = living.authority.halted(_rulebook(living)) if living is not None else []
        found = living.authority.incidents(_rulebook(living)) if living is not None else []
    shown = [one for one in found if all or one.state == "open"]
    code = OPEN if halted or any(one.state == "open" for one in found) else FINE
    if json:
        out_data({"halts": halted, "incidents": shown})
        return code
    for one in halted:
        more = f" ({one.incident})" if one.incident is not None else ""
        out(f"{paint('✋', 'red')} {name_of(one.who)}: halted since {one.at} by {bounded(one.by, 80)}{more}\n")
        out(f"   {bounded(one.because, 300)}\n")
    for incident in shown:
        state = "open" if incident.state == "open" else f"closed {incident.closed} by {incident.closed_by}"
        what = f"{bounded(incident.agent, 80)}  {bounded(incident.tool, 80)}  {incident.code}"
        out(f"{incident.id}  {incident.at}  {what}  {state}\n")
    if not halted and not shown:
        out("nobody is halted, and no incident is open\n")
    return code


def show(name: IncidentArgument, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Show an incident: the call, the rule, the task, and what the agent did before.

    Example: `remit incidents show I-3`
    """
    with to_look(policy) as found:
        living = must_look(found, "incident", name)
        incident = living.authority.incident(name, _rulebook(living))
        before = _before(living, incident)
    if json:
        out_data({**msgspec.to_builtins(incident), "before": before})
        return FINE
    out("".join(f"{line}\n" for line in _lines(incident)))
    if before:
        out(f"  the call with its arguments: remit ledger show {before[-1]['seq']} --values\n")
        out(f"what {bounded(incident.agent, 80)} did, up to that call:\n")
        out("".join(f"  {e['at']}  {e['decision']:<5}  {bounded(e['tool'], 60)}  {e['code']}\n" for e in before))
    return FINE


def close(
    name: IncidentArgument,
    because: Annotated[str, Option("--because", metavar="TEXT", help="What was found.")],
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Close an incident. The agent stays halted until `remit resume`.

    Example: `remit incidents close I-3 --because 'false alarm'`
    """
    check_reason(because)
    with to_change(policy) as living:
        book = living.book(machine=json)
        incident = living.authority.incident(name)
        if not json:
            out("".join(f"{line}\n" for line in _lines(incident)))
        by, sign = living.person(book, f"close {incident.id}", may=OPERATOR, who=who_, yes=yes)
        done = living.authority.close_incident(incident.id, by=by, because=because, sign=sign)
        if json:
            out_data(done)
        else:
            out(f"{paint('✅', 'green')} {done.id} is closed, by {by}\n")
    return FINE


def _rulebook(living: Living) -> Any:
    from remit.enforce.in_force import read_in_force  # here: only commands that look need it

    return read_in_force(living.root, living.opened.store).rulebook


def _lines(one: Incident) -> Iterator[str]:
    yield paint(f"{one.id}", "bold") + f"  {one.state}  {one.at}"
    yield f"  {bounded(one.agent, 80)} called {bounded(one.tool, 80)}: {one.code} (tier {one.tier})"
    yield f"  {bounded(one.reason, 1_000)}"
    if one.count > 1:
        yield f"  {one.count} violations led to it"
    if one.rule is not None:
        yield f"  rule: {bounded(one.rule, 200)}"
    if one.chain:
        yield f"  handed on by: {bounded(' → '.join(one.chain), 300)}"
    if one.capsule is not None:
        yield f"  task: {bounded(one.capsule, 80)}"
    yield f"  at: {bounded(one.point, 80)}; policy {one.policy[:19]}…"
    if one.state == "closed":
        yield f"  closed {one.closed} by {bounded(one.closed_by or '', 120)}: {bounded(one.because or '', 1_000)}"


def _before(living: Living, incident: Incident) -> list[dict[str, Any]]:
    """The agent's last calls up to the one of the incident, that one last."""
    found: list[dict[str, Any]] = []
    with living.opened.store.read() as view:
        for stored, data in all_said(view):
            if data.get("type") != "intent" or data.get("agent") != incident.agent:
                continue
            said = {key: str(data.get(key)) for key in ("at", "decision", "tool", "code", "call")}
            found.append({"seq": stored.seq, **said})
            del found[: -BEFORE - 1]
            if data.get("call") == incident.call:
                return found
    return []
