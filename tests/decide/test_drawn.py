"""Whole decisions on drawn calls, compared to the letter by digest: words, rule, targets, trace and all.

The oracle says what the verdict, the code and the tiers must be; here nothing else may change unseen either. The
policies and calls are those that the oracle is asked about. `drawn.txt` has a digest for each policy. A change that is
meant writes them again, together with `whole.jsonl`; two runs of the second command, before and after, show what it
changes:

    python -m tests.decide.test_whole
    python -m tests.decide.test_drawn 17     # the decisions of policy 17, one in a line
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

import msgspec
import pytest

from remit.decide import decide
from remit.model import PolicyError
from tests.drawn import rulebook_of
from tests.oracle.compare import digest
from tests.oracle.generate import Draw

FILE = Path(__file__).parent / "drawn.txt"
SEEDS = range(2000, 2072)
CALLS = 60


def decisions(seed: int) -> list[str]:
    """The decisions on the calls of one policy as JSON, without the hash of the policy."""
    draw = Draw(seed)
    try:
        rulebook = rulebook_of(draw.policy())
    except PolicyError as error:
        return [str(error)]
    found = []
    for _ in range(CALLS):
        call, facts = draw.call(rulebook, digest)
        decision = decide(rulebook, call, facts, memo=False)
        trace = [line.text for line in decision.trace]
        rest = msgspec.structs.replace(decision, policy="", trace=())
        found.append(msgspec.json.encode([rest, trace]).decode())
    return found


def line(seed: int) -> str:
    return f"{seed} {hashlib.sha256(chr(10).join(decisions(seed)).encode()).hexdigest()[:16]}"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_drawn_decisions_are_as_they_were(seed: int) -> None:
    assert line(seed) in FILE.read_text().splitlines(), "meant? then: python -m tests.decide.test_whole"


def write() -> None:
    FILE.write_text("".join(f"{line(seed)}\n" for seed in SEEDS))


if __name__ == "__main__":
    print("\n".join(decisions(int(sys.argv[1]))))
