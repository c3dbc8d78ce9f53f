"""What would be judged, before there is a decision: cells of a rulebook, how far units reach, what a record forbids.

    cell = cell_of(rulebook, "researcher", "create_file")
    preview(cell, units).tier

For whoever explains or analyses a rulebook; this and `decide` itself are all that they need. Nothing here decides.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from remit.decide.case import Case, Objection
from remit.decide.grid import Bound, Cell, Grid, grid_of
from remit.decide.intake import BadArguments
from remit.decide.measure import measure
from remit.decide.profile import confined, profile_of, profile_of_call
from remit.decide.protection import protected
from remit.decide.steps import hands_to, known_capsules, limits
from remit.model.call import Call, Context
from remit.model.decision import Target
from remit.model.errors import NotUnderstood
from remit.model.facts import Capsule, Facts
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW
from remit.scopes.interface import Unit

__all__ = [
    "Bound",
    "Cell",
    "Grid",
    "Preview",
    "as_judged",
    "cell_of",
    "covering",
    "grid_of",
    "hands_to",
    "objection",
    "preview",
    "preview_call",
    "profile_of",
    "profile_of_call",
]


class Preview(msgspec.Struct, frozen=True):
    """What units would do, how far that reaches, and why."""

    effects: tuple[str, ...]
    grade: str
    tier: int
    tier_why: str
    data_tier: int
    data_why: str
    targets: tuple[Target, ...]


def cell_of(rulebook: Rulebook, agent: str, tool: str) -> Cell | None:
    """The cell of a caller and a tool by their names; None if the rulebook doesn't know one of them."""
    grid = grid_of(rulebook)
    row = grid.row(agent)
    if row is None:
        return None
    found = row.tool(tool)
    return grid.cell(row, found) if found is not None else None


def preview(cell: Cell, units: Sequence[Unit], capsule: Capsule | None = None) -> Preview:
    """Of some units, inside a task or outside of any."""
    case = _case(cell, units)
    if capsule is not None:
        case.capsules = [capsule]
    measure(case)
    return _of(case)


def preview_call(cell: Cell, call: Call, facts: Facts) -> Preview:
    """Of a whole call. Raises NotUnderstood for one whose arguments can't be read."""
    try:
        values = cell.intake.values(call.args)
        case = Case(cell, call, facts, values, cell.intake.units(values, call, facts))
    except BadArguments as error:
        raise NotUnderstood(error.code, str(error)) from None
    if call.context.capsule is not None:
        known_capsules(case)
    confined(case)
    measure(case)
    return _of(case)


def covering(cell: Cell, call: Call, facts: Facts) -> tuple[list[Unit], list[Bound]]:
    """The units of a call that `may` rules are about, and those of the rules that cover one. Raises NotUnderstood."""
    try:
        values = cell.intake.values(call.args)
        units = [unit for unit in cell.intake.units(values, call, facts) if not unit.derived]
    except BadArguments as error:
        raise NotUnderstood(error.code, str(error)) from None
    live = [bound for bound in cell.may if bound.judge.applies(call.context, values, units)]
    return units, [bound for bound in live if any(bound.judge.covers(unit) for unit in units)]


def as_judged(rulebook: Rulebook, call: Call) -> Call:
    """The call without arguments that are null and so count as absent: what the tool must get."""
    if type(call.agent) is not str or type(call.tool) is not str or type(call.args) is not dict:
        return call
    cell = cell_of(rulebook, call.agent, call.tool)
    given = cell.intake.given(call.args) if cell is not None else call.args
    return call if given is call.args else msgspec.structs.replace(call, args=given)


def objection(cell: Cell, units: Sequence[Unit]) -> Objection | None:
    """Why no call with these units could pass, whatever is granted: protected paths, or the caller's record."""
    if not units:
        return None
    case = _case(cell, units)
    measure(case)
    open_tiers = [*(cell.caller.data_tiers or ()), *(cell.caller.data_tiers_with_grant or ())]
    case.data_tier = min((tier for tier in open_tiers if tier >= case.data_tier), default=case.data_tier)
    return protected(case) or limits(cell, case)


def _case(cell: Cell, units: Sequence[Unit]) -> Case:
    """A call that has these units, in the context that favours it most."""
    favour = Context(capsule_grants=(0, 1, 2, 3))
    return Case(cell, Call(cell.caller.name, cell.tool.name, context=favour), Facts(), {}, list(units))


def _of(case: Case) -> Preview:
    targets = case.decision(ALLOW, "", "").targets
    return Preview(case.effects, case.grade, case.tier, case.tier_why, case.data_tier, case.data_why, targets)
