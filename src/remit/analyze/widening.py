"""`must_ask` rules that permit what no `may` does: a question answered with yes lets such a call run."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import msgspec

from remit.analyze.candidates import candidates
from remit.decide.grid import Bound, Cell, grid_of
from remit.decide.intake import BadArguments
from remit.model.call import Call
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.text import shown

MOST_CALLS = 64
"""Calls that are tried for one rule and one tool."""


def widening(rulebook: Rulebook) -> Iterator[str]:
    """A sentence for each `must_ask` that was found to widen, with a tool or a call that only it permits."""
    grid, seen = grid_of(rulebook), set[str]()
    for name, caller in rulebook.book.callers.items():
        row = grid.row(name)
        if row is None or not caller.enabled or not any(rule.verb == "must_ask" for rule in caller.rules):
            continue
        for tool in {**rulebook.book.tools, **caller.tools}.values():
            cell = grid.cell(row, tool)
            for ask in cell.asks:
                if ask.rule.at not in seen and (what := _only_by(cell, ask)):
                    seen.add(ask.rule.at)
                    yield f"{ask.rule.at}: this `must_ask` of {name} also permits what no `may` does: {what}"


def _only_by(cell: Cell, ask: Bound) -> str:
    """What the rule permits alone: a call, in words; empty if none was found."""
    if cell.access is not None or cell.reserved is not None or any(may.judge.free for may in cell.may):
        return ""
    if ask.judge.free:
        return f"every call of {cell.tool.name}"
    for call, facts in islice(candidates(cell), MOST_CALLS):
        try:
            if _permits_alone(cell, ask, call, facts):
                return f"{cell.tool.name} {shown(msgspec.json.encode(call.args).decode(), 160)}"
        except (BadArguments, NotUnderstood):
            continue
    return ""


def _permits_alone(cell: Cell, ask: Bound, call: Call, facts: Facts) -> bool:
    values = cell.intake.values(call.args)
    units = cell.intake.units(values, call, facts)
    if not ask.judge.applies(call.context, values, units) or not ask.judge.touches(call.context, values, units):
        return False
    live = [may.judge for may in cell.may if may.judge.applies(call.context, values, units)]
    own = [unit for unit in units if not unit.derived]
    return any(ask.judge.covers(unit) and not any(judge.covers(unit) for judge in live) for unit in own)
