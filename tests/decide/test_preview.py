"""What can be said of a call before it is made: whether any call with these units could pass."""

from __future__ import annotations

from typing import Any

import pytest

from remit.decide.grid import grid_of
from remit.decide.preview import objection
from remit.scopes.interface import Unit
from tests.decide.kit import book


def code(tier: int, **record: Any) -> str | None:
    """Why an agent with this record can never read data of a tier; None if it could."""
    labels = {"data": {tier: {"path": ["secret/**"]}}} if tier else {}
    rulebook = book(agents={"a": {"may": ["read"], **record}}, labels=labels)
    grid = grid_of(rulebook)
    row = grid.row("a")
    assert row is not None
    cell = grid.cell(row, rulebook.book.tools["read"])
    found = objection(cell, [Unit("path", "path", "secret/x", frozenset({"read"}), text="secret/x")])
    return found.code if found is not None else None


@pytest.mark.parametrize(
    ("tier", "record", "expected"),
    [
        (1, {}, None),
        (1, {"data_tiers": [0]}, "data-tier"),
        (1, {"data_tiers": [0, 1]}, None),
        (1, {"data_tiers": [0, 2]}, None),  # a context of tier 2 would do
        (2, {"data_tiers": [0, 1]}, "data-tier"),
        (1, {"data_tiers": [0], "data_tiers_with_grant": [1]}, None),  # so would a grant
        (1, {"data_tiers": [0], "data_tiers_with_grant": [2]}, None),
        (0, {"data_tiers": [1], "data_tiers_with_grant": [0]}, None),
        (3, {"data_tiers": [0], "data_tiers_with_grant": [2]}, "data-tier"),
    ],
)
def test_whether_a_call_could_pass_depends_on_the_tiers_that_are_open(
    tier: int, record: dict[str, Any], expected: str | None
) -> None:
    assert code(tier, **record) == expected


def test_nothing_speaks_against_no_units() -> None:
    rulebook = book(agents={"a": {"may": ["read"], "data_tiers": [1]}})
    grid = grid_of(rulebook)
    row = grid.row("a")
    assert row is not None
    assert objection(grid.cell(row, rulebook.book.tools["read"]), []) is None
