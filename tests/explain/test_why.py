"""The explanation of a decision: complete, and safe to print."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.explain.why import explained, explanation, headline, places, remedies, tier_reason
from remit.model.call import Call, Context
from remit.model.decision import Decision, Needs, Obligation, Remedy
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, ASK, DENY
from remit.model.trace import Covered, Note
from tests.explain.kit import POLICY


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    path = tmp_path / "remit.yaml"
    path.write_text(POLICY, "utf-8")
    return load_rulebook(path)


def told(rulebook: Rulebook, call: Call) -> str:
    decision = decide(rulebook, call)
    quotes = {place: [f"> {place}"] for place in places(rulebook, call, decision)}
    return explanation(rulebook, call, Facts(), decision, quotes).replace(rulebook.hash, "HASH")


ALLOWED = Decision(
    ALLOW,
    "writer",
    "write",
    "allowed",
    "allowed",
    tier=1,
    effects=("write",),
    rule="remit.yaml:28:9",
    trace=(Covered("file", "remit.yaml:28:9: may: path docs/**"), Note(7, "tier 1 (the tool's floor)")),
    policy="HASH",
    obligations=(Obligation("create-exclusively", "file"),),
    approval="A-1",
)
DENIED = Decision(
    DENY,
    "writer",
    "write",
    "not-permitted",
    "write is limited to docs/** for writer",
    tier=1,
    data_tier=2,
    effects=("write",),
    trace=(
        Note(None, "the root does not exist"),
        Note(4, "file src/a: covered by no rule of writer"),
        Note(4, "  not by remit.yaml:28:9: may"),
    ),
    policy="HASH",
    remedy=Remedy('add to `may` of writer: write: {path: "src/a"}', policy="agents: {}"),
)


def test_an_allow(rulebook: Rulebook):
    call = Call("writer", "write", {"file": "docs/a", "text": ""})
    assert explanation(rulebook, call, Facts(), ALLOWED, {"remit.yaml:28:9": ["> 28 | x"]}) == (
        "✅ allow: allowed\n"
        "\n"
        "agent     writer\n"
        "tool      write\n"
        "tier      1 (writes: changes files or rows of the project, which version control or a backup can restore)\n"
        "effects   write\n"
        "must      create-exclusively file\n"
        "approval  A-1\n"
        "rule      remit.yaml:28:9\n"
        "          > 28 | x\n"
        "\n"
        "steps:\n"
        "  4 permitted: file covered by remit.yaml:28:9: may: path docs/**\n"
        "  7 questions: tier 1 (the tool's floor)\n"
        "  8 allow\n"
        "\n"
        "policy    HASH\n"
    )


def test_a_deny_says_what_comes_nearest_and_what_would_help(rulebook: Rulebook):
    call = Call("writer", "write", {"file": "src/a", "text": ""})
    assert places(rulebook, call, DENIED) == ["remit.yaml:28:9"]
    assert explanation(rulebook, call, Facts(), DENIED, {"remit.yaml:28:9": []}) == (
        "❌ deny: write is limited to docs/** for writer (not-permitted)\n"
        "\n"
        "agent     writer\n"
        "tool      write\n"
        "tier      1 (writes: changes files or rows of the project, which version control or a backup can restore)\n"
        "data tier 2\n"
        "effects   write\n"
        "not by    remit.yaml:28:9\n"
        "\n"
        "steps:\n"
        "  the root does not exist\n"
        "  4 permitted: file src/a: covered by no rule of writer\n"
        "  4 permitted: not by remit.yaml:28:9: may\n"
        "  → deny: write is limited to docs/** for writer\n"
        "\n"
        "what would make it pass:\n"
        '  add to `may` of writer: write: {path: "src/a"}\n'
        "  agents: {}\n"
        "\n"
        "policy    HASH\n"
    )


def test_an_ask_says_of_whom(rulebook: Rulebook):
    text = told(rulebook, Call("boss", "write", {"file": "docs/a", "text": ""}))
    assert "✋ ask: boss must ask human before write (must-ask)" in text
    assert "what would make it pass:\n  an answer of human\n" in text


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (Call("boss", "write", {"file": "src/a", "text": ""}), "writes: changes files"),
        (Call("boss", "write", {"file": ".github/workflows/a.yml", "text": ""}), "is labelled ci"),
        (Call("Shipper", "ship", {"service": "x"}), "deploy"),
        (Call("boss", "write", {"file": 1}), "the tool's floor"),
        (Call("boss", "nothing"), "nothing is known about the call"),
        (Call("nobody", "write"), "nothing is known about the call"),
        (Call("boss", "read", {"file": "a"}, Context(capsule="x")), "reads: nothing changes"),
    ],
)
def test_why_a_call_has_its_tier(rulebook: Rulebook, call: Call, reason: str):
    assert reason in tier_reason(rulebook, call, Facts())


def test_text_from_a_call_steers_nothing(rulebook: Rulebook):
    evil = "\x1b]0;x\x07[red]\u202e\n" * 50
    for call in (
        Call(evil, evil, {evil: evil}),
        Call("boss", "write", {"file": evil, "text": evil}),
        Call("boss", "write", {evil: evil}),
        Call("boss", "read", {"file": "a"}, Context(capsule=evil, chain=(evil,))),
    ):
        text = told(rulebook, call)
        assert not [c for c in text if not c.isprintable() and c != "\n"]
        assert len(text) < 8_000


def test_what_is_observed_says_what_it_would_be():
    decision = Decision(ALLOW, "a", "t", "not-permitted", "observed: no", would="deny", remedy=Remedy("say may"))
    assert headline(decision) == "✅ allow (would be deny): observed: no (not-permitted)"
    assert remedies(decision) == ["say may"]


def test_remedies_are_lines_to_copy():
    needs, remedy = Needs("human", missing=("statement",)), Remedy("do x", command="remit x", policy="y: z")
    assert remedies(Decision(ASK, "a", "t", "c", "r", needs=needs, remedy=remedy)) == [
        "an answer of human, and a statement",
        "do x",
        "remit x",
        "y: z",
    ]
    assert remedies(Decision(DENY, "a", "t", "c", "r")) == []


def test_for_programs_it_is_the_decision_and_more(rulebook: Rulebook):
    call = Call("reader", "read", {"file": "a"}, id="7")
    decision = decide(rulebook, call)
    assert explained(rulebook, call, Facts(), decision, {"p:1:1": ["x"]}) == {
        **decision.for_call(call.args).as_json("7"),
        "tier_reason": "reads: nothing changes",
        "quotes": {"p:1:1": ["x"]},
    }


def test_a_rule_that_nobody_looked_at_is_not_said_to_be_against_the_call():
    tools = {"write": {"args": {"file": "path"}, "does": {"write": "file"}}}
    rulebook = build_rulebook({"remit": 1, "tools": tools, "agents": {"a": {"may": ["write"]}}})
    call = Call("a", "write", {"file": ".git/config"})
    decision = decide(rulebook, call)
    assert decision.code == "protected"
    quotes: dict[str, list[str]] = {place: [] for place in places(rulebook, call, decision)}
    assert "not by" not in explanation(rulebook, call, Facts(), decision, quotes)


def test_a_call_that_was_refused_early_has_no_reason_for_a_tier_that_it_did_not_get():
    tools = {"write": {"args": {"file": "path"}, "does": {"write": "file"}}}
    agents = {"a": {"may": ["write"], "enabled": False}}
    rulebook = build_rulebook({"remit": 1, "tools": tools, "agents": agents})
    call = Call("a", "write", {"file": "x"})
    text = explanation(rulebook, call, Facts(), decide(rulebook, call), {})
    assert "tier      0 (refused before more was known)" in text
