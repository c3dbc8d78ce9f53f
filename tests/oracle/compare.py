"""Oracle and engine side by side over the generator's policies and calls.

    tally = compare(range(100))
    assert not tally.differences

    python -m tests.oracle.compare 1000000      # that many calls, on every core

What is compared: the verdict, the code, whom an ask is of and what is missing before anybody can answer, `would`, the
obligations of an allow, and from step 3 on both tiers. Where the page ranks several codes equally, any is right.

The engine may be stricter than brute force for a wide unit: inclusion and overlap of globs are decided soundly, not
completely, and the universe is finite. Those are counted as `stricter`. The other way round is a difference.
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from remit.decide import decide
from remit.decide.memo import memo_of
from remit.decide.questions import call_digest
from remit.model import Book, Call, Decision, Facts, PolicyError
from remit.model.policy import Tool
from tests.drawn import rulebook_of
from tests.oracle.generate import Draw
from tests.oracle.naive import Answer, naive_decide
from tests.oracle.naive_globs import Unfit

CALLS = 50
"""Calls for each policy."""

RANK = {"allow": 0, "ask": 1, "deny": 2}
EARLY = frozenset(
    {
        *("malformed-call", "unknown-agent", "agent-disabled", "unknown-tool", "undeclared-argument", "bad-url"),
        *("bad-email", "bad-account", "bad-host", "bad-date"),
        *("missing-argument", "mistyped-argument", "bad-path", "bad-glob", "outside-root", "halted", "protected"),
    }
)
"""Codes of steps 1 and 2, where the page says nothing about the tiers."""


UNREAD = frozenset(
    {"bad-path", "bad-glob", "bad-url", "outside-root", "bad-email", "bad-account", "bad-host", "bad-date"}
)
"""Texts that can't be read; of several in one call, the page doesn't say which is named."""


class Difference(NamedTuple):
    """A call on which the two don't agree; `replay` shows its policy."""

    seed: int
    turn: int
    tool: Tool | None
    call: Call
    facts: Facts
    engine: Answer
    oracle: Answer


class Tally:
    """What a run has seen."""

    def __init__(self) -> None:
        self.policies = 0
        self.unloadable = 0
        self.pairs = 0
        self.unfit = 0
        self.remembered = 0
        """Calls that the memo answered."""
        self.codes: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()
        self.stricter: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.differences: list[Difference] = []

    def add(self, other: Tally) -> None:
        self.policies += other.policies
        self.unloadable += other.unloadable
        self.pairs += other.pairs
        self.unfit += other.unfit
        self.remembered += other.remembered
        self.codes += other.codes
        self.verdicts += other.verdicts
        self.stricter += other.stricter
        self.known += other.known
        self.differences += other.differences

    def report(self) -> str:
        lines = [
            f"{self.pairs} calls compared, of {self.policies} policies ({self.unloadable} more did not load)",
            f"{self.unfit} calls left out: a wide unit that the universe has no path for",
            f"{self.remembered} of them answered from the memo too, all after other calls of the same cells",
            f"{len(self.differences)} differences; engine stricter for a wide unit: {self.stricter.total()}",
            f"verdicts: {dict(self.verdicts.most_common())}",
            f"codes: {dict(self.codes.most_common())}",
            f"stricter: {dict(self.stricter.most_common(20))}",
            f"known differences: {dict(self.known)}",
        ]
        return "\n".join(lines)


def compare(seeds: Iterable[int], calls: int = CALLS) -> Tally:
    """Policies and calls of these seeds: decided by the oracle, by the procedure, and from the memo."""
    tally = Tally()
    for seed in seeds:
        draw = Draw(seed)
        data = draw.policy()
        try:
            rulebook = rulebook_of(data)
        except PolicyError:
            tally.unloadable += 1
            continue
        tally.policies += 1
        met = [draw.call(rulebook, digest) for _ in range(calls)]
        for one in met * 2:  # each call comes after others of its cell, and once its cell is known for good
            decide(rulebook, *one)
        for turn, (call, facts) in enumerate(met):
            cold = decide(rulebook, call, facts, memo=False)
            remembered = memo_of(rulebook).find(call, facts)
            warm = decide(rulebook, call, facts)
            engine = answer(cold)
            try:
                oracle = naive_decide(rulebook.book, call, facts, digest(call, rulebook.hash, facts))
            except Unfit:
                tally.unfit += 1
                continue
            tally.pairs += 1
            tally.remembered += remembered is not None
            if engine.code != "rule-failed":
                tally.codes[engine.code] += 1
            tally.verdicts[engine.verdict] += 1
            same = cold == warm and remembered in (None, cold)
            if same and agree(engine, oracle):
                continue
            tool = tool_of(rulebook.book, call)
            difference = Difference(seed, turn, tool, call, facts, engine if same else answer(warm), oracle)
            reason = known(difference)
            if same and oracle.wide and stricter(engine, oracle):
                tally.stricter[f"{engine.code} for {oracle.code}"] += 1
            elif same and reason is not None:
                tally.known[reason] += 1
            else:
                tally.differences.append(difference)
    return tally


