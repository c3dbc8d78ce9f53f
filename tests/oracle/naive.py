"""A second, naive decision, written from docs/semantics.md alone: plain loops, and nothing shared with the engine.
Nothing is remembered but which paths of a small universe a glob matches.

    answer = naive_decide(rulebook.book, call, facts, digest)

Where the page ranks several codes equally (two arguments of one call are wrong in different ways), `codes` has all
of them and `code` is one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from remit.model.call import Call
from remit.model.facts import Capsule, Facts
from remit.model.policy import Approves, Caller, Rule, Tool
from remit.model.rulebook import Book
from tests.oracle import naive_paths as paths
from tests.oracle.naive_calls import resolved_otherwise, units_of, values_of, well_formed
from tests.oracle.naive_globs import fold
from tests.oracle.naive_paths import Unit
from tests.oracle.naive_scopes import Scopes, labelled, new_only, on_host, outside, url_maybe, url_surely
from tests.oracle.naive_told import told


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
    missing: frozenset[str] = frozenset()
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
    approvals: int = 1
    separate: bool = False


def naive_decide(book: Book, call: Call, facts: Facts, digest: str) -> Answer:
    """The decision by the page. `digest` is what binds an approval to exactly this call; its form is left open."""
    decision = _Decision(book, call, facts, digest)
    try:
        decision.malformed()
    except Denied as denied:
        return decision.unread(_deny(denied))
    wide = any(unit.wide for unit in decision.units)
    try:
        decision.halted_or_protected()
    except Denied as denied:
        return _deny(denied)._replace(wide=wide)
    tiers: dict[str, Any] = {"tier": decision.tier, "data_tier": decision.data_tier, "wide": wide}
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
    if not decision.observing():
        return answer
    if decision.data_tier_binds():
        return answer._replace(verdict="deny", code="data-tier", codes=frozenset({"data-tier"}), of=None)
    return answer._replace(verdict="allow", would=answer.verdict, of=None)


def _deny(denied: Denied) -> Answer:
    return Answer("deny", denied.codes[0], codes=frozenset(denied.codes))


class _Decision(Scopes):
    """One decision; every step is a method that returns or raises Denied."""

    def __init__(self, book: Book, call: Call, facts: Facts, digest: str) -> None:
        self.book, self.call, self.facts, self.digest = book, call, facts, digest
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

    def unread(self, refused: Answer) -> Answer:
        """What a deny of step 1 comes to: while observing, an allow, unless what can be told of the call binds."""
        never = {"malformed-call", "agent-disabled"}
        if refused.codes & never:
            return refused
        known = self.call.agent in self.book.callers
        self.caller = (
            self.book.callers[self.call.agent] if known else Caller(self.call.agent, "agent", enforce=self.book.enforce)
        )
        if not self.observing():
            return refused
        tool = self.find_tool()
        self.tool = tool or Tool(self.call.tool)
        self.values, wrong = values_of(self.tool, self.call.args)
        self.units, more = units_of(self.tool, self.values, self.call, self.facts) if not wrong else ([], set())
        read = tool is not None and not wrong and not more
        if not read:
            self.values, self.units = told(self.tool, self.call, self.facts)
        wide = any(unit.wide for unit in self.units)
        capsule = self.facts.capsules.get(self.call.context.capsule or "")
        self.capsule = capsule if capsule is not None and capsule.agent == self.call.agent else None
        try:
            self.halted_or_protected()
        except Denied as denied:
            return _deny(denied)._replace(wide=wide)
        self.data_tier = self.data_tier_of_call()
        if self.data_tier_binds():
            found = _deny(Denied("data-tier"))
            return found._replace(wide=wide, tier=self.tier_of_call(), data_tier=self.data_tier)
        tiers = (self.tier_of_call(), self.data_tier) if read else (self.tool.tier, 0)
        codes = refused.codes if known else frozenset({"unknown-agent"})
        return Answer("allow", min(codes), *tiers, would="deny", codes=codes, wide=wide)

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
            if any(unit.kind == "url" and url_maybe(entry.urls, unit) for unit in self.units):
                raise Denied("reserved")
            if any(unit.kind == "host" and on_host(entry.urls, unit) for unit in self.units):
                raise Denied("reserved")
        access = self.tool.accessible_by
        if access is not None and not any(name in access for name in (caller.name, *caller.roles)):
            raise Denied("not-accessible")

    # Step 4

    def permitted(self, caller: Caller) -> None:
        missing = [unit for unit in self.units if not self.permissions(caller, unit)]
        if missing:
            raise Denied(*("outside-root" if outside(unit) else "not-permitted" for unit in missing))

    def permissions(self, caller: Caller, unit: Unit) -> list[Rule | str]:
        """Everything that permits a unit. A must_ask does only where it asks (§7)."""
        rules = [rule for rule in caller.rules if rule.verb in ("may", "must_ask")]
        for grant in (*self.book.grants, *self.facts.grants):
            if grant.agent in (caller.name, *caller.roles) and self.before(grant.until):
                rules += grant.rules
        if self.capsule is not None and caller is self.caller:
            rules += self.capsule.grants
        rules = [rule for rule in rules if rule.verb != "must_ask" or self.touches(rule)]
        found: list[Rule | str] = [rule for rule in rules if self.covers(rule, unit)]
        access = self.tool.accessible_by
        named = access is not None and any(name in access for name in (caller.name, *caller.roles))
        if named and not outside(unit):
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
        codes: list[str] = []
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
        effects = {effect for unit in self.units for effect in unit.effects}
        for gate, before in self.book.gate_terms.items():
            waits = before.tier is not None and self.tier >= before.tier
            waits = waits or any(effect in effects for effect in before.effects)
            if waits and not any(gate in capsule.gates for capsule in self.capsules):
                raise Denied("gate-open")

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
                and any(labelled(label, u, paths.maybe) for u in self.units)
            ):
                tiers.append(label.tier)
        return max(tiers)

    def data_and_locks(self, caller: Caller) -> None:
        if self.data_tier_denied(caller):
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
            if unit.kind != "url" or not url_surely(apis, unit):
                codes.append("api-not-allowed")
        if unit.kind == "skill" and caller.skills is not None and unit.spellings[0] not in caller.skills:
            codes.append("skill-not-allowed")
        if unit.kind == "agent":
            other = self.book.callers.get(unit.spellings[0])
            if other is None or not self.present(other) or not hands_to(caller, other):
                codes.append("delegation-not-allowed")
        return codes

    def data_tier_binds(self) -> bool:
        """Whether data tier 3 denies, which is never only observed."""
        known = all(name in self.book.callers for name in self.call.context.chain)
        callers = (self.caller, *self.binding()) if known else (self.caller,)
        return self.data_tier == 3 and any(self.data_tier_denied(caller) for caller in callers)

    def data_tier_denied(self, caller: Caller) -> bool:
        tiers = caller.data_tiers
        return tiers is not None and self.data_tier not in tiers and not self.tier_granted(caller)

    def tier_granted(self, caller: Caller) -> bool:
        if self.data_tier not in (caller.data_tiers_with_grant or ()):
            return False
        if self.capsule is not None and self.data_tier in self.capsule.data_tiers:
            return True
        return not self.facts.store and self.data_tier in self.call.context.capsule_grants

    # Step 7

    def tier_of_call(self) -> int:
        own = self.tool.effect_tier
        tiers = [self.tool.tier if own is None else own]
        for unit in self.units:
            tiers += [self.book.effect_tiers[effect] for effect in unit.effects if own is None]
            for label in self.book.labels:
                raised = self.book.label_tiers.get(label.name)
                if raised is not None and unit.effects & set(raised.effects) and labelled(label, unit, paths.labelled):
                    tiers.append(raised.tier)
            scope = None if self.capsule is None else self.capsule.scope
            deletes = unit.kind == "path" and "delete" in unit.effects
            if deletes and (outside(unit) if scope is None else not paths.surely(unit, scope)):
                tiers.append(self.book.label_tiers["outside_scope"].tier)
            placed = self.book.environment_tiers.get(fold(self.call.context.environment or ""))
            if placed is not None and unit.effects & set(placed.effects):
                tiers.append(placed.tier)
        return max(tiers)

    def questions(self) -> tuple[list[Question], frozenset[str]]:
        """The questions that stay open, and what is missing before anybody can answer."""
        tier = self.book.tiers[self.tier]
        if tier.verdict == "deny":
            raise Denied("tier-denied")
        asked: list[Question] = []
        statement = self.call.statement
        complete = statement is not None and all((statement.intent, statement.because, statement.consequences))
        missing = tier.verdict == "ask" and tier.statement and not complete
        if tier.verdict == "ask":
            asked.append(Question("tier-asks", self.asked_of(tier.ask, tier.planned), tier.approvals, tier.separate))
        for caller in (self.caller, *self.binding()):
            for rule in caller.rules:
                if rule.verb == "must_ask" and self.touches(rule):
                    asked.append(Question("must-ask", self.asked_of(rule.ask, False), rule.approvals, rule.separate))
        for capsule in self.capsules:
            for rule in capsule.must_ask:
                if self.touches(rule):
                    asked.append(Question("must-ask", self.asked_of(rule.ask, False), rule.approvals, rule.separate))
        if self.tool.confirm:
            asked.append(Question("confirm-asks", "human"))
        approvals = [
            approval
            for approval in self.facts.approvals
            if approval.digest == self.digest
            and approval.by != self.call.agent
            and (approval.expires is None or self.before(approval.expires))
        ]
        if any(approval.answer == "refuse" for approval in approvals):
            raise Denied("refused")
        still_open = []
        issuers = {one.issued_by for one in self.capsules if one.issued_by is not None}
        people = {approval.by for approval in approvals if approval.of == "human" and self.may_approve(approval.by)}
        for question in asked:
            answered = any(approval.of == "agent" and self.answers(approval.by, question) for approval in approvals)
            able = people
            if question.separate:
                able = people - issuers if issuers else set()
            answered = answered or len(able) >= question.approvals
            by_tier = question.code == "tier-asks"
            alone = question.approvals == 1 and not question.separate
            if question.of == "human" and alone and self.tier <= 3 and not (by_tier and self.tier == 3):
                answered = answered or self.planned()
            if not answered:
                still_open.append(question)
        lacks = {"statement"} if missing and any(question.code == "tier-asks" for question in still_open) else set()
        if self.book.people and still_open:
            able = {name for name in self.book.people if self.may_approve(name)}
            if any(question.separate for question in still_open):
                able -= issuers
                lacks |= set() if issuers else {"task"}
            wanted = max(question.approvals for question in still_open)
            asked_people = any(question.of == "human" for question in still_open)
            lacks |= {"people"} if len(able) < wanted and asked_people else set()
        return still_open, frozenset(lacks)

    def may_approve(self, name: str) -> bool:
        """By the page: where the policy names people, one with the role, within what they may approve."""
        if not self.book.people:
            return True
        person = self.book.people.get(name)
        if person is None or not {"owner", "approver"} & set(person.roles):
            return False
        return not person.approves or any(map(self.within_approves, person.approves))

    def within_approves(self, one: Approves) -> bool:
        if one.tiers is not None and self.tier not in one.tiers:
            return False
        if one.agents is not None and not {self.caller.name, *self.caller.roles} & set(one.agents):
            return False
        if one.labels is not None:
            found = {
                label.name
                for unit in self.units
                for label in self.book.labels
                if (raised := self.book.label_tiers.get(label.name)) is not None
                and unit.effects & set(raised.effects)
                and labelled(label, unit, paths.labelled)
            }
            if not found or not found <= set(one.labels):
                return False
        for what, most in one.amount.items():
            tool, _, argument = what.partition(".")
            if tool != self.tool.name or argument not in self.tool.args:
                continue
            given = self.call.args.get(argument, self.tool.args[argument].default)
            if isinstance(given, bool) or not isinstance(given, (int, float)) or not 0 <= given * 1_000_000 <= most:
                return False
        return True

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
        planned = next((capsule for capsule in self.capsules if capsule.plan), None)
        if self.capsule is None or planned is None or "plan" not in planned.gates:
            return False
        return all(any(self.covers(item, unit) for item in planned.plan) for unit in self.units)

    # Step 8

    def obligations(self) -> frozenset[tuple[str, str | None]]:
        found: set[tuple[str, str | None]] = set()
        for unit in self.units:
            for caller in (self.caller, *self.binding()):
                written = unit.kind == "path" and "write" in unit.effects
                if written and all(map(new_only, self.permissions(caller, unit))):
                    found.add(("create-exclusively", unit.arg))
        for name in resolved_otherwise(self.tool, self.values, self.call, self.facts):
            found.add(("use-resolved-path", name))
        return frozenset(found)

    def observing(self) -> bool:
        enforce = self.caller.enforce
        return enforce is not None and enforce.observe_until is not None and self.before(enforce.observe_until)


def hands_to(giver: Caller, taker: Caller) -> bool:
    """Whether one caller may hand work to another."""
    names = (taker.name, *taker.roles)
    if giver.delegates_to is not None and any(name in giver.delegates_to for name in names):
        return True
    if taker.kind != "runner" or taker.called_by is None:
        return False
    return any(name in taker.called_by for name in (giver.name, *giver.roles))
