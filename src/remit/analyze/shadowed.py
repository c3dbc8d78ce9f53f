"""Permissions that can never apply: a prohibition, protection, a lock or another permission says all there is to say.

Within one caller's own list that is a mistake, since both lines stand side by side. Across roles it can be meant: a
`may_not` takes back what a role gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from remit.decide.grid import Bound, grid_of
from remit.model.policy import Caller, Rule, Tool
from remit.model.rulebook import Rulebook
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet
from remit.scopes.interface import Unit
from remit.scopes.judge import Judge
from remit.scopes.kinds import kind_of

_CHANGES = frozenset(("write", "delete"))


class Shadow(msgspec.Struct, frozen=True):
    """One rule that does nothing, and why."""

    at: str
    code: str
    text: str
    own: bool
    """Both stand in one list."""
    help: str | None = None


def shadows(rulebook: Rulebook) -> Iterator[Shadow]:
    """Every permission that was found to do nothing, once."""
    seen: set[tuple[str, str]] = set()
    for caller in rulebook.book.callers.values():
        for found in _of_caller(rulebook, caller):
            if (found.at, found.text) not in seen:
                seen.add((found.at, found.text))
                yield found


def _of_caller(rulebook: Rulebook, caller: Caller) -> Iterator[Shadow]:
    book = rulebook.book
    inherited = {rule.at for name in caller.roles for rule in book.callers[name].rules}
    bounds = [Bound(rule) for rule in caller.rules]
    nots = [bound for bound in bounds if bound.rule.verb == "may_not"]
    mays = [bound for bound in bounds if bound.rule.verb == "may"]
    for bound in bounds:
        rule = bound.rule
        tools = [tool for name in rule.tools or () if (tool := caller.tools.get(name) or book.tools.get(name))]
        own = rule.at not in inherited
        if (why := _nothing(bound, tools)) is not None:
            yield Shadow(rule.at, "never-applies", f"this `{rule.verb}` never applies: {why}", own)
            continue
        if rule.verb == "may_not" or not rule.tools:
            continue
        taken = _taken(bound, nots, tools)
        if taken is not None:
            both = own and taken.rule.at not in inherited
            text = f"this `{rule.verb}` never applies: the `may_not` at {taken.rule.at} prohibits all of it"
            yield Shadow(rule.at, "never-applies", text, both, "drop one of the two")
            continue
        if rule.verb == "may" and (wider := _wider(bound, mays, tools)) is not None:
            both = own and wider.rule.at not in inherited
            text = f"this `may` is moot: the one at {wider.rule.at} permits the same tools without a limit"
            yield Shadow(rule.at, "moot-rule", text, both, "drop one of the two")
        if (place := _protected(rulebook, bound, tools)) is not None:
            text = f"this `{rule.verb}` never applies: {place} is protected, and no agent may change it"
            yield Shadow(rule.at, "never-applies", text, own)
        if (place := _locked(caller, bound, tools)) is not None:
            text = f"this `{rule.verb}` never applies to {caller.name}: {place} lies outside its `locks`"
            yield Shadow(rule.at, "never-applies", text, False)
        if own and (why := _left_out(rulebook, caller, bound, tools)) is not None:
            text = f"this `{rule.verb}` never applies to {caller.name}: {why}"
            yield Shadow(rule.at, "never-applies", text, False)
    yield from _open_shell(rulebook, caller, mays)


def _nothing(bound: Bound, tools: list[Tool]) -> str | None:
    """Why the rule is about nothing, whoever has it; None if it is about something."""
    judge = bound.judge
    texts = any(kind_of(kind).language for tool in tools for kind in tool.kinds)
    done = {does.effect for tool in tools for does in tool.does}
    if judge.effects is not None and tools and not texts and done.isdisjoint(judge.effects):
        names = " or ".join(tool.name for tool in tools)
        return f"no call of {names} has the effect {' or '.join(sorted(judge.effects))}"
    paths = judge.parts.get("path")
    if paths is not None and _takes_all(list(paths.reach()), paths):
        return "its `except` takes out all that it allows"
    other = judge.exception
    if other is None or other.effects is not None or other.where or set(other.parts) != set(judge.parts):
        return None
    if judge.parts and all(_within(kind, other.parts[kind], judge, judge.effects) for kind in judge.parts):
        return "its `except` takes out all that it is about"
    return None


def _takes_all(reach: list[tuple[Any, str]], paths: Any) -> bool:
    """The exception of a path scope leaves nothing."""
    avoid: GlobSet = paths.avoid_exact
    return bool(reach) and all(not value.absolute and avoid.includes(value) for value, _ in reach)


def _left_out(rulebook: Rulebook, caller: Caller, bound: Bound, tools: list[Tool]) -> str | None:
    """Why the caller's own record rules out all that a permission is about; None if it leaves something."""
    parts = bound.judge.parts
    for kind, only, key in (("url", caller.apis, "apis"), ("skill", caller.skills, "skills")):
        if only is None or not tools or not all(_needs(tool, kind) for tool in tools):
            continue
        part, record = parts.get(kind), kind_of(kind).matcher(list(only)) if only else None
        if record is None:
            return f"its `{key}` are empty"
        if part is None:
            continue
        named = [Unit(kind, "", value, wide=True, text=text) for value, text in part.reach()]
        named = named or [Unit(kind, "", name, text=name) for name in part.samples()]
        if named and not any(record.touches(unit) for unit in named):
            return f"{', '.join(unit.text for unit in named)} lies outside its `{key}`"
    agents = bound.rule.scope.parts.get("agent", ())
    takers = [other for name in agents if (other := rulebook.book.callers.get(name)) is not None]
    own = {caller.name, *caller.roles}
    if takers and caller.kind != "role" and all(_needs(tool, "agent") for tool in tools):
        handed = any(not {one.name, *one.roles}.isdisjoint(caller.delegates_to or ()) for one in takers)
        if not handed and all(own.isdisjoint(one.called_by or ()) for one in takers):
            return f"its `delegates_to` has none of {', '.join(one.name for one in takers)}"
    return None


