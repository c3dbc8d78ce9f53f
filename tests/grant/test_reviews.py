"""Reviews: what is due when, by the policy, by the ledger, and by a change of a role."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.grant.reviews import Signed, reviews
from remit.model.rulebook import Rulebook

NOW = "2026-11-18T00:00:00Z"


def rules(**agents: Any) -> Rulebook:
    tools = {"read": {"args": {"file": "path"}, "does": {"read": "file"}}}
    return build_rulebook(
        {"remit": 1, "tools": tools, "agents": {n: {"may": ["read"], **a} for n, a in agents.items()}}
    )


def state(said: dict[str, Any], signed: Signed | None = None) -> str:
    [one] = reviews(rules(a=said).book, NOW, {"a": signed} if signed is not None else {})
    return one.state


@pytest.mark.parametrize(
    ("on", "expected"),
    [
        ("2026-11-18", "fine"),
        ("2026-08-20T00:00:01Z", "fine"),  # a second short of 90 days
        ("2026-08-20", "due"),
        ("2026-08-10T00:00:01Z", "due"),
        ("2026-08-10", "overdue"),  # 100 days
        ("2020-01-01", "overdue"),
    ],
)
def test_ninety_days_and_a_hundred(on: str, expected: str) -> None:
    assert state({"reviewed": {"on": on, "by": "sec"}}) == expected
    assert state({"reviewed": {"on": on, "by": "sec"}, "review": {"every": "90d", "warn": "100d"}}) == expected


def test_other_terms() -> None:
    said = {"reviewed": {"on": "2026-11-10", "by": "sec"}}
    assert state({**said, "review": {"every": "7d", "warn": "30d"}}) == "due"
    assert state({**said, "review": {"every": "7d", "warn": "8d"}}) == "overdue"


def test_the_newer_of_policy_and_ledger_counts() -> None:
    old = {"reviewed": {"on": "2026-01-01", "by": "sec"}}
    assert state(old, Signed("signed", "2026-11-01T00:00:00Z", "ann")) == "fine"
    assert state({"review": {}}, Signed("signed", "2026-01-01T00:00:00Z", "ann")) == "overdue"
    assert (
        state({"reviewed": {"on": "2026-11-02", "by": "sec"}}, Signed("signed", "2026-01-01T00:00:00Z", "a")) == "fine"
    )


def test_a_changed_role_makes_it_due_until_somebody_looks() -> None:
    fresh = {"reviewed": {"on": "2026-11-01", "by": "sec"}}
    due = Signed("due", "2026-11-10T00:00:00Z", "ann", "the role r was changed", "PRD-7")
    [one] = reviews(rules(a=fresh).book, NOW, {"a": due})
    assert (one.state, one.why) == ("due", "the role r was changed (PRD-7)")
    later = {"reviewed": {"on": "2026-11-11", "by": "sec"}}
    assert state(later, due) == "fine"


def test_who_is_to_be_reviewed() -> None:
    grant = {"agent": "b", "may": ["read"], "adr": "ADR-7", "approved_by": "sec", "until": "2099-01-01"}
    over = {**grant, "adr": "ADR-1", "until": "2026-01-01"}
    tools = {"read": {"args": {"file": "path"}, "does": {"read": "file"}}}
    policy = {"remit": 1, "tools": tools, "grants": [grant, over]}
    agents = {"a": {"may": ["read"]}, "b": {"may": ["read"]}}
    assert reviews(build_rulebook({**policy, "agents": agents}).book, NOW, {}) == []
    found = reviews(build_rulebook({**policy, "agents": agents, "review": {"every": "90d"}}).book, NOW, {})
    assert [one.who for one in found] == ["a", "b", "grant ADR-7 of b"]
    assert {one.state for one in found} == {"due"}


def test_a_review_changes_no_approval() -> None:
    one, other = (rules(a={"reviewed": {"on": on, "by": "sec"}}) for on in ("2026-01-01", "2026-11-01"))
    assert one.hash == other.hash
