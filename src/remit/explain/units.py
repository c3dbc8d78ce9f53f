"""What a tool's calls fall into before there is a call: abstract units, and what a rule says about them.

A cell of the matrix stands for every call of one caller to one tool. What is the same in all of them, a fixed
reach, is judged as `decide` judges it; what an argument brings is only known by its kind and effects. A repeated
argument counts as there: a call whose list is empty does nothing, and no cell is about nothing. A text in a language
counts as one with a command or a statement in it, which may have any effect and touch any path or URL.
"""

from __future__ import annotations

import msgspec

from remit.decide.preview import Bound, Cell
from remit.model.policy import Argument
from remit.scopes.interface import Matcher, Unit
from remit.scopes.kinds import kind_of


class Part(msgspec.Struct, frozen=True):
    """One unit that calls of a tool have: from an argument, from a fixed reach, or the call itself."""

    kind: str
    arg: str
    effects: frozenset[str]
    optional: bool = False
    fixed: Unit | None = None
    args: tuple[str, ...] = ()
    """Of the call itself: arguments that its effects are on."""
    always: tuple[str, ...] = ()
    """Those of them that each call has."""

    @property
    def runs(self) -> bool:
        """A text in a language: only the call tells what it does."""
        return kind_of(self.kind).language


def parts_of(cell: Cell) -> list[Part]:
    """Every unit that a call of the tool can fall into; never empty."""
    intake, args = cell.intake, cell.tool.args
    found: list[Part] = []
    for arg, kind in intake.declared:
        optional = _may_lack(arg.name, args[arg.name])
        optional = optional or bool(arg.serves)  # what is relative to it stands for it
        on, below = arg.effects, arg.below
        if kind.goes_below and on and below:  # the path itself, and all below it
            found.append(Part(kind.unit, arg.name, below, optional))
            below = frozenset()
        found.append(Part(kind.unit, arg.name, on | below, optional))
    found.extend(Part(unit.kind, "", unit.effects, fixed=unit) for unit in intake.fixed)
    itself = intake.own_effects or frozenset()
    if itself or all(part.optional for part in found):
        acted = intake.acted_on
        always = tuple(name for name in acted if not _may_lack(name, args[name]))
        found.append(Part("call", "", itself, not itself and bool(found), args=acted, always=always))
    return found


def _may_lack(name: str, argument: Argument) -> bool:
    """A call can do without it; a default is that of each item of a list, and the list may be absent."""
    return "[]" in name or (argument.optional and argument.default is None)


def covers_all(bound: Bound, part: Part) -> bool:
    """True if the rule permits the unit whatever the arguments and the context are."""
    judge = bound.judge
    if judge.when or judge.where or _by_text(bound):
        return False
    if part.fixed is not None:
        return judge.covers(part.fixed)
    if part.runs and judge.effects is not None:
        return False
    open_to_any = judge.mentions(Unit(part.kind, part.arg, "", part.effects, args=part.args))
    return part.kind not in judge.parts and open_to_any and covers_some(bound, part)


def covers_some(bound: Bound, part: Part) -> bool:
    """False only if the rule can't permit the unit, whatever the call."""
    judge = bound.judge
    if part.fixed is not None:
        return judge.covers(part.fixed)
    if judge.effects is not None and not part.runs and (not part.effects or not part.effects <= judge.effects):
        return False
    return judge.mentions(Unit(part.kind, part.arg, "", part.effects, args=part.always))


def touches_some(bound: Bound, cell: Cell, parts: list[Part]) -> bool:
    """False only if a `may_not` or `must_ask` can't hold for any call of the tool."""
    judge = bound.judge
    acting = [p for p in parts if p.runs or judge.effects is None or not judge.effects.isdisjoint(p.effects)]
    if not judge.parts:
        return bool(acting)
    return all(
        any(
            (p.kind == kind and (p.fixed is None or matcher.touches(p.fixed))) or _meets(p, kind, matcher)
            for p in acting
        )
        for kind, matcher in judge.parts.items()
    )


def _meets(part: Part, kind: str, matcher: Matcher) -> bool:
    """It could lie within a part of a scope that is about another kind, as a host within one about URLs."""
    own = kind_of(part.kind)
    return kind in own.touched and (part.fixed is None or own.language or own.might(part.fixed, kind, matcher))


def touches_all(bound: Bound, parts: list[Part]) -> bool:
    """True only if a `may_not` holds for every call of the tool."""
    judge = bound.judge
    if judge.when or judge.where or judge.exception is not None:
        return False
    if _by_text(bound):
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


def _by_text(bound: Bound) -> bool:
    """The rule is about texts in a language: only the call tells whether it holds."""
    return any(kind_of(kind).language for kind in bound.judge.parts)
