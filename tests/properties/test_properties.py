"""What holds for every policy and call (docs/semantics.md §8), over the oracle's generator."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
import pytest

from remit.decide import decide
from remit.decide.case import STEP
from remit.model import Call, Decision, Facts, PolicyError, Rulebook
from remit.model.policy import Enforce
from tests.drawn import rulebook_of
from tests.oracle.compare import EARLY, RANK, digest
from tests.oracle.generate import Draw

BINDING = frozenset(("halted", "protected", "data-tier", "target-unknown"))
"""What observing does not lift."""
STEP_ONE = EARLY - STEP.keys()
PARTS = [range(start, start + 20) for start in (20_000, 20_020, 30_000, 30_020)]
parts = pytest.mark.parametrize("seeds", PARTS, ids=["one", "two", "three", "four"])
pytestmark = pytest.mark.sample(1)


class Case(NamedTuple):
    """A policy, with a way to draw calls for it."""

    seed: int
    draw: Draw
    data: dict[str, Any]
    rulebook: Rulebook

    def calls(self, count: int = 25) -> Iterator[tuple[Call, Facts]]:
        for _ in range(count):
            yield self.draw.call(self.rulebook, digest)

    def changed(self, change: Callable[[Draw, dict[str, Any]], None]) -> Rulebook | None:
        """The rulebook of the policy with a change, if it loads."""
        data = copy.deepcopy(self.data)
        change(self.draw, data)
        try:
            return rulebook_of(data)
        except PolicyError:
            return None


def cases(seeds: range) -> Iterator[Case]:
    loaded = 0
    for seed in seeds:
        draw = Draw(seed)
        data = draw.policy()
        try:
            rulebook = rulebook_of(data)
        except PolicyError:
            continue
        loaded += 1
        yield Case(seed, draw, data, rulebook)
    assert loaded > len(seeds) / 2


def rebound(facts: Facts, call: Call, old: Rulebook, new: Rulebook) -> Facts:
    """The same facts, with the answers given under the new policy."""
    if not facts.approvals:
        return facts
    was, now = (digest(call, book.hash, facts) for book in (old, new))
    approvals = tuple(msgspec.structs.replace(one, digest=now) if one.digest == was else one for one in facts.approvals)
    return msgspec.structs.replace(facts, approvals=approvals)


def unanswered(facts: Facts) -> Facts:
    """The same facts, where nobody has answered anything: no approval, no plan that is passed."""
    capsules = {name: msgspec.structs.replace(one, gates=()) for name, one in facts.capsules.items()}
    return msgspec.structs.replace(facts, approvals=(), capsules=capsules)


def said(decision: Decision) -> tuple[Any, ...]:
    """All that a decision says, apart from positions in the policy and texts that quote it."""
    return (
        *(decision.verdict, decision.agent, decision.tool, decision.code, decision.tier, decision.data_tier),
        *(decision.effects, decision.grade, decision.would, decision.needs, decision.obligations),
    )


def rank(decision: Decision) -> int:
    return RANK[decision.verdict.word]


def somebody(draw: Draw, data: dict[str, Any]) -> dict[str, Any]:
    """One caller's entry in a policy."""
    group = data[draw.one([key for key in ("agents", "agents", "roles", "runners") if data.get(key)])]
    found: dict[str, Any] = group[draw.one(list(group))]
    return found


@parts
def test_adding_a_may_not_never_allows_more(seeds: range) -> None:
    stricter = 0

    def add(draw: Draw, data: dict[str, Any]) -> None:
        somebody(draw, data).setdefault("may_not", []).append(draw.entry("may_not", list(draw.tools)))

    for case in cases(seeds):
        more = case.changed(add)
        for call, facts in case.calls() if more is not None else ():
            assert more is not None
            before, after = (
                decide(case.rulebook, call, facts),
                decide(more, call, rebound(facts, call, case.rulebook, more)),
            )
            if before.would is None and after.would is None:
                assert rank(after) >= rank(before), (case.seed, call, facts, before, after)
            stricter += rank(after) > rank(before)
    assert stricter


