"""Rows and cells: made once, and each with what is said of its caller and its tool."""

from __future__ import annotations

import gc

import pytest

from remit.decide.grid import Grid, bind, bind_entries, grid_of
from remit.model import Facts
from remit.model.rulebook import Rulebook
from tests.decide.kit import TOOLS, book, facts, may

OWN = {**TOOLS, "think": {**TOOLS["think"], "aliases": ["ponder", "muse"]}}


def test_rows_and_cells_are_made_once() -> None:
    grid = Grid(may("read"))
    row = grid.row("a")
    assert row is not None
    assert grid.row("a") is row
    assert grid.row("nobody") is None
    read, write = row.tool("read"), row.tool("write")
    assert read is not None
    assert write is not None
    assert grid.cell(row, read) is grid.cell(row, read)
    assert grid.cell(row, write).tool is write


def test_another_declaration_of_the_same_tool_has_a_cell_of_its_own() -> None:
    grid = Grid(may("read"))
    row = grid.row("a")
    assert row is not None
    tool = row.tool("read")
    other = may("read").book.tools["read"]
    assert tool is not None
    first = grid.cell(row, tool)
    assert grid.cell(row, other).tool is other
    assert grid.cell(row, tool) is first


def test_what_is_known() -> None:
    grid = Grid(book(tools=OWN, agents={"a": {"may": ["think"]}}))
    known = [("a", "think"), ("a", "muse"), ("a", "nothing"), ("b", "think")]
    assert [grid.knows(agent, tool) for agent, tool in known] == [True, True, False, False]


@pytest.mark.parametrize(
    ("verb", "tool", "expected"),
    [
        ("may", "read", ["docs/**", "src/**"]),
        ("may", "think", []),
        ("may_not", "read", ["x"]),
        ("may_not", "write", []),
    ],
)
def test_rules_are_bound_by_verb_and_tool_and_ordered_by_what_they_say(
    verb: str, tool: str, expected: list[str]
) -> None:
    rulebook = may({"read": {"path": "src/**"}}, {"read": {"path": "docs/**"}}, may_not=[{"read": {"path": "x"}}])
    found = bind(rulebook.book.callers["a"].rules, tool, verb, origin="o", until="u")
    assert [bound.judge.describe() for bound in found] == [f"path {text}" for text in expected]
    assert all((bound.origin, bound.until, bound.used) == ("o", "u", None) for bound in found)


def test_rules_without_side_conditions_come_first() -> None:
    rulebook = may({"write": {"path": {"allow": "a/**", "new_only": True}}}, {"write": {"path": "b/**"}})
    found = bind(rulebook.book.callers["a"].rules, "write", "may")
    assert [bound.judge.obliges for bound in found] == [False, True]


def test_entries_know_where_they_stand_in_the_capsule() -> None:
    rulebook = may("read", "write")
    plan = [{"write": {"path": "z"}}, "think", {"write": {"path": "b"}}]
    known: Facts = facts(rulebook, capsules={"C": {"agent": "a", "plan": plan}})
    found = bind_entries(known.capsules["C"], "plan", "write", origin="plan")
    assert [(bound.line.partition(": ")[2], bound.used and bound.used.index) for bound in found] == [
        ("may (plan): path b", 2),
        ("may (plan): path z", 0),
    ]


def test_a_grid_goes_with_its_rulebook() -> None:
    rulebook = may("read")
    copy = Rulebook(rulebook.book, rulebook.hash)
    grid, place = grid_of(copy), id(copy)
    assert grid_of(copy) is grid
    assert grid_of.by_id[place] is grid
    del copy
    gc.collect()
    assert place not in grid_of.by_id
