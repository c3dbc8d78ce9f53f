"""Conditions on single arguments: which values pass, and how they are worded."""

from __future__ import annotations

from typing import Any

import pytest

from remit.model import Context
from remit.model.policy import Condition
from remit.model.text import shown
from remit.scopes.where import ArgumentTest


@pytest.mark.parametrize(
    ("condition", "passes", "fails"),
    [
        ({"equals": 1}, [1, 1.0], [True, "1", 2, [1], None]),
        ({"equals": "1"}, ["1"], [1, "11", ["1"]]),
        ({"equals": True}, [True], [1, "true", False]),
        ({"one_of": ("a", 2, False)}, ["a", 2, 2.0, False], ["b", 0, "2", True, ["a"]]),
        ({"regex": "a+"}, ["a", "aa"], ["b", "ab", 1, ["a"]]),
        ({"min": 2}, [2, 2.5, 3], [1.9, True, "2", [2, 3], None]),
        ({"max": 2}, [2, -1], [2.1, False, "1", [], {}]),
        ({"min_length": 2}, ["ab", "abc"], ["a", "", [1, 2], {"a": 1, "b": 2}, 22]),
        ({"max_length": 2}, ["ab", "a", ""], ["abc", [1], {}, 1]),
        ({"min": 1, "max": 3}, [1, 2, 3], [0, 4]),
    ],
)
def test_values(condition: dict[str, Any], passes: list[Any], fails: list[Any]) -> None:
    test = ArgumentTest("x", Condition(**condition))
    for value, passing in [*((value, True) for value in passes), *((value, False) for value in fails)]:
        assert test.holds_for_all({"x": [value]}, [], Context()) is passing, value
        assert test.holds_for_any({"x": [value]}, [], Context()) is passing, value
    for fail in fails:
        for some in ([passes[0], fail], [fail, passes[0]]):  # `may` wants all of them, a prohibition any
            assert not test.holds_for_all({"x": some}, [], Context())
            assert test.holds_for_any({"x": some}, [], Context())


@pytest.mark.parametrize("optional", [True, False])
def test_an_absent_argument_passes_only_if_it_may_be_absent(optional: bool) -> None:
    test = ArgumentTest("x", Condition(max=1, optional=optional))
    absent: list[dict[str, list[Any]]] = [{}, {"x": []}]
    for values in absent:
        assert test.holds_for_all(values, [], Context()) is optional
        assert test.holds_for_any(values, [], Context()) is optional


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (Condition(equals="a"), "x must be a"),
        (Condition(equals="a" * 120), "x must be " + "a" * 120),
        (Condition(equals="a" * 121), "x must be " + shown("a" * 121, 120)),
        (Condition(equals=True), "x must be true"),
        (Condition(equals=False), "x must be false"),
        (Condition(equals=2.0), "x must be 2"),
        (Condition(equals=2.5), "x must be 2.5"),
        (Condition(one_of=("a", False, 3)), "x must be a or false or 3"),
        (Condition(same_as="task:customer"), "x must be the customer of the task"),
        (Condition(regex="a+"), "x must be text that matches a+"),
        (Condition(min=1.0, max=2.0), "x must be at least 1 and at most 2"),
        (Condition(min_length=1), "x must be at least 1 characters long"),
        (Condition(max_length=2, optional=True), "x must be at most 2 characters long or absent"),
        (Condition(optional=True), "x must be anything or absent"),
        (Condition(parts={"host": ["x.example"]}), "x must be host x.example"),
    ],
)
def test_words(condition: Condition, words: str) -> None:
    test = ArgumentTest("x", condition)
    assert test.must() == words
    assert test.describe() == words.replace(" must be", "", 1)
