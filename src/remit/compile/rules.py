"""Resolving and checking rules: no rule may name what isn't there, or silently never apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from remit.compile.names import Names
from remit.forms.shapes import Reader
from remit.model.pattern import compile_later
from remit.model.policy import Argument, Caller, Condition, Rule, Scalar, Scope, Tool
from remit.model.terms import MODES
from remit.model.text import near_miss, shown, suggestion
from remit.scopes.interface import Kind, Misnamed
from remit.scopes.kinds import kind_of
from remit.scopes.reach import reach_unit
from remit.scopes.where import same

_ASKABLE = ("human", "chain")
_BOUND = compile_later(r"([<>=]?=?) *(-?[0-9]+(?:\.[0-9]+)?)")


class RuleResolver:
    """Turns the rules of one caller into rules about tools."""

    def __init__(self, names: Names, callers: dict[str, Caller], reader: Reader, notices: list[str]) -> None:
        self.names, self.callers, self.reader, self.notices = names, callers, reader, notices

    def resolve(self, rules: tuple[Rule, ...], own: dict[str, Tool]) -> tuple[Rule, ...]:
        """Each rule with its tools expanded."""
        found = []
        for rule in rules:
            if rule.ask is not None and rule.ask not in _ASKABLE and rule.ask not in self.callers:
                self._unknown_caller(rule.places.get(rule.ask, rule.at), rule.ask, also=_ASKABLE)
            self._check_mode(rule)
            for scope in _scopes(rule):
                conditions = [part for _, condition in scope.conditions() for part in condition.parts.items()]
                for kind, data in (*scope.parts.items(), *conditions):
                    for name in kind_of(kind).callers(data):
                        if name not in self.callers:
                            self._unknown_caller(rule.places.get(name, rule.at), name)
                    self._check_names(rule, kind, data)
            if rule.tools is None:
                self._check_toolless(rule)
                found.append(rule)
                continue
            tools: list[str] = []
            for name in rule.tools:
                members = self.names.expand(name, rule.at, own)
                self._check_kinds(rule, name, members, own)
                tools.extend(members)
            if tools:
                found.append(msgspec.structs.replace(rule, tools=tuple(dict.fromkeys(tools))))
        return tuple(found)

    def _unknown_caller(self, at: str, name: str, *, also: Iterable[str] = ()) -> None:
        hint = suggestion(name, (*self.callers, *also))
        self.reader.fail(at, "unknown-agent", f"unknown agent, role or runner `{shown(name)}`{hint}")

    def _check_mode(self, rule: Rule) -> None:
        for mode in map(str, rule.scope.when.get("mode", ())):
            near = near_miss(mode, MODES, cutoff=0.7) if mode not in MODES else None
            if near is not None:
                what = f"no host has a mode `{shown(mode)}`; did you mean `{shown(near)}`?"
                self.reader.fail(rule.at, "unknown-name", what)
            elif mode not in MODES:
                what = f"no host says the mode `{shown(mode)}`, only {' or '.join(MODES)}"
                self.notices.append(f"{rule.at}: {what}: the rule counts only if a program of yours sets it")

    def _check_names(self, rule: Rule, kind: str, data: Any) -> None:
        """What a scope names must be known, or the rule would silently do nothing."""
        self._say(rule, kind_of(kind).misnamed(data))

    def _say(self, rule: Rule, misnamed: Iterable[Misnamed]) -> None:
        for found in misnamed:
            at = rule.places.get(found.name, rule.at)
            if found.near is not None or found.fatal == "always":
                hint = f"; did you mean `{shown(found.near)}`?" if found.near is not None else ""
                self.reader.fail(at, "unknown-name", f"{found.problem}{hint}", found.help or None)
            elif found.fatal == "prohibition" and rule.verb != "may":
                what = f"{found.problem}: this `{rule.verb}` would never apply"
                self.reader.fail(at, "matches-nothing", what, found.help)
            elif found.help:
                if rule.verb == "may":
                    self.notices.append(f"{at}: {found.problem}: {found.help}")
            elif rule.verb == "may":
                self.notices.append(
                    f"{at}: {found.problem}: it is not understood, so this part of the `may` permits nothing"
                )
            else:
                self.notices.append(f"{at}: {found.problem}: this `{rule.verb}` concerns nothing that is known")

    def _check_toolless(self, rule: Rule) -> None:
        if rule.verb == "may" and not rule.scope.effect:
            self.reader.fail(rule.at, "missing-tool", "a `may` without a tool must name an effect")
        if any(scope.where for scope in _scopes(rule)) or any(kind_of(part).language for part in rule.scope.parts):
            self.reader.fail(rule.at, "missing-tool", "`where`, `shell` and `sql` need a tool")

    def _check_kinds(self, rule: Rule, name: str, members: tuple[str, ...], own: dict[str, Tool]) -> None:
        """Every part of the scope applies to every tool that it is written for."""
        scope = rule.scope
        for tool_name in members:
            tool = own.get(tool_name) or self.names.tools[tool_name]
            for part in scope.parts:
                if not any(part in kind_of(kind).limited_by for kind in tool.kinds):
                    via = f" (in `{name}`)" if tool_name != name else ""
                    kinds = ", ".join(sorted(tool.kinds)) or "no arguments"
                    fits = sorted({part for kind in tool.kinds for part in kind_of(kind).limited_by} | {"where"})
                    help = f"`{tool_name}` can be limited by {', '.join(f'`{fit}`' for fit in fits)}"
                    if tool_name != name or len(rule.tools or ()) > 1:
                        help = f"its arguments are of kind {kinds}; give `{tool_name}` a rule of its own"
                    self.reader.fail(
                        rule.at,
                        "kind-mismatch",
                        f"`{part}` can't limit `{tool_name}`{via}: it has no argument of that kind",
                        help,
                    )
            for one in _scopes(rule):
                self._check_where(rule, tool, one)
                for part, data in one.parts.items():
                    self._say(rule, kind_of(part).unknown_to(tool, data))
            if scope.parts and rule.verb == "may":
                self._check_reach(rule, tool)

    def _check_where(self, rule: Rule, tool: Tool, scope: Scope) -> None:
        at = rule.at
        bare = [arg for arg, condition in scope.where.items() if condition.each and not arg.endswith("[]")]
        for arg in bare:
            what = f"`each` is about the elements of a list; `{shown(arg)}` of `{tool.name}` names no list"
            help = f"write `{shown(arg)}[]`" if f"{arg}[]" in _lists(tool) else None
            self.reader.fail(rule.places.get(arg, at), "bad-value", what, help)
        for arg, condition in scope.conditions():
            if not arg.startswith(tuple(f"{name}." for name in bare)):
                self._check_condition(rule, tool, arg, condition)

    def _check_condition(self, rule: Rule, tool: Tool, arg: str, condition: Condition) -> None:
        at = rule.places.get(arg, rule.at)
        argument = tool.args.get(arg)
        if argument is None:
            hint = suggestion(arg, tool.args)
            self.reader.fail(at, "undeclared-argument", f"`{shown(arg)}` is not an argument of `{tool.name}`{hint}")
            return
        wanted = _wanted(kind_of(argument.kind), condition)
        about = f"the condition on `{arg}` ({argument.kind}) of `{tool.name}`"
        if wanted is not None:
            self.reader.fail(at, "kind-mismatch", f"{about} needs {wanted}")
            return
        values = condition.one_of if condition.one_of is not None else ()
        for value in (*values, *(() if condition.equals is None else (condition.equals,))):
            for name in kind_of(argument.kind).callers((value,)):
                if name not in self.callers:
                    self._unknown_caller(rule.places.get(name, at), name)
            problem = _impossible(argument, value)
            if problem is not None:
                what = f"{about} could never hold: {_written(value)} is not {problem}"
                self.reader.fail(rule.places.get(str(value), at), "kind-mismatch", what, _meant(argument, value))
        if condition.regex is not None and argument.one_of:
            from remit.scopes.regex import compile_regex  # here: few conditions have one

            matches = compile_regex(condition.regex)
            if not any(isinstance(value, str) and matches(value) for value in argument.one_of):
                among = ", ".join(map(shown, argument.one_of))
                self.reader.fail(at, "kind-mismatch", f"{about} could never hold: its regex matches none of {among}")

    def _check_reach(self, rule: Rule, tool: Tool) -> None:
        """A path scope on a tool that always reaches further can never apply."""
        for does in tool.does:
            if does.reach is None or does.effect == "delegate":
                continue
            unit = reach_unit(does.reach, frozenset())
            if unit.kind in rule.scope.parts and kind_of(unit.kind).matcher(rule.scope.parts[unit.kind]).excludes(unit):
                self.reader.fail(
                    rule.at,
                    "never-applies",
                    f"`{tool.name}` always reaches {does.reach}, which the {unit.kind} scope does not cover",
                )


def _scopes(rule: Rule) -> list[Scope]:
    """The scope of a rule, and what is taken out of it again."""
    return [rule.scope] if rule.scope.except_ is None else [rule.scope, rule.scope.except_]


def _lists(tool: Tool) -> set[str]:
    """The lists of objects that a tool takes: `payments[]`."""
    parts = [name.split(".") for name in tool.args]
    heads = (".".join(one[:count]) for one in parts for count in range(1, len(one)))
    return {head for head in heads if head.endswith("[]")}


def _impossible(argument: Argument, value: Scalar) -> str | None:
    """What a value of the argument is, if it can't be this one: text is never a number."""
    if argument.one_of:
        return (
            None
            if any(same(value, one) for one in argument.one_of)
            else f"among {', '.join(map(shown, argument.one_of))}"
        )
    return kind_of(argument.kind).problem(value)


