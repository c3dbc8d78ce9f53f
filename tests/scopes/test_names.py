"""Agents and skills, by their names."""

from __future__ import annotations

import pytest

from tests.decide.kit import book, outcome

VALUES = {"date": "2027-03-01", "skill": "a", "url": "https://x.example/", "host": "x.example"}
LIMITED = ("agent", "url", "path", "host")


@pytest.mark.parametrize("kind", [*LIMITED, "skill", "text", "date"])
def test_what_must_be_mentioned_even_without_effects(kind: str) -> None:
    """Where a rule limits arguments, it covers no agent or place in an argument that it doesn't name."""
    tools = {"tell": {"args": {"to": kind, "text": "text"}, "does": {"message": "text"}}}
    agents = {"a": {"may": [{"tell": {"where": {"text": ["x"]}}}], "skills": ["a"]}, "b": {"may": []}}
    rulebook = book(tools=tools, agents=agents, tiers={"2": "allow", "3": "allow"})
    assert outcome(rulebook, "tell", {"to": VALUES.get(kind, "b"), "text": "x"}) == (
        "deny not-permitted" if kind in LIMITED else "allow"
    )
