"""Scopes: what a rule covers and what it touches (semantics §5)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.policy import Condition, Label, Rule, Scope, Tool
from tests.oracle import naive_addresses as addresses
from tests.oracle import naive_paths as paths
from tests.oracle import naive_urls as urls
from tests.oracle.naive_calls import Values, units_of_value
from tests.oracle.naive_globs import matches
from tests.oracle.naive_paths import Unit


class Scopes:
    """A call with its units, and the questions that can be put to a rule about it."""

    call: Call
    facts: Facts
    tool: Tool
    values: Values
    units: list[Unit]

    def covers(self, rule: Rule, unit: Unit) -> bool:
        """Whether a rule covers a unit."""
        scope = rule.scope
        if rule.tools is not None and self.tool.name not in rule.tools:
            return False
        if not self.when(scope) or not self.where(scope, all, paths.covers, urls.surely):
            return False
        if scope.effect and not (unit.effects and unit.effects <= set(scope.effect)):
            return False
        if unit.kind in scope.parts:
            return _within(scope, unit)
        if outside(unit):
            return False
        return self.mentioned(scope, unit)

    def mentioned(self, scope: Scope, unit: Unit) -> bool:
        """Whether a scope that limits arguments names those that the unit comes from."""
        if not scope.parts and not scope.where:
            return True
        if unit.arg and (unit.kind in ("path", "url", "agent", "email", "account", "host") or unit.effects):
            return unit.arg in _named(scope)
        return all(name in _named(scope) for name in unit.on)

    def touches(self, rule: Rule) -> bool:
        """Whether a rule touches the call."""
        scope = rule.scope
        if rule.tools is not None and self.tool.name not in rule.tools:
            return False
        if not self.when(scope) or not self.where(scope, any, paths.touches, urls.maybe):
            return False
        left = [unit for unit in self.units if not self.excepted(scope.except_, unit)]
        left = [unit for unit in left if not scope.effect or unit.effects & set(scope.effect)]
        parts = [kind for kind in ("path", "url", "agent", "skill", *addresses.KINDS) if kind in scope.parts]
        for kind in parts:
            if not any(_might(kind, scope, unit) for unit in left):
                return False
        return bool(parts or left)

    def excepted(self, scope: Scope | None, unit: Unit) -> bool:
        """Whether an exception certainly holds for a unit."""
        if scope is None or not self.where(scope, all, paths.covers, urls.surely):
            return False
        if scope.effect and not unit.effects & set(scope.effect):
            return False
        if not scope.parts:
            return self.mentioned(scope, unit)
        return unit.kind in scope.parts and _within(scope, unit)

    def when(self, scope: Scope) -> bool:
        for key, wanted in scope.when.items():
            value = getattr(self.call.context, key)
            if not any(type(value) is type(one) and value == one for one in wanted):
                return False
        return True

    def where(self, scope: Scope, every: Callable[..., bool], path: Any, url: Any) -> bool:
        judge = (every, path, url)
        for name, condition in scope.where.items():
            if not condition.each:
                if not self.holds(condition, name, self.values.get(name), *judge):
                    return False
                continue
            fits = [
                any(
                    all(
                        self.holds(one, f"{name}.{key}", item.get(f"{name}.{key}"), *judge)
                        for key, one in group.items()
                    )
                    for group in condition.each
                )
                for item in self.values.get(name, [])
            ]
            if not (every(fits) if fits else condition.optional):
                return False
        return True

    def holds(self, condition: Condition, name: str, values: Any, every: Any, path: Any, url: Any) -> bool:
        if not values:
            return condition.optional
        return bool(
            every(
                self.passes(condition, name, value, path, url) and self.bound(condition, value, every is any)
                for value in values
            )
        )

    def bound(self, condition: Condition, value: Any, unsure: bool) -> bool:
        """Whether a value is what the task or the context says; where they say nothing, `unsure`."""
        if condition.same_as is None:
            return True
        whose, name = condition.same_as.split(":", 1)
        said = self.parameters().get(name) if whose == "task" else getattr(self.call.context, name)
        return unsure if said is None else _same(value, said)

    def parameters(self) -> dict[str, Any]:
        """The parameters of the call's task: those of the topmost capsule that no other contradicts."""
        line, name = [], self.call.context.capsule
        while name is not None:
            capsule = self.facts.capsules.get(name)
            if capsule is None or capsule in line:
                return {}
            line.append(capsule)
            name = capsule.parent
        if not line or line[0].agent != self.call.agent:
            return {}
        said = line[-1].parameters
        return {k: v for k, v in said.items() if all(_same(one.parameters.get(k, v), v) for one in line)}

    def passes(self, condition: Condition, name: str, value: Any, path: Any, url: Any) -> bool:
        """Whether one value of an argument passes; `path` and `url` judge surely or perhaps."""
        if condition.equals is not None and not _same(value, condition.equals):
            return False
        if condition.one_of is not None and not any(_same(value, one) for one in condition.one_of):
            return False
        if condition.regex is not None and not (isinstance(value, str) and re.fullmatch(condition.regex, value, re.S)):
            return False
        if condition.min is not None and not value >= condition.min:
            return False
        if condition.max is not None and not value <= condition.max:
            return False
        if condition.min_length is not None and len(value) < condition.min_length:
            return False
        if condition.max_length is not None and len(value) > condition.max_length:
            return False
        parts = condition.parts
        if "url" in parts and not any(url(pattern, value) for pattern in parts["url"]):
            return False
        if any(kind in parts and value not in parts[kind] for kind in ("agent", "skill")):
            return False
        for kind in addresses.KINDS:
            if kind in parts:
                judge = addresses.surely if path is paths.covers else addresses.maybe
                if not judge(kind, parts[kind], addresses.canonical(kind, value) or ""):
                    return False
        if "path" in parts:
            units = units_of_value(self.tool, name, self.values, value, self.call, self.facts)
            return all(path(paths.scope_of(parts), unit) for unit in units)
        return True


