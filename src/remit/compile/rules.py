"""Resolving and checking rules: no rule may name what isn't there, or silently never apply."""

from __future__ import annotations

import msgspec

from remit.compile.names import Names
from remit.declare.shapes import Reader
from remit.model.policy import Caller, Condition, Rule, Scope, Tool
from remit.model.text import did_you_mean, shown
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet

_KINDS = {
    "path": frozenset({"path", "glob"}),
    "url": frozenset({"url"}),
    "agent": frozenset({"agent"}),
    "skill": frozenset({"skill"}),
    "shell": frozenset({"shell"}),
    "sql": frozenset({"sql", "shell"}),
}
_ASKABLE = ("human", "chain")


class RuleResolver:
    """Turns the rules of one caller into rules about tools."""

    def __init__(self, names: Names, callers: dict[str, Caller], reader: Reader) -> None:
        self.names, self.callers, self.reader = names, callers, reader

    def resolve(self, rules: tuple[Rule, ...], own: dict[str, Tool]) -> tuple[Rule, ...]:
        """Each rule with its tools expanded."""
        found = []
        for rule in rules:
            if rule.ask is not None and rule.ask not in _ASKABLE and rule.ask not in self.callers:
                self._unknown_caller(rule.at, rule.ask)
            conditions = [name for condition in rule.scope.where.values() for name in condition.agent or ()]
            for name in (*(rule.scope.agent or ()), *conditions):
                if name not in self.callers:
                    self._unknown_caller(rule.at, name)
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

    def _unknown_caller(self, at: str, name: str) -> None:
        hint = did_you_mean(name, self.callers)
        self.reader.fail(at, "unknown-agent", f"unknown agent, role or runner `{shown(name)}`{hint}")

    def _check_toolless(self, rule: Rule) -> None:
        if rule.verb == "may" and not rule.scope.effect:
            self.reader.fail(rule.at, "missing-tool", "a `may` without a tool must name an effect")
        if rule.scope.where or rule.scope.shell or rule.scope.sql:
            self.reader.fail(rule.at, "missing-tool", "`where`, `shell` and `sql` need a tool")

    def _check_kinds(self, rule: Rule, name: str, members: tuple[str, ...], own: dict[str, Tool]) -> None:
        """Every part of the scope applies to every tool that it is written for."""
        scope = rule.scope
        for tool_name in members:
            tool = own.get(tool_name) or self.names.tools[tool_name]
            for part in _parts(scope):
                if not (_KINDS[part] & tool.kinds):
                    via = f" (in `{name}`)" if tool_name != name else ""
                    kinds = ", ".join(sorted(tool.kinds)) or "no arguments"
                    self.reader.fail(
                        rule.at,
                        "kind-mismatch",
                        f"`{part}` can't limit `{tool_name}`{via}: it has no argument of that kind",
                        f"its arguments are of kind {kinds}; give `{tool_name}` a rule of its own",
                    )
            for arg, condition in scope.where.items():
                self._check_condition(rule.at, tool, arg, condition)
            if scope.path is not None and rule.verb == "may":
                self._check_reach(rule, tool)

    def _check_condition(self, at: str, tool: Tool, arg: str, condition: Condition) -> None:
        argument = tool.args.get(arg)
        if argument is None:
            hint = did_you_mean(arg, tool.args)
            self.reader.fail(at, "undeclared-argument", f"`{shown(arg)}` is no argument of `{tool.name}`{hint}")
            return
        kind = argument.kind
        wanted: str | None = None
        values = (condition.equals, condition.one_of, condition.regex, condition.min, condition.max)
        if kind in ("path", "glob", "url") and any(value is not None for value in values):
            wanted = f"`{'url' if kind == 'url' else 'path'}:`"
        elif kind in ("shell", "sql", "json"):
            wanted = f"`{kind}:`" if kind != "json" else "an argument that is not json"
        elif condition.path is not None and kind not in ("path", "glob"):
            wanted = "an argument of kind path"
        elif condition.url is not None and kind != "url":
            wanted = "an argument of kind url"
        elif condition.agent is not None and kind != "agent":
            wanted = "an argument of kind agent"
        elif condition.skill is not None and kind != "skill":
            wanted = "an argument of kind skill"
        elif (condition.min is not None or condition.max is not None) and kind != "number":
            wanted = "an argument of kind number"
        elif (condition.regex or condition.min_length or condition.max_length is not None) and kind in (
            "number",
            "flag",
        ):
            wanted = "an argument of text"
        if wanted is not None:
            self.reader.fail(at, "kind-mismatch", f"the condition on `{arg}` ({kind}) of `{tool.name}` needs {wanted}")

    def _check_reach(self, rule: Rule, tool: Tool) -> None:
        """A path scope on a tool that always reaches further can never apply."""
        reaches = [d for d in tool.does if d.reach is not None and "://" not in d.reach and d.effect != "delegate"]
        if not reaches or rule.scope.path is None:
            return
        allow = GlobSet(Glob.parse(text) for text in rule.scope.path.allow)
        for does in reaches:
            reach = str(does.reach)
            if not allow.includes(Glob.parse(reach, absolute=True)):
                self.reader.fail(
                    rule.at,
                    "never-applies",
                    f"`{tool.name}` always reaches {reach}, which the path scope does not cover",
                )


def _parts(scope: Scope) -> list[str]:
    return [part for part in _KINDS if getattr(scope, part) is not None]
