"""`never` statements: proved, violated with a call that decide confirms, unknown, or about nothing."""

# A value that is None fails the test.
# mypy: disable-error-code="union-attr"

import json
import os
import re
import subprocess
import sys

import pytest

from remit.model import PolicyError, Problem
from tests.decide.kit import NOW, TOOLS, ask, book, facts, outcome


def problems(**sections) -> list[Problem]:
    with pytest.raises(PolicyError) as caught:
        book(**sections)
    return list(caught.value.problems)


# --- proved ---


@pytest.mark.parametrize(
    ("agents", "never"),
    [
        ({"a": {"may": ["read"]}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": ["read"]}}, {"agent": "a", "tool": "write"}),
        ({"a": {"may": ["write"], "may_not": ["write"]}}, {"agent": "a", "tool": "write"}),
        ({"a": {"may": ["write"], "may_not": [{"effect": "write"}]}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": ["think"]}}, {"agent": "a", "kind": ["path", "shell", "sql", "url"]}),
    ],
)
def test_proved(agents, never):
    book(agents=agents, never=[never])


def test_proved_for_all_members_of_a_role():
    roles = {"quiet": {"may_not": [{"effect": "network"}]}}
    agents = {"a": {"roles": ["quiet"], "may": ["fetch"]}, "b": {"roles": ["quiet"], "may": ["fetch", "read"]}}
    book(roles=roles, agents=agents, never=[{"role": "quiet", "effect": "network", "because": "it stays at home"}])


@pytest.mark.parametrize(
    "key",
    [{"toolset": "files"}, {"layer": "disk"}, {"category": "IO"}, {"risk": "high"}],
    ids=lambda key: next(iter(key)),
)
def test_proved_by_what_a_tool_is(key):
    tools = {**TOOLS, "write": {**TOOLS["write"], "layer": "disk", "category": "IO", "risk": "high"}}
    sections = {"tools": tools, "toolsets": {"files": ["write"]}, "never": [{"agent": "a", **key}]}
    book(agents={"a": {"may": ["read"]}}, **sections)
    assert [problem.code for problem in problems(agents={"a": {"may": ["write"]}}, **sections)] == ["never-violated"]


def test_a_shell_scope_is_proved_by_what_its_programs_do():
    rule = {"run": {"shell": {"run": ["ls"]}}}
    rulebook = book(agents={"a": {"may": [rule]}}, never=[{"agent": "a", "effect": "write"}])
    assert rulebook.book.notices == ()


def test_project_code_is_proved_only_with_an_assumption():
    agents = {"a": {"may": [{"run": {"shell": {"run": ["pytest"]}}}]}}
    (problem,) = problems(agents=agents, never=[{"agent": "a", "effect": "publish"}])
    assert problem.code == "never-unknown"
    assert problem.message.endswith("it can run project code, which could do anything; say `assuming: [sandbox]`")
    rulebook = book(agents=agents, never=[{"agent": "a", "effect": "publish", "assuming": ["sandbox"]}])
    (notice,) = [text for text in rulebook.book.notices if "assuming" in text]
    assert notice.endswith("a sandbox keeps project code from what its text does not show")


def test_a_sql_scope_proves_what_it_does_not_name():
    rule = {"query": {"sql": {"select": "any"}}}
    book(agents={"a": {"may": [rule]}}, never=[{"agent": "a", "effect": "write"}])
    rule["query"]["sql"]["insert"] = ["log"]  # type: ignore[assignment]
    (problem,) = problems(agents={"a": {"may": [rule]}}, never=[{"agent": "a", "effect": "write"}])
    assert problem.code == "never-violated"
    assert "INSERT INTO log" in problem.message


# --- violated ---


@pytest.mark.parametrize(
    ("agents", "never"),
    [
        ({"a": {"may": ["write"]}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": [{"write": {"path": "docs/*.md"}}]}}, {"agent": "a", "tool": "write"}),
        (
            {"a": {"may": [{"write": {"path": {"allow": [], "outside": ["/tmp/**"]}}}]}},
            {"agent": "a", "effect": "write"},
        ),
        ({"a": {"may": [{"fetch": {"url": "https://x.example/api/**"}}]}}, {"agent": "a", "effect": "network"}),
        ({"a": {"may": [{"think": {"when": {"mode": "interactive"}}}]}}, {"agent": "a", "tool": "think"}),
        ({"a": {"may": [], "must_ask": ["write"]}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": ["write"], "capsule": "required"}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": ["delegate"], "delegates_to": ["b"]}, "b": {"may": []}}, {"agent": "a", "effect": "delegate"}),
        ({"a": {"may": ["invoke"], "skills": ["dig"]}}, {"agent": "a", "kind": "skill"}),
        ({"a": {"may": ["write"], "locks": {"may": ["out/**"]}}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": ["write"], "may_not": [{"write": {"path": "docs/**"}}]}}, {"agent": "a", "tool": "write"}),
        ({"a": {"may": ["run"]}}, {"agent": "a", "effect": "network"}),
        ({"a": {"may": ["run"]}}, {"agent": "a", "kind": "shell"}),
        ({"a": {"may": [{"run": {"shell": {"run": ["touch"]}}}]}}, {"agent": "a", "effect": "write"}),
        ({"a": {"may": [{"run": {"shell": {"run": [{"git": ["push"]}]}}}]}}, {"agent": "a", "effect": "publish"}),
    ],
)
def test_violated_with_a_call_that_decide_confirms(agents, never):
    (problem,) = problems(agents=agents, never=[never])
    assert problem.code == "never-violated"
    verdict, tool, args = re.search(r"does not hold: (allow|ask) for a: (\w+) (\{.*\})$", problem.message).groups()
    rulebook = book(agents=agents)
    known = facts(rulebook, now="0001-01-01", capsules={"C": {"agent": "a"}})
    capsule = "C" if agents["a"].get("capsule") else None
    decision = ask(rulebook, tool, json.loads(args), facts=known, mode="interactive", capsule=capsule)
    assert decision.verdict.word == verdict


def test_violated_by_a_standing_grant():
    grant = {"agent": "a", "may": ["write"], "adr": "ADR-1", "approved_by": "p", "until": "2027-01-01"}
    found = problems(agents={"a": {"may": []}}, grants=[grant], never=[{"agent": "a", "effect": "write"}])
    assert [problem.code for problem in found] == ["never-violated"]


def test_violated_by_one_member_of_a_role():
    agents = {"a": {"roles": ["quiet"], "may": []}, "b": {"roles": ["quiet"], "may": ["fetch"]}}
    (problem,) = problems(roles={"quiet": {}}, agents=agents, never=[{"role": "quiet", "effect": "network"}])
    assert "for b: fetch" in problem.message


def test_the_counterexample_is_the_same_in_every_process():
    code = """
from remit.compile import build_rulebook
from remit.model import PolicyError
args = {"x": "text", "y": "number", "z": "flag"}
tools = {"t": {"args": args, "optional": ["y", "z"], "does": "nothing"}}
policy = {"remit": 1, "tools": tools, "agents": {"a": {"may": ["t"]}}, "never": [{"agent": "a", "tool": "t"}]}
try:
    build_rulebook(policy)
except PolicyError as error:
    print(error)
"""
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(6)
    }
    assert len(seen) == 1


# --- unknown ---


def test_unscoped_sql_is_unknown():
    (problem,) = problems(agents={"a": {"may": ["query"]}}, never=[{"agent": "a", "effect": "network"}])
    assert problem == Problem(
        "never-unknown",
        "`never agent a, effect network` does not hold: not proved for a and query: "
        "it takes any sql text; scope it, or say `assuming: [sandbox]`",
        "policy.never[0]",
    )
    book(agents={"a": {"may": ["query"]}}, never=[{"agent": "a", "effect": "network", "assuming": ["sandbox"]}])


def test_no_assumption_saves_an_unscoped_shell():
    """It shows the effect itself: that needs no project code."""
    never = {"agent": "a", "effect": "network", "assuming": ["sandbox"]}
    (problem,) = problems(agents={"a": {"may": ["run"]}}, never=[never])
    assert problem.code == "never-violated"
    assert problem.message.endswith('allow for a: run {"command":"curl https://host.example/x"}')


def test_what_no_search_settles_is_unknown():
    rule = {"think": {"where": {"text": {"regex": "[0-9]{9}[A-F]{9}"}}}}
    (problem,) = problems(agents={"a": {"may": [rule]}}, never=[{"agent": "a", "tool": "think"}])
    assert problem.code == "never-unknown"


# --- about nothing ---


@pytest.mark.parametrize(
    "never",
    [
        {"tool": "nothing_*"},
        {"layer": "nowhere"},
        {"toolset": "none"},
        {"risk": "critical"},
        {"agent": "a", "kind": "json"},
    ],
)
def test_a_statement_about_nothing(never):
    assert [problem.code for problem in problems(agents={"a": {"may": []}}, never=[never])] == ["matches-nothing"]


# --- it holds whatever comes later ---


@pytest.mark.parametrize(
    "given",
    [
        {"grants": [{"agent": "a", "may": ["write"], "until": "2027-01-01"}]},
        {"capsules": {"C": {"agent": "a", "grants": ["write"]}}},
    ],
    ids=["grant", "capsule"],
)
def test_no_grant_lifts_a_never(given):
    rulebook = book(agents={"a": {"may": ["read"]}}, never=[{"agent": "a", "effect": "write"}])
    known = facts(rulebook, now=NOW, **given)
    capsule = "C" if "capsules" in given else None
    assert outcome(rulebook, "write", {"path": "x"}, facts=known, capsule=capsule).startswith("deny")


def test_a_disabled_agent_does_nothing():
    book(agents={"a": {"may": ["write"], "enabled": False}}, never=[{"agent": "a", "effect": "write"}])