def _named(scope: Scope) -> set[str]:
    """The arguments that `where` names; of alternatives those that all of them name."""
    found = {name for name, condition in scope.where.items() if not condition.each}
    for name, condition in scope.where.items():
        groups = [{f"{name}.{key}" for key in group} for group in condition.each]
        found |= set.intersection(*groups) if groups else set()
    return found


def _same(value: Any, wanted: Any) -> bool:
    """Equal, and of one type; numbers are one type, true and false are none."""
    numbers = (int, float)
    alike = type(value) is type(wanted) or (type(value) in numbers and type(wanted) in numbers)
    return alike and value == wanted


def outside(unit: Unit) -> bool:
    return unit.kind == "path" and paths.outside(unit)


def new_only(rule: Rule | str) -> bool:
    return isinstance(rule, Rule) and paths.scope_of(rule.scope.parts).new_only


def _within(scope: Scope, unit: Unit) -> bool:
    """Whether a unit certainly lies within the part of its kind."""
    if unit.kind == "path":
        return "path" in scope.parts and paths.covers(paths.scope_of(scope.parts), unit)
    if unit.kind == "url":
        return url_surely(scope.parts.get("url", ()), unit)
    if unit.kind in addresses.KINDS:
        return addresses.surely(unit.kind, scope.parts[unit.kind], unit.spellings[0])
    return unit.spellings[0] in scope.parts[unit.kind]


def _might(part: str, scope: Scope, unit: Unit) -> bool:
    """Whether a unit might lie within a part of the scope."""
    if part == "host" and unit.kind == "url":
        host = urls.host_of(unit.spellings[0])
        return host == "**" or addresses.maybe("host", scope.parts["host"], host)
    if part == "url" and unit.kind == "host":
        return on_host(scope.parts["url"], unit)
    if unit.kind != part:
        return False
    if unit.kind == "path":
        return "path" in scope.parts and paths.touches(paths.scope_of(scope.parts), unit)
    if unit.kind == "url":
        return url_maybe(scope.parts.get("url", ()), unit)
    if unit.kind in addresses.KINDS:
        return addresses.maybe(unit.kind, scope.parts[unit.kind], unit.spellings[0])
    return unit.spellings[0] in scope.parts[unit.kind]


def url_surely(patterns: tuple[str, ...], unit: Unit) -> bool:
    mine = urls.reach(unit.spellings[0]) if unit.wide else unit.spellings
    return all(any(urls.surely(pattern, url) for pattern in patterns) for url in mine)


def url_maybe(patterns: tuple[str, ...], unit: Unit) -> bool:
    mine = urls.reach(unit.spellings[0]) if unit.wide else unit.spellings
    return any(urls.maybe(pattern, url) for pattern in patterns for url in mine)


def on_host(patterns: Iterable[str], unit: Unit) -> bool:
    """Whether one of these patterns of URLs is for the host that a unit names."""
    host = unit.spellings[0].split(":")[0]
    return any(urls.host_of(one) == "**" or matches(urls.host_of(one), host) for one in patterns)


def labelled(label: Label, unit: Unit, path: Callable[[Unit, tuple[str, ...]], bool]) -> bool:
    """Whether a unit has a label; `path` says what that means for a wide unit of kind path."""
    if unit.kind == "path":
        return path(unit, label.path)
    if unit.kind == "host":
        return any(matches(pattern, unit.spellings[0].split(":")[0]) for pattern in label.host)
    if unit.kind != "url":
        return False
    if url_maybe(label.url, unit):
        return True
    mine = urls.reach(unit.spellings[0]) if unit.wide else unit.spellings
    hosts = [found.host for found in map(urls.parse, mine) if found is not None]
    return any(matches(pattern, host) for pattern in label.host for host in hosts)
