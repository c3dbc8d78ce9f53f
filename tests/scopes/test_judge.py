"""A whole scope: how it is worded, what it covers and touches, and what is unmet."""

from __future__ import annotations

from typing import Any

import pytest

from remit.model.call import Context
from remit.model.policy import Condition, Scope
from remit.scopes.interface import Unit
from remit.scopes.judge import Judge
from remit.scopes.url import parse_url
from tests.decide.kit import book, may


@pytest.mark.parametrize(
    ("tool", "scope", "words"),
    [
        ("think", {"when": {"environment": ["prod", "stage"]}}, "environment prod/stage"),
        ("think", {"when": {"mode": "interactive", "environment": "prod"}}, "environment prod; mode interactive"),
        ("read", {"path": "docs/**", "effect": "read"}, "path docs/**; effect read"),
        ("pay", {"where": {"amount": {"max": 5}}}, "amount at most 5"),
        ("read", {"path": "docs/**", "when": {"mode": "interactive"}}, "path docs/**; mode interactive"),
    ],
)
def test_every_limit_is_named(tool: str, scope: dict[str, Any], words: str) -> None:
    judge = Judge(may({tool: scope}).book.callers["a"].rules[0].scope)
    assert judge.describe() == words


def test_only_a_rule_without_a_scope_is_free() -> None:
    """A free rule is not asked whether it is in force, and counts for every call when rules are compared."""
    scopes: list[Any] = [
        {"effect": "read"},
        {"when": {"mode": "interactive"}},
        {"path": "docs/**"},
        {"where": {"path": {"path": "docs/**"}}},
    ]
    assert [Judge(may({"read": scope}).book.callers["a"].rules[0].scope).free for scope in scopes] == [False] * 4
    assert Judge(may("read").book.callers["a"].rules[0].scope).free


def judge(tool: str, scope: dict[str, Any], **record: Any) -> Judge:
    """The judge of one `may` rule."""
    return Judge(may({tool: scope}, **record).book.callers["a"].rules[0].scope)


HERE, THERE = Context(mode="interactive"), Context(mode="autonomous")
READ = frozenset(("read",))


def path(value: str, arg: str = "path", **more: Any) -> Unit:
    return Unit("path", arg, value, READ, text=value, **more)


def test_a_condition_on_the_context() -> None:
    found = judge("read", {"path": "docs/**", "when": {"mode": "interactive"}})
    units = [path("docs/x")]
    assert [found.applies(context, {}, units) for context in (HERE, THERE, Context())] == [True, False, False]
    assert [found.touches(context, {}, units) for context in (HERE, THERE)] == [units[0], None]


def test_only_limits_on_arguments_are_said_to_be_unmet() -> None:
    found = Judge(Scope(where={"from": Condition(equals="x")}, when={"mode": ("interactive",)}))
    values = {"from": ["y"], "to": ["z"]}
    one, two = path("y", "from"), path("z", "to")
    assert found.unmet(one, HERE, values, [one, two]) == ["from must be x"]
    assert found.unmet(one, HERE, {**values, "from": ["x"]}, [one, two]) == []
    assert found.unmet(two, HERE, values, [one, two]) == [
        "from must be x",
        "to must be left out, or limited in `where`",
    ]
    assert found.unmet(one, THERE, values, [one, two]) == []
    other = judge("read", {"path": "docs/**"})
    assert other.unmet(path("x"), HERE, {}, [path("x")]) == []


def test_a_prohibition_holds_only_if_each_of_its_parts_is_met() -> None:
    tool = {"tools": {"send": {"args": {"path": "path", "url": "url"}, "does": {"read": "path", "network": "url"}}}}
    scope = {"path": "docs/**", "url": "https://x.example/**"}
    found = Judge(book(agents={"a": {"may": [{"send": scope}]}}, **tool).book.callers["a"].rules[0].scope)
    inside, outside = path("docs/x"), path("src/x")
    url, other = (Unit("url", "url", parse_url(f"https://{host}.example/"), text=host) for host in "xy")
    pairs = [(inside, url), (outside, url), (inside, other), (outside, other)]
    assert [found.touches(HERE, {}, list(units)) is not None for units in pairs] == [True, False, False, False]


def test_what_only_labels_look_at_is_no_ground_for_a_prohibition() -> None:
    found, hosts = Judge(Scope()), Judge(Scope(parts={"host": ["x.example"]}))
    unit = Unit("host", "command", "x.example", frozenset(("network",)), text="x.example", derived=True)
    own = Unit("host", "host", "x.example", frozenset(("network",)), text="x.example")
    assert [found.touches(HERE, {}, [one]) for one in (unit, own)] == [None, own]
    assert [hosts.touches(HERE, {}, [one]) for one in (unit, own)] == [unit, own]


def test_a_scope_obliges_by_its_parts_or_its_conditions() -> None:
    new = {"path": {"allow": "docs/**", "new_only": True}}
    scopes: list[dict[str, Any]] = [
        new,
        {"where": {"path": new}},
        {"path": "docs/**"},
        {"where": {"path": {"path": "docs/**"}}},
    ]
    unit = Unit("path", "path", "docs/x", frozenset(("write",)), text="docs/x")
    found = [judge("write", scope) for scope in scopes]
    assert [one.obliges for one in found] == [True, True, False, False]
    assert [one.obligation(unit) for one in found] == ["create-exclusively", "create-exclusively", None, None]


def test_what_is_left_to_the_task_is_filled_in() -> None:
    closed = judge("read", {"path": "docs/**"})
    assert closed.given(HERE, {}) is closed
    rows = {"orders": {"customer": {"task": "customer"}}}
    policy = book(agents={"a": {"may": [{"query": {"sql": {"select": ["orders"], "rows": rows}}}]}})
    open_ = Judge(policy.book.callers["a"].rules[0].scope)
    assert open_.open
    found = open_.given(HERE, {"task:customer": [7]})
    assert found is not open_
    assert found.describe() != open_.describe()
