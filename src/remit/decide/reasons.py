"""The two texts of a decision: a reason for the agent, with the next step; a remedy for the operator."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from remit.decide.case import Case
from remit.decide.grid import Bound, Cell
from remit.model.decision import Remedy
from remit.model.pattern import compile_later
from remit.model.terms import EFFECTS, UNKNOWN
from remit.model.text import did_you_mean, shown
from remit.scopes.interface import Unit
from remit.scopes.kinds import kind_of

_LONGEST = 128
_PLAIN = compile_later(r"[A-Za-z_][\w./-]*")
_WORDS = frozenset(("null", "true", "false"))
"""Names that YAML would read as something else."""
_DEEDS = frozenset(("read", "write", "delete"))
"""Effects whose name is what is done to a target."""


def limited(cell: Cell, bounds: list[Bound]) -> str:
    """`create_file is limited to research/*.yaml for researcher`, or that there is no rule at all."""
    name, tool = cell.caller.name, cell.tool.name
    scopes = [bound.judge.describe() for bound in bounds]
    texts = [scope for scope in dict.fromkeys(scopes) if scope]
    if not bounds:
        return f"{name} may not use {tool}"
    if not texts:
        return f"{name} may use {tool} only below the root"
    return f"{tool} is limited to {' or '.join(text.removeprefix('path ') for text in texts)} for {name}"


def unmet_limits(bounds: list[Bound], unit: Unit, case: Case) -> tuple[str, Bound] | None:
    """What the arguments would have to be, where only limits on them are in the way, and whose limits these are."""
    found = [(bound, unmet) for bound in bounds if (unmet := _unmet(bound, unit, case))]
    if not found:
        return None
    texts = dict.fromkeys(" and ".join(unmet) for _, unmet in found)
    return shown("; or ".join(texts), 400), found[0][0]


def _unmet(bound: Bound, unit: Unit, case: Case) -> list[str]:
    return bound.judge.unmet(unit, case.call.context, case.values, case.units)


def because(bound: Bound, unit: Unit, case: Case) -> str:
    """Why a scope does not cover a unit, for the trace, where there is more to say than the scope itself."""
    unmet = _unmet(bound, unit, case)
    if unmet:
        return f": {shown(' and '.join(unmet), 400)}"
    matcher = bound.judge.parts.get(unit.kind)
    reason = matcher.refuses(unit) if matcher is not None else None
    return f": {shown(reason)}" if reason else ""


def lost(caller: str, unit: Unit) -> str:
    """That nothing may run that nobody can follow: which command or statement that is, and why."""
    return f"{caller} may not run what is not understood: `{shown(unit.text, 60)}`{_doubt(unit)}"


def might(unit: Unit | None) -> str:
    """To follow a limit that a call meets only because nobody can tell what it would do."""
    if unit is None or unit.grade != UNKNOWN:
        return ""
    return f"; `{shown(unit.text, 60)}` might do that: it is not understood{_doubt(unit)}"


def _doubt(unit: Unit) -> str:
    """Why a command or a statement is not understood, in parentheses."""
    act = unit.value.act if unit.kind == "shell" else None
    statements = act.statements if act is not None else (unit.value,)
    strange = (f"the function {name} is not known to be harmless" for one in statements for name in one.strange)
    own = (*act.unknown, *act.refused) if act is not None else unit.value.unknown
    why = next(iter((*own, *strange)), "")
    return f" ({shown(why, 120)})" if why else ""


def touching(unit: Unit, *, unsure: bool = False) -> str:
    """What of a text meets a limit, to follow the limit: `; it would write src/a.py`. Empty for a plain argument.

    `unsure`: only because nobody can tell what it is."""
    what = f"`{shown(unit.text, 60)}`"
    if unsure and unit.grade == UNKNOWN:
        return might(unit)
    if unit.untold:
        return f"; the text doesn't tell what {what} touches"
    if kind_of(unit.kind).language:
        return f": {what}"
    if unit.taken == "argument":
        return f"; code of the project is told {what}"
    if unit.derived:
        deeds = " and ".join(effect for effect in EFFECTS if effect in unit.effects & _DEEDS)
        return f"; it {'could' if unit.wide else 'would'} {deeds or 'touch'} {what}"
    return ""


def limited_text(cell: Cell, bounds: list[Bound], unit: Unit) -> str:
    """The part of a text that was too much, and what would be allowed."""
    matchers = [part for bound in bounds if (part := bound.judge.parts.get(unit.kind)) is not None]
    if not matchers:
        return limited(cell, bounds)
    nearest = next((matcher for matcher in matchers if matcher.concerns(unit)), matchers[0])
    reason = nearest.refuses(unit) or f"the {kind_of(unit.kind).noun} is not covered"
    return f"`{shown(unit.text, 60)}` is not permitted for {cell.caller.name}: {shown(reason, 240)}"


def permit_remedy(cell: Cell, units: list[Unit], bounds: list[Bound], case: Case) -> Remedy:
    """The smallest rules that would permit units that none permits: each keeps every other limit of the rule that came
    nearest, and its question if it asks one.

    Where nothing but a limit is in the way, the remedy says where that stands, since only a person can weigh it."""
    said = _example_against(cell, case)
    if said is not None:
        return Remedy(f"use other arguments, or change the example at {said}, which says that this call is denied")
    entries: dict[str, list[str]] = {}
    for unit in units:
        found = _smallest_rule(cell, unit, bounds, case)
        if isinstance(found, Remedy):
            return found
        verb, entry = found
        entries.setdefault(verb, [])
        if entry not in entries[verb]:
            entries[verb].append(entry)
    name = cell.caller.name
    texts = [f"add to `{verb}` of {name}: {', '.join(mine)}" for verb, mine in entries.items()]
    section = {"agent": "agents", "role": "roles", "runner": "runners"}[cell.caller.kind]
    verbs = ", ".join(f"{verb}: [{', '.join(mine)}]" for verb, mine in entries.items())
    return Remedy("; ".join(texts), policy=f"{section}: {{{_key(name)}: {{{verbs}}}}}")


def _smallest_rule(cell: Cell, unit: Unit, bounds: list[Bound], case: Case) -> tuple[str, str] | Remedy:
    """The verb and the entry of a rule for one unit, or what to do instead."""
    caller, kind = cell.caller, kind_of(unit.kind)
    limits = [bound for bound in bounds if not bound.judge.free]
    near = next((b for b in limits if _would_apply(b, unit, case)), None)
    scope = None
    if not unit.arg:  # what every call of the tool touches: no scope is about it
        scope = None if limits else ""
    elif (near is not None or not limits) and not _reaches_more(unit, case):
        scope = kind.scope_for(unit, near.rule.scope.parts.get(unit.kind) if near is not None else None)
    if limits and not scope:
        return Remedy(f"use other arguments, or have a person change the limit at {(near or limits[0]).rule.at}")
    if scope is None:
        return Remedy(kind.no_scope.format(caller=caller.name))
    limited = dict(_other_limits(near, unit.kind))
    if scope and _is_elsewhere(cell, unit):
        limited["effect"] = sorted(unit.effects)
    kept = [f"{key}: {_flow(value)}" for key, value in limited.items()]
    inside = ", ".join(text for text in (scope, *kept) if text)
    name = _key(cell.tool.name)
    return near.rule.verb if near is not None else "may", f"{name}: {{{inside}}}" if inside else name


def _key(name: str) -> str:
    """A name as a policy writes it."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _WORDS else _flow(name)


