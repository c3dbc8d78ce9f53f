"""`remit usage`: what was used of what the policy allows, and the changes that would fit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.living import out_data, to_look
from remit.cli.options import AgentOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.cli.since import start_of
from remit.explain.visible import bounded
from remit.model.names import known_name
from remit.model.text import counted, how_often
from remit.record.past import past_calls
from remit.record.reader import Filter
from remit.service.usage import OFTEN, Coarse, Narrow, UnusedRule, Usage, usage

MOST = 100
"""Lines of one part."""


def command(
    since: Annotated[
        str, Option("--since", metavar="TIME", help="Look at calls from then on: 90d, 12h, or a moment.")
    ] = "90d",
    agent: AgentOption = None,
    often: Annotated[
        int, Option("--often", metavar="N", min=1, help="How many denials of one kind count as too narrow a rule.")
    ] = OFTEN,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Show how much of what the policy allows was used: never, only to read, denied, too coarse, too narrow.

    Examples: `remit usage`, `remit usage --since 30d --agent builder`
    """
    with to_look(policy) as living:
        if living is None:
            raise InputError("nothing has been recorded yet", code="no-ledger")
        rulebook, _ = living.rulebook(machine=json)
        root = str((living.root / rulebook.book.root).resolve())
        with living.opened.store.read() as view:
            calls = list(past_calls(view, Filter(agent=agent, since=start_of(since))))
        found = usage(calls, rulebook, root, often=often)
    if agent is not None:
        found = _of(found, agent)
    if json:
        out_data({"since": since, **found.as_json()})
    else:
        out("".join(f"{line}\n" for line in _lines(found, since)))
    return FINE


def _of(found: Usage, agent: str) -> Usage:
    """Only what is about this agent."""
    known_name(agent, [one.agent for one in found.agents], "agent")
    return Usage(
        found.calls,
        tuple(one for one in found.agents if one.agent == agent),
        tuple(one for one in found.unused if one.agent == agent),
        found.denials,
        tuple(one for one in found.coarse if one.agent == agent),
        tuple(one for one in found.narrow if one.agent == agent),
    )


def _lines(found: Usage, since: str) -> Iterator[str]:
    yield paint(f"{counted(found.calls, 'call')} since {since}", "bold")
    never = [bounded(one.agent, 80) for one in found.agents if not one.calls]
    if never:
        yield f"agents that were never used: {', '.join(never)}"
    for one in found.agents:
        if one.only_reads:
            yield f"only read: {bounded(one.agent, 80)} ({one.allowed} allowed calls)"
    for one in found.agents:
        if one.data:
            tiers = ", ".join(f"{number} of data tier {tier}" for tier, number in one.data.items())
            yield f"sensitive data: {bounded(one.agent, 80)}: {tiers}; `remit ledger show --data-tier 2` lists calls"
    if found.denials:
        yield paint("denials by reason", "bold")
        for code, counts in found.denials.items():
            top = ", ".join(f"{bounded(who, 120)} {number}" for who, number in list(counts.items())[:5])
            yield f"  {sum(counts.values())} {code}: {top}"
    if found.unused:
        yield paint("permissions that were never used", "bold")
        yield from (line for one in found.unused[:MOST] for line in _unused(one))
    if found.coarse:
        yield paint("too coarse: more is allowed than was used", "bold")
        yield from (line for one in found.coarse[:MOST] for line in _coarse(one))
    if found.narrow:
        yield paint("too narrow, or tried again and again: for a person to decide", "bold")
        yield from (line for one in found.narrow[:MOST] for line in _narrow(one))


def _unused(one: UnusedRule) -> Iterator[str]:
    what = bounded(one.rule, 200) if one.whole else f"{bounded(', '.join(one.tools), 200)} of {bounded(one.rule, 200)}"
    yield f"  {bounded(one.agent, 80)}  {one.at}  {what}"


def _coarse(one: Coarse) -> Iterator[str]:
    times = how_often(one.times)
    yield f"  {bounded(one.agent, 80)}  {one.at}  {bounded(one.rule, 200)}"
    yield f"      used {times}; this would fit: {bounded(one.fits, 400)}"


def _narrow(one: Narrow) -> Iterator[str]:
    who = f"{bounded(one.agent, 80)} {bounded(one.tool, 80)}"
    yield f"  {who}: {one.code}, {how_often(one.times)}, last {one.last[:10]}"
    yield from (f"      e.g. {bounded(example, 200)}" for example in one.examples)
    if one.passes:
        yield "      the present policy lets some of these pass"
    for rule in one.fits:
        yield f"      for one task, under `grants:`:  {bounded(rule, 300)}"
    if one.fits:
        yield "      for longer: the same under `grants:` of the policy, with adr, approved_by and until"
    elif one.advice is not None:
        yield f"      {bounded(one.advice, 300)}"
