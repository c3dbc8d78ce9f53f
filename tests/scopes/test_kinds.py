"""The table of kinds: one line in it makes a kind."""

import sys
from types import ModuleType

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model.call import Call
from remit.scopes import kinds
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