def _reaches_more(unit: Unit, case: Case) -> bool:
    """True if the tool always reaches something else of the kind: a scope for this unit alone would shut that out."""
    return any(other.kind == unit.kind and not other.arg and other is not unit for other in case.units)


def _is_elsewhere(cell: Cell, unit: Unit) -> bool:
    """True if another argument takes such values and does something else with them: a source beside a target."""
    others = [arg for arg, kind in cell.intake.declared if kind.unit == unit.kind and arg.name != unit.arg]
    return bool(unit.effects) and any(arg.effects | arg.below != unit.effects for arg in others)


def _example_against(cell: Cell, case: Case) -> str | None:
    """The rule with an example that says that this call is denied: a policy that allows it does not load."""
    for bound in (*cell.may, *cell.asks, *cell.nots):
        for example in bound.rule.examples.deny if bound.rule.examples is not None else ():
            named = example.items() if isinstance(example, dict) else ()
            alone = not named and any(case.values.get(name) == [example] for name in cell.tool.args)
            if alone or (named and all(case.values.get(name) == [value] for name, value in named)):
                return bound.rule.at
    return None


def _would_apply(bound: Bound, unit: Unit, case: Case) -> bool:
    """A rule about such units, whose conditions on other things this call meets."""
    judge = bound.judge
    return unit.kind in judge.parts and judge.applies(case.call.context, case.values, case.units)


def _other_limits(bound: Bound | None, kind: str) -> list[tuple[str, Any]]:
    """What else the rule demands, and whom it asks."""
    if bound is None:
        return []
    rule = bound.rule
    asks = {"ask": rule.ask, "approvals": rule.approvals, "separate": rule.separate} if rule.verb == "must_ask" else {}
    limits = {key: value for key, value in rule.scope.written().items() if key != kind}
    return [*limits.items(), *((key, value) for key, value in asks.items() if value not in (None, 1, False))]


def _flow(value: Any) -> str:
    """Plain data in one line, as YAML reads it."""
    import json  # here: only what is refused gets a remedy

    return json.dumps(value, ensure_ascii=False)


def declare_remedy(tool: object, known: Iterable[str]) -> Remedy:
    """What to do about a tool that the policy doesn't know: only its author can tell what it does."""
    return Remedy(f"declare `{shown(tool)}` under tools, with its arguments and what it does{_near(tool, known)}")


def name_remedy(agent: object, known: Iterable[str]) -> Remedy:
    """What to do about an agent that the policy doesn't know."""
    return Remedy(f"declare `{shown(agent)}` under agents, with what it may do{_near(agent, known)}")


def _near(name: object, known: Iterable[str]) -> str:
    """A name that is no longer than names are may be a slip of one that is known."""
    return did_you_mean(name, known) if isinstance(name, str) and len(name) <= _LONGEST else ""
