"""The table of kinds: one line in it makes a kind."""

import sys
from types import ModuleType

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.decide.case import Objection
from remit.decide.preview import Preview
from remit.decide.questions import AskReason
from remit.model.call import Call
from remit.scopes import kinds
from remit.scopes.glob_syntax import CharSet
from remit.scopes.interface import Declared, Matcher, Unit
from remit.scopes.path import PathScope
from remit.scopes.url import UrlPattern
from remit.scopes.url_grammar import Url
from tests.scopes.test_new_kind import ColourKind

POLICY = {
    "remit": 1,
    "tools": {"paint": {"args": {"colour": "colour"}, "does": {"execute": "colour"}}},
    "agents": {"painter": {"may": [{"paint": {"colour": ["red"]}}]}},
}


@pytest.mark.parametrize("first", [False, True])
def test_one_line_is_enough_wherever_it_stands(monkeypatch, first):
    before, line = dict(kinds._ARGUMENTS), {"colour": "colours"}
    monkeypatch.setattr(kinds, "_ARGUMENTS", line | before if first else before | line)
    assert set(kinds.names()) == {*before, "colour"}


@pytest.mark.parametrize(
    ("kind", "value", "nothing"),
    [
        ("path", "docs/**", {"allow": []}),
        ("url", "https://x.example/**", []),
        ("agent", "a", []),
        ("skill", "a", []),
        ("email", "a@x.example", []),
        ("account", "acme-1", []),
        ("host", "x.example", []),
        ("date", "2027-03-01", []),
    ],
)
def test_a_scope_that_lists_nothing_is_empty(kind, value, nothing):
    """What can be proved of a policy rests on it."""
    full = kinds.kind_of(kind).matcher({"allow": [value]} if kind == "path" else [value])
    none = kinds.kind_of(kind).matcher(nothing)
    assert (full.empty, none.empty) == (False, True)
    assert value in full.describe()
    assert value not in none.describe()
    assert none.describe() != ""


def test_a_kind_of_the_table_is_read_and_decided(monkeypatch):
    """A line in the table and a module with it among its KINDS: then policies can limit it, and calls are judged."""
    module = ModuleType("remit.scopes.colours")
    vars(module)["KINDS"] = (ColourKind(),)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(kinds, "_ARGUMENTS", kinds._ARGUMENTS | {"colour": "colours"})
    monkeypatch.setattr(kinds, "_loaded", dict(kinds._loaded))
    rulebook = build_rulebook(POLICY)

    def verdict(colour: object) -> str:
        return decide(rulebook, Call("painter", "paint", {"colour": colour})).verdict.word

    assert [verdict(colour) for colour in ("red", "#F00", "blue", "no colour", 7)] == ["allow", "allow", *["deny"] * 3]


TRAITS = ("argument", "must_be_mentioned", "language", "on_disk", "goes_below", "graded", "conditional")
KINDS = {
    "path": "argument must_be_mentioned on_disk goes_below conditional",
    "glob": "argument must_be_mentioned",
    "url": "argument must_be_mentioned conditional",
    "agent": "argument must_be_mentioned conditional",
    "skill": "argument conditional",
    "shell": "argument must_be_mentioned language graded",
    "sql": "argument must_be_mentioned language",
    "email": "argument must_be_mentioned conditional",
    "account": "argument must_be_mentioned conditional",
    "host": "argument must_be_mentioned conditional",
    "date": "argument conditional",
    "text": "argument",
    "number": "argument",
    "flag": "argument",
    "json": "argument",
    "table": "",
    "branch": "",
    "context": "",
    "records": "",
    "call": "",
}


def test_what_sets_each_kind_apart():
    found = {name: kinds.kind_of(name) for name in (*kinds._ARGUMENTS, *kinds._UNITS)}
    assert {n: " ".join(trait for trait in TRAITS if getattr(one, trait)) for n, one in found.items()} == KINDS


def test_a_matcher_obliges_to_nothing_and_leaves_nothing_open_unless_it_says_so():
    assert (Matcher.obliges, Matcher.empty, Matcher.open) == (False, False, False)
    assert Matcher().refuses(Unit("call", "", "")) is None
    assert not Matcher().concerns(Unit("call", "", ""))
    assert not Matcher().excludes(Unit("call", "", ""))


@pytest.mark.parametrize("value", [Unit, Declared, PathScope, UrlPattern, Url, CharSet, Objection, Preview, AskReason])
def test_what_is_judged_can_not_be_changed(value):
    assert value.__struct_config__.frozen
