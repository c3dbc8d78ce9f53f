"""A remedy works when it is pasted, and gives up no limit but the one that failed."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call, Facts
from tests.decide.kit import NOW, TOOLS

TOOLS = {
    **TOOLS,
    "refund": {"args": {"order": "path", "amount": "number"}, "does": {"write": "order", "pay": "amount"}, "tier": 1},
}


def decided(rules: list[Any], tool: str, args: dict[str, Any]) -> Any:
    rulebook = build_rulebook({"remit": 1, "tools": TOOLS, "agents": {"a": {"may": rules}}})
    return decide(rulebook, Call("a", tool, args), Facts(now=NOW, root="/p"))


COLUMNS = {"tables": ["users"], "columns": {"users": ["id"]}}
SITUATIONS = [
    ([], "write", {"path": "a b/x.md"}),
    ([{"write": {"path": "src/**"}}], "write", {"path": "docs/x"}),
    ([{"write": {"path": {"allow": ["src/**"], "new_only": True}}}], "write", {"path": "docs/x"}),
    ([{"write": {"path": {"allow": ["src/**"], "except": ["src/s/**"]}}}], "write", {"path": "src/s/x"}),
    ([{"write": {"path": "src/**"}}], "write", {"path": "[x]*"}),
    ([{"fetch": {"url": "https://x.example/api/**"}}], "fetch", {"url": "https://x.example/admin?q=1"}),
    ([{"fetch": {"url": "https://x.example/api/**"}}], "fetch", {"url": "https://x.example:8443/admin"}),
    ([{"refund": {"path": "orders/**", "where": {"amount": {"max": 50}}}}], "refund", {"order": "old/1", "amount": 5}),
    ([{"run": {"shell": {"run": [{"git": ["status"]}]}}}], "run", {"command": "git log -3"}),
    ([{"run": {"shell": {"run": ["ls"], "path": {"read": ["src/**"]}}}}], "run", {"command": "cat src/x"}),
    ([{"query": {"sql": {"select": ["t"]}}}], "query", {"sql": "INSERT INTO u VALUES (1)"}),
]
"""Each gets a rule to paste."""


@pytest.mark.parametrize(("rules", "tool", "args"), SITUATIONS)
def test_what_is_pasted_works(rules, tool, args):
    before = decided(rules, tool, args)
    assert before.verdict.word == "deny"
    assert before.remedy is not None
    assert before.remedy.policy is not None
    added = yaml.safe_load(before.remedy.policy)["agents"]["a"]["may"]
    assert decided([*rules, *added], tool, args).verdict.word != "deny"


@pytest.mark.parametrize(
    ("rules", "tool", "args"),
    [
        ([{"refund": {"path": "o/**", "where": {"amount": {"max": 50}}}}], "refund", {"order": "o/1", "amount": 5000}),
        ([{"refund": {"path": "o/**", "where": {"amount": {"max": 50}}}}], "refund", {"order": "x/1", "amount": 5000}),
        ([{"run": {"shell": {"run": ["cat"], "path": {"read": ["src/**"]}}}}], "run", {"command": "cat docs/x"}),
        ([{"run": {"shell": {"run": ["cat"]}}}], "run", {"command": "cat ../other"}),
        ([{"query": {"sql": {"ddl": {"tables": ["staging.*"]}}}}], "query", {"sql": "CREATE TABLE prod.x (a INTEGER)"}),
        (
            [{"query": {"sql": {"select": COLUMNS}}}],
            "query",
            {"sql": "SELECT * FROM users"},
        ),
    ],
)
def test_where_only_a_limit_is_in_the_way_nothing_is_offered_to_paste(rules, tool, args):
    found = decided(rules, tool, args)
    assert found.verdict.word == "deny"
    assert found.remedy is None or found.remedy.policy is None


@pytest.mark.parametrize(
    ("rules", "tool", "args", "refused"),
    [
        (
            [{"refund": {"path": "orders/**", "where": {"amount": {"max": 50}}}}],
            "refund",
            {"order": "old/1", "amount": 5},
            [{"order": "old/1", "amount": 51}, {"order": "old/2", "amount": 5}],
        ),
        (
            [{"fetch": {"url": "https://x.example/api/**"}}],
            "fetch",
            {"url": "https://x.example/admin"},
            [{"url": "https://x.example/other"}, {"url": "http://x.example/admin"}, {"url": "https://y.example/admin"}],
        ),
        (
            [{"run": {"shell": {"run": ["ls"], "path": {"read": ["src/**"]}}}}],
            "run",
            {"command": "cat src/x"},
            [{"command": "cat docs/x"}, {"command": "cat src/y"}, {"command": "rm src/x"}],
        ),
        (
            [{"write": {"path": {"allow": ["src/**"], "except": ["src/s/**"]}}}],
            "write",
            {"path": "src/s/x"},
            [{"path": "src/s/y"}, {"path": "docs/x"}, {"path": "src/s/x/y"}],
        ),
    ],
)
def test_what_is_pasted_gives_up_nothing_else(rules, tool, args, refused):
    found = decided(rules, tool, args).remedy
    assert found is not None
    assert found.policy is not None
    added = yaml.safe_load(found.policy)["agents"]["a"]["may"]
    for other in refused:
        assert decided(rules, tool, other).verdict.word == "deny"
        assert decided([*rules, *added], tool, other).verdict.word == "deny", other


def test_what_is_pasted_keeps_the_question():
    rules = [{"write": {"path": "src/**", "ask": "human", "approvals": 2}}]
    people = {"ann": {"roles": ["owner", "approver"]}, "bob": {"roles": ["approver"]}}
    policy = {"remit": 1, "tools": TOOLS, "people": people, "agents": {"a": {"may": [], "must_ask": rules}}}
    call, facts = Call("a", "write", {"path": "docs/x"}), Facts(now=NOW, root="/p")
    remedy = decide(build_rulebook(policy), call, facts).remedy
    assert remedy is not None
    assert remedy.policy == 'agents: {a: {must_ask: [write: {path: "docs/x", ask: "human", approvals: 2}]}}'
    policy["agents"] = {
        "a": {"may": [], "must_ask": [*rules, *yaml.safe_load(remedy.policy)["agents"]["a"]["must_ask"]]}
    }
    assert decide(build_rulebook(policy), call, facts).verdict.word == "ask"