def _written(value: Scalar) -> str:
    """As a policy writes it."""
    return f'"{shown(value)}"' if isinstance(value, str) else shown(value).lower()


def _meant(argument: Argument, value: Scalar) -> str | None:
    """`"<= 50"` was meant as a range, `"50"` as a number, and `5` as text."""
    if not isinstance(value, str):
        return f'write it as text: "{_written(value)}"' if argument.kind == "text" and not argument.one_of else None
    found = _BOUND.fullmatch(value.strip()) if argument.kind == "number" else None
    if found is None:
        return None
    sign, number = found.groups()
    if not sign or sign == "=":
        return f"write the number without quotation marks: {number}"
    return f"write {{{'max' if sign[0] == '<' else 'min'}: {number}}}"


def _wanted(kind: Kind, condition: Condition) -> str | None:
    """What a condition on an argument of this kind needs instead; None if it can be tested."""
    if condition == Condition(optional=True):
        return None
    if not kind.tests and not kind.conditional:
        return kind.instead
    other = next((part for part in condition.parts if part not in kind.limited_by), None)
    used = {
        "value": condition.equals is not None or condition.one_of is not None or condition.same_as is not None,
        "regex": condition.regex is not None,
        "range": condition.min is not None or condition.max is not None,
        "length": bool(condition.min_length) or condition.max_length is not None,
    }
    broken = next((test for test, there in used.items() if there and test not in kind.tests), None)
    if broken == "range" and "value" in kind.tests:
        return "an argument of kind number"
    if broken is not None:
        return kind.instead
    return f"an argument of kind {other}" if other is not None else None
