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


# One tool with an argument of each kind, a rule that limits them all, and values that meet and break each limit.

GRID: dict[str, tuple[dict[str, Any], Any, list[Any]]] = {
    "file": ({"path": ["src/**"]}, "src/x", ["docs/x", "docs/y", "a b/[x]"]),
    "url": (
        {"url": ["https://ok.example/**"]},
        "https://ok.example/a",
        ["https://no.example/a?q=1", "ftp://x.example/a"],
    ),
    "email": ({"email": ["*@ok.example"]}, "ann@ok.example", ["ann@no.example", "bob+x@no.example"]),
    "to": ({"account": ["C-1"]}, "C-1", ["C-2", "DE89 3704 0044 0532 0130 00"]),
    "host": ({"host": ["*.ok.example"]}, "a.ok.example", ["a.no.example", "a.no.example:8080"]),
    "on": ({"date": {"from": "2026-01-01"}}, "2026-02-01", ["2025-02-01", "2025-03-01T10:00:00Z"]),
    "who": ({"agent": ["b"]}, "b", ["c", "d"]),
    "skill": ({"skill": ["deploy"]}, "deploy", ["ship", "wipe"]),
    "sql": (
        {"sql": {"select": {"tables": ["t"], "columns": {"t": ["id", "region"]}}, "rows": {"t": {"region": "eu"}}}},
        "SELECT id FROM t WHERE region = 'eu'",
        [
            "SELECT name FROM t WHERE region = 'eu'",
            "DELETE FROM t",
            "DELETE FROM t WHERE region = 'eu'",
            "INSERT INTO u SELECT id FROM t WHERE region = 'eu'",
            "INSERT INTO u SELECT name FROM t WHERE region = 'us'",
            "INSERT INTO u (id) VALUES (1)",
            "INSERT INTO u (name) VALUES ('x') ON CONFLICT DO NOTHING",
            "UPDATE u SET name = 'x' WHERE id = 1",
            "UPDATE u SET region = 'x'",
            "CREATE TABLE v (a int)",
            "CREATE INDEX i ON t (id)",
            "SELECT ghost(id) FROM u",
            "EXPLAIN SELECT id FROM u",
        ],
    ),
    "command": (
        {"shell": {"run": ["ls"], "path": {"read": ["src/**"]}}},
        "ls src",
        ["cat src/x", "ls docs", "rm src/x"],
    ),
    "amount": ({"where": {"amount": {"max": 50}}}, 5, [51, 50.5]),
    "mode": ({"where": {"mode": {"one_of": ["plan", "act"]}}}, "plan", ["other", ""]),
    "note": ({"where": {"note": {"regex": "[a-z]*", "length": {"max": 5}}}}, "abc", ["ABC", "abcdef"]),
    "urgent": ({"where": {"urgent": False}}, False, [True]),
}
LIMITED = [
    "SELECT name FROM t WHERE region = 'eu'",
    "SELECT id FROM t",
    "DELETE FROM t",
    "UPDATE t SET id = 1",
    "INSERT INTO u SELECT name FROM t WHERE region = 'us'",
    "INSERT INTO t (id, region) VALUES (1, 'us')",
    "DROP TABLE t",
]
"""What the limits on columns and rows of one table refuse, under whatever verb."""
KINDS = {
    "file": "path",
    "url": "url",
    "email": "email",
    "to": "account",
    "host": "host",
    "on": "date",
    "who": "agent",
    "skill": "skill",
    "sql": "sql",
    "command": "shell",
    "amount": "number",
    "mode": "text",
    "note": "text",
    "urgent": "flag",
}
EVERY = {
    "args": KINDS,
    "does": {
        "write": "file",
        "network": ["url", "host"],
        "message": "email",
        "pay": ["to", "on", "amount"],
        "delegate": "who",
        "system": ["skill", "mode", "note", "urgent"],
    },
    "dialect": "postgres",
}
FINE = {name: fine for name, (_, fine, _) in GRID.items()}


def whole_scope() -> dict[str, Any]:
    scope: dict[str, Any] = {"where": {}}
    for part, _, _ in GRID.values():
        scope["where"] |= part.get("where", {})
        scope |= {key: value for key, value in part.items() if key != "where"}
    return scope


def with_all(verb: str, entries: list[Any], more: dict[str, list[Any]] | None = None) -> Any:
    """The rulebook of an agent with one rule about everything, and what was pasted."""
    rules = {"may": [], verb: entries}
    for key, pasted in (more or {}).items():
        rules[key] = [*rules.get(key, []), *pasted]
    agents = {name: {"may": []} for name in "bcd"} | {"a": {**rules, "delegates_to": ["b", "c", "d"]}}
    return build_rulebook({"remit": 1, "tools": {"all": EVERY}, "agents": agents})


def asked(rulebook: Any, args: dict[str, Any]) -> Any:
    return decide(rulebook, Call("a", "all", {**FINE, **args}), Facts(now=NOW, root="/p"))


@pytest.mark.parametrize("verb", ["may", "must_ask"])
@pytest.mark.parametrize("name", GRID)
def test_a_remedy_lifts_the_limit_that_failed_and_no_other(verb: str, name: str):
    """Whatever is pasted admits this value of this argument, and neither another one nor a value that others refuse.

    A scope can't admit one statement alone: of SQL, it keeps the limits on tables that the rule has."""
    before = with_all(verb, [{"all": whole_scope()}])
    assert asked(before, {}).verdict.word != "deny"
    for value in GRID[name][2]:
        denied = asked(before, {name: value})
        assert denied.verdict.word == "deny", (name, value)
        if denied.remedy is None or denied.remedy.policy is None:
            continue
        added = yaml.safe_load(denied.remedy.policy)["agents"]["a"]
        assert list(added) == [verb]
        after = with_all(verb, [{"all": whole_scope()}], added)
        assert asked(after, {name: value}).verdict.word != "deny", (name, value, denied.remedy.policy)
        same = LIMITED if name == "sql" else [one for one in GRID[name][2] if one != value]
        others = [(other, broken[0]) for other, (_, _, broken) in GRID.items() if other != name]
        for other, one in [*others, *((name, one) for one in same)]:
            both = {name: value} | {other: one}
            assert asked(after, both).verdict.word == "deny", (value, other, one, denied.remedy.policy)
