"""`remit capsule report`: what happened in a task."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.cli.capsule.end import unused_lines
from remit.cli.capsule.show import IdArgument
from remit.cli.common import FINE
from remit.cli.living import must_look, out_data, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.explain.visible import bounded
from remit.grant.asks import AskState
from remit.grant.capsules import CapsuleState
from remit.grant.history import Calls, Passed, all_asks, calls_of, children, gates, unused
from remit.model.moments import seconds_of


def command(name: IdArgument, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Report on a task: who, when, calls by tool, questions and response times, denials, hand-overs."""
    with to_look(policy) as found:
        living = must_look(found, "capsule", name)
        state = living.authority.state(name)
        with living.opened.store.read() as view:
            calls, asks = calls_of(view, name), all_asks(view, name)
            passed, below = gates(state), children(view, name)
            of_children = {one.task.capsule.id: len(all_asks(view, one.task.capsule.id)) for one in below}
    left = unused(state.task, state.spent)
    if json:
        out_data(
            {
                "capsule": state.task.capsule.id,
                "agent": state.task.capsule.agent,
                "goal": state.task.goal,
                "by": state.task.by,
                "issuer": state.task.issuer,
                "made": state.task.made,
                "expires": state.task.capsule.expires,
                "ended": state.ended,
                "ended_by": state.ended_by,
                "first_call": calls.first,
                "last_call": calls.last,
                "calls": calls.tools,
                "denials": calls.denials,
                "prompts": len(asks),
                "asks": [ask_data(one) for one in asks],
                "gates": passed,
                "children": [_child(one, of_children) for one in below],
                "unused": left,
            }
        )
        return FINE
    lines = [*_who(state, calls, passed), *_calls(calls), *_asks(asks), *_below(below, of_children)]
    out("".join(f"{line}\n" for line in [*lines, *unused_lines(state, left)]))
    return FINE


def ask_data(asked: AskState) -> dict[str, Any]:
    """What was asked and answered, for programs."""
    return {
        "id": asked.id,
        "state": asked.state,
        "agent": asked.ask.agent,
        "tool": asked.ask.tool,
        "tier": asked.ask.tier,
        "of": asked.ask.of,
        "code": asked.ask.code,
        "anticipated": asked.ask.anticipated,
        "asked": asked.ask.asked,
        "answered": asked.answered,
        "took": seconds_between(asked.ask.asked, asked.answered),
        "by": asked.by,
        "by_kind": asked.by_kind,
        "because": asked.because,
    }


def seconds_between(first: str, last: str | None) -> int | None:
    """Seconds from one moment to another; None if one of them is missing."""
    if last is None:
        return None
    try:
        return int(seconds_of(last) - seconds_of(first))
    except ValueError:
        return None


def lasting(seconds: int | None) -> str:
    """`3 min`, `2 h 5 min`."""
    if seconds is None:
        return "?"
    if seconds < 120:
        return f"{max(seconds, 0)} s"
    hours, minutes = divmod(seconds // 60, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _who(state: CapsuleState, calls: Calls, passed: list[Passed]) -> Iterator[str]:
    task = state.task
    yield paint(f"capsule {task.capsule.id}", "bold") + f": {bounded(task.goal, 1_000)}"
    yield f"  handed to {bounded(task.capsule.agent, 100)} by {bounded(task.by, 200)} ({task.issuer}), {task.made}"
    if calls.first is not None:
        yield f"  called from {calls.first} to {calls.last}"
    for gate in passed:
        by = f"passed by {bounded(gate.by, 200)}, {gate.at}" if gate.by is not None else "not passed"
        yield f"  gate {bounded(gate.gate, 100)}: {by}"
    until = f", until {task.capsule.expires}" if task.capsule.expires is not None else ""
    yield f"  ended by {bounded(str(state.ended_by), 200)}, {state.ended}" if state.ended else f"  open{until}"


def _calls(calls: Calls) -> Iterator[str]:
    if not calls.tools:
        yield "  no calls"
    for tool, counts in sorted(calls.tools.items()):
        yield f"  {bounded(tool, 120)}: {', '.join(f'{n} {word}' for word, n in counts.items())}"
    for code, n in sorted(calls.denials.items(), key=lambda item: (-item[1], item[0])):
        yield f"  denied {n} times: {bounded(code, 80)}" if n > 1 else f"  denied once: {bounded(code, 80)}"


def _asks(asks: list[AskState]) -> Iterator[str]:
    people = sum(1 for one in asks if one.ask.of == "human")
    yield f"  prompts: {len(asks)}" + (f", {people} of them for people" if people != len(asks) else "")
    took = sorted(t for one in asks if (t := seconds_between(one.ask.asked, one.answered)) is not None)
    if took:
        yield f"  answered after {lasting(took[len(took) // 2])} in the middle, {lasting(took[-1])} at most"
    for one in asks:
        by = f" by {bounded(one.by, 120)}" if one.by else ""
        after = f" after {lasting(seconds_between(one.ask.asked, one.answered))}" if one.answered else ""
        why = f": {bounded(one.because, 400)}" if one.because else ""
        flag = ", not-anticipated" if one.ask.anticipated is False else ""
        yield f"    {one.id} {bounded(one.ask.tool, 120)}, tier {one.ask.tier}{flag}: {one.state}{by}{after}{why}"


def _below(below: list[CapsuleState], prompts: dict[str, int]) -> Iterator[str]:
    for child in below:
        name, how = child.task.capsule.id, "ended" if child.ended is not None else "open"
        calls = child.spent.get("calls", 0)
        agent = bounded(child.task.capsule.agent, 100)
        yield f"  handed on to {agent} as {name} ({how}): {calls} calls, {prompts[name]} prompts"


def _child(child: CapsuleState, prompts: dict[str, int]) -> dict[str, Any]:
    name = child.task.capsule.id
    return {
        "id": name,
        "agent": child.task.capsule.agent,
        "ended": child.ended,
        "calls": child.spent.get("calls", 0),
        "prompts": prompts[name],
    }