@parts
def test_adding_a_must_ask_never_allows(seeds: range) -> None:
    asks = 0

    def add(draw: Draw, data: dict[str, Any]) -> None:
        tools = draw.open_tools() or list(draw.tools)
        entry = draw.entry("must_ask", tools)
        somebody(draw, data).setdefault("must_ask", []).append(entry)

    for case in cases(range(seeds.start, seeds.stop + 2 * len(seeds))):  # few of them meet the call's tool
        more = case.changed(add)
        for call, facts in case.calls() if more is not None else ():
            assert more is not None
            facts = unanswered(facts)
            before, after = decide(case.rulebook, call, facts), decide(more, call, facts)
            if before.verdict.word != "allow" and after.would is None:
                assert after.verdict.word != "allow", (case.seed, call, facts, before, after)
            asks += after.code == "must-ask" != before.code
    assert asks


TWO_ARGUMENTS = {"args": {"p": "path", "u": "url"}, "optional": ["u"], "does": {"write": "p", "network": "u"}}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "scope",
    [{"path": "docs/**", "except": {"path": "docs/a"}}, {"path": "docs/**", "url": "https://a.example/**"}],
    ids=["exception", "two parts"],
)
def test_a_must_ask_that_does_not_ask_does_not_permit(scope: dict[str, Any]) -> None:
    agent: dict[str, Any] = {"may": []}
    policy: dict[str, Any] = {"remit": 1, "tools": {"t": TWO_ARGUMENTS}, "agents": {"ann": agent}}
    call = Call("ann", "t", {"p": "docs/a"})
    assert decide(rulebook_of(policy), call).code == "not-permitted"
    agent["must_ask"] = [{"t": scope}]
    assert decide(rulebook_of(policy), call).verdict.word != "allow"


@parts
def test_the_order_does_not_matter(seeds: range) -> None:
    for case in cases(seeds):
        other = case.changed(lambda draw, data: shuffle(draw.random, data))
        assert other is not None
        assert other.hash == case.rulebook.hash, case.seed
        for call, facts in case.calls():
            assert said(decide(other, call, facts)) == said(decide(case.rulebook, call, facts)), (
                case.seed,
                call,
                facts,
            )


def shuffle(chance: random.Random, data: dict[str, Any]) -> None:
    """Another order of tools, callers, rules, grants and lists of names."""
    for key in ("tools", "roles", "agents", "runners", "labels"):
        if key in data:
            data[key] = dict(chance.sample(list(data[key].items()), len(data[key])))
    for key in ("grants", "protect"):
        chance.shuffle(data.get(key, []))
    for group in ("roles", "agents", "runners"):
        for record in data.get(group, {}).values():
            for key in ("may", "must_ask", "may_not", "roles", "delegates_to", "skills", "apis", "data_tiers"):
                chance.shuffle(record.get(key, []))


@parts
def test_a_chain_never_widens_an_agents_own_remit(seeds: range) -> None:
    chains = 0
    for case in cases(seeds):
        for call, facts in case.calls():
            if not call.context.chain:
                continue
            facts = msgspec.structs.replace(facts, approvals=())
            alone = msgspec.structs.replace(call, context=msgspec.structs.replace(call.context, chain=()))
            before, after = decide(case.rulebook, alone, facts), decide(case.rulebook, call, facts)
            if before.would is None and after.would is None:
                assert rank(after) >= rank(before), (case.seed, call, facts, before, after)
            chains += after.code not in EARLY
    assert chains


@parts
def test_adding_an_agent_changes_nobody_elses_decisions(seeds: range) -> None:
    compared = 0

    def add(draw: Draw, data: dict[str, Any]) -> None:
        newcomer = draw.record(draw.open_tools(), [])
        data["agents"] = {"eve": {"may": [], **newcomer, "roles": draw.some(draw.roles, 0, 2)}, **data["agents"]}

    for case in cases(seeds):
        more = case.changed(add)
        for call, facts in case.calls() if more is not None else ():
            assert more is not None
            before, after = (
                decide(case.rulebook, call, facts),
                decide(more, call, rebound(facts, call, case.rulebook, more)),
            )
            assert said(before) == said(after), (case.seed, call, facts)
            compared += 1
    assert compared


