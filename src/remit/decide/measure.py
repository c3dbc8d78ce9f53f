"""The blast radius of a call: its tier and its data tier, each with the reason in words for people."""

from __future__ import annotations

from collections.abc import Iterator

from remit.decide.case import FLOOR, Case, Held
from remit.decide.index import Index
from remit.decide.labels import UNLABELLED, Labelled
from remit.model.terms import PROJECT, UNKNOWN
from remit.model.text import shown
from remit.scopes.glob import Glob, fold
from remit.scopes.globset import GlobSet
from remit.scopes.interface import NO_EFFECTS, Unit, is_for_labels
from remit.scopes.path import is_outside, seen_of

MAX_SEEN = 500
"""More files than these are judged by the pattern that finds them."""
Found = tuple[int, str]
"""A tier, and why."""


def measure(case: Case) -> None:
    """Sets the tier and the data tier of the call: the highest of any unit, never below the tool's floor."""
    index = case.cell.index
    scope = case.capsules[0].scope if case.capsules else None
    inside = GlobSet(Glob.parse(text) for text in scope) if scope is not None else None
    environment = case.call.context.environment
    tool = case.cell.tool
    if tool.effect_tier is not None:
        case.tier = tool.effect_tier
        case.tier_why = f"the policy sets the tier of {tool.name}: {index.words.get(f'tool {tool.name}', 'it says so')}"
    for unit in case.units:
        labelled = _labelled(case, unit)
        for tier, why in _tiers(case, unit, labelled, inside, environment, by_tool=tool.effect_tier is not None):
            if tier > case.tier or (tier == case.tier and case.tier_why is FLOOR and unit.effects):
                case.tier, case.tier_why = tier, why
        tier = labelled.data_tier
        if not unit.untold:
            case.told_data_tier = max(case.told_data_tier, tier)
        if tier > case.data_tier:
            how = "could reach" if unit.wide else "is"
            case.data_tier, case.data_why = tier, f"{unit.kind} {shown(unit.text)} {how} data of tier {tier}"
            case.data_unsure = bool(unit.untold)
        elif tier == case.data_tier and not unit.untold:
            case.data_unsure = False
    for unit in case.handed:
        _measure_argument(case, unit)


def _measure_argument(case: Case, unit: Unit) -> None:
    """What an argument of code of the project adds: nothing but what the policy's labels say of it."""
    data, tier, label = case.cell.index.labels.of_argument(unit)
    if tier > case.tier:
        words = case.cell.index.words.get(f"label {label}", "")
        case.tier, case.tier_why = (
            tier,
            f"{shown(unit.text)}, which code of the project is told, is labelled {label}: {words}",
        )
    if data > case.data_tier:
        case.data_tier, case.data_unsure = data, True
        case.data_why = f"{shown(unit.text)}, which code of the project is told, is data of tier {data}"


def labels_of(case: Case) -> frozenset[str]:
    """Every label that gives something of the call a tier, or could."""
    labels = case.cell.index.labels
    found = ((unit, _found(case, unit)) for unit in case.units)
    units = [one for unit, each in found for one in (each if each is not None else (unit,))]
    handed = (labels.of_argument(unit).label for unit in case.handed)
    return frozenset(label for label in handed if label).union(*(labels.names(unit) for unit in units))


def _found(case: Case, unit: Unit) -> list[Unit] | None:
    """Of what a search finds, or a pattern stands for, the files that whoever enforces has seen; None for anything
    else."""
    if not unit.wide or unit.kind != "path":
        return None
    changed = unit.derived and not unit.untold and unit.effects != {"read"}
    looked = case.facts.changes if unit.found else case.facts.stands if changed else {}
    seen = looked.get(unit.value.text)
    if seen is None or len(seen) > MAX_SEEN:
        return None
    return [Unit("path", unit.arg, path, unit.effects, text=unit.text, derived=True) for path in seen]


def _labelled(case: Case, unit: Unit) -> Labelled:
    """What labels say of a unit."""
    labels = case.cell.index.labels
    found = _found(case, unit)
    if unit.seen is not None and unit.untold:
        each = [labels.of(one) for one in seen_of(unit)]
        return labels.of(unit)._replace(data_tier=max((one.data_tier for one in each), default=0))
    if found is None:
        return labels.of(unit)
    each = [labels.of(one) for one in found]
    # A pattern's data tier is what it could reach: only the tier of what it changes is told by what is there.
    data = max((one.data_tier for one in each), default=0) if unit.found else labels.of(unit).data_tier
    _, tier, label = max(each, key=lambda one: one.tier, default=UNLABELLED)
    return Labelled(data, tier, label)


def _tiers(
    case: Case, unit: Unit, labelled: Labelled, inside: GlobSet | None, environment: str | None, *, by_tool: bool
) -> Iterator[Found]:
    index = case.cell.index
    words = index.words
    tier, grade = index.grade_tier(unit)
    if grade == UNKNOWN and unit.kind == "shell" and case.held is not None and case.held.quiet:
        tier = min(tier, index.grade_tiers[PROJECT])
        yield tier, f"`{shown(unit.text, 60)}` is not understood, and confined to what {case.call.agent} may change"
    elif grade:
        yield tier, f"`{shown(unit.text, 60)}` {words.get(f'grade {grade}', grade)}"
    if not is_for_labels(unit):
        impossible = unit.effects & case.held.impossible if case.held is not None else NO_EFFECTS
        by_effect = None if by_tool else index.effect_tier(unit, impossible=impossible)
        if by_effect is not None:
            yield by_effect
        for effect in impossible if not by_tool else ():
            tier = min(index.effect_tiers[effect], index.grade_tiers[PROJECT])
            yield tier, f"`{shown(unit.text, 60)}` {words.get(f'effect {effect}', effect)}; confined, it can't"
        if environment:
            found = index.environment_tier(unit, environment)
            if found is not None:
                tier, effect = found
                because = words.get(f"environment {fold(environment)}", "")
                yield tier, f"{effect} in {shown(environment, 40)}: {because}"
    _, tier, label = labelled
    if label is not None:
        how = "could reach what is labelled" if unit.wide else "is labelled"
        yield tier, f"{shown(unit.text)} {how} {label}: {words.get(f'label {label}', '')}"
    if unit.kind == "path":
        if case.held is None or not _is_kept(case, unit, case.held):  # else nothing outside can be deleted
            yield from _outside(index, unit, inside)
    elif unit.whole and not unit.effects.isdisjoint(index.whole_table.effects):
        yield index.whole_table.tier, f"all of {shown(unit.text)}: {words.get('whole_table', '')}"


def _is_kept(case: Case, unit: Unit, held: Held) -> bool:
    """Whatever it deletes, the kernel keeps what lies outside."""
    return held.keeps(unit) if unit.untold else held.is_private(unit, case.facts.root)


def _outside(index: Index, unit: Unit, inside: GlobSet | None) -> Iterator[Found]:
    """Deleting what the task is not about: outside the scope of its capsule, or outside the root."""
    rule = index.outside_scope
    if unit.effects.isdisjoint(rule.effects):
        return
    why = index.words.get("outside_scope", "")
    if unit.untold:
        if inside is not None or not unit.implied:
            yield rule.tier, f"{shown(unit.text)} may lie outside the root: {why}"
    elif inside is not None and not (inside.includes(unit.value) if unit.wide else inside.matches(unit.value)):
        yield rule.tier, f"{shown(unit.text)} lies outside the capsule's scope: {why}"
    elif inside is None and is_outside(unit):
        yield rule.tier, f"{shown(unit.text)} lies outside the root: {why}"
