"""What was used of what a policy allows: what nobody uses, what is wider than its use, and what gets in the way.

found = usage(calls, rulebook, root, now=now)
found.coarse, found.narrow               # each with the change that would fit
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from remit.analyze.changes import flow
from remit.decide.preview import cell_of, covering
from remit.enforce.attempt import foreseen
from remit.explain.extent import rule_text
from remit.explain.matrix import tools_of
from remit.explain.suggest import Used, suggest
from remit.model.call import Call, Context
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.policy import Rule
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.record.past import PastCall
from remit.service.task_report import subject

OFTEN = 3
"""So many denials of one kind are often."""
SENSITIVE = (2, 3, "unknown")
"""Data tiers that somebody has to account for; `unknown` of what is not understood."""


class UnusedRule(msgspec.Struct, frozen=True):
    """A rule of an agent that no call of it needed, or tools of it that nobody called."""

    agent: str
    at: str
    rule: str
    tools: tuple[str, ...]
    whole: bool
    """None of its tools was used."""


class Coarse(msgspec.Struct, frozen=True):
    """A rule that allows more than what was used of it, and one that would fit."""

    agent: str
    at: str
    rule: str
    fits: str
    times: int
    last: str


class Narrow(msgspec.Struct, frozen=True, omit_defaults=True):
    """Calls of one kind that were denied often, and what would let them pass."""

    agent: str
    tool: str
    code: str
    times: int
    last: str
    examples: tuple[str, ...]
    fits: tuple[str, ...] = ()
    """Rules, each the smallest for one of the calls; for `grants:` of a task, or a standing grant."""
    policy: str | None = None
    """The same as lines of the policy, of the newest call."""
    advice: str | None = None
    """In words, where no rule would do."""
    passes: bool = False
    """The present policy allows the newest of them already."""


class AgentUse(msgspec.Struct, frozen=True):
    """What one agent did."""

    agent: str
    kind: str
    calls: int
    allowed: int
    asked: int
    denied: int
    changes: int
    """Allowed calls that did more than read."""
    last: str | None
    data: dict[str, int]
    """Allowed calls by data tier, of 2, 3 and unknown."""

    @property
    def only_reads(self) -> bool:
        """It was used, and changed nothing."""
        return self.allowed > 0 and not self.changes


class Usage(msgspec.Struct, frozen=True):
    """All of it."""

    calls: int
    agents: tuple[AgentUse, ...]
    unused: tuple[UnusedRule, ...]
    denials: dict[str, dict[str, int]]
    """By code, and then by agent and tool."""
    coarse: tuple[Coarse, ...]
    narrow: tuple[Narrow, ...]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        found["never_used"] = [one.agent for one in self.agents if not one.calls]
        found["only_read"] = [one.agent for one in self.agents if one.only_reads]
        return found


def usage(calls: Iterable[PastCall], rulebook: Rulebook, root: str, *, often: int = OFTEN) -> Usage:
    """What the calls say of the rulebook. Never raises: what can't be read again counts as it was recorded."""
    every = list(calls)
    used = [_used(past, root) for past in every if past.complete]
    return Usage(
        calls=len(every),
        agents=_agents(rulebook, every),
        unused=_unused(rulebook, used),
        denials=_denials(every),
        coarse=_coarse(rulebook, used),
        narrow=_narrow(rulebook, every, root, often),
    )


def _used(past: PastCall, root: str) -> Used:
    rest = past.call.context
    context = Context(cwd=rest.cwd, mode=rest.mode, environment=rest.environment, data_tier=rest.data_tier)
    call = Call(past.call.agent, past.call.tool, past.call.args, context)
    facts = Facts(now=past.at.split(".")[0] + "Z", root=root, confined=HELD)
    return Used(call, facts, past.at, past.decision, past.code, past.would)


def _agents(rulebook: Rulebook, every: list[PastCall]) -> tuple[AgentUse, ...]:
    by_agent: dict[str, list[PastCall]] = {
        name: [] for name, caller in rulebook.book.callers.items() if caller.kind != "role"
    }
    for past in every:
        if past.call.agent in by_agent:
            by_agent[past.call.agent].append(past)
    found = []
    for name, mine in by_agent.items():
        count = Counter(past.decision for past in mine)
        allowed = [past for past in mine if past.decision == "allow"]
        data = Counter(str(past.data_tier) for past in allowed if past.data_tier in SENSITIVE)
        found.append(
            AgentUse(
                agent=name,
                kind=rulebook.book.callers[name].kind,
                calls=len(mine),
                allowed=len(allowed),
                asked=count["ask"],
                denied=count["deny"],
                changes=sum(1 for past in allowed if not set(past.effects) <= {"read"}),
                last=max((past.at for past in mine), default=None),
                data=dict(sorted(data.items())),
            )
        )
    return tuple(found)


