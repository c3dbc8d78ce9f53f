"""The suggested policy: within the present one, and deciding what was used as that does, and no more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.analyze.within import not_within
from remit.cli.suggest import proved
from remit.compile import build_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.explain.suggest import Suggestion, Used, as_yaml, tightened
from remit.forms.texts import plain
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook

DATA: dict[str, Any] = {
    "remit": 1,
    "tools": {
        "read": {"args": {"path": "path"}, "does": {"read": "path"}},
        "write": {"args": {"path": "path"}, "does": {"write": "path"}, "tier": 1},
        "fetch": {"args": {"url": "url"}, "does": {"network": "url"}},
        "run": {"args": {"command": "shell"}},
        "note": {"args": {"text": "text"}, "does": "nothing"},
    },
    "roles": {"reader": {"may": ["read"]}},
    "agents": {
        "ann": {
            "roles": ["reader"],
            "may": [{"write": {"path": {"allow": ["src/**", "docs/*.md"], "except": ["src/gen/**"]}}}, "run", "note"],
            "may_not": [{"read": {"path": "secret/**"}}],
        },
        "bob": {"may": ["fetch", {"run": {"shell": {"run": [{"git": ["status", "log"]}]}}}], "must_ask": ["write"]},
    },
}
BOOK = build_rulebook(DATA)
FACTS = Facts(now="2026-11-15T12:00:00Z")
PATHS = [
    "src/a.py",
    "src/b.py",
    "src/c.py",
    "src/x/d.py",
    "src/gen/e.py",
    "docs/a.md",
    "docs/b.txt",
    "secret/a",
    "we*rd",
]
COMMANDS = ["git status", "git log -3", "ls src", "git push", "cat docs/a.md | wc -l", "some-program", "touch src/a.py"]
CALLS = [
    *(("read", {"path": path}) for path in PATHS),
    *(("write", {"path": path}) for path in PATHS),
    *(("run", {"command": text}) for text in COMMANDS),
    ("fetch", {"url": "https://a.example/x"}),
    ("note", {"text": "x"}),
]


def used(book: Rulebook, agent: str, tool: str, args: dict[str, Any]) -> Used:
    call = Call(agent, tool, args)
    found = decide(book, call, FACTS)
    return Used(call, FACTS, "2026-11-15T12:00:00.000Z", found.verdict.word, found.code, found.would)


def loaded(found: Suggestion) -> Rulebook:
    return build_rulebook(tightened(DATA, found))


calls = st.lists(st.tuples(st.sampled_from(["ann", "bob"]), st.sampled_from(CALLS)), max_size=25)


@settings(max_examples=60, deadline=None)
@given(calls)
def test_it_is_within_the_present_policy_and_decides_what_was_used_alike(drawn: list[Any]):
    seen = [used(BOOK, agent, tool, args) for agent, (tool, args) in drawn]
    found = proved(BOOK, loaded, seen)
    text = as_yaml(DATA, found)
    new = build_rulebook(plain(parse(text, "suggested")))
    assert new.hash == build_rulebook(tightened(DATA, found)).hash
    assert list(not_within(new.book, BOOK.book)) == []
    for one in seen:
        before, after = decide(BOOK, one.call, FACTS), decide(new, one.call, FACTS)
        assert before.verdict == after.verdict, (one.call, text)
    for agent in ("ann", "bob"):
        for tool, args in CALLS:  # whatever it allows, the present one allows
            if decide(new, Call(agent, tool, args), FACTS).verdict.word == "allow":
                assert decide(BOOK, Call(agent, tool, args), FACTS).verdict.word == "allow"
    tools = {(one.call.agent, one.call.tool) for one in seen}
    for agent, tool, args in (("ann", "note", {"text": "x"}), ("bob", "fetch", {"url": "https://a.example/x"})):
        if (agent, tool) not in tools:  # what nobody used is not allowed any more
            assert decide(new, Call(agent, tool, args), FACTS).code == "not-permitted"


def rules_of(*drawn: tuple[str, dict[str, Any]]) -> list[Any]:
    return [line.rule for line in proved(BOOK, loaded, [used(BOOK, "ann", *one) for one in drawn]).rules["ann"]]


def test_values_become_patterns():
    assert rules_of(("read", {"path": "src/a.py"})) == [{"read": {"path": {"allow": ["src/a.py"]}}}]
    three = [("read", {"path": f"src/{name}.py"}) for name in "abc"]
    assert rules_of(*three) == [{"read": {"path": {"allow": ["src/*.py"]}}}]
    assert rules_of(("run", {"command": "git log -3"}), ("run", {"command": "ls src"})) == [
        {"run": {"shell": {"run": [{"git": ["log"]}, "ls"]}}}
    ]
    assert rules_of(("read", {"path": "we*rd"})) == [{"read": {"path": {"allow": ["we[*]rd"]}}}]


def test_a_pattern_never_leaves_the_present_scope():
    three = [("write", {"path": f"docs/{name}.md"}) for name in "abc"]
    [rule] = rules_of(*three)
    assert rule == {"write": {"path": {"allow": ["docs/*.md"], "except": ["src/gen/**"]}}}


def test_what_would_be_denied_is_for_a_person():
    found = proved(
        BOOK, loaded, [used(BOOK, "ann", "read", {"path": "secret/a"}), used(BOOK, "bob", "write", {"path": "a"})]
    )
    assert [(one.agent, one.tool, one.would) for one in found.denied] == [
        ("ann", "read", "deny"),
        ("bob", "write", "ask"),
    ]
    assert found.rules["ann"] == ()


ANN = DATA["agents"]["ann"]


@pytest.mark.parametrize(
    "agents",
    [
        {"new": {"may": ["read"]}},
        {"ann": {**ANN, "may_not": []}},
        {"ann": {**ANN, "may": ["write"]}},
        {"ann": {**ANN, "may": [{"write": {"path": "src/**"}}]}},
        {"ann": {**ANN, "may": ["fetch"]}},
        {"ann": {**ANN, "may": [{"read": {"path": {"outside": ["/**"]}}}]}},
        {"ann": {**ANN, "data_tiers": [0]}},
        {"bob": {"may": [{"run": {"shell": {"run": ["git"]}}}], "must_ask": ["write"]}},
    ],
)
def test_what_is_no_tightening_is_not_proved(agents: dict[str, Any]):
    new = build_rulebook({**DATA, "agents": {**DATA["agents"], **agents}})
    assert list(not_within(new.book, BOOK.book))
    assert list(not_within(BOOK.book, BOOK.book)) == []
