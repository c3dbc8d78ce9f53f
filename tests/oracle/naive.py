"""A second, naive decision, written from docs/semantics.md alone: plain loops, nothing remembered, nothing shared
with the engine.

    answer = naive_decide(rulebook.book, rulebook.hash, call, facts)

Where the page ranks several codes equally (two arguments of one call are wrong in different ways), `codes` has all
of them and `code` is one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from remit.model.call import Call
from remit.model.facts import Capsule, Facts
from remit.model.policy import Caller, Condition, Label, Rule, Scope, Tool
from remit.model.rulebook import Book
from tests.oracle import naive_paths as paths
from tests.oracle import naive_urls as urls
from tests.oracle.naive_calls import resolved_otherwise, units_of, units_of_value, values_of, well_formed
from tests.oracle.naive_paths import Unit


class Answer(NamedTuple):
    """What a decision says, as far as the page says it."""

    verdict: str
    code: str
    tier: int = 0
    data_tier: int = 0
    of: str | None = None
    obligations: frozenset[tuple[str, str | None]] = frozenset()
    would: str | None = None
    codes: frozenset[str] = frozenset()
    """All codes that the page ranks equally."""
    ofs: frozenset[str] = frozenset()
    """All who are asked by questions of that rank."""
    missing: bool = False
    wide: bool = False
    """Whether the call has a wide unit, where the engine may be stricter than the page."""


class Denied(Exception):
    """A step that denies, with the codes that it may give."""

    def __init__(self, *codes: str) -> None:
        super().__init__(codes[0])
        self.codes = codes


class Question(NamedTuple):
    """What stands between a call and its allow."""

    code: str
    of: str


def naive_decide(book: Book, policy_hash: str, call: Call, facts: Facts) -> Answer:
    """The decision by the page."""
    try:
        decision = _Decision(book, policy_hash, call, facts)
        decision.malformed()
    except Denied as denied:
        return _deny(denied)
    wide = any(unit.wide for unit in decision.units)
    try:
        decision.halted_or_protected()
    except Denied as denied:
        return _deny(denied)._replace(wide=wide)
    tiers = {"tier": decision.tier, "data_tier": decision.data_tier, "wide": wide}
    try:
        caller = decision.caller
        decision.prohibited(caller)
        decision.permitted(caller)
        decision.chain()
        decision.data_and_locks(caller)
        still_open, missing = decision.questions()
    except Denied as denied:
        answer = _deny(denied)._replace(**tiers)
    else:
        if not still_open:
            return Answer("allow", "allowed", obligations=decision.obligations(), **tiers)
        code, of = still_open[0].code, still_open[0].of
        ofs = frozenset(question.of for question in still_open if question.code == code)
        answer = Answer("ask", code, of=of, codes=frozenset({code}), ofs=ofs, missing=missing, **tiers)
    if decision.observing() and not (answer.code == "data-tier" and decision.data_tier == 3):
        return answer._replace(verdict="allow", would=answer.verdict, of=None)
    return answer


def _deny(denied: Denied) -> Answer:
    return Answer("deny", denied.codes[0], codes=frozenset(denied.codes))


def digest(call: Call, policy_hash: str, facts: Facts) -> str:
    """What binds an approval to a call. The page leaves its form open: agent, capsule, session, tool, arguments,
    resolved paths and policy, as deterministic JSON."""
    resolved = None if facts.resolved is None else sorted(facts.resolved.items())
    parts = [call.agent, call.context.capsule, call.context.session, call.tool, call.args, resolved, policy_hash]
    return "sha256:" + hashlib.sha256(msgspec.json.encode(parts, order="deterministic")).hexdigest()


class _Decision:
    """One decision; every step is a method that returns or raises Denied."""

    def __init__(self, book: Book, policy_hash: str, call: Call, facts: Facts) -> None:
        self.book, self.policy_hash, self.call, self.facts = book, policy_hash, call, facts
        self.units: list[Unit] = []

    # Step 1

    def malformed(self) -> None:
        book, call = self.book, self.call
        shape = () if well_formed(call) else ("malformed-call",)
        if call.agent not in book.callers:
            raise Denied(*shape, "unknown-agent")
        self.caller = book.callers[call.agent]
        if not self.present(self.caller):
            raise Denied(*shape, "agent-disabled")
        tool = self.find_tool()
        if tool is None:
            raise Denied(*shape, "unknown-tool")
        if shape:
            raise Denied(*shape)
        self.tool = tool
        self.values, wrong = values_of(tool, call.args)
        if wrong:
            raise Denied(*sorted(wrong))
        self.units, wrong = units_of(tool, self.values, call, self.facts)
        if wrong:
            raise Denied(*sorted(wrong))
        capsule = self.facts.capsules.get(call.context.capsule or "")
        self.capsule = capsule if capsule is not None and capsule.agent == call.agent else None
        self.tier = self.tier_of_call()
        self.data_tier = self.data_tier_of_call()

    def present(self, caller: Caller) -> bool:
        """Enabled, and registered where there is a registry of agents."""
        registry = self.facts.registry
        return caller.enabled and not (caller.kind == "agent" and registry is not None and caller.name not in registry)

    def find_tool(self) -> Tool | None:
        wanted = self.call.tool
        own, shared = self.caller.tools, self.book.tools
        name = self.book.aliases.get(wanted, wanted)
        for tool in own.values():
            if wanted in (tool.name, *tool.aliases):
                return tool
        return own.get(name) or shared.get(name)

    # Step 2

    def halted_or_protected(self) -> None:
        context = self.call.context
        halts = self.facts.halts
        names = [self.call.agent, *context.chain, "system"]
        if context.capsule is not None:
            names.append("capsule:" + context.capsule)
        if any(name in halts for name in names):
            raise Denied("halted")
        if any(argument.kind in ("shell", "sql") and self.values.get(n) for n, argument in self.tool.args.items()):
            raise Denied("scope-unavailable")
        if any(paths.protected(unit, self.book.protected) for unit in self.units):
            raise Denied("protected")

    # Step 3

    def prohibited(self, caller: Caller) -> None:
        if any(self.touches(rule) for rule in caller.rules if rule.verb == "may_not"):
            raise Denied("may-not")
        for entry in self.book.reserved:
            if entry.runner == caller.name:
                continue
            if self.tool.name in entry.tools:
                raise Denied("reserved")
            if any(unit.kind == "url" and _url_maybe(entry.urls, unit) for unit in self.units):
                raise Denied("reserved")
        access = self.tool.accessible_by
        if access is not None and not any(name in access for name in (caller.name, *caller.roles)):
            raise Denied("not-accessible")

    # Step 4

    def permitted(self, caller: Caller) -> None:
        missing = [unit for unit in self.units if not self.permissions(caller, unit)]
        if missing:
            raise Denied(*("outside-root" if _outside(unit) else "not-permitted" for unit in missing))

    def permissions(self, caller: Caller, unit: Unit) -> list[Rule | str]:
        """Everything that permits a unit."""
        rules = [rule for rule in caller.rules if rule.verb in ("may", "must_ask")]
        for grant in (*self.book.grants, *self.facts.grants):
            if grant.agent in (caller.name, *caller.roles) and self.before(grant.until):
                rules += grant.rules
        if self.capsule is not None and caller is self.caller:
            rules += self.capsule.grants
        found: list[Rule | str] = [rule for rule in rules if self.covers(rule, unit)]
        access = self.tool.accessible_by
        named = access is not None and any(name in access for name in (caller.name, *caller.roles))
        if named and not _outside(unit):
            found.append("accessible_by")
        return found

    def before(self, moment: str) -> bool:
        return self.facts.now is not None and self.facts.now < moment

    # Step 5

    def chain(self) -> None:
        self.capsules = self.all_capsules()
        chain = self.call.context.chain
        if len(chain) > 16:
            raise Denied("broken-chain")
        for i, name in enumerate(chain):
            following = (*chain, self.call.agent)[i + 1]
            giver, taker = self.book.callers.get(name), self.book.callers.get(following)
            if giver is None or taker is None or not self.present(giver):
                raise Denied("broken-chain")
            if not hands_to(giver, taker):
                raise Denied("broken-chain")
        codes = []
        for binding in self.binding():
            for step in (self.prohibited, self.permitted, self.data_and_locks):
                try:
                    step(binding)
                except Denied as denied:
                    codes += denied.codes
        if codes:
            raise Denied(*codes)
        if self.call.context.capsule is None and self.caller.capsule == "required" and self.tier > 0:
            raise Denied("capsule-required")
        for capsule in self.capsules:
            if capsule.ended or (capsule.expires is not None and not self.before(capsule.expires)):
                raise Denied("capsule-ended")
            if any(self.touches(rule) for rule in capsule.may_not):
                raise Denied("capsule-constraint")
            if capsule.may is not None:
                for unit in self.units:
                    if not any(self.covers(rule, unit) for rule in capsule.may):
                        raise Denied("capsule-constraint")

    def all_capsules(self) -> list[Capsule]:
        """The call's capsule and those above it."""
        found: list[Capsule] = []
        name = self.call.context.capsule
        while name is not None:
            capsule = self.facts.capsules.get(name)
            if capsule is None or capsule in found or (not found and capsule.agent != self.call.agent):
                raise Denied("unknown-capsule")
            found.append(capsule)
            name = capsule.parent
        return found

    def binding(self) -> list[Caller]:
        """Those along the chain who bind the call."""
        chain = [self.book.callers[name] for name in self.call.context.chain]
        while chain and chain[-1].delegate_within != "chain":
            chain.pop()
        return chain

    # Step 6

    def data_tier_of_call(self) -> int:
        tiers = [self.call.context.data_tier]
        for label in self.book.labels:
            if (
                label.name == "data"
                and label.tier is not None
                and any(_labelled(label, u, paths.maybe) for u in self.units)
            ):
                tiers.append(label.tier)
        return max(tiers)

    def data_and_locks(self, caller: Caller) -> None:
        if caller.data_tiers is not None and self.data_tier not in caller.data_tiers and not self.tier_granted(caller):
            raise Denied("data-tier")
        codes = [code for unit in self.units for code in self.names_of_unit(caller, unit)]
        if codes:
            raise Denied(*codes)

    def names_of_unit(self, caller: Caller, unit: Unit) -> list[str]:
        """What a caller's locks, apis, skills and delegates have against a unit."""
        codes = []
        if caller.locks is not None and unit.kind == "path" and unit.effects & {"write", "delete"}:
            locks = caller.locks
            if not paths.surely(unit, locks.may) or paths.maybe(unit, locks.except_):
                codes.append("locked")
        if caller.apis is not None and "network" in unit.effects:
            apis = caller.apis
            if unit.kind != "url" or not _url_surely(apis, unit):
                codes.append("api-not-allowed")
        if unit.kind == "skill" and caller.skills is not None and unit.spellings[0] not in caller.skills:
            codes.append("skill-not-allowed")
        if unit.kind == "agent":
            other = self.book.callers.get(unit.spellings[0])
            if other is None or not self.present(other) or not hands_to(caller, other):
                codes.append("delegation-not-allowed")
        return codes

    def tier_granted(self, caller: Caller) -> bool:
        if self.data_tier not in (caller.data_tiers_with_grant or ()):
            return False
        if self.capsule is not None and self.data_tier in self.capsule.data_tiers:
            return True
        return not self.facts.store and self.data_tier in self.call.context.capsule_grants

    # Step 7

    def tier_of_call(self) -> int:
        tiers = [self.tool.tier]
        for unit in self.units:
            tiers += [self.book.effect_tiers[effect] for effect in unit.effects]
            for label in self.book.labels:
                raised = self.book.label_tiers.get(label.name)
                if raised is not None and unit.effects & set(raised.effects) and _labelled(label, unit, paths.labelled):
                    tiers.append(raised.tier)
            scope = None if self.capsule is None else self.capsule.scope
            deletes = unit.kind == "path" and "delete" in unit.effects
            if scope is not None and deletes and not paths.surely(unit, scope):
                tiers.append(self.book.label_tiers["outside_scope"].tier)
        return max(tiers)

    def questions(self) -> tuple[list[Question], bool]:
        """The questions that stay open, and whether the statement is missing."""
        tier = self.book.tiers[self.tier]
        if tier.verdict == "deny":
            raise Denied("tier-denied")
        asked: list[Question] = []
        statement = self.call.statement
        complete = statement is not None and all((statement.intent, statement.because, statement.consequences))
        missing = tier.verdict == "ask" and tier.statement and not complete
        if tier.verdict == "ask":
            asked.append(Question("tier-asks", self.asked_of(tier.ask, tier.planned)))
        for caller in (self.caller, *self.binding()):
            for rule in caller.rules:
                if rule.verb == "must_ask" and self.touches(rule):
                    asked.append(Question("must-ask", self.asked_of(rule.ask, False)))
        if self.tool.confirm:
            asked.append(Question("confirm-asks", "human"))
        approvals = [
            approval
            for approval in self.facts.approvals
            if approval.digest == digest(self.call, self.policy_hash, self.facts)
            and approval.by != self.call.agent
            and (approval.expires is None or self.before(approval.expires))
        ]
        if any(approval.answer == "refuse" for approval in approvals):
            raise Denied("refused")
        still_open = []
        for question in asked:
            answered = any(approval.of == "human" or self.answers(approval.by, question) for approval in approvals)
            if question.code != "tier-asks" and question.of == "human" and self.tier <= 3 and self.planned():
                answered = True
            if not answered:
                still_open.append(question)
        if missing and not still_open:
            still_open = asked[:1]
        return still_open, missing

    def asked_of(self, whom: str | None, planned: bool) -> str:
        if whom != "chain":
            return whom or "human"
        if planned and not self.planned():
            return "human"
        for name in reversed(self.call.context.chain):
            if name != self.call.agent and self.book.callers[name].acknowledges:
                return name
        return "human"

    def answers(self, agent: str, question: Question) -> bool:
        caller = self.book.callers.get(agent)
        return question.of == agent or (caller is not None and question.of in caller.roles)

    def planned(self) -> bool:
        if self.capsule is None or "plan" not in self.capsule.gates:
            return False
        return all(any(self.covers(item, unit) for item in self.capsule.plan) for unit in self.units)

    # Step 8

    def obligations(self) -> frozenset[tuple[str, str | None]]:
        found: set[tuple[str, str | None]] = set()
        for unit in self.units:
            for caller in (self.caller, *self.binding()):
                if "write" in unit.effects and all(map(_new_only, self.permissions(caller, unit))):
                    found.add(("create-exclusively", unit.arg))
        for name in resolved_otherwise(self.tool, self.values, self.call, self.facts):
            found.add(("use-resolved-path", name))
        return frozenset(found)

    def observing(self) -> bool:
        enforce = self.caller.enforce
        return enforce is not None and enforce.observe_until is not None and self.before(enforce.observe_until)

    # Scopes

    def covers(self, rule: Rule, unit: Unit) -> bool:
        """Whether a rule covers a unit."""
        scope = rule.scope
        if rule.tools is not None and self.tool.name not in rule.tools:
            return False
        if not self.when(scope) or not self.where(scope, all, paths.covers, urls.surely):
            return False
        if scope.effect and not (unit.effects and unit.effects <= set(scope.effect)):
            return False
        if unit.kind != "call" and getattr(scope, unit.kind) is not None:
            return _within(scope, unit)
        if _outside(unit):
            return False
        limits = (scope.path, scope.url, scope.agent, scope.skill, scope.shell, scope.sql, scope.where or None)
        if any(limit is not None for limit in limits) and unit.kind in ("path", "url", "agent") and unit.arg:
            return unit.arg in scope.where
        return True

    def touches(self, rule: Rule) -> bool:
        """Whether a rule touches the call."""
        scope = rule.scope
        if rule.tools is not None and self.tool.name not in rule.tools:
            return False
        if not self.when(scope) or not self.where(scope, any, paths.touches, urls.maybe):
            return False
        left = [unit for unit in self.units if not self.excepted(scope.except_, unit)]
        left = [unit for unit in left if not scope.effect or unit.effects & set(scope.effect)]
        parts = [kind for kind in ("path", "url", "agent", "skill") if getattr(scope, kind) is not None]
        for kind in parts:
            if not any(unit.kind == kind and _might(scope, unit) for unit in left):
                return False
        return bool(parts or left)

    def excepted(self, scope: Scope | None, unit: Unit) -> bool:
        """Whether an exception certainly holds for a unit."""
        if scope is None or not self.where(scope, all, paths.covers, urls.surely):
            return False
        if scope.effect and not unit.effects & set(scope.effect):
            return False
        if all(getattr(scope, kind) is None for kind in ("path", "url", "agent", "skill")):
            return True
        return unit.kind != "call" and getattr(scope, unit.kind) is not None and _within(scope, unit)

    def when(self, scope: Scope) -> bool:
        for key, wanted in scope.when.items():
            value = getattr(self.call.context, key)
            if not any(type(value) is type(one) and value == one for one in wanted):
                return False
        return True

    def where(self, scope: Scope, every: Callable[..., bool], path: Any, url: Any) -> bool:
        for name, condition in scope.where.items():
            if not self.values.get(name):
                return False
            if not every(self.passes(condition, name, value, path, url) for value in self.values[name]):
                return False
        return True

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
        if condition.url is not None and not any(url(pattern, value) for pattern in condition.url):
            return False
        if condition.agent is not None and value not in condition.agent:
            return False
        if condition.skill is not None and value not in condition.skill:
            return False
        if condition.path is not None:
            units = units_of_value(self.tool, name, self.values, value, self.call, self.facts)
            return all(path(condition.path, unit) for unit in units)
        return True


