"""Reach against brute force: every chain that there is, and `decide` itself."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from remit.analyze import reach as ways
from remit.analyze.reach import Way, ways_from
from remit.decide import decide
from remit.decide.steps import hands_to
from remit.explain.reach import reach_of
from remit.model.call import Call, Context
from remit.model.facts import Facts
from remit.model.rulebook import Book, Rulebook
from remit.model.terms import DENY, MAX_CHAIN
from tests.drawn import rulebook_of

TOOLS = {
    f"t{i}": {"args": {}, "does": {effect: f"https://h{i}.example/**"}}
    for i, effect in enumerate(("network", "publish", "deploy", "network"))
}


def team(seed: int) -> Rulebook:
    """A random policy: who may what, who hands work to whom, whose limits bind."""
    chance = random.Random(seed)  # noqa: S311
    names = [f"a{i}" for i in range(chance.randint(2, 5))]
    roles = ["r0", "r1"]
    agents: dict[str, Any] = {}
    for name in names:
        mine: dict[str, Any] = {"may": chance.sample(sorted(TOOLS), chance.randint(0, 4))}
        if chance.random() < 0.3:
            mine["may_not"] = [{chance.choice(sorted(TOOLS)): {}}]
        if chance.random() < 0.8:
            mine["delegates_to"] = chance.sample([*names, *roles], chance.randint(0, 3))
        if chance.random() < 0.4:
            mine["delegate_within"] = "chain"
        if chance.random() < 0.4:
            mine["roles"] = chance.sample(roles, 1)
        if chance.random() < 0.1:
            mine["enabled"] = False
        agents[name] = mine
    runner = {"may": ["t2"], "called_by": chance.sample([*names, *roles], 1)}
    policy: dict[str, Any] = {"remit": 1, "tools": TOOLS, "roles": {role: {} for role in roles}}
    policy["agents"], policy["runners"] = agents, {"R": runner}
    if chance.random() < 0.3:
        policy["reserved"] = {"op": {"tools": ["t2"], "runner": "R"}}
    return rulebook_of(policy)


def chains(book: Book, start: str) -> Iterator[tuple[str, ...]]:
    """Every way without going round, as the names along it, the start first."""
    waiting: list[tuple[str, ...]] = [(start,)] if book.callers[start].enabled else []
    while waiting:
        line = waiting.pop()
        if len(line) > 1:
            yield line
        if len(line) <= MAX_CHAIN:
            giver = book.callers[line[-1]]
            for taker in book.callers.values():
                if taker.enabled and taker.name not in line and hands_to(giver, taker):
                    waiting.append((*line, taker.name))


def binding(book: Book, chain: tuple[str, ...]) -> frozenset[str]:
    last = max((i for i, name in enumerate(chain) if book.callers[name].delegate_within == "chain"), default=-1)
    return frozenset(chain[: last + 1])


@pytest.mark.parametrize("seed", range(150))
def test_whom_each_hands_work_to(seed: int) -> None:
    callers = team(seed).book.callers
    assert ways.direct_takers(team(seed).book) == {
        name: [
            other.name for other in callers.values() if other.enabled and other is not giver and hands_to(giver, other)
        ]
        for name, giver in callers.items()
    }


@pytest.mark.parametrize("seed", range(150))
def test_the_ways_are_those_that_bind_least(seed: int) -> None:
    book = team(seed).book
    for start in book.callers:
        expected: dict[str, set[frozenset[str]]] = {}
        for line in chains(book, start):
            expected.setdefault(line[-1], set()).add(binding(book, line[:-1]))
        least = {
            name: {one for one in sets if not any(other < one for other in sets)} for name, sets in expected.items()
        }
        found = ways_from(book, start)
        assert found.complete
        assert {name: {frozenset(way.bound) for way in mine} for name, mine in found.by_name.items()} == least
        for mine in found.by_name.values():
            for way in mine:
                assert (*way.chain, way.to) in set(chains(book, start))
                assert frozenset(way.bound) == binding(book, way.chain)


@pytest.mark.sample(40)
@pytest.mark.parametrize("seed", range(150))
def test_what_is_added_is_what_decide_lets_through(seed: int) -> None:
    rulebook = team(seed)
    facts = Facts(now="2026-11-16T00:00:00Z")

    def passes(agent: str, tool: str, chain: tuple[str, ...]) -> bool:
        call = Call(agent, tool, {}, Context(chain=chain))
        return decide(rulebook, call, facts).verdict is not DENY

    for start, caller in rulebook.book.callers.items():
        own = {tool for tool in TOOLS if passes(start, tool, ())}
        expected: dict[str, set[str]] = {}
        for line in chains(rulebook.book, start):
            through = {tool for tool in TOOLS if passes(line[-1], tool, line[:-1])}
            expected.setdefault(line[-1], set()).update(through - own)
        found = reach_of(rulebook, start)
        assert set(found.own_tools) == own, caller
        assert {one.name: {added.tool for added in one.adds} for one in found.through} == expected


def test_two_ways_that_bind_different_agents_both_count() -> None:
    agents: dict[str, Any] = {
        "a": {"may": ["t0", "t1"], "delegates_to": ["b", "c"]},
        "b": {"may": ["t0"], "delegates_to": ["m"]},
        "c": {"may": ["t1"], "delegates_to": ["m"]},
        "m": {"may": ["t0", "t1"], "delegates_to": ["t"], "delegate_within": "chain"},
        "t": {"may": ["t0", "t1"]},
    }
    book = rulebook_of({"remit": 1, "tools": TOOLS, "agents": agents}).book
    found = {frozenset(way.bound) for way in ways_from(book, "a").by_name["t"]}
    assert found == {frozenset("abm"), frozenset("acm")}


def test_no_chain_is_longer_than_a_chain_may_be() -> None:
    count = MAX_CHAIN + 4
    agents: dict[str, Any] = {f"a{i}": {"may": [], "delegates_to": [f"a{i + 1}"]} for i in range(count)}
    agents[f"a{count}"] = {"may": ["t0"]}
    rulebook = rulebook_of({"remit": 1, "tools": TOOLS, "agents": agents})
    found = ways_from(rulebook.book, "a0")
    assert set(found.by_name) == {f"a{i}" for i in range(1, MAX_CHAIN + 1)}
    assert len(found.by_name[f"a{MAX_CHAIN}"][0].chain) == MAX_CHAIN
    last = Call(f"a{MAX_CHAIN}", "t0", {}, Context(chain=tuple(f"a{i}" for i in range(MAX_CHAIN))))
    assert decide(rulebook, last, Facts()).code != "broken-chain"


def test_too_many_ways_overstate_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"a{i}" for i in range(10)]
    agents: dict[str, Any] = {name: {"may": [], "delegates_to": names} for name in names}
    agents["a3"]["delegate_within"] = "chain"
    book = rulebook_of({"remit": 1, "tools": TOOLS, "agents": agents}).book
    exact = ways_from(book, "a0")
    assert exact.complete
    monkeypatch.setattr(ways, "MOST_WAYS", 5)
    rough = ways_from(book, "a0")
    assert not rough.complete
    assert rough.by_name.keys() == exact.by_name.keys()
    assert all(way.bound == () for mine in rough.by_name.values() for way in mine)


def test_a_start_that_binds_binds_all_even_where_it_is_overstated(monkeypatch: pytest.MonkeyPatch) -> None:
    agents = {"a0": {"may": [], "delegates_to": ["a1"], "delegate_within": "chain"}, "a1": {"may": ["t0"]}}
    book = rulebook_of({"remit": 1, "tools": TOOLS, "agents": agents}).book
    monkeypatch.setattr(ways, "MOST_WAYS", 0)
    assert ways_from(book, "a0").by_name == {"a1": (Way("a1", ("a0",), ("a0",)),)}


def test_many_who_all_hand_to_all_take_no_time() -> None:
    names = [f"a{i}" for i in range(40)]
    agents: dict[str, Any] = {
        name: {"may": [], "delegates_to": names, **({"delegate_within": "chain"} if i % 3 == 0 else {})}
        for i, name in enumerate(names)
    }
    found = ways_from(rulebook_of({"remit": 1, "tools": TOOLS, "agents": agents}).book, "a1")
    assert len(found.by_name) == 39
    assert all(mine[0].bound == () for mine in found.by_name.values())


def test_somebody_who_is_disabled_hands_on_nothing() -> None:
    agents: dict[str, Any] = {"a": {"may": [], "delegates_to": ["b"], "enabled": False}, "b": {"may": ["t0"]}}
    assert ways_from(rulebook_of({"remit": 1, "tools": TOOLS, "agents": agents}).book, "a").by_name == {}


def test_limits_that_differ_are_further() -> None:
    tools = {"write": {"args": {"file": "path"}, "does": {"write": "file"}, "tier": 1}}
    agents: dict[str, Any] = {
        "a": {"may": [{"write": {"path": "docs/**"}}], "delegates_to": ["same", "other", "free"]},
        "same": {"may": [{"write": {"path": "docs/**"}}]},
        "other": {"may": [{"write": {"path": ".github/**"}}]},
        "free": {"may": ["write"], "locks": {"may": ["docs/**"]}},
    }
    found = {
        one.name: one for one in reach_of(rulebook_of({"remit": 1, "tools": tools, "agents": agents}), "a").through
    }
    assert found["same"].adds == ()
    [other] = found["other"].adds
    assert (other.why, other.tier, found["other"].tier) == ("further", 3, 3)
    assert found["free"].adds[0].why == "further"
