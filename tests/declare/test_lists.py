"""Lists that are named once, and what is said about names that are wrong or unused."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model.call import Call
from remit.model.errors import PolicyError

TOOLS = {"send": {"args": {"to": "email", "why": "text", "at": "date"}, "optional": ["at"], "does": {"message": "to"}}}


def book(scope: Any, **lists: Any) -> Any:
    agents = {"a": {"may": [{"send": scope}]}}
    return build_rulebook({"remit": 1, "lists": lists, "tools": TOOLS, "agents": agents})


def code(found: Any, to: str, why: str = "x") -> str:
    return decide(found, Call("a", "send", {"to": to, "why": why})).code


@pytest.mark.parametrize("by", ["team", {"list": "team"}])
def test_a_list_in_one_of(by: Any) -> None:
    found = book({"where": {"why": {"one_of": by}, "to": {"email": "*@x.example"}}}, team=["x", "y"])
    assert [code(found, "a@x.example", why) for why in ("x", "y", "z")] == ["tier-asks", "tier-asks", "not-permitted"]


@pytest.mark.parametrize("scope", [{"email": {"list": "team"}}, {"where": {"to": {"email": {"list": "team"}}}}])
def test_a_list_in_a_part(scope: Any) -> None:
    found = book(scope, team=["a@x.example", "b@x.example"])
    assert [code(found, to) for to in ("b@X.example", "c@x.example")] == ["tier-asks", "not-permitted"]


@pytest.mark.parametrize(
    ("scope", "lists", "wrong"),
    [
        ({"email": {"list": "tem"}}, {"team": ["a@x.example"]}, "unknown-list"),
        ({"where": {"why": {"one_of": "team"}}}, {}, "unknown-list"),
        ({"email": {"list": "team"}}, {"team": ["not an address"]}, "bad-email"),
        ({"email": {"list": "team"}}, {"team": []}, "bad-value"),
        ({"email": {"list": ["team"]}}, {"team": ["a@x.example"]}, "unknown-list"),
        ({"path": {"list": "team"}}, {"team": ["a"]}, "unknown-key"),
    ],
)
def test_what_does_not_load(scope: Any, lists: Any, wrong: str) -> None:
    with pytest.raises(PolicyError) as error:
        book(scope, **lists)
    assert wrong in {problem.code for problem in error.value.problems}


def test_an_unused_list_is_a_notice() -> None:
    notices = book({"email": {"list": "team"}}, team=["a@x.example"], more=["x"]).book.notices
    assert [text for text in notices if "list" in text] == ["lists: no rule uses the list `more`"]


@pytest.mark.parametrize(("value", "fine"), [(10, True), (1.5, True), ("10", False), (True, False), (0, True)])
def test_a_default_is_of_its_kind(value: Any, fine: bool) -> None:
    tools = {"t": {"args": {"n": "number"}, "optional": ["n"], "defaults": {"n": value}, "does": "nothing"}}
    data = {"remit": 1, "tools": tools, "agents": {"a": {"may": [{"t": {"where": {"n": {"max": 5}}}}]}}}
    if not fine:
        with pytest.raises(PolicyError):
            build_rulebook(data)
        return
    assert decide(build_rulebook(data), Call("a", "t", {})).allowed is (value <= 5)
