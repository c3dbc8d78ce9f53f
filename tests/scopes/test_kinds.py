"""The table of kinds: one line in it makes a kind."""

import pytest

from remit.scopes import kinds


@pytest.mark.parametrize("first", [False, True])
def test_one_line_is_enough_wherever_it_stands(monkeypatch, first):
    before, line = dict(kinds._ARGUMENTS), {"colour": "colours"}
    monkeypatch.setattr(kinds, "_ARGUMENTS", line | before if first else before | line)
    assert set(kinds.names()) == {*before, "colour"}
