"""`remit gate`: what people pass in the course of a task, its plan above all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from remit.cli.capsule.task import rule_lines
from remit.cli.common import FINE
from remit.cli.living import must_look, out_data, to_change, to_look
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.explain.extent import extents_of, rule_text
from remit.explain.visible import bounded
from remit.grant.capsules import PLAN, CapsuleState
from remit.grant.history import gates
from remit.model.people import APPROVER
from remit.model.rulebook import Rulebook
from remit.model.text import shown

CapsuleArgument = Annotated[str, Argument(metavar="CAPSULE", help="The task.")]


def pass_(
    capsule: CapsuleArgument,
    gate: Annotated[str, Argument(metavar="GATE", help="Such as plan.")],
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Pass a gate of a task. For the plan: show each item with its blast radius, and what passing it answers.

    Example: `remit gate pass TASK-12 plan`
    """
    with to_change(policy) as living:
        rulebook, book = living.rulebook(machine=json)
        state = living.authority.check_gate(capsule, gate)
        if not json:
            out("".join(f"{line}\n" for line in _shown(rulebook, state, gate)))
        by, sign = living.person(
            book, f"pass the gate {shown(gate)} of {shown(capsule)}", may=APPROVER, who=who_, yes=yes
        )
        living.authority.pass_gate(capsule, gate, by=by, sign=sign)
    if json:
        out_data(
            {"state": "passed", "capsule": capsule, "gate": gate, "by": by, "items": _items(rulebook, state, gate)}
        )
    else:
        out(f"{paint('✅', 'green')} the gate {gate} of {capsule} is passed, by {by}\n")
    return FINE


def list_(capsule: CapsuleArgument, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """List the gates of a task and who has passed them.

    Example: `remit gate list TASK-12`
    """
    with to_look(policy) as found:
        living = must_look(found, "capsule", capsule)
        state = living.authority.state(capsule)
        passed = gates(state)
    if json:
        out_data(passed)
        return FINE
    for one in passed:
        by = f"✅ passed {one.at} by {bounded(one.by, 200)}" if one.by is not None else "not passed"
        out(f"{bounded(one.gate, 100)}  {by}\n")
    if not passed:
        out(f"{capsule} has no gates\n")
    return FINE


def _shown(rulebook: Rulebook, state: CapsuleState, gate: str) -> Iterator[str]:
    capsule = state.task.capsule
    yield paint(f"capsule {capsule.id}", "bold") + f" of {capsule.agent}: {bounded(state.task.goal, 1_000)}"
    if gate != PLAN:
        return
    yield "the plan:"
    yield from rule_lines(rulebook, capsule, capsule.plan, "plan")
    yield "for calls of the task and its parts that an item covers, passing it answers what people would be asked:"
    yield from _answers(rulebook)
    yield f"  it permits nothing that the policy does not, and ends with the task{_until(capsule.expires)}"


def _answers(rulebook: Rulebook) -> Iterator[str]:
    yield "  up to tier 3: what a rule (must_ask) or a tool (confirm) asks of a person is answered"
    three = rulebook.book.tiers.get(3)
    if three is not None and three.verdict == "ask":
        if three.planned and three.ask == "chain":
            yield "  tier 3: an agent earlier in the chain that acknowledges also has to acknowledge each call"
        else:
            yield f"  tier 3: {three.ask or 'human'} is also asked, call by call"
    elif three is not None and three.verdict == "deny":
        yield "  tier 3: stays denied"
    four = rulebook.book.tiers.get(4)
    denied = four is not None and four.verdict == "deny"
    yield "  tier 4: stays denied" if denied else "  tier 4: is asked call by call, as without a plan"


def _until(expires: str | None) -> str:
    return f", at {expires} at the latest" if expires is not None else ""


def _items(rulebook: Rulebook, state: CapsuleState, gate: str) -> list[dict[str, Any]]:
    capsule = state.task.capsule
    if gate != PLAN:
        return []
    return [
        {"item": rule_text(rule), "radius": extents_of(rulebook, capsule.agent, rule, capsule)} for rule in capsule.plan
    ]
