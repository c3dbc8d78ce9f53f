"""Agents and skills, by their names."""

from __future__ import annotations

import pytest

from tests.decide.kit import book, outcome


@pytest.mark.parametrize(
    ("kind", "expected"), [("agent", "deny not-permitted"), ("skill", "allow"), ("text", "allow"), ("date", "allow")]
)
def test_what_must_be_mentioned_even_without_effects(kind: str, expected: str) -> None:
    """Where a rule limits arguments, it covers no agent that it does not name."""
    tools = {"tell": {"args": {"to": kind, "text": "text"}, "does": {"message": "text"}}}
    agents = {"a": {"may": [{"tell": {"where": {"text": ["x"]}}}], "skills": ["a"]}, "b": {"may": []}}
    value = "2027-03-01" if kind == "date" else "a" if kind == "skill" else "b"
    rulebook = book(tools=tools, agents=agents, tiers={"2": "allow", "3": "allow"})
    assert outcome(rulebook, "tell", {"to": value, "text": "x"}) == expected
