"""The tiers of a call."""

from __future__ import annotations

import pytest

from tests.decide.kit import ask, book

LABELS = {"data": {2: {"path": ["hr/**"]}}}


@pytest.mark.parametrize(
    ("command", "context", "tier", "code"),
    [
        ("cat x", 0, 0, "allowed"),
        ("cat hr/x", 0, 2, "allowed"),
        ("cat $X", 0, 2, "allowed"),  # it could be any path that has a label
        ("cat $X", 3, 3, "data-tier"),  # which takes nothing from what the context says
        ("cat hr/x", 3, 3, "data-tier"),
        ("cat x", 3, 3, "data-tier"),
    ],
)
def test_the_data_tier_is_the_highest_of_all(command: str, context: int, tier: int, code: str) -> None:
    rulebook = book(agents={"a": {"may": ["run"], "data_tiers": [0, 2]}}, labels=LABELS)
    decision = ask(rulebook, "run", {"command": command}, data_tier=context)
    assert (decision.data_tier, decision.code) == (tier, code)
