"""What a tool's calls fall into before there is a call: abstract units, and what a rule says about them.

A cell of the matrix stands for every call of one caller to one tool. What is the same in all of them, a fixed
reach, is judged as `decide` judges it; what an argument brings is only known by its kind and effects. A repeated
argument counts as there: a call whose list is empty does nothing, and no cell is about nothing. A shell text counts
as one with a command in it, and a SQL text as one with a statement, which may have any effect and touch any path or
URL.
"""

from __future__ import annotations

import msgspec

from remit.decide.grid import Bound, Cell
from remit.scopes.interface import Unit

_KIND = {"glob": "path"}
_BY_COMMANDS = frozenset({"path", "url", "shell", "sql"})
"""Parts of a scope that a shell or SQL text can meet."""


class Part(msgspec.Struct, frozen=True):
    """One unit that calls of a tool have: from an argument, from a fixed reach, or the call itself."""

    kind: str
    arg: str
    effects: frozenset[str]
    optional: bool = False
    fixed: Unit | None = None

    @property
    def runs(self) -> bool:
        """A shell or SQL text: only the call tells what it does."""
        return self.kind in ("shell", "sql")


def parts_of(cell: Cell) -> list[Part]:
    """Every unit that a call of the tool can fall into; never empty."""
    intake, args = cell.intake, cell.tool.args
    found: list[Part] = []
    for name, kind in intake.units_from:
        on, below = intake.effects.get(name, (frozenset(), frozenset()))
        optional = args[name].optional and args[name].default is None
        optional = optional or name in intake.bases  # a glob stands for it
        if kind == "path" and on and below:  # the path itself, and all below it
            found.append(Part(kind, name, below, optional))
            below = frozenset()
        found.append(Part(_KIND.get(kind, kind), name, on | below, optional))
    found.extend(Part(unit.kind, "", unit.effects, fixed=unit) for unit in intake.fixed)
    itself = intake.effects.get("", (frozenset(), frozenset()))[0]
    if itself or all(part.optional for part in found):
        found.append(Part("call", "", itself, optional=not itself and bool(found)))
    return found


def covers_all(bound: Bound, part: Part) -> bool:
    """True if the rule permits the unit whatever the arguments and the context are."""
    judge = bound.judge
    if judge.when or judge.where or judge.scope.shell is not None or judge.scope.sql is not None:
        return False
    if part.fixed is not None:
        return judge.covers(part.fixed)
    if part.runs and judge.effects is not None:
        return False
    return part.kind not in judge.parts and covers_some(bound, part)


def covers_some(bound: Bound, part: Part) -> bool:
    """False only if the rule can't permit the unit, whatever the call."""
    judge = bound.judge
    if part.fixed is not None:
        return judge.covers(part.fixed)
    if judge.effects is not None and not part.runs and (not part.effects or not part.effects <= judge.effects):
        return False
    if part.kind in judge.parts or part.kind not in ("path", "url", "agent", "shell", "sql") or not judge.on_arguments:
        return True
    return part.arg in judge.mentioned


def touches_some(bound: Bound, cell: Cell, parts: list[Part]) -> bool:
    """False only if a `may_not` or `must_ask` can't hold for any call of the tool."""
    judge = bound.judge
    acting = [p for p in parts if p.runs or judge.effects is None or not judge.effects.isdisjoint(p.effects)]
    if not judge.parts:
        return bool(acting)
    return all(
        any(
            (p.kind == kind and (p.fixed is None or matcher.touches(p.fixed))) or (p.runs and kind in _BY_COMMANDS)
            for p in acting
        )
        for kind, matcher in judge.parts.items()
    )


def touches_all(bound: Bound, parts: list[Part]) -> bool:
    """True only if a `may_not` holds for every call of the tool."""
    judge = bound.judge
    if judge.when or judge.where or judge.exception is not None:
        return False
    if judge.scope.shell is not None or judge.scope.sql is not None:
        return False
    if not judge.parts and judge.effects is None:
        return True
    sure = [part for part in parts if not part.optional]
    acting = [part for part in sure if judge.effects is None or not judge.effects.isdisjoint(part.effects)]
    if not judge.parts:
        return bool(acting)
    return all(
        any(p.kind == kind and p.fixed is not None and matcher.touches(p.fixed) for p in acting)
        for kind, matcher in judge.parts.items()
    )
