"""Cells against decisions, over random policies and calls: what is shown as denied is never let through."""

from __future__ import annotations

from typing import Any

import pytest

from remit.decide import decide
from remit.explain.cells import ALLOWED, DENIED
from remit.explain.matrix import cell_for
from remit.model.errors import PolicyError
from remit.model.facts import Facts
from tests.drawn import rulebook_of
from tests.oracle.compare import digest
from tests.oracle.generate import Draw

# A cell shows ✅ only where no rule stands in the way; the chain and what a call touches are not in it.
BY_RULE = {"not-permitted", "may-not", "must-ask", "not-accessible", "confirm-asks", "locked"}
CALLS = 30


def compare(seed: int) -> int:
    """How many calls of one random policy were compared."""
    draw = Draw(seed)
    try:
        rulebook = rulebook_of(draw.policy())
    except PolicyError:
        return 0
    compared = 0
    for _ in range(CALLS):
        call, facts = draw.call(rulebook, digest)
        if granted(facts) or empty_list(call.args):
            continue
        decision = decide(rulebook, call, facts)
        cell = cell_for(rulebook, call.agent, call.tool, facts.now)
        where = (seed, call, cell, decision)
        if cell.symbol == DENIED:
            assert decision.verdict.word == "deny" or decision.would is not None, where
        elif cell.symbol == ALLOWED and not call.context.chain:
            assert decision.code not in BY_RULE, where
        compared += 1
    return compared


def granted(facts: Facts) -> bool:
    """Facts can permit more than is written, and a task can ask more."""
    return bool(facts.grants) or any(capsule.grants or capsule.must_ask for capsule in facts.capsules.values())


def empty_list(value: Any) -> bool:
    """A call that repeats something zero times does nothing with it."""
    if isinstance(value, dict):
        return any(empty_list(item) for item in value.values())
    return isinstance(value, list) and (not value or any(empty_list(item) for item in value))


@pytest.mark.sample(1)
@pytest.mark.parametrize("first", [0, 50, 100])
def test_cells_agree_with_decisions_on_random_policies(first: int):
    assert sum(compare(seed) for seed in range(first, first + 50)) > 700


@pytest.mark.long
def test_cells_agree_with_decisions_on_many_random_policies():
    assert sum(compare(seed) for seed in range(150, 5_000)) > 60_000
