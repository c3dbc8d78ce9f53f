"""What can be said of a call before it is made: whether any call with these units could pass."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from remit.decide.grid import grid_of
from remit.decide.preview import as_judged, cell_of, objection, preview
from remit.decide.questions import AskReason
from remit.model import Call
from remit.model.facts import Capsule
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


NESTED = {"args": {"a": "text", "b.c": "text", "l[].x": "text", "t[]": "text", "j": "json"}, "does": "nothing"}
OPTIONAL = ["a", "b.c", "l[].x", "t[]", "j"]


@pytest.mark.parametrize(
    ("args", "kept"),
    [
        ({}, {}),
        ({"a": "x"}, {"a": "x"}),
        ({"a": None}, {}),
        ({"j": None}, {"j": None}),
        ({"b": {"c": None}}, {"b": {}}),
        ({"b": None, "a": "x"}, {"a": "x"}),
        ({"l": [{"x": None}, {"x": "y"}]}, {"l": [{}, {"x": "y"}]}),
        ({"l": ({"x": None},)}, {"l": [{}]}),
        ({"l": None}, {}),
        ({"t": [None]}, {"t": [None]}),
        ({"unknown": None, "a": None}, {"unknown": None}),
    ],
    ids=str,
)
def test_a_tool_gets_what_counts_as_there(args: dict[str, Any], kept: dict[str, Any]) -> None:
    rulebook = book(tools={"t": {**NESTED, "optional": OPTIONAL}}, agents={"a": {"may": ["t"]}})
    call = Call("a", "t", args)
    found = as_judged(rulebook, call)
    assert found.args == kept
    assert (found is call) == (args == kept)
    assert msgspec.structs.replace(found, args=args) == call
    for agent, tool in (("nobody", "t"), ("a", "other"), (1, "t"), ("a", 1)):
        odd = Call(agent, tool, args)  # type: ignore[arg-type]
        assert as_judged(rulebook, odd) is odd
    assert cell_of(rulebook, "nobody", "t") is cell_of(rulebook, "a", "other") is None


def test_arguments_that_are_no_object_stay_as_they_are() -> None:
    odd = Call("a", "t", [None])  # type: ignore[arg-type]
    assert as_judged(book(agents={"a": {"may": ["think"]}}), odd) is odd


def test_what_was_found_can_not_be_changed() -> None:
    cell = cell_of(book(agents={"a": {"may": ["think"], "data_tiers": [0]}}), "a", "write")
    assert cell is not None
    found: list[Any] = [preview(cell, [Unit("path", "path", ".remit/x", frozenset({"write"}))])]
    found.append(objection(cell, [Unit("path", "path", ".remit/x", frozenset({"write"}))]))
    found.append(AskReason("human", "must-ask", "because"))
    for one in found:
        with pytest.raises(AttributeError):
            one.tier = one.step = one.of = 9
    assert found[2] == AskReason("human", "must-ask", "because", None, False, False, False)
    assert (found[1].binding, found[1].unsure) == (False, False)


@pytest.mark.parametrize(("scope", "tier"), [(None, 1), (("docs/**",), 1), (("src/**",), 4)])
def test_inside_a_task_what_it_is_not_about_counts(scope: tuple[str, ...] | None, tier: int) -> None:
    cell = cell_of(book(agents={"a": {"may": ["delete"]}}), "a", "delete")
    assert cell is not None
    units = [Unit("path", "path", "docs/x", frozenset({"delete"}), text="docs/x")]
    assert preview(cell, units, Capsule("C", "a", scope=scope)).tier == max(tier, preview(cell, units).tier)
    assert preview(cell, units).tier < 4
