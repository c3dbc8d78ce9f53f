"""The blast radius of a rule: the tier that calls within it have, and the highest that one could have.

What a path or URL scope could match is judged as one wide unit, as `decide` judges a glob: that is the usual tier. The
highest counts every label that something within could have, symlinks and environments aside. What a shell or SQL scope
admits has no end, so it is tried out with examples, and `bounded` is false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from remit.decide.preview import Bound, Cell, grid_of, preview
from remit.explain.radius import Radius, radius_of
from remit.explain.units import Part, covers_some, parts_of
from remit.model.facts import Capsule
from remit.model.policy import Rule
from remit.model.rulebook import Rulebook
from remit.model.terms import EFFECTS
from remit.scopes.glob import Glob
from remit.scopes.interface import Matcher, Unit
from remit.scopes.kinds import kind_of

_ORDER = {effect: index for index, effect in enumerate(EFFECTS)}
_MOST_SAMPLES = 200


class Extent(msgspec.Struct, frozen=True):
    """How far calls of one tool within a rule could reach."""

    tool: str
    scope: str
    """In words; empty without one."""
    effects: tuple[str, ...]
    tier: int
    why: str
    most: int
    """The highest that a single call could have."""
    most_why: str = ""
    """Where that is more: what gives it."""
    data_tier: int = 0
    data_why: str = ""
    bounded: bool = True
    """True: no call reaches further than `most`. False: this is what examples show."""
    example: str = ""
    """The example that gave the tier, where examples did."""


def extents_of(rulebook: Rulebook, agent: str, rule: Rule, capsule: Capsule | None = None) -> list[Extent]:
    """One for each tool that the rule is about, those of a rule about any tool included."""
    grid = grid_of(rulebook)
    row = grid.row(agent)
    if row is None:
        return []
    names = rule.tools if rule.tools is not None else tuple(dict.fromkeys([*rulebook.book.tools, *row.caller.tools]))
    found = []
    for name in names:
        tool = row.tool(name)
        if tool is not None:
            cell = grid.cell(row, tool)
            extent = extent_of(cell, Bound(rule), capsule)
            if extent is not None:
                found.append(extent)
    return found


def extent_of(cell: Cell, bound: Bound | None, capsule: Capsule | None = None) -> Extent | None:
    """Of one tool within one rule, or within no rule at all; None if the rule covers nothing that the tool does."""
    parts = [part for part in parts_of(cell) if bound is None or covers_some(bound, part)]
    if not parts:
        return None
    units = [unit for part in parts for unit in _units(cell, part, bound)]
    found = preview(cell, units, capsule)
    most, labels = _most(cell, units)
    extent = Extent(
        tool=cell.tool.name,
        scope=bound.judge.brief() if bound is not None else "",
        effects=found.effects,
        tier=found.tier,
        why=found.tier_why,
        most=max(most, found.tier),
        most_why=f"what is labelled {', '.join(labels)}" if most > found.tier else "",
        data_tier=found.data_tier,
        data_why=found.data_why,
    )
    for part in parts:
        if part.runs:
            extent = _tried(extent, cell, part, bound)
    return extent


def rule_text(rule: Rule) -> str:
    """The whole rule in one line, as a policy would have it: nothing is left out."""
    tools = ", ".join(rule.tools) if rule.tools is not None else "any tool"
    scope = msgspec.json.encode(rule.scope.written()).decode()
    return tools if scope == "{}" else f"{tools}: {scope}"


def highest(extents: Iterable[Extent]) -> Extent | None:
    """The one that reaches furthest."""
    return max(extents, key=lambda extent: (extent.most, extent.tier, extent.data_tier), default=None)


def _most(cell: Cell, units: list[Unit]) -> tuple[int, list[str]]:
    """The highest tier that a label could give one of the units, and the labels that give it."""
    found: dict[str, int] = {}
    for unit in units:
        for name, tier, effects, things in cell.index.labels.named:
            if effects.isdisjoint(unit.effects):
                continue
            # One outside the root counts as if the root were that of the machine.
            inside = unit
            if unit.kind == "path" and unit.value.absolute:
                inside = msgspec.structs.replace(unit, value=Glob.parse(unit.value.text.lstrip("/") or "**"))
            if things.meets(unit) or things.might(inside) or things.meets(inside):
                found[name] = tier
    most = max(found.values(), default=0)
    return most, [name for name, tier in found.items() if tier == most]


def _units(cell: Cell, part: Part, bound: Bound | None) -> Iterator[Unit]:
    """The part as wide units: all that an argument could be within the rule."""
    if part.fixed is not None:
        yield part.fixed
    if part.fixed is not None or part.runs:
        return
    matcher = _matcher(part, bound)
    labelled = [text for label in cell.rulebook.book.labels for text in getattr(label, part.kind, ())]
    for value, text in matcher.reach() if matcher is not None else kind_of(part.kind).reach(labelled):
        if value is None:
            yield Unit("call", part.arg, "", part.effects, text=text or part.arg or part.kind)
        else:
            yield Unit(part.kind, part.arg, value, part.effects, wide=True, text=text)


def _matcher(part: Part, bound: Bound | None) -> Matcher | None:
    """What the rule says about such values; None if it takes any."""
    if bound is None:
        return None
    found = bound.judge.parts.get(part.kind)
    return found or next((matcher for test in bound.judge.where for matcher in test.asked_of(part.arg)), None)


def _tried(extent: Extent, cell: Cell, part: Part, bound: Bound | None) -> Extent:
    """What examples of the commands or statements show, where that is more."""
    best: tuple[str, Radius] | None = None
    effects = set(extent.effects)
    for text in _texts(part.kind, bound):
        radius = radius_of(cell.rulebook, part.kind, text, dialect=cell.tool.dialect or "sqlite")
        within = bound is None or bound.judge.effects is None or bound.judge.effects.issuperset(radius.effects)
        if radius.problem is not None or not within:
            continue
        effects.update(radius.effects)
        if best is None or (radius.tier, radius.data_tier) > (best[1].tier, best[1].data_tier):
            best = (text, radius)
    ordered = tuple(sorted(effects, key=_ORDER.__getitem__))
    extent = msgspec.structs.replace(extent, bounded=False, effects=ordered)
    if best is not None and best[1].tier >= extent.tier:
        text, radius = best
        data = (radius.data_tier, radius.data_why) if radius.data_tier > extent.data_tier else None
        most = max(extent.most, radius.tier)
        extent = msgspec.structs.replace(extent, tier=radius.tier, why=radius.why, most=most, example=text)
        if data is not None:
            extent = msgspec.structs.replace(extent, data_tier=data[0], data_why=data[1])
    return extent


def _texts(kind: str, bound: Bound | None) -> list[str]:
    matcher = bound.judge.parts.get(kind) if bound is not None else None
    found = matcher.samples() if matcher is not None else kind_of(kind).samples()
    return list(dict.fromkeys(found))[:_MOST_SAMPLES]
