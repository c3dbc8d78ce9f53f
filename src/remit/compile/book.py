"""Policy → Rulebook: every name resolved, every default filled in, every contradiction reported."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from remit import catalog
from remit.compile import defaults
from remit.compile.hashing import content_hash
from remit.compile.inherit import inherit
from remit.compile.names import Names
from remit.compile.people import check_people
from remit.compile.rules import RuleResolver
from remit.compile.tiers import refined, with_tool_tiers
from remit.forms.shapes import Reader
from remit.model.policy import Caller, Grant, Never, Policy, Reserved, Tool
from remit.model.rulebook import OPEN_QUESTIONS, Book, Rulebook
from remit.model.text import did_you_mean, near_miss, shown, suggestion
from remit.scopes.interface import Misnamed
from remit.scopes.kinds import kind_of


def make_rulebook(policy: Policy) -> Rulebook:
    """The rulebook of a policy, before its examples and statements are proved. Raises PolicyError."""
    book = _Binding(policy).book()
    return Rulebook(book, content_hash(book))


class _Binding:
    """Resolves one policy."""

    def __init__(self, policy: Policy) -> None:
        self.reader = Reader()
        self.tools = {name: self._with_access(tool, policy) for name, tool in policy.tools.items()}
        self.policy = msgspec.structs.replace(policy, tools=self.tools)
        self.names = Names(self.policy, self.reader)
        self.notices: list[str] = []
        self.resolver = RuleResolver(self.names, policy.callers, self.reader, self.notices)

    def _with_access(self, tool: Tool, policy: Policy) -> Tool:
        access, at = tool.accessible_by, tool.at
        if access is None and tool.layer is not None and tool.layer in policy.layer_access:
            access = policy.layer_access[tool.layer]
            at = policy.places.get("defaults.accessible_by", at)
            tool = msgspec.structs.replace(tool, accessible_by=access)
        for name in access or ():
            self._caller(name, at, policy.callers)
        return tool

    def _caller(self, name: str, at: str, callers: dict[str, Caller], also: tuple[str, ...] = ()) -> None:
        if name not in callers:
            hint = suggestion(name, (*also, *callers))
            self.reader.fail(at, "unknown-agent", f"unknown agent, role or runner `{shown(name)}`{hint}")

    def book(self) -> Book:
        policy = self.policy
        callers = {name: self._resolved(caller) for name, caller in policy.callers.items()}
        declared = msgspec.structs.replace(policy, callers=callers)
        effective = {name: inherit(caller, declared, self.reader) for name, caller in callers.items()}
        for caller in effective.values():
            self._check_caller(caller)
        for caller in callers.values():
            self._slips(caller.at_key("apis"), kind_of("url").misnamed(caller.apis or ()))
        for label in policy.labels:
            self._slips(label.at, kind_of("url").misnamed(label.url))
        grants = tuple(self._grant(grant) for grant in policy.grants)
        reserved = []
        for entry in policy.reserved:
            runner = policy.callers.get(entry.runner)
            if runner is None or runner.kind != "runner":
                known = [name for name, caller in policy.callers.items() if caller.kind == "runner"]
                hint = suggestion(entry.runner, known)
                self.reader.fail(entry.at, "unknown-runner", f"unknown runner `{shown(entry.runner)}`{hint}")
            self._check_reserved(entry)
            reserved.append(entry)
        self._check_names()
        self.notices.extend(f"lists: no rule uses the list `{name}`" for name in policy.unused_lists)
        tiers = refined(policy, self.reader, self.notices)
        check_people(policy, (*callers.values(),), tiers.labels, self.reader)
        self.tools = with_tool_tiers(self.policy, tiers, self.reader, self.notices)
        self.reader.finish()
        return Book(
            name=policy.name,
            tools=self.tools,
            aliases=self.names.aliases,
            callers=effective,
            reserved=tuple(reserved),
            never=policy.never,
            labels=(*defaults.labels(), *policy.labels),
            label_tiers=tiers.labels,
            effect_tiers=tiers.effects,
            grade_tiers=tiers.grades,
            environment_tiers=tiers.environments,
            tier_words=tiers.words,
            tiers=defaults.tiers(policy),
            gates=policy.gates,
            gate_terms=policy.gate_terms,
            grants=grants,
            protected=defaults.protected(policy),
            hosts=policy.hosts,
            toolsets=self.names.toolsets,
            unsafe=self._unsafe(),
            enforce=policy.enforce,
            people=policy.people,
            open_questions=policy.open_questions if policy.open_questions is not None else OPEN_QUESTIONS,
            ledger=policy.ledger,
            lists=policy.lists,
            packs=policy.packs,
            published_by=policy.published_by,
            sources=policy.sources,
            root=policy.root,
            notices=tuple(self.notices),
        )

    def _resolved(self, caller: Caller) -> Caller:
        tools = {name: self._with_access(tool, self.policy) for name, tool in caller.tools.items()}
        rules = self.resolver.resolve(caller.rules, tools)
        for name in (*(caller.delegates_to or ()), *(caller.called_by or ())):
            self._caller(name, caller.places.get(name, caller.at), self.policy.callers)
        known = [*tools.values(), *self.policy.tools.values()]
        for what in caller.daily_sum:
            if not any(what.removeprefix(f"{tool.name}.") in tool.args for tool in known):
                named = [
                    f"{tool.name}.{name}" for tool in known for name, one in tool.args.items() if one.kind == "number"
                ]
                text = f"`{shown(what)}` is not an argument of a tool that could be summed{did_you_mean(what, named)}"
                help = "write tool.argument, such as send_money.amount"
                self.reader.fail(caller.at_key("daily_sum"), "unknown-argument", text, help)
        alone = caller.issues_alone
        if alone is not None:
            alone = msgspec.structs.replace(alone, grants=self.resolver.resolve(alone.grants, tools))
        return msgspec.structs.replace(caller, rules=rules, tools=tools, issues_alone=alone)

    def _grant(self, grant: Grant) -> Grant:
        self._caller(grant.agent, grant.at, self.policy.callers)
        own = self.policy.callers[grant.agent].tools if grant.agent in self.policy.callers else {}
        return msgspec.structs.replace(grant, rules=self.resolver.resolve(grant.rules, own))

    def _check_caller(self, caller: Caller) -> None:
        names = {caller.name, *caller.roles}
        named = any(not names.isdisjoint(tool.accessible_by or ()) for tool in self.tools.values())
        granted = any(grant.agent in names for grant in self.policy.grants)
        if caller.kind == "agent" and not caller.says_may and not named and not granted:
            self.reader.fail(
                caller.at,
                "no-permissions",
                f"`{caller.name}` has no `may`, and no tool's accessible_by names it",
                "an agent that may do nothing says `may: []`",
            )
        for rule in caller.rules:
            if rule.verb == "may_not" or rule.tools is None:
                continue
            for name in rule.tools:
                tool = caller.tools.get(name) or self.tools.get(name)
                if tool is None or tool.accessible_by is None:
                    continue
                if names.isdisjoint(tool.accessible_by):
                    self.reader.fail(
                        rule.at,
                        "never-applies",
                        f"accessible_by of `{name}` does not name `{caller.name}`, so this rule never applies to it",
                    )
                elif rule.verb == "may" and (rule.scope.on_arguments or rule.scope.when or rule.scope.effect):
                    self.reader.fail(
                        rule.at,
                        "moot-rule",
                        f"`{caller.name}` is in accessible_by of `{name}`, a `may` without scope: this one is moot",
                    )

    def _check_names(self) -> None:
        policy = self.policy
        for host, entry in policy.hosts.items():
            at = policy.places.get(f"hosts.{host}", f"hosts.{host}")
            if host not in catalog.hosts() and host not in catalog.added_hosts():
                known = (*catalog.hosts(), *catalog.added_hosts())
                help_ = "a host that another package brings is known once that package is installed beside Remit"
                text = f"unknown host `{shown(host)}`{suggestion(host, known)}"
                self.reader.fail(at, "unknown-host", text, help=help_)
            if "main" in entry:
                self._caller(entry["main"], at, policy.callers)
        for tier, question in policy.tiers.items():
            if question.ask not in (None, "human", "chain"):
                at = policy.places.get(f"tiers.{tier}", f"tiers.{tier}")
                self._caller(str(question.ask), at, policy.callers, also=("human", "chain"))
        for layer in policy.layer_access:
            at = policy.places.get("defaults.accessible_by", "defaults.accessible_by")
            self._among(at, "layer", layer, self._all("layer"))
        for statement in policy.never:
            self._check_never(statement)

    def _check_never(self, statement: Never) -> None:
        """Every name in it is about something: one that is about nothing would pass unseen beside the others."""
        for name in (*statement.agent, *statement.role):
            self._caller(name, statement.at, self.policy.callers)
        for pattern in statement.tool:
            if not self.names.matching(pattern):
                hint = suggestion(pattern, self._all("name"))
                message = f"never: `{shown(pattern)}` matches no declared tool{hint}"
                self.reader.fail(statement.at, "matches-nothing", message)
        for name in statement.toolset:
            self._among(statement.at, "toolset", name, self.names.toolsets)
        for key in ("layer", "category"):
            for name in getattr(statement, key):
                self._among(statement.at, key, name, self._all(key))

    def _check_reserved(self, entry: Reserved) -> None:
        for pattern in entry.tools:
            if not self.names.matching(pattern):
                near = near_miss(pattern, self._all("name"))
                what = f"`{shown(pattern)}` matches no declared tool"
                if near is None:
                    self.notices.append(f"{entry.at}: {what}; unknown tools are denied")
                else:
                    self.reader.fail(entry.at, "matches-nothing", f"{what}; did you mean `{shown(near)}`?")
        self._slips(entry.at, kind_of("shell").misnamed({"run": entry.programs}))
        self._slips(entry.at, kind_of("url").misnamed(entry.urls))

    def _slips(self, at: str, misnamed: Iterable[Misnamed]) -> None:
        """Names that are nearly known ones."""
        for found in misnamed:
            if found.near is not None:
                message = f"{found.problem}; did you mean `{shown(found.near)}`?"
                self.reader.fail(at, "unknown-name", message)

    def _all(self, key: str) -> list[str]:
        """The names, layers or categories of all tools."""
        own = (tool for caller in self.policy.callers.values() for tool in caller.tools.values())
        found = (getattr(tool, key) for tool in (*self.tools.values(), *own))
        return sorted({name for name in found if name is not None})

    def _among(self, at: str, what: str, name: str, known: Iterable[str]) -> None:
        if name not in known:
            message = f"no {'toolset is' if what == 'toolset' else f'tool has the {what}'} `{shown(name)}`"
            self.reader.fail(at, "matches-nothing", f"{message}{suggestion(name, known)}")

    def _unsafe(self) -> tuple[str, ...]:
        found = []
        if self.policy.unprotect:
            found.append("unsafe_unprotect: " + ", ".join(self.policy.unprotect))
        if self.policy.unsafe_no_credential:
            found.append("unsafe_no_credential")
        return tuple(found)
