"""The tiers of a call."""

from __future__ import annotations

import pytest

from tests.decide.kit import ask, book, facts

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


@pytest.mark.parametrize(("path", "tier"), [("docs/a/x", 1), ("docs/x", 4), ("src/x", 4)])
def test_the_scope_of_the_calls_own_capsule_counts_for_the_tier(path: str, tier: int) -> None:
    rulebook = book(agents={"a": {"may": ["delete"], "delegates_to": ["a"]}})
    capsules = {
        "TOP": {"agent": "a", "scope": ["docs/**"]},
        "C": {"agent": "a", "parent": "TOP", "scope": ["docs/a/**"]},
    }
    known = facts(rulebook, capsules=capsules)
    assert ask(rulebook, "delete", {"path": path}, facts=known, capsule="C").tier == tier


def test_sixty_characters_of_a_command_say_why_it_has_its_tier() -> None:
    rulebook = book(agents={"a": {"may": ["run"]}})
    found = [ask(rulebook, "run", {"command": "x" * size}).reason.partition("`")[2] for size in (60, 61)]
    assert [text.partition("`")[0] for text in found] == ["x" * 60, "x" * 60 + "…"]
