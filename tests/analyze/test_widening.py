"""`must_ask` rules that permit more than `may` does are said by check."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook

TOOLS: dict[str, Any] = {
    "read": {"args": {"path": "path"}, "does": {"read": "path"}},
    "refund": {"args": {"amount": "number"}, "does": {"pay": "amount"}},
    "ping": {"args": {}, "does": "nothing"},
}


def notices(**agent: Any) -> list[str]:
    book = build_rulebook({"remit": 1, "tools": TOOLS, "agents": {"a": agent}}).book
    return [text for text in book.notices if "must_ask" in text]


@pytest.mark.parametrize(
    "agent",
    [
        {"may": ["ping"], "must_ask": ["refund"]},
        {"may": [{"refund": {"where": {"amount": {"max": 50}}}}], "must_ask": ["refund"]},
        {"may": [{"read": {"path": "docs/**"}}], "must_ask": [{"read": {"path": "src/**"}}]},
        {"may": ["ping"], "must_ask": [{"effect": "read"}]},
    ],
)
def test_one_that_widens(agent: dict[str, Any]) -> None:
    [text] = notices(**agent)
    assert "must_ask" in text
    assert "also permits what no `may` does: " in text


@pytest.mark.parametrize(
    "agent",
    [
        {"may": ["refund"], "must_ask": [{"refund": {"where": {"amount": {"min": 50}}}}]},
        {"may": [{"read": {"path": "docs/**"}}], "must_ask": [{"read": {"path": "docs/a/**"}}]},
        {"may": [{"refund": {"where": {"amount": {"max": 50}}}}], "must_ask": [{"refund": {"where": {"amount": 20}}}]},
        {"may": ["read", "refund", "ping"], "must_ask": [{"effect": ["read", "pay"]}]},
    ],
)
def test_one_that_only_asks(agent: dict[str, Any]) -> None:
    assert notices(**agent) == []