def digest(call: Call, policy: str, facts: Facts) -> str:
    """What binds an approval to a call. The page leaves its form open, so it is the engine's."""
    try:
        return call_digest(call, policy, facts)
    except (AttributeError, TypeError, ValueError):
        return "none"


def tool_of(book: Book, call: Call) -> Tool | None:
    """What a call names, for the list of known differences."""
    caller = book.callers.get(call.agent)
    own = caller.tools if caller is not None else {}
    for tool in (*own.values(), *book.tools.values()):
        if call.tool in (tool.name, *tool.aliases):
            return tool
    return None


def replay(seed: int, turn: int) -> tuple[dict[str, Any], Call, Facts]:
    """The policy and call of a difference, to look at."""
    draw = Draw(seed)
    data = draw.policy()
    rulebook = rulebook_of(data)
    for _ in range(turn):
        draw.call(rulebook, digest)
    return (data, *draw.call(rulebook, digest))


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
        missing=frozenset(decision.needs.missing if decision.needs is not None else ()),
    )


def agree(engine: Answer, oracle: Answer) -> bool:
    """Whether both say the same, as far as the page says it."""
    if (engine.verdict, engine.would) != (oracle.verdict, oracle.would):
        return False
    unread = engine.code in UNREAD and not UNREAD.isdisjoint({oracle.code, *oracle.codes})
    if engine.code != oracle.code and engine.code not in oracle.codes and not unread:
        return False
    if engine.verdict == "ask" and (engine.of not in oracle.ofs or engine.missing != oracle.missing):
        return False
    if engine.verdict == "allow" and engine.would is None and engine.obligations != oracle.obligations:
        return False
    if engine.verdict == "deny" and engine.code in EARLY:
        return True
    return (engine.tier, engine.data_tier) == (oracle.tier, oracle.data_tier)


def stricter(engine: Answer, oracle: Answer) -> bool:
    """Whether the engine refuses at least what the page refuses, or sees a higher tier, whatever that leads to."""
    if engine.tier > oracle.tier and "tier-asks" in (engine.code, oracle.code):
        return True
    mine, page = (RANK[one.would or one.verdict] for one in (engine, oracle))
    if engine.tier > oracle.tier and engine.data_tier >= oracle.data_tier and engine.code.startswith("tier-"):
        return True  # a policy may ask at a tier and deny at a lower one
    if RANK[engine.verdict] < RANK[oracle.verdict] or mine < page:
        return False
    if mine == 2 and engine.code in EARLY:
        return True
    return engine.tier >= oracle.tier and engine.data_tier >= oracle.data_tier


def known(difference: Difference) -> str | None:
    """Why the engine is known to differ here; each of these has a failing test in test_found.py. None is best."""
    return None


def compare_many(pairs: int, *, first_seed: int, say: Callable[[str], object] = print) -> Tally:
    """At least so many calls, on every core."""
    tally = Tally()
    said = 0
    chunks = (range(seed, seed + 25) for seed in itertools.count(first_seed, 25))
    with multiprocessing.get_context("spawn").Pool() as pool:
        while tally.pairs < pairs:
            some = list(itertools.islice(chunks, 4 * (multiprocessing.cpu_count() or 1)))
            for found in pool.imap_unordered(compare, some):
                tally.add(found)
                for one in found.differences:
                    say(str(one))
            if tally.pairs >= said + 50_000:
                said = tally.pairs
                say(f"{tally.pairs} compared, {len(tally.differences)} differences")
    return tally


if __name__ == "__main__":
    total = compare_many(int(sys.argv[1]), first_seed=1_000_000, say=lambda text: print(text, flush=True))
    print(total.report())
    sys.exit(bool(total.differences))
