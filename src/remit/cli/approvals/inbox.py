"""`remit approvals`: what waits, since when and until when, who asks and why. INVARIANT: all of it is escaped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from remit.cli.capsule.report import ask_data, lasting, seconds_between
from remit.cli.capsule.task import tier_style
from remit.cli.common import FINE
from remit.cli.living import Living, out_data, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint, write
from remit.cli.parameters import Option
from remit.cli.rounds import rounds
from remit.explain.visible import bounded
from remit.grant.asks import AskState
from remit.grant.clock import Clock
from remit.grant.history import all_asks
from remit.record.export import as_line

EVERY = 1.0
"""Seconds between two looks."""
_STATEMENT = ("intent", "because", "consequences")
_CLEAR = "\x1b[H\x1b[2J\x1b[3J"


def command(
    watch: Annotated[bool, Option("--watch", "-w", help="Keep updating until interrupted.")] = False,
    every: Annotated[bool, Option("--all", help="Include answered and expired questions.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """List or watch the calls that wait for a person's answer.

    Examples: `remit approvals`, `remit approvals --watch`
    """
    show = watching if watch else look
    return show(policy, every=every, json=json)


def look(policy: Path | None, *, every: bool, json: bool) -> int:
    """Shows the inbox once."""
    with to_look(policy) as living:
        asks, now = _asks(living, every=every)
    if json:
        out_data([as_json(one, now) for one in asks])
    else:
        out(_page(asks, now, every=every))
    return FINE


def watching(policy: Path | None, *, every: bool, json: bool) -> int:
    """Shows it again as it changes: on a terminal the whole of it, elsewhere one line for each change."""
    live = not json and sys.stdout is not None and sys.stdout.isatty()
    seen: dict[str, str] = {}
    first = True
    for _ in rounds(EVERY):
        with to_look(policy) as living:
            asks, now = _asks(living, every=every or not live)
        if live:
            out(_CLEAR + _page(asks, now, every=every) + paint("ctrl-c ends this\n", "dim"))
        else:
            _changes(asks, now, seen, every=every or not first, json=json)
        first = False
    return FINE


def _changes(asks: list[AskState], now: str, seen: dict[str, str], *, every: bool, json: bool) -> None:
    """One line for what is new or answered; at first only what waits, unless all is wanted."""
    for one in asks:
        if seen.get(one.id) == one.state:
            continue
        known, seen[one.id] = one.id in seen, one.state
        if one.state != "open" and not known and not every:
            continue
        if json:
            write(as_line(msgspec.to_builtins(as_json(one, now))))
        else:
            out(line(one, now) + "\n")


def _asks(living: Living | None, *, every: bool) -> tuple[list[AskState], str]:
    if living is None:
        return [], Clock().now()
    authority = living.authority
    waiting = authority.waiting()
    with living.opened.store.read() as view:
        return (all_asks(view) if every else waiting), authority.clock.now(view)


def as_json(asked: AskState, now: str) -> dict[str, Any]:
    """One ask for programs."""
    ask = asked.ask
    return {
        **ask_data(asked),
        "waits": seconds_between(ask.asked, asked.answered or now),
        "expires": asked.expires,
        "chain": ask.chain,
        "capsule": ask.capsule,
        "session": ask.session,
        "point": ask.point,
        "reason": ask.reason,
        "effects": ask.effects,
        "targets": ask.targets,
        "statement": ask.statement,
        "policy": ask.policy,
        "digest": asked.digest,
    }


def line(asked: AskState, now: str) -> str:
    """One ask in one line."""
    ask = asked.ask
    task = f"  {bounded(ask.capsule, 100)}" if ask.capsule else ""
    flag = "  not-anticipated" if ask.anticipated is False else ""
    by = f" by {bounded(asked.by, 120)}" if asked.by else ""
    said = _said(ask.statement)
    intent = f"  intent: {bounded(said['intent'], 160)}" if "intent" in said else ""
    until = f"  until {asked.expires}" if asked.state == "open" else ""
    why = bounded(ask.reason.removeprefix(f"tier {ask.tier} "), 300)
    who = f"{who_line(ask.agent, ask.chain)}  {bounded(ask.tool, 120)}"
    return f"{asked.id}  {asked.state}{by}{until}{task}  {who}  tier {ask.tier}{flag}: {why}{intent}"


def who_line(agent: str, chain: tuple[str, ...]) -> str:
    """`worker ← lead`: who calls, and who handed it the work."""
    return " ← ".join(bounded(name, 100) for name in (agent, *reversed(chain)))


def head_lines(asked: AskState, now: str) -> Iterator[str]:
    """Who asks for what, why, and until when."""
    ask = asked.ask
    waited = lasting(seconds_between(ask.asked, asked.answered or now))
    if asked.state == "open":
        when = f"waits {waited}, until {asked.expires}"
    else:
        by = f" by {bounded(asked.by, 120)}" if asked.by else ""
        when = f"{asked.state}{by}" + (f" after {waited}" if asked.answered else "")
        if asked.because:
            when += f": {bounded(asked.because, 400)}"
    yield f"{paint(asked.id, 'bold')}  {when}"
    yield f"  {who_line(ask.agent, ask.chain)} wants {paint(bounded(ask.tool, 120), 'bold')}"
    if ask.capsule is not None:
        yield f"  task {bounded(ask.capsule, 100)}"
    of = "" if ask.of == "human" else f", asked of {bounded(ask.of, 100)}"
    why = ask.reason.removeprefix(f"tier {ask.tier} ")
    yield f"  {paint(f'tier {ask.tier}', tier_style(ask.tier))}{of}: {bounded(why, 400)}"
    if ask.people is not None:
        have = f" ({bounded(', '.join(asked.approved), 400)} did)" if asked.approved else ""
        yield f"  {len(asked.approved)} of {ask.approvals} approvals{have}, by {bounded(', '.join(ask.people), 400)}"
    if ask.anticipated is False:
        yield f"  {paint('not-anticipated', 'yellow')}: no item of its task's passed plan covers it"


def _page(asks: list[AskState], now: str, *, every: bool) -> str:
    lines: list[str] = []
    for one in asks:
        lines += [*head_lines(one, now), *_brief(one)]
        if one.state == "open":
            lines.append(
                paint(f"  remit approvals show {one.id} · remit approve {one.id} · remit refuse {one.id}", "dim")
            )
        lines.append("")
    waiting = sum(1 for one in asks if one.state == "open")
    lines.append(f"{waiting} waiting" if waiting else "nothing waits for an answer")
    if every and asks:
        lines[-1] += f", {len(asks)} in all"
    return "".join(f"{one}\n" for one in lines)


def _brief(asked: AskState) -> Iterator[str]:
    for name, text in _said(asked.ask.statement).items():
        yield f"  {name}: {bounded(text, 300)}"
    if asked.ask.targets:
        yield f"  targets: {bounded(', '.join(asked.ask.targets), 600)}"


def _said(statement: dict[str, Any] | None) -> dict[str, str]:
    found = {name: (statement or {}).get(name) for name in _STATEMENT}
    return {name: str(text) for name, text in found.items() if text}
