"""Values that look alike in JSON or to Python: each is what it is, or refused, and none shares an approval."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallDenied, CallPending
from remit.enforce.guard import Guard

# No more than the questions that may be open at once.
ANYTHING: list[Any] = [
    1,
    1.0,
    True,
    "1",
    None,
    "",
    0,
    -0.0,
    0.0,
    False,
    [],
    {},
    [1],
    ["1"],
    {"1": 1},
    {"a": 1, "b": None},
    "\u00e9",
    "e\u0301",
]
REFUSED: list[Any] = [
    (1,),
    {1: "x"},
    {1},
    b"1",
    float("nan"),
    float("inf"),
    1 + 0j,
    2**70,
    Path("a"),
    "\ud800",
    object(),
    [(1,)],
    {"a": {1: 2}},
    {True: 1},
]


def guarded(folder: Path) -> tuple[Guard, Any, list[Any]]:
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["tool"]}}}, root=folder, state=folder / ".state")
    ran: list[Any] = []

    @guard.tool(does={"deploy": "https://prod.example/**"})
    def tool(value: Any) -> None:
        ran.append(value)

    return guard, tool, ran


def test_an_approval_of_one_is_none_of_another(tmp_path: Path):
    guard, tool, ran = guarded(tmp_path)
    asked: dict[str, Any] = {}
    with guard, guard.agent("a"):
        for value in ANYTHING:
            with pytest.raises(CallPending) as pending:
                tool(value)
            asked[repr(value)] = pending.value.approval
        assert len(set(asked.values())) == len(ANYTHING), [
            pair for pair in combinations(asked, 2) if asked[pair[0]] == asked[pair[1]]
        ]
        guard.authority.answer(asked["1"], "approve", by="ann")
        for value in (1.0, True, "1", [1]):
            with pytest.raises(CallPending):
                tool(value)
        tool(1)
    assert [(type(value), value) for value in ran] == [(int, 1)]


@pytest.mark.parametrize("value", REFUSED, ids=[ascii(value)[:20] for value in REFUSED])
def test_what_json_cannot_tell_is_refused(tmp_path: Path, value: Any):
    guard, tool, ran = guarded(tmp_path)
    with guard, guard.agent("a"), pytest.raises(CallDenied) as caught:
        tool(value)
    assert caught.value.code == "mistyped-argument"
    assert ran == []


TYPED: list[tuple[Any, Any]] = [
    (list[int], (1,)),
    (tuple[int, ...], [1]),
    (set[int], frozenset({1})),
    (int, True),
    (int, 1.0),
    (int, "1"),
    (float, "1"),
    (float, True),
    (str, 1),
    (str, b"x"),
    (bool, 1),
    (dict[str, int], {1: 1}),
    (dict[int, int], {"1": 1}),
    (dict[int, int], {True: 1}),
    (dict[str, int], [("a", 1)]),
    (list[str], "abc"),
    (int | str, True),
    (bytes, "x"),
    (bytes, bytearray(b"x")),
]


@pytest.mark.parametrize(("kind", "value"), TYPED, ids=str)
def test_a_value_of_another_type_is_refused(tmp_path: Path, kind: Any, value: Any):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["tool"]}}}, root=tmp_path, state=tmp_path / ".state")
    ran: list[Any] = []

    def tool(value: Any) -> None:
        ran.append(value)

    tool.__annotations__["value"] = kind
    wrapped = guard.tool(does="nothing")(tool)
    with guard, guard.agent("a"), pytest.raises(CallDenied) as caught:
        wrapped(value)
    assert caught.value.code == "mistyped-argument"
    assert ran == []