def _unused(rulebook: Rulebook, used: list[Used]) -> tuple[UnusedRule, ...]:
    needed: set[tuple[str, str, str]] = set()
    for one in used:
        cell = cell_of(rulebook, one.call.agent, one.call.tool)
        if cell is None or one.decision == "deny":
            continue
        try:
            _, bounds = covering(cell, one.call, one.facts)
        except NotUnderstood:
            continue
        needed |= {(cell.caller.name, bound.rule.at, cell.tool.name) for bound in bounds}
    found = []
    for agent, caller in rulebook.book.callers.items():
        if caller.kind == "role" or not caller.enabled:
            continue
        rules: dict[str, tuple[Rule, list[str]]] = {}
        for tool in tools_of(rulebook):
            cell = cell_of(rulebook, agent, tool)
            for bound in cell.may if cell is not None else ():
                rules.setdefault(bound.rule.at, (bound.rule, []))[1].append(tool)
        for at, (rule, tools) in rules.items():
            left = tuple(tool for tool in tools if (agent, at, tool) not in needed)
            if left:
                found.append(UnusedRule(agent, at, rule_text(rule), left, len(left) == len(tools)))
    return tuple(found)


def _denials(every: list[PastCall]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for past in every:
        if past.decision == "deny":
            found.setdefault(past.code, Counter())[f"{past.call.agent} {past.call.tool}"] += 1
    ordered = sorted(found.items(), key=lambda one: (-sum(one[1].values()), one[0]))
    return {code: dict(counts.most_common()) for code, counts in ordered}


def _coarse(rulebook: Rulebook, used: list[Used]) -> tuple[Coarse, ...]:
    allowed = [one for one in used if one.decision == "allow" and one.would is None]
    by_place = {rule.at: rule for caller in rulebook.book.callers.values() for rule in caller.rules}
    found = [
        Coarse(agent, line.at, rule_text(by_place[line.at]), _flat(line.rule), line.times, line.last)
        for agent, lines in suggest(rulebook, allowed).rules.items()
        for line in lines
        if line.narrower and line.at in by_place
    ]
    return tuple(found)


def _flat(rule: Any) -> str:
    text = flow(rule)
    return text[1:-1] if isinstance(rule, dict) else text


def _narrow(rulebook: Rulebook, every: list[PastCall], root: str, often: int) -> tuple[Narrow, ...]:
    groups: dict[tuple[str, str, str], list[PastCall]] = {}
    for past in every:
        if past.decision == "deny" and past.call.agent in rulebook.book.callers:
            groups.setdefault((past.call.agent, past.call.tool, past.code), []).append(past)
    found = []
    for (agent, tool, code), ones in groups.items():
        if len(ones) < often:
            continue
        examples = tuple(dict.fromkeys(subject(past) for past in reversed(ones)))[:3]
        last = max(past.at for past in ones)
        found.append(_fitting(rulebook, ones, Narrow(agent, tool, code, len(ones), last, examples), root))
    return tuple(sorted(found, key=lambda one: (-one.times, one.agent, one.tool)))


def _fitting(rulebook: Rulebook, ones: list[PastCall], narrow: Narrow, root: str) -> Narrow:
    """With the smallest changes by which these calls would pass, as the present policy says."""
    rules: dict[str, None] = {}
    policy = advice = None
    passes = False
    prefix = f"add to `may` of {narrow.agent}: "
    for past in reversed([past for past in ones if past.complete][-50:]):
        one = _used(past, root)
        decision = foreseen(rulebook, one.call, one.facts)
        passes = passes or decision.verdict.word != "deny"
        remedy = decision.remedy
        if decision.verdict.word == "deny" and remedy is not None:
            policy, advice = policy or remedy.policy, advice or remedy.text
            if remedy.policy is not None and remedy.text.startswith(prefix):
                rules[remedy.text.removeprefix(prefix)] = None
    fits = tuple(rules)[:5]
    replace = msgspec.structs.replace
    return replace(narrow, fits=fits, policy=policy, advice=None if fits else advice, passes=passes)
