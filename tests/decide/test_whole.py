"""Whole decisions, compared to the letter: words, rule, targets, trace and all.

They are those on every call of `cases/`, and on what `whole.yaml` adds. `whole.jsonl` has them without what is usual,
a line for each call; callers of `whole.yaml` that get the same decision share one, where CALLER is their name. After
a change that is meant:

    python -m tests.decide.test_whole      # writes it again; look at the difference
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from remit.compile import build_rulebook
from remit.compile.facts import facts_from
from remit.decide import decide
from remit.declare.nodes import from_python, parse
from remit.enforce.paths import look_up, open_root
from remit.forms.texts import plain
from remit.model import Call, CallError, Facts, Rulebook
from remit.model.trace import Note
from remit.model.wire import call_from, decode_call
from remit.testing.conformance import ROOT, Situation, situations, with_digests

HERE = Path(__file__).parent
CASES = HERE.parents[1] / "cases"
FILE = HERE / "whole.jsonl"
USUAL: dict[str, Any] = {"approval": None, "data_tier": 0, "grade": "understood", "needs": None, "obligations": []}
USUAL |= {"remedy": None, "rule": None, "tier": 0, "violation": False, "would": None, "effects": [], "targets": []}
LEFT_OUT = ("policy", "ledger", "agent")


class Asked(NamedTuple):
    """One call, under one rulebook."""

    name: str
    """Within its group."""
    caller: str
    """Of those who make the same call; empty where only one does."""
    rulebook: Rulebook
    call: Call
    facts: Facts


def of_case(situation: Situation) -> Iterator[Asked]:
    """The calls of a situation of `cases/`, as far as they can be read."""
    rulebook = build_rulebook(situation.policy)
    given = facts_from(rulebook, from_python(with_digests(situation.facts, rulebook), "facts"))
    _, facts = open_root(ROOT, ROOT / "remit.yaml", given)
    for data in situation.calls:
        with contextlib.suppress(CallError):
            call = decode_call(json.dumps(data).encode())
            yield Asked(str(call.id), "", rulebook, call, look_up(rulebook, call, facts))


def of_more(situation: dict[str, Any]) -> Iterator[Asked]:
    """The calls of a situation of `whole.yaml`, each by all of its callers."""
    policy, known = situation["policy"], situation.get("known", {})
    rulebook = build_rulebook(policy)
    written = facts_from(rulebook, from_python(situation["facts"], "facts"))
    other = msgspec.convert(known, Facts)
    facts = msgspec.structs.replace(written, **{name: getattr(other, name) for name in known})
    for agent in (*policy["agents"], *policy.get("runners", {})):
        for number, data in enumerate(situation["each"]):
            call = call_from({"agent": agent, **data})
            yield Asked(str(number), agent, rulebook, call, facts)


MORE: list[dict[str, Any]] = plain(parse((HERE / "whole.yaml").read_text(encoding="utf-8"), "whole.yaml"))["situations"]
GROUPS: dict[str, Callable[[], Iterator[Asked]]] = {
    one.name: functools.partial(of_case, one) for one in situations(CASES)
}
GROUPS |= {one["name"]: functools.partial(of_more, one) for one in MORE}


def shown(asked: Asked) -> str:
    """A decision as JSON."""
    _, caller, rulebook, call, facts = asked
    decision = decide(rulebook, call, facts, memo=False)
    assert decide(rulebook, call, facts) == decide(rulebook, call, facts) == decision
    found = msgspec.json.decode(msgspec.json.encode(decision.for_call(call.args)))
    unusual = {key: value for key, value in found.items() if key not in LEFT_OUT and value != USUAL.get(key)}
    notes = {Note(None, said) for said in facts.notes}
    trace = [one.text for one in decision.trace if one not in notes]
    text = json.dumps({**unusual, "verdict": decision.verdict.word, "trace": trace}, ensure_ascii=False)
    return re.sub(rf"\b{caller}\b", "CALLER", text) if caller else text


def lines(group: str) -> list[str]:
    """The lines of the file about one group: call, callers, decision."""
    found: dict[tuple[str, str], list[str]] = {}
    for asked in GROUPS[group]():
        found.setdefault((asked.name, shown(asked)), []).append(asked.caller)
    return [json.dumps([group, name, " ".join(callers)])[:-1] + f", {text}]" for (name, text), callers in found.items()]


@functools.cache
def written() -> dict[str, list[str]]:
    """The lines of the file, by group."""
    found: dict[str, list[str]] = {}
    for text in FILE.read_text(encoding="utf-8").splitlines():
        found.setdefault(json.loads(text)[0], []).append(text)
    return found


def test_no_group_is_left_over() -> None:
    assert [group for group in written() if group not in GROUPS] == []


@pytest.mark.parametrize("group", GROUPS)
def test_the_whole_decision(group: str) -> None:
    assert sorted(lines(group)) == sorted(written().get(group, [])), "meant? then: python -m tests.decide.test_whole"


if __name__ == "__main__":
    from tests.decide import test_drawn

    test_drawn.write()
    FILE.write_text("".join(f"{text}\n" for group in GROUPS for text in lines(group)), encoding="utf-8")
