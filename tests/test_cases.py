"""`cases/*.yaml` through every way in: the same policy and call give the same decision everywhere.

A way in (`WAYS`) takes a policy, facts and calls, and answers with decisions in their JSON form. A later enforcement
point is one more function here.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.compile.facts import facts_from
from remit.decide import decide
from remit.decide.questions import call_digest
from remit.declare.nodes import from_python, parse
from remit.enforce.paths import look_up, open_root
from remit.forms.texts import plain
from remit.model import CallError, Facts, Rulebook
from remit.model.wire import call_from, decode_call, encode_decision
from tests.adapters.hooks.cases import CaseHook, CaseProject, carried, with_main

CASES = Path(__file__).parents[1] / "cases"
ROOT = Path("/cases/root")
JSON = dict[str, Any]


class Situation(msgspec.Struct, frozen=True):
    """A policy and facts, with calls and what must come of them."""

    name: str
    policy: JSON
    facts: JSON
    calls: tuple[JSON, ...]
    expected: tuple[JSON, ...]


def expectation(value: Any) -> JSON:
    """`allow`, `deny CODE` or a mapping, as a mapping."""
    if isinstance(value, dict):
        return value
    decision, _, code = value.partition(" ")
    return {"decision": decision, "code": code or "allowed", "would": None}


def situations() -> list[Situation]:
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        data = plain(parse(path.read_text(), path.name))
        for part in data.get("situations", [data]):
            name = f"{path.stem}: {part['name']}" if "name" in part else path.stem
            calls = tuple({"id": str(number), **entry["call"]} for number, entry in enumerate(part["calls"]))
            expected = tuple(expectation(entry["expect"]) for entry in part["calls"])
            found.append(Situation(name, data["policy"], part.get("facts", {}), calls, expected))
    return found


def with_digests(facts: JSON, rulebook: Rulebook) -> JSON:
    """The facts with the digest of the call that each approval is for."""
    approvals = []
    for entry in facts.get("approvals", ()):
        fields = {key: value for key, value in entry.items() if key != "for"}
        call = call_from(entry["for"])
        approvals.append({**fields, "digest": call_digest(call, rulebook.hash, Facts(root=str(ROOT)))})
    return {**facts, **({"approvals": approvals} if approvals else {})}


def through_python(situation: Situation, folder: Path) -> list[JSON]:
    """`build_rulebook` and `decide`."""
    rulebook = build_rulebook(situation.policy)
    given = facts_from(rulebook, from_python(with_digests(situation.facts, rulebook), "facts"))
    _, facts = open_root(ROOT, folder / "remit.yaml", given)
    answers = []
    for data in situation.calls:
        try:
            call = decode_call(json.dumps(data).encode())
        except CallError as error:
            answers.append({"id": error.id, "decision": "deny", "code": error.code})
            continue
        decision = decide(rulebook, call, look_up(rulebook, call, facts))
        answers.append(json.loads(encode_decision(decision.for_call(call.args), call.id)))
    return answers


def through_the_command_line(situation: Situation, folder: Path) -> list[JSON]:
    """`remit decide --calls -`."""
    policy, facts = folder / "remit.yaml", folder / "facts.json"
    policy.write_text(json.dumps(situation.policy))
    facts.write_text(json.dumps(with_digests(situation.facts, load_rulebook(policy))))
    options = ["--policy", str(policy), "--facts", str(facts), "--root", str(ROOT)]
    done = subprocess.run(
        [sys.executable, "-m", "remit", "decide", "--calls", "-", *options],
        input="".join(json.dumps(call) + "\n" for call in situation.calls),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, f"policy: {policy}\n")
    return [json.loads(line) for line in done.stdout.splitlines()]


def through_the_hook(situation: Situation, folder: Path) -> list[JSON]:
    """`HookAnswerer`, with payloads of Claude Code, down to the ledger; `CaseEnforcer` says what is handed in."""
    with CaseHook(with_main(situation.policy), folder) as hook:
        facts = facts_from(hook.book, from_python(with_digests(situation.facts, hook.book), "facts"))
        _, hook.facts = open_root(ROOT, folder / "remit.yaml", facts)
        return [hook.ask(data, ROOT) for data in situation.calls]


WAYS: dict[str, Callable[[Situation, Path], list[JSON]]] = {
    "python": through_python,
    "command line": through_the_command_line,
    "hook": through_the_hook,
}


def wrong(call: JSON, expected: JSON, answer: JSON) -> str | None:
    """What an answer says otherwise than expected."""
    got = {"of": (answer.get("needs") or {}).get("of"), **answer}
    if expected["decision"] == "allow" and expected.get("would") is None:
        expected = {"code": "allowed", **expected}
    differences = {key: got.get(key) for key, value in expected.items() if got.get(key) != value}
    return f"{json.dumps(call)} → {differences}, not {expected}: {answer.get('reason')}" if differences else None


SITUATIONS = situations()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_decisions(situation, way, tmp_path):
    answers = WAYS[way](situation, tmp_path)
    assert len(answers) == len(situation.calls)
    faults = map(wrong, situation.calls, situation.expected, answers)
    assert [fault for fault in faults if fault] == []
    assert [answer["id"] for answer in answers] == [call["id"] for call in situation.calls]


PLAIN = {s.name: s for s in SITUATIONS if set(s.facts) <= {"store"}}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", PLAIN)
def test_decisions_of_the_real_hook(name, tmp_path):
    """The calls that need no facts and no context, through the process that a host starts, and a daemon."""
    situation = PLAIN[name]
    chosen = [(c, e) for c, e in zip(situation.calls, situation.expected, strict=True) if carried(c)]
    callers = [call["agent"] for call, _ in chosen if isinstance(call.get("agent"), str)]
    with CaseProject(tmp_path, with_main(situation.policy), ROOT, callers).serving() as ask:
        answers = [ask(call) for call, _ in chosen]
    faults = []
    for (call, expected), answer in zip(chosen, answers, strict=True):
        wanted = {key: value for key, value in expected.items() if key in ("decision", "code")}
        if wanted["decision"] == "allow":
            wanted.pop("code", None)  # a host is told no code with an allow
        faults.append(wrong(call, wanted, {"code": "allowed", **answer}))
    assert [fault for fault in faults if fault] == []


def test_there_is_a_case_for_every_theme():
    assert {path.stem for path in CASES.glob("*.yaml")} >= {
        "approvals",
        "capsules",
        "chains",
        "closed-arguments",
        "data-tiers",
        "grants",
        "locks",
        "observe",
        "paths",
        "protected",
        "reserved",
        "roles-and-accessible-by",
        "shell",
        "tiers-and-questions",
        "urls",
        "where-and-when",
    }


def test_every_case_sees_an_allow_and_a_refusal():
    files = sorted(CASES.glob("*.yaml"))
    assert files
    for path in files:
        seen = {e["decision"] for s in SITUATIONS if s.name.split(":")[0] == path.stem for e in s.expected}
        assert "allow" in seen, path.name
        assert seen & {"ask", "deny"}, path.name


def test_the_codes_of_the_semantics_are_covered():
    """Every code that docs/semantics.md gives appears in some case, apart from what only trusted callers can cause."""
    text = (CASES.parent / "docs" / "semantics.md").read_text()
    named = set(re.findall(r"`([a-z]+(?:-[a-z]+)+)`", text))
    obligations = {"create-exclusively", "use-resolved-path"}
    elsewhere = {"rule-failed"}  # a failure inside: tests/decide/test_words.py
    seen = {expected.get("code") for situation in SITUATIONS for expected in situation.expected}
    marks = {"not-anticipated"}  # in the trace: tests/decide/test_questions.py
    assert named - obligations - elsewhere - marks <= seen
