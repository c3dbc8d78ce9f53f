"""The table of kinds: one line in it makes a kind."""

import pytest

from remit.scopes import kinds


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
