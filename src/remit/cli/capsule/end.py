"""`remit capsule end`: a task is over, and what it granted is revoked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from remit.cli.capsule.show import IdArgument
from remit.cli.capsule.task import rule_lines
from remit.cli.common import FINE
from remit.cli.living import out_data, to_change
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.explain.extent import rule_text
from remit.explain.visible import bounded
from remit.grant.capsules import CapsuleState
from remit.grant.errors import GrantError
from remit.grant.history import Unused, all_asks, unused
from remit.model.people import OPERATOR
from remit.model.task import amount_text, counted_text
from remit.model.text import shown


def command(
    name: IdArgument,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """End a task and all tasks delegated from it; show what was revoked and what was never used.

    Example: `remit capsule end TASK-12`
    """
    with to_change(policy) as living:
        book = living.book(machine=json)
        state = living.authority.state(name)
        if state.ended is not None:
            raise GrantError(f"the capsule {name} ended at {state.ended} already", code="capsule-ended")
        by = living.person(book, f"end {shown(name)}", may=OPERATOR, who=who_, yes=yes).name
        with living.opened.store.read() as view:
            waiting = {one.id for one in all_asks(view) if one.state in ("open", "approved")}
        ending = living.authority.end(name, by=by)
        ended = {one.task.capsule.id for one in ending.states}
        with living.opened.store.read() as view:
            cancelled = [
                one.id
                for one in all_asks(view)
                if one.id in waiting and one.state == "cancelled" and one.ask.capsule in ended
            ]
    left = [(one, unused(one.task, one.spent)) for one in ending.states]
    if json:
        out_data({"state": "ended", "by": by, "ended": [_data(*one) for one in left], "cancelled": cancelled})
        return FINE
    lines = [line for one in left for line in _lines(*one)]
    if cancelled:
        lines.append(f"withdrawn, as nobody needs an answer any more: {', '.join(cancelled)}")
    out("".join(f"{line}\n" for line in lines))
    return FINE


def _data(state: CapsuleState, left: Unused) -> dict[str, Any]:
    capsule = state.task.capsule
    return {
        "id": capsule.id,
        "agent": capsule.agent,
        "revoked": {"grants": [rule_text(rule) for rule in capsule.grants], "data_tiers": capsule.data_tiers},
        "unused": left,
        "spent": state.spent,
    }


def _lines(state: CapsuleState, left: Unused) -> Iterator[str]:
    capsule = state.task.capsule
    yield paint(f"ended {capsule.id}", "bold") + f" of {bounded(capsule.agent, 100)}"
    if capsule.grants:
        yield "  revoked:"
        yield from rule_lines(None, capsule, capsule.grants, "grants")
    if capsule.data_tiers:
        yield f"  revoked: data of tier {', '.join(map(str, capsule.data_tiers))}"
    if not capsule.grants and not capsule.data_tiers:
        yield "  it had no grants to revoke"
    yield from unused_lines(state, left)


def unused_lines(state: CapsuleState, left: Unused) -> Iterator[str]:
    """What a task was given and did not use."""
    capsule = state.task.capsule
    if left.grants:
        yield "  grants never used:"
        yield from rule_lines(None, capsule, capsule.grants, "grants", left.grants)
    if left.plan:
        yield "  items of the plan that answered no question:"
        yield from rule_lines(None, capsule, capsule.plan, "plan", left.plan)
    if left.data_tiers:
        yield f"  data tiers never touched: {', '.join(map(str, left.data_tiers))}"
    limits = state.task.budget.limits
    for what, rest in left.budget.items():
        of = f"{amount_text(what, rest)} of {amount_text(what, limits[what])}"
        yield f"  budget left: {of} {bounded(counted_text(what), 200)}"
