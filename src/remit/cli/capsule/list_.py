"""`remit capsule list`: the tasks that are open, or all there ever were."""

from __future__ import annotations

from typing import Annotated, Any

from remit.cli.common import FINE
from remit.cli.living import out_data, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.explain.visible import bounded
from remit.grant.capsules import CapsuleState


def command(
    every: Annotated[bool, Option("--all", help="Include ended tasks.")] = False,
    agent: Annotated[str | None, Option("--agent", metavar="NAME", help="Only tasks of this agent.")] = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """List open tasks, or all tasks with --all.

    Examples: `remit capsule list`, `remit capsule list --all`
    """
    with to_look(policy) as living:
        states = living.authority.states(ended=every) if living is not None else []
        if agent is not None:
            states = [state for state in states if state.task.capsule.agent == agent]
        waits: dict[str, int] = {}
        for asked in living.authority.waiting() if living is not None else []:
            if asked.ask.capsule is not None:
                waits[asked.ask.capsule] = waits.get(asked.ask.capsule, 0) + 1
    if json:
        out_data([_data(state, waits) for state in states])
        return FINE
    for state in states:
        out(_line(state, waits) + "\n")
    if not states:
        out(f"no {'tasks' if every else 'open tasks'}{f' of {_shown(agent)}' if agent is not None else ''}\n")
    return FINE


def _data(state: CapsuleState, waits: dict[str, int]) -> dict[str, Any]:
    task = state.task
    return {
        "id": task.capsule.id,
        "agent": task.capsule.agent,
        "parent": task.capsule.parent,
        "goal": task.goal,
        "by": task.by,
        "made": task.made,
        "expires": task.capsule.expires,
        "ended": state.ended,
        "ended_by": state.ended_by,
        "calls": state.spent.get("calls", 0),
        "waiting": waits.get(task.capsule.id, 0),
    }


def _line(state: CapsuleState, waits: dict[str, int]) -> str:
    task = state.task
    name = task.capsule.id
    if state.ended is not None:
        end = paint(f"ended {state.ended} by {_shown(state.ended_by)}", "dim")
    else:
        end = f"until {task.capsule.expires}" if task.capsule.expires is not None else "open"
    parts = [paint(name, "bold"), _shown(task.capsule.agent), end, f"calls: {state.spent.get('calls', 0)}"]
    if name in waits:
        parts.append(paint(f"waiting for an answer: {waits[name]}", "yellow"))
    if task.capsule.parent is not None:
        parts.append(f"part of {task.capsule.parent}")
    return "  ".join([*parts, _shown(task.goal)])


def _shown(text: object) -> str:
    return bounded(str(text), 120)
