"""What the memo rests on: the procedure can't tell apart two calls that agree in what it has noted.

For each call the procedure says what it looked at. Then everything else is changed, to what another call or other
facts have there, and the decision must stay the same to the last letter: by the procedure, and from the memo.
"""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from remit.decide import decide
from remit.decide.engine import judged, malformed
from remit.decide.memo import memo_of
from remit.decide.view import Noted, Seen
from remit.model import Call, Context, Decision, Facts, Statement
from tests.properties.test_properties import PARTS, Case, cases, parts

replace = msgspec.structs.replace
EARLIEST, LATEST = "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
STATED = Statement("i", "b", "c")


def looked(case: Case, call: Call, facts: Facts) -> tuple[Decision, Noted] | None:
    """The decision of the procedure, and what it looked at; None for what never came so far."""
    if type(call.args) is not dict or type(call.context) is not Context or malformed(call) is not None:
        return None
    seen = Seen(call, facts)
    decision = judged(case.rulebook, call, seen)
    return (decision, seen.noted) if seen.whole and not seen.noted.once else None


def otherwise(chance: random.Random, call: Call, facts: Facts, noted: Noted, other: Call, known: Facts) -> Any:
    """The call and its facts, with all that was not noted as in others."""
    context = {name: getattr(other.context, name) for name in Context.__struct_fields__ if name not in noted.context}
    args = {name: value if name in noted.args else changed(chance, value) for name, value in call.args.items()}
    changes: dict[str, Any] = {"context": replace(call.context, **context), "args": args, "id": "another"}
    if not noted.stated:
        changes["statement"] = chance.choice([None, STATED, Statement("i")])
    elif call.stated:
        changes["statement"] = Statement("other", "words", "altogether")
    special = {"now", "resolved", "capsules"}
    news = {
        name: getattr(known, name)
        for name in Facts.__struct_fields__
        if name not in noted.facts and name not in special and name != "approvals"
    }
    if not noted.now:
        news["now"] = chance.choice([None, EARLIEST, LATEST])
    elif facts.now is not None:
        news["now"] = (
            noted.since or EARLIEST if chance.random() < 0.5 or noted.until is None else just_before(noted.until)
        )
    if "resolved" not in noted.facts:
        news["resolved"] = chance.choice([None, {}, {"x": "/y"}])
    elif facts.resolved is not None and noted.resolved is not None:
        kept = {text: real for text, real in noted.resolved.items() if real is not None}
        news["resolved"] = {**{text: "/z" for text in facts.resolved if text not in noted.resolved}, **kept, "/q": "/r"}
    if not any(name in noted.capsules for name in known.capsules):
        asked = {name: one for name, one in noted.capsules.items() if one is not None}
        news["capsules"] = {**known.capsules, **asked}
    return replace(call, **changes), replace(facts, **news)


def changed(chance: random.Random, value: Any) -> Any:
    """Another value of the same type."""
    if type(value) is bool:
        return not value
    if type(value) is int:
        return chance.randrange(-5, 10**6)
    return f"{value} {chance.random()}" if type(value) is str else value


def just_before(moment: str) -> str:
    """The last text before the moment, as far as comparing goes."""
    return moment[:-1] + chr(ord(moment[-1]) - 1) + "z"


@pytest.mark.sample(2)
@parts
def test_what_was_not_noted_makes_no_difference(seeds: range) -> None:
    tried = shared = 0
    for case in cases(seeds):
        chance = random.Random(case.seed)  # noqa: S311 - the same on every run
        drawn = [*case.calls(20)]
        for call, facts in drawn:
            found = looked(case, call, facts)
            if found is None:
                continue
            decision, noted = found
            for _ in range(3):
                other, known = chance.choice(drawn)
                if type(other.context) is not Context:
                    continue
                twin, facts_of_twin = otherwise(chance, call, facts, noted, other, known)
                tried += 1
                where = (case.seed, call, facts, twin, facts_of_twin)
                assert decide(case.rulebook, twin, facts_of_twin, memo=False) == decision, where
                decide(case.rulebook, call, facts)
                remembered = memo_of(case.rulebook).find(twin, facts_of_twin)
                assert remembered in (None, decision), where
                shared += remembered is not None
    assert tried > 500
    assert shared > tried * 0.4  # the memo is as wide as what was noted, or its shape is


class Hostile:
    """Facts that raise for whatever was not noted the first time."""

    def __init__(self, facts: Facts, noted: Noted) -> None:
        self.facts = facts
        self.names = {*noted.facts, *(("now",) if noted.now else ()), *(("capsules",) if noted.capsules else ())}

    def __getattr__(self, name: str) -> Any:
        if name not in self.names:
            raise AssertionError(f"{name} was not noted")
        return getattr(self.facts, name)


@pytest.mark.parametrize("seeds", PARTS[:1], ids=["one"])
def test_nothing_else_is_even_read(seeds: range) -> None:
    tried = 0
    for case in cases(seeds):
        for call, facts in case.calls(20):
            found = looked(case, call, facts)
            if found is None:
                continue
            tried += 1
            hostile: Any = Hostile(facts, found[1])
            assert judged(case.rulebook, call, Seen(call, hostile)) == found[0]
    assert tried > 200


def test_drawn_facts_vary_in_what_matters() -> None:
    """The generator's facts have each field that the changes above take from others."""
    seen: set[str] = set()
    for case in cases(PARTS[0]):
        for _, facts in case.calls(20):
            seen |= {name for name in Facts.__struct_fields__ if getattr(facts, name) != getattr(Facts(), name)}
    assert {"now", "root", "resolved", "halts", "capsules", "grants", "approvals", "registry", "store"} <= seen
