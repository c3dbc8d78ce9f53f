"""A whole scope: how it is worded."""

from __future__ import annotations

from typing import Any

import pytest

from remit.scopes.judge import Judge
from tests.decide.kit import may


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