def _needs(tool: Tool, kind: str) -> bool:
    """Every call of the tool has an argument of that kind, on which the caller's record is judged."""
    return any(kind_of(argument.kind).unit == kind and not argument.optional for argument in tool.args.values())


def _taken(bound: Bound, nots: list[Bound], tools: list[Tool]) -> Bound | None:
    """The prohibition that holds for whatever the permission covers."""
    for other in nots:
        if all(_prohibits(other, bound, tool) for tool in tools):
            return other
    return None


def _prohibits(other: Bound, bound: Bound, tool: Tool) -> bool:
    judge = other.judge
    if other.rule.tools is not None and tool.name not in other.rule.tools:
        return False
    if judge.where or judge.exception is not None or not _same_when(judge, bound.judge):
        return False
    if judge.effects is not None and not _always(tool, bound.judge) & judge.effects:
        return False
    return all(_within(kind, part, bound.judge, judge.effects) for kind, part in judge.parts.items())


def _same_when(prohibits: Judge, permits: Judge) -> bool:
    """The prohibition's context holds wherever the permission's does."""
    mine = dict(permits.when)
    return all(key in mine and set(mine[key]) <= set(wanted) for key, wanted in prohibits.when)


def _always(tool: Tool, permits: Judge) -> frozenset[str]:
    """Effects that every call has which the permission covers."""
    if any(kind_of(kind).language for kind in tool.kinds):
        return frozenset()
    found = set()
    for does in tool.does:
        argument = tool.args.get(does.arg) if does.arg else None
        if does.reach is not None or (argument is not None and not argument.optional):
            found.add(does.effect)
    return frozenset(found)