@parts
def test_observing_lifts_nothing_that_binds(seeds: range) -> None:
    observed = 0
    for case in cases(seeds):
        book = case.rulebook.book
        enforced, observing = (
            Rulebook(
                msgspec.structs.replace(
                    book,
                    callers={n: msgspec.structs.replace(c, enforce=Enforce(until)) for n, c in book.callers.items()},
                ),
                case.rulebook.hash,
            )
            for until in (None, "2030-01-01T00:00:00Z")
        )
        for call, facts in case.calls():
            before, after = decide(enforced, call, facts), decide(observing, call, facts)
            assert before.would is None
            if after.code == "rule-failed" and any(name not in book.callers for name in call.context.chain):
                continue  # known, see test_found.py
            if (after.verdict.word, after.code, after.data_tier) == ("deny", "data-tier", 3):
                assert before.verdict.word != "allow"  # data tier 3 binds, whatever else would have denied first
                continue
            if after.code != before.code and before.verdict.word != "allow":  # what can be told of it binds
                assert after.code in BINDING, (case.seed, call, facts)
                assert after.verdict.word != "allow", (case.seed, call, facts)
                continue
            assert before.code == after.code, (case.seed, call, facts)
            if before.code in STEP_ONE and after.would is not None:  # what the policy doesn't know is only recorded
                assert (after.verdict.word, after.would) == ("allow", "deny")
            elif before.code in EARLY - {"outside-root"} or facts.now is None:
                assert said(before) == said(after), (case.seed, call, facts)
            elif after.would is not None:
                assert (after.verdict.word, after.would) == ("allow", before.verdict.word)
                observed += 1
            elif before.verdict.word != "allow":
                assert before.code in EARLY, (case.seed, call, facts, before)
    assert observed


def test_data_tier_three_binds_while_observing_whatever_else_would_deny() -> None:
    agent = {"may": [], "data_tiers": [0], "enforce": {"observe": {"until": "2030-01-01"}}}
    tool = {"args": {"p": "path"}, "does": {"read": "p"}}
    labels = {"data": {"3": {"path": "secrets/**"}}}
    rulebook = rulebook_of({"remit": 1, "tools": {"t": tool}, "labels": labels, "agents": {"ann": agent}})
    decision = decide(rulebook, Call("ann", "t", {"p": "secrets/a"}), Facts(now="2026-01-01T00:00:00Z"))
    assert decision.verdict.word == "deny"


@parts
def test_deciding_is_deterministic_and_changes_no_input(seeds: range) -> None:
    for case in cases(seeds):
        again = rulebook_of(case.data)
        assert again.hash == case.rulebook.hash
        book = msgspec.json.encode(case.rulebook.book)
        for call, facts in case.calls():
            inputs = (repr(call), repr(facts))
            first = decide(case.rulebook, call, facts)
            assert decide(case.rulebook, call, facts) == first
            assert decide(again, copy.deepcopy(call), copy.deepcopy(facts)) == first
            assert (repr(call), repr(facts)) == inputs
        assert msgspec.json.encode(case.rulebook.book) == book


@parts
def test_adding_a_halt_never_allows(seeds: range) -> None:
    halted = 0
    for case in cases(seeds):
        for call, facts in case.calls():
            name = case.draw.one(("system", "capsule:C1", "capsule:C2", *case.draw.everybody))
            more = msgspec.structs.replace(facts, halts=facts.halts | {name})
            before, after = decide(case.rulebook, call, facts), decide(case.rulebook, call, more)
            assert rank(after) >= rank(before), (case.seed, call, facts, name)
            assert after.code == "halted" or said(after) == said(before), (case.seed, call, facts, name)
            halted += after.code == "halted" != before.code
    assert halted


@parts
def test_a_grant_that_is_over_or_has_no_clock_does_not_help(seeds: range) -> None:
    dead = 0
    for case in cases(seeds):
        for call, facts in case.calls(40):
            now = facts.now
            alive = tuple(grant for grant in facts.grants if now is not None and now < grant.until)
            if alive == facts.grants:
                continue
            without = msgspec.structs.replace(facts, grants=alive)
            assert said(decide(case.rulebook, call, without)) == said(decide(case.rulebook, call, facts)), (
                case.seed,
                call,
            )
            dead += 1
    assert dead
