"""`remit capsule show`: one task, what it allows, and where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from remit.cli.capsule.task import task_json, task_lines
from remit.cli.common import FINE
from remit.cli.living import must_look, out_data, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.explain.visible import bounded
from remit.grant.capsules import CapsuleState
from remit.grant.history import Passed, children, gates
from remit.model.task import amount_text

IdArgument = Annotated[str, Argument(metavar="ID", help="The capsule.")]


def command(name: IdArgument, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Show a task: what it allows and how far that reaches, its limits, and its state.

    Example: `remit capsule show TASK-12`
    """
    with to_look(policy) as found:
        living = must_look(found, "capsule", name)
        rulebook, _ = living.rulebook(machine=json)
        state = living.authority.state(name)
        with living.opened.store.read() as view:
            below, passed = children(view, name), gates(state)
    if json:
        about = {"ended": state.ended, "ended_by": state.ended_by, "gates": passed, "spent": state.spent}
        named = [child.task.capsule.id for child in below]
        out_data({**task_json(rulebook, state.task), **about, "children": named})
        return FINE
    lines = [*task_lines(rulebook, state.task), *_standing(state, passed, below)]
    out("".join(f"{line}\n" for line in lines))
    return FINE


def _standing(state: CapsuleState, passed: list[Passed], below: list[CapsuleState]) -> Iterator[str]:
    task = state.task
    yield f"  issued {task.made} by {bounded(task.by, 200)} ({task.issuer}), under {task.policy[:19]}…"
    for gate in passed:
        by = f"passed {gate.at} by {bounded(str(gate.by), 200)}" if gate.by is not None else "not passed"
        yield f"  gate {bounded(gate.gate, 100)}: {by}"
    limits = task.budget.limits
    for what, used in sorted(state.spent.items()):
        of = f" of {amount_text(what, limits[what])}" if what in limits else ""
        yield f"  used {bounded(what, 200)}: {amount_text(what, used)}{of}"
    for child in below:
        how = "ended" if child.ended is not None else "open"
        yield f"  handed on to {bounded(child.task.capsule.agent, 100)} as {child.task.capsule.id} ({how})"
    if state.ended is not None:
        yield "  " + paint(f"ended {state.ended} by {bounded(str(state.ended_by), 200)}", "red")
    else:
        yield "  " + paint("open", "green")