def _within(kind: str, part: Any, permits: Judge, effects: frozenset[str] | None) -> bool:
    """All that the permission covers lies in this part of the prohibition."""
    mine = permits.parts.get(kind)
    if mine is None or kind_of(kind).language:
        return False
    wide = [Unit(kind, "", value, effects or frozenset(), wide=True, text=text) for value, text in mine.reach()]
    return bool(wide) and all(part.covers(unit) for unit in wide)


def _wider(bound: Bound, mays: list[Bound], tools: list[Tool]) -> Bound | None:
    """Another permission of the same tools that has no scope at all, where this one has one."""
    if bound.judge.free or not tools:
        return None
    names = {tool.name for tool in tools}
    for other in mays:
        if other.judge.free and other.rule.tools is not None and names <= set(other.rule.tools):
            return other if not _reaches_out(bound.rule) else None
    return None


def _reaches_out(rule: Rule) -> bool:
    """A scope that names places outside the root gives more than a permission without one."""
    parts = [*rule.scope.parts.values(), *(p for c in rule.scope.where.values() for p in c.parts.values())]
    return any(getattr(part, "outside", None) or (isinstance(part, dict) and part.get("outside")) for part in parts)


def _protected(rulebook: Rulebook, bound: Bound, tools: list[Tool]) -> str | None:
    """The places of a path scope, where all are protected and the tools only change things."""
    paths = bound.judge.parts.get("path")
    if paths is None or not _only_changes(tools):
        return None
    known = grid_of(rulebook).index.protected
    texts = []
    for value, text in paths.reach():
        literal = not any(mark in text for mark in "*?[{")
        unit = Unit("path", "", text.rstrip("/"), frozenset({"write"}), text=text)
        if not (known.names_path(unit) if literal else known.reach.includes(value.folded())):
            return None
        texts.append(text)
    return ", ".join(texts) or None


def _locked(caller: Caller, bound: Bound, tools: list[Tool]) -> str | None:
    paths = bound.judge.parts.get("path")
    if paths is None or caller.locks is None or not _only_changes(tools):
        return None
    locks = GlobSet(Glob.parse(text) for text in caller.locks.may)
    reach = list(paths.reach())
    free = GlobSet(Glob.parse(text) for text in caller.locks.except_)
    if not reach or any(locks.intersects(value) and not free.includes(value) for value, _ in reach):
        return None
    return ", ".join(text for _, text in reach)


def _only_changes(tools: Iterable[Tool]) -> bool:
    effects = [{does.effect for does in tool.does if does.reach is None} for tool in tools]
    return bool(effects) and all(found and found <= _CHANGES for found in effects)


def _open_shell(rulebook: Rulebook, caller: Caller, mays: list[Bound]) -> Iterator[Shadow]:
    """Limits on where files may be changed, beside a command line that may change any."""
    if caller.locks is not None or caller.kind == "role":
        return
    tools = {**rulebook.book.tools, **caller.tools}
    open_ = next((b for b in mays if _is_open(b, tools)), None)
    if open_ is None:
        return
    for bound in mays:
        named = [tools[name] for name in bound.rule.tools or () if name in tools]
        changes = any(does.effect in _CHANGES for tool in named for does in tool.does)
        if "path" in bound.judge.parts and changes:
            text = (
                f"the path limit of {caller.name} is moot beside its open command line ({open_.rule.at}), which can"
                " write anywhere below the root; `locks:` limits both"
            )
            yield Shadow(bound.rule.at, "moot-scope", text, False)


def _is_open(bound: Bound, tools: dict[str, Tool]) -> bool:
    named = [tools[name] for name in bound.rule.tools or () if name in tools]
    if not any("shell" in tool.kinds for tool in named):
        return False
    shell = bound.judge.parts.get("shell")
    if shell is None:
        return not bound.judge.where
    return bool(getattr(shell, "all", False)) and getattr(shell, "paths", None) is None
