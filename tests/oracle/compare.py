"""Oracle and engine side by side over the generator's policies and calls."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call, Decision, Facts, PolicyError, Rulebook
from tests.oracle.generate import Draw
from tests.oracle.naive import Answer, digest, naive_decide

CALLS = 50
"""Calls for each policy."""


class Difference(NamedTuple):
    """A call on which the two don't agree."""

    seed: int
    index: int
    policy: dict[str, Any]
    call: Call
    facts: Facts
    engine: Answer
    oracle: Answer


def answer(decision: Decision) -> Answer:
    """What the engine says, in the oracle's words."""
    return Answer(
        verdict=decision.verdict.word,
        code=decision.code,
        tier=decision.tier,
        data_tier=decision.data_tier,
        of=decision.needs.of if decision.needs is not None else None,
        obligations=frozenset((one.do, one.arg) for one in decision.obligations),
        would=decision.would,
        missing=decision.needs is not None and bool(decision.needs.missing),
    )
