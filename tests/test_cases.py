"""`cases/*.yaml` through every way in: the same policy and call give the same decision everywhere.

A way in (`WAYS`) takes a policy, facts and calls, and answers with decisions in their JSON form. A later enforcement
point is one more function here.
"""

from __future__ import annotations

import io
import json
import re
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.adapters.hosts import registry
from remit.cli.main import run
from remit.compile import load_rulebook
from remit.testing.conformance import (
    ROOT,
    Situation,
    Way,
    check,
    faults,
    situations,
    through_python,
    with_digests,
    wrong,
)
from tests.adapters.hooks.cases import CaseHook, CaseProject, carried, with_main

CASES = Path(__file__).parents[1] / "cases"
JSON = dict[str, Any]


def through_the_command_line(situation: Situation, folder: Path) -> list[JSON]:
    """`remit decide --calls -`."""
    policy, facts = folder / "remit.yaml", folder / "facts.json"
    policy.write_text(json.dumps(situation.policy))
    facts.write_text(json.dumps(with_digests(situation.facts, load_rulebook(policy))))
    options = ["--policy", str(policy), "--facts", str(facts), "--root", str(ROOT)]
    text = "".join(json.dumps(call) + "\n" for call in situation.calls)
    given, out, err = (io.TextIOWrapper(io.BytesIO(one.encode()), "utf-8") for one in (text, "", ""))
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", given)
        code = run(["decide", "--calls", "-", *options])
    said, complained = (one.detach().getvalue().decode() for one in (out, err))
    assert (code, complained) == (0, f"policy: {policy}\n")
    return [json.loads(line) for line in said.splitlines()]


def through_the_hook_of(host: str) -> Way:
    """`HookAnswerer`, with payloads of the host, down to the ledger; `CaseEnforcer` says what is handed in."""

    def through(situation: Situation, folder: Path) -> list[JSON]:
        told = through_python(situation, folder)
        with CaseHook(situation, folder, host) as hook:
            pairs = zip(situation.calls, told, strict=True)
            asked = [hook.ask(data, ROOT) if hook.can_say(data) and can_do(one) else None for data, one in pairs]
        return [answer if answer is not None else other for answer, other in zip(asked, told, strict=True)]

    return through


def can_do(answer: JSON) -> bool:
    """A hook without a place for commands can't confine one: it denies that, as tests/adapters/hooks show."""
    return all(duty["do"] != "confine" for duty in msgspec.to_builtins(answer.get("obligations", ())))


WAYS: dict[str, Way] = {
    "python": through_python,
    "command line": through_the_command_line,
    **{f"hook of {host}": through_the_hook_of(host) for host in registry.BUILT_IN},
}


SITUATIONS = situations(CASES)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.name)
def test_decisions(situation, way, tmp_path):
    assert faults(situation, WAYS[way](situation, tmp_path)) == []


def test_the_suite_tells_a_way_in_that_is_wrong(tmp_path):
    def lenient(situation: Situation, folder: Path) -> list[JSON]:
        return [{"id": call["id"], "decision": "allow", "code": "allowed", "would": None} for call in situation.calls]

    refused = sum(expected["decision"] != "allow" for one in SITUATIONS for expected in one.expected)
    assert len(check(lenient, SITUATIONS, tmp_path)) >= refused > 100
    assert faults(SITUATIONS[0], []) == [f"0 answers to {len(SITUATIONS[0].calls)} calls"]


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
    found = []
    for (call, expected), answer in zip(chosen, answers, strict=True):
        wanted = {key: value for key, value in expected.items() if key in ("decision", "code")}
        if wanted["decision"] == "allow":
            wanted.pop("code", None)  # a host is told no code with an allow
        found.append(wrong(call, wanted, {"code": "allowed", **answer}))
    assert [fault for fault in found if fault] == []


def test_there_is_a_case_for_every_theme():
    assert {path.stem for path in CASES.glob("*.yaml")} >= {
        "approvals",
        "capsules",
        "chains",
        "closed-arguments",
        "confinement",
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
    hooks = {"post-index-change", "reference-transaction"}  # git's names
    elsewhere = {"rule-failed"}  # a failure inside: tests/decide/test_words.py
    seen = {expected.get("code") for situation in SITUATIONS for expected in situation.expected}
    marks = {"not-anticipated"}  # in the trace: tests/decide/test_questions.py
    assert named - obligations - elsewhere - marks - hooks <= seen
