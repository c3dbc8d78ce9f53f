"""Which step an objection is of: the page says it, observing depends on it, and the trace shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.compile.facts import facts_from
from remit.decide import decide
from remit.decide.case import STEP
from remit.declare.nodes import from_python
from remit.enforce.paths import look_up
from remit.model import CallError
from remit.model.trace import Note
from remit.model.wire import decode_call
from remit.testing.conformance import Situation
from tests.decide.kit import ask, book, may, outcome
from tests.test_cases import SITUATIONS

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
STEPS = {
    int(number): frozenset(re.findall(r"`([a-z-]+)`", text))
    for number, text in re.findall(r"^### Step (\d)[^\n]*\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
}
SAID = {
    r"prohibited by |reserved: |accessible_by of ": 3,
    r".* covered by | *not by ": 4,
    r"bound by |chain ": 5,
    r"data tier \d granted": 6,
    r"tier \d|anticipated by |not-anticipated": 7,
}
"""How lines of the trace begin, and whose they are."""
NOW, LATER = "2026-11-15T12:00:00Z", "2027-01-01T00:00:00Z"


def observing(policy: dict[str, Any]) -> dict[str, Any]:
    """The policy, with nothing but observation for every agent."""
    agents = {name: {**record, "enforce": {"observe": {"until": LATER}}} for name, record in policy["agents"].items()}
    return {**policy, "agents": agents}


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_an_objection_is_of_the_step_that_has_its_code(situation: Situation) -> None:
    rulebook = build_rulebook(observing(situation.policy))
    given = {key: value for key, value in situation.facts.items() if key != "approvals"}
    facts = facts_from(rulebook, from_python({**given, "now": NOW}, "facts"))
    for data in situation.calls:
        try:
            call = decode_call(json.dumps(data).encode())
        except CallError:
            continue
        decision = decide(rulebook, call, look_up(rulebook, call, facts))
        for line in decision.trace:
            found = [step for words, step in SAID.items() if re.match(words, line.text.partition(" ")[2])]
            assert not found or found == [line.step], line
        if call.agent not in situation.policy["agents"]:
            continue  # only agents are observed
        if decision.would is None:
            assert decision.code == "allowed" or decision.code in STEPS[1] | STEPS[2] | {
                "data-tier",
                "target-unknown",
            }, decision
            continue
        (of,) = [line.step for line in decision.trace if isinstance(line, Note) and line.said.startswith("observed")]
        assert of is not None
        assert of != 2
        assert decision.code in STEPS[of], decision.trace


def test_every_step_has_codes() -> None:
    assert {step for step, codes in STEPS.items() if codes} >= set(range(1, 8))


@pytest.mark.parametrize(
    ("entry", "command", "expected"),
    [
        ({"urls": ["https://x.example/**"]}, "some-program", "deny reserved"),
        ({"urls": ["https://x.example/**"]}, "ls", "allow"),
        ({"programs": ["p"]}, "some-program", "deny reserved"),
        ({"programs": ["p"]}, "p", "deny reserved"),
        ({"programs": ["p"]}, "ls", "allow"),
        ({"tools": ["think"]}, "some-program", "ask tier-asks"),
    ],
)
def test_a_command_that_is_not_understood_could_be_whatever_is_reserved(
    entry: dict[str, Any], command: str, expected: str
) -> None:
    rulebook = book(
        agents={"a": {"may": ["run"]}}, runners={"r": {"may": []}}, reserved={"it": {"runner": "r", **entry}}
    )
    assert outcome(rulebook, "run", {"command": command}) == expected


@pytest.mark.parametrize(
    ("tool", "args", "expected"), [("read", {"path": "x"}, "allow"), ("write", {"path": "x"}, "deny capsule-required")]
)
def test_only_calls_above_tier_0_need_a_task(tool: str, args: dict[str, Any], expected: str) -> None:
    assert outcome(may("read", "write", capsule="required"), tool, args) == expected


@pytest.mark.parametrize(
    ("record", "command", "code", "violation"),
    [
        ({"data_tiers": [0]}, "some-program", "not-understood", False),
        ({"locks": {"may": ["src/**"]}}, "some-program", "not-understood", False),
        ({"locks": {"may": ["src/**"]}}, "touch x", "locked", True),
        ({"must_ask": ["run"]}, "ls", "must-ask", False),
    ],
)
def test_which_objections_are_violations(record: dict[str, Any], command: str, code: str, violation: bool) -> None:
    decision = ask(may("run", **record), "run", {"command": command})
    assert (decision.code, decision.violation) == (code, violation)


def test_every_code_belongs_to_the_step_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
    for step in range(2, 8):
        section = page.partition(f"### Step {step}")[2].partition("\n##")[0]
        mine = {code for code, at in STEP.items() if at == step}
        assert mine, step
        assert {code for code in mine if f"`{code}`" not in section} == set()
