"""The engine against the naive oracle, over random policies and calls."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from remit.decide import decide
from remit.model import PolicyError
from tests.drawn import rulebook_of
from tests.oracle.compare import CALLS, Tally, compare, compare_many, digest, replay
from tests.oracle.generate import Draw

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
CODES = frozenset(
    {
        *("malformed-call", "unknown-agent", "agent-disabled", "unknown-tool"),
        *("undeclared-argument", "missing-argument", "mistyped-argument"),
        *("bad-path", "bad-glob", "bad-url", "outside-root"),
        *("bad-email", "bad-account", "bad-host", "bad-date"),
        *("halted", "protected"),
        *("may-not", "reserved", "not-accessible", "not-permitted"),
        *("unknown-capsule", "broken-chain", "capsule-required", "capsule-ended", "capsule-constraint"),
        "gate-open",
        *("data-tier", "locked", "api-not-allowed", "skill-not-allowed", "delegation-not-allowed"),
        *("tier-denied", "tier-asks", "must-ask", "confirm-asks", "refused"),
    }
)
OBLIGATIONS = frozenset({"create-exclusively", "use-resolved-path"})
# What none of its calls meets: a failure inside, and a shell text (tests/decide, cases/shell.yaml; test_confined.py).
ELSEWHERE = frozenset({"rule-failed", "not-understood", "target-unknown", "project-code", "confine-unavailable"})
MARKS = frozenset({"not-anticipated"})  # of the trace
OTHER_WORDS = OBLIGATIONS | ELSEWHERE | MARKS

# Twelve parts of about 2,280 calls, which workers share evenly. Few tools have an argument that is a date or a skill:
# a part may miss that many codes, while the long run must meet each.
RARE = 2
PARTS = [range(start, start + 50) for start in range(0, 600, 50)]


def check(tally: Tally, least: int) -> None:
    """No difference, and nothing that would make that easy."""
    shown = "\n\n".join(map(str, tally.differences[:5]))
    first = tally.differences[0] if tally.differences else None
    policy = replay(first.seed, first.turn)[0] if first is not None else None
    assert not tally.differences, f"{tally.report()}\n\n{shown}\n\nthe policy of the first: {policy}"
    few = {code: tally.codes[code] for code in CODES if tally.codes[code] < least}
    assert len(few) <= (RARE if least == 1 else 0), few
    assert set(tally.codes) <= {*CODES, "allowed"}
    assert {word: n for word, n in tally.verdicts.items() if n < tally.pairs / 12} == {}
    assert tally.stricter.total() < tally.pairs / 100, tally.report()
    assert tally.known.total() < tally.pairs / 50, tally.report()
    assert tally.unfit < tally.pairs / 10
    assert tally.remembered >= tally.pairs * 0.4, tally.report()
    assert tally.unloadable < tally.policies * 0.2


@pytest.mark.sample(1)
@pytest.mark.parametrize("seeds", PARTS, ids=lambda seeds: f"{seeds.start}-{seeds.stop}")
def test_the_engine_decides_as_the_page_says(seeds: range) -> None:
    tally = compare(seeds)
    assert tally.pairs >= 25_000 / len(PARTS)
    check(tally, 1)


@pytest.mark.more
def test_the_calls_of_all_parts_meet_each_code_at_least_twice() -> None:
    """Each part may miss a rare one; all together may not."""
    met: Counter[str] = Counter()
    for seeds in PARTS:
        for seed in seeds:
            draw = Draw(seed)
            try:
                rulebook = rulebook_of(draw.policy())
            except PolicyError:
                continue
            met.update(decide(rulebook, *draw.call(rulebook, digest), memo=False).code for _ in range(CALLS))
    assert {code: met[code] for code in CODES if met[code] < 2} == {}


@pytest.mark.long
def test_the_engine_decides_a_million_calls_as_the_page_says() -> None:
    tally = compare_many(1_000_000, first_seed=1_000_000)
    print(tally.report())
    check(tally, 1000)


def test_the_codes_are_those_of_the_page() -> None:
    steps = PAGE.partition("## 6.")[2].partition("## 7.")[0]
    hyphenated = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", steps))
    assert hyphenated - OTHER_WORDS == {code for code in CODES if "-" in code}
    assert {code for code in CODES if f"`{code}`" not in steps} == set()
