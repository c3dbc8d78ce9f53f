"""Which units the arguments of a call fall into."""

from __future__ import annotations

from typing import Any

import pytest

from remit.decide import decide
from remit.decide.intake import Intake
from remit.model import Call, PolicyError
from remit.model.trace import Covered
from tests.decide.kit import ask, book, may, outcome

ARGS = {"path": "path", "glob": {"glob": "path"}}
RULE = {"look": {"path": ["src/**/*.py", "src/**/.py"]}}


@pytest.mark.parametrize(
    ("reads", "args", "expected"),
    [
        (["glob"], {"path": "src", "glob": "*.py"}, "allow"),  # the glob stands for its base
        (["glob"], {"path": "src"}, "deny not-permitted"),
        (["glob", {"below": "path"}], {"path": "src", "glob": "*.py"}, "deny not-permitted"),  # the base counts itself
        (["glob", "path"], {"path": "src", "glob": "*.py"}, "deny not-permitted"),
        ([{"below": "path"}], {"path": "src", "glob": "*.py"}, "deny not-permitted"),
    ],
)
def test_the_base_of_a_glob_is_a_unit_if_it_has_effects(
    reads: list[object], args: dict[str, str], expected: str
) -> None:
    tools = {"look": {"args": ARGS, "optional": ["glob"], "does": {"read": reads}}}
    assert outcome(book(tools=tools, agents={"a": {"may": [RULE]}}), "look", args) == expected


def test_an_effect_on_records_is_not_one_of_the_call() -> None:
    tools = {"note": {"args": {"text": "text"}, "does": {"write": {"records": "notes"}}}}
    decision = ask(book(tools=tools, agents={"a": {"may": ["note"]}}), "note", {"text": "x"})
    assert [line.what for line in decision.trace if isinstance(line, Covered)] == ["records"]


CHOICE = {
    "set": {"args": {"level": {"one_of": ["low", "high"]}, "note": "text"}, "optional": ["note"], "does": "nothing"}
}


def test_a_choice_is_judged_by_its_value_each_time() -> None:
    rulebook = book(tools=CHOICE, agents={"a": {"may": ["set"]}})
    for _ in range(4):
        assert outcome(rulebook, "set", {"level": "low"}) == "allow"
        assert outcome(rulebook, "set", {"level": "middle"}) == "deny mistyped-argument"


EVERY = ["read", "write", "delete", "network", "execute"]


@pytest.mark.parametrize(
    ("tool", "arg", "text", "expected"),
    [
        ("query", "sql", "SELECT a FROM t", "allow"),
        ("query", "sql", "SELECT nosuch(1)", "deny not-permitted"),
        ("run", "command", "cat x", "allow"),
        ("run", "command", "cat --nosuch x", "deny not-permitted"),
    ],
)
def test_a_rule_on_effects_does_not_cover_what_is_not_understood(tool: str, arg: str, text: str, expected: str) -> None:
    assert outcome(may({tool: {"effect": EVERY}}), tool, {arg: text}) == expected


def test_a_null_field_of_an_object_counts_as_absent_for_the_tool_too() -> None:
    args = {"o.b": "text", "o.c": "text", "o.p.q": "text", "l[].d": "text", "l[].e": "text"}
    tools = {"t": {"args": args, "optional": ["o.b", "o.p.q", "l[].d"], "does": "nothing"}}
    intake = Intake(book(tools=tools, agents={"a": {"may": ["t"]}}).book.tools["t"])
    given = {"o": {"b": None, "c": "x", "p": {"q": None}}, "l": [{"d": None, "e": "y"}]}
    assert intake.given(given) == {"o": {"c": "x", "p": {}}, "l": [{"e": "y"}]}
    whole = {"o": {"b": "x", "c": "x"}, "l": [{"d": "z", "e": "y"}]}
    assert intake.given(whole) == whole


@pytest.mark.parametrize("where", ["text", {"below": "text"}], ids=str)
def test_an_effect_on_what_has_no_unit_of_its_own_is_the_calls(where: Any) -> None:
    rulebook = book(tools={"t": {"args": {"text": "text"}, "does": {"execute": where}}}, agents={"a": {"may": ["t"]}})
    decision = decide(rulebook, Call("a", "t", {"text": "x"}))
    assert decision.effects == ("execute",)
    assert decision.tier == rulebook.book.effect_tiers["execute"]


@pytest.mark.parametrize(("first", "second"), [("a[].x", "a.y"), ("a.y", "a[].x"), ("b.a[].x", "b.a.y"), ("a[]", "a")])
def test_an_argument_is_a_list_or_none(first: str, second: str) -> None:
    with pytest.raises(PolicyError, match="contradicts another argument"):
        book(tools={"t": {"args": {first: "text", second: "text"}, "does": "nothing"}}, agents={"a": {"may": ["t"]}})