def hands_to(giver: Caller, taker: Caller) -> bool:
    """Whether one caller may hand work to another."""
    names = (taker.name, *taker.roles)
    if giver.delegates_to is not None and any(name in giver.delegates_to for name in names):
        return True
    if taker.kind != "runner" or taker.called_by is None:
        return False
    return any(name in taker.called_by for name in (giver.name, *giver.roles))


def _same(value: Any, wanted: Any) -> bool:
    """Equal, and of one type; numbers are one type, true and false are none."""
    numbers = (int, float)
    alike = type(value) is type(wanted) or (type(value) in numbers and type(wanted) in numbers)
    return alike and value == wanted


def _outside(unit: Unit) -> bool:
    return unit.kind == "path" and paths.outside(unit)


def _new_only(rule: Rule | str) -> bool:
    return isinstance(rule, Rule) and rule.scope.path is not None and rule.scope.path.new_only


def _within(scope: Scope, unit: Unit) -> bool:
    """Whether a unit certainly lies within the part of its kind."""
    if unit.kind == "path":
        return scope.path is not None and paths.covers(scope.path, unit)
    if unit.kind == "url":
        return _url_surely(scope.url or (), unit)
    return unit.spellings[0] in getattr(scope, unit.kind)


def _might(scope: Scope, unit: Unit) -> bool:
    """Whether a unit might lie within the part of its kind."""
    if unit.kind == "path":
        return scope.path is not None and paths.touches(scope.path, unit)
    if unit.kind == "url":
        return _url_maybe(scope.url or (), unit)
    return unit.spellings[0] in getattr(scope, unit.kind)


def _url_surely(patterns: tuple[str, ...], unit: Unit) -> bool:
    mine = urls.reach(unit.spellings[0]) if unit.wide else unit.spellings
    return all(any(urls.surely(pattern, url) for pattern in patterns) for url in mine)


def _url_maybe(patterns: tuple[str, ...], unit: Unit) -> bool:
    mine = urls.reach(unit.spellings[0]) if unit.wide else unit.spellings
    return any(urls.maybe(pattern, url) for pattern in patterns for url in mine)


def _labelled(label: Label, unit: Unit, path: Callable[[Unit, tuple[str, ...]], bool]) -> bool:
    """Whether a unit has a label; `path` says what that means for a wide unit of kind path."""
    if unit.kind == "path":
        return path(unit, label.path)
    if unit.kind != "url":
        return False
    if _url_maybe(label.url, unit):
        return True
    mine = urls.reach(unit.spellings[0]) if unit.wide else unit.spellings
    hosts = [found.host for found in map(urls.parse, mine) if found is not None]
    return any(paths.matches(pattern, host) for pattern in label.host for host in hosts)
