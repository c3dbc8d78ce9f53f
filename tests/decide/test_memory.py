"""A rulebook remembers plans and answers: no decision may depend on the calls before it."""

import random
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.decide import decide
from remit.declare.cases import read_tests
from remit.model import Call, Context, Facts, Rulebook
from tests.decide.kit import NOW, alone, book, facts, may

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/remit.yaml"))


def differing(rulebook: Rulebook, calls: list[tuple[Call, Facts]]) -> list[Call]:
    """Calls that are decided otherwise after the ones before them than by themselves."""
    again = calls * 2  # the quick way is made when a cell is met again
    after = [decide(rulebook, call, known) for call, known in again]
    return [
        call for (call, known), decision in zip(again, after, strict=True) if alone(rulebook, call, known) != decision
    ]


@pytest.mark.sample(3)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_calls_of_the_examples_in_any_order(path):
    rulebook = load_rulebook(path)
    calls = [
        (test.call, Facts(now=NOW))
        for file in sorted(path.parent.glob("*.test.yaml"))
        for test in read_tests(file.read_text(), file.name).tests
    ]
    for seed in range(2):
        random.Random(seed).shuffle(calls)  # noqa: S311 - the same order on every run
        assert differing(rulebook, calls) == []


@pytest.mark.parametrize("tier", [0, 1, 2])
def test_the_detail_is_about_this_call(tier):
    tools = {"write": {"args": {"path": "path"}, "does": {"write": "path"}, "tier": tier}}
    rulebook = book(tools=tools, agents={"a": {"may": [{"write": {"path": "docs/**"}}]}})
    calls = [(Call("a", "write", {"path": f"docs/{name}"}), Facts()) for name in ("one", "two", "three")]
    assert differing(rulebook, calls) == []


def test_notes_are_those_of_this_decision():
    rulebook = may("think")
    calls = [(Call("a", "think"), Facts(notes=notes)) for notes in ((), ("first",), ("second",), ())]
    assert differing(rulebook, calls) == []


def verdicts(rulebook, *situations) -> list[str]:
    """What one call becomes in one situation after another."""
    calls = [(Call("a", "write", {"path": "docs/x"}, Context(**context)), known) for context, known in situations]
    assert differing(rulebook, calls) == []
    return [decide(rulebook, call, known).code for call, known in calls]


def test_facts_are_looked_at_each_time():
    rulebook = book(agents={"a": {"may": ["write"]}, "b": {"may": [], "delegates_to": ["a"]}})
    none = Facts()
    assert verdicts(
        rulebook,
        ({}, none),
        ({}, Facts(halts=frozenset({"a"}))),
        ({}, none),
        ({}, Facts(registry=frozenset())),
        ({}, none),
        ({"chain": ("b",)}, none),
        ({"chain": ("b",)}, Facts(halts=frozenset({"b"}))),
        ({"chain": ("b",)}, Facts(registry=frozenset({"a"}))),
        ({"chain": ("nobody",)}, none),
        ({"capsule": "C"}, none),
        ({"capsule": "C"}, facts(rulebook, capsules={"C": {"agent": "a"}})),
        ({"capsule": "C"}, facts(rulebook, capsules={"C": {"agent": "a"}}, halts=["capsule:C"])),
        ({"cwd": ".git"}, none),
        ({"cwd": "/etc"}, none),
        ({}, Facts(root="/p", resolved={"docs/x": "/p/.git/x"})),
        ({}, Facts(root="/p", resolved={"docs/x": "/p/docs/x"})),
        ({}, Facts(root="/p", resolved={})),
        ({}, none),
    ) == [
        "allowed",
        "halted",
        "allowed",
        "agent-disabled",
        "allowed",
        "allowed",
        "halted",
        "broken-chain",
        "broken-chain",
        "unknown-capsule",
        "allowed",
        "halted",
        "protected",
        "outside-root",
        "protected",
        "allowed",
        "bad-path",
        "allowed",
    ]


def test_the_context_is_looked_at_each_time():
    rulebook = may({"write": {"when": {"mode": "auto"}}}, data_tiers=[0, 1], data_tiers_with_grant=[2])
    assert verdicts(
        rulebook,
        ({}, Facts()),
        ({"mode": "auto"}, Facts()),
        ({"mode": "interactive"}, Facts()),
        ({"mode": "auto", "data_tier": 1}, Facts()),
        ({"mode": "auto", "data_tier": 2}, Facts()),
        ({"mode": "auto", "data_tier": 2, "capsule_grants": (2,)}, Facts()),
        ({"mode": "auto", "data_tier": 2, "capsule_grants": (2,)}, Facts(store=True)),
        ({"mode": "auto", "data_tier": 2}, Facts()),
        ({"mode": "auto"}, Facts()),
    ) == [
        "not-permitted",
        "allowed",
        "not-permitted",
        "allowed",
        "data-tier",
        "allowed",
        "data-tier",
        "data-tier",
        "allowed",
    ]


RULES = ["docs/*.yaml", "docs/**", "**", "{docs,src}/*.yaml", "d*s/?.yaml", "docs/[a-z].yaml"]
RULEBOOKS = {rule: may({"write": {"path": rule}}) for rule in RULES}


@pytest.mark.sample(60)
@pytest.mark.parametrize(
    "path",
    [
        "docs/.yaml",
        "docs/x.yaml",
        "docs/X.YAML",
        "docs/sub/x.yaml",
        "docs/x.yaml/",
        "docs//x.yaml",
        "docs/../x.yaml",
        "docs/./x.yaml",
        "./docs/x.yaml",
        "docs/..yaml",
        "docs/x.yaml\n",
        "docs/x\u200b.yaml",
        "docs/é.yaml",
        "docs/e\u0301.yaml",
        "docs/~x.yaml",
        "docs/$A.yaml",
        "docs/a:b.yaml",
        "docs/a\\b.yaml",
        "docs/.git/x.yaml",
        "docs/.GIT",
        "docs/requirements.txt",
        "docs/ID_RSA.yaml",
        "docs/id_rsa",
        "docs/x.PEM",
        "docs/.env.yaml",
        "Docs/x.yaml",
        "docs",
        "",
        "x" * 5000,
    ],
)
@pytest.mark.parametrize("rule", RULES)
def test_paths_are_looked_at_each_time(rule, path):
    texts = ("docs/a.yaml", path, "docs/b.yaml", path)
    calls = [(Call("a", "write", {"path": text}), Facts()) for text in texts]
    assert differing(RULEBOOKS[rule], calls) == []
