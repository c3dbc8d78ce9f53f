"""Adding an entry to a list of a policy keeps every other byte."""

from __future__ import annotations

import pytest

from remit.declare.insert import with_entry
from remit.declare.nodes import parse
from remit.forms.texts import plain
from remit.model.errors import PolicyError

ENTRY = "{agent: new, until: 2027-01-01}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("remit: 1\n", "remit: 1\ngrants:\n  - +\n"),
        ("remit: 1", "remit: 1\ngrants:\n  - +\n"),
        ("remit: 1\n# end\n", "remit: 1\n# end\ngrants:\n  - +\n"),
        ("remit: 1\r\nname: x\r\n", "remit: 1\r\nname: x\r\ngrants:\r\n  - +\r\n"),
        ("grants: []\nremit: 1\n", "grants: [+]\nremit: 1\n"),
        ("grants: [ ]  # none\nremit: 1\n", "grants: [+ ]  # none\nremit: 1\n"),
        ("grants: [{a: 1}]\nremit: 1\n", "grants: [{a: 1}, +]\nremit: 1\n"),
        ("grants: [{a: 1},]\nremit: 1\n", "grants: [{a: 1}, +,]\nremit: 1\n"),
        (
            "grants: [\n  {a: 1},  # one\n  {b: [2]}  # two\n]\n",
            "grants: [\n  {a: 1},  # one\n  {b: [2]}, +  # two\n]\n",
        ),
        ("grants:\n  - {a: 1}\nremit: 1\n", "grants:\n  - {a: 1}\n  - +\nremit: 1\n"),
        ("grants:\n- {a: 1}\nremit: 1\n", "grants:\n- {a: 1}\n- +\nremit: 1\n"),
        ("grants:\n  - {a: 1}  # why\n\n# next\nremit: 1\n", "grants:\n  - {a: 1}  # why\n  - +\n\n# next\nremit: 1\n"),
        (
            "grants:\n    - a: 1\n      b: [1, 2]\nremit: 1\n",
            "grants:\n    - a: 1\n      b: [1, 2]\n    - +\nremit: 1\n",
        ),
        (
            "grants:\n  - a: |\n      text\n      more\nremit: 1\n",
            "grants:\n  - a: |\n      text\n      more\n  - +\nremit: 1\n",
        ),
        ("remit: 1\ngrants:\n  - {a: 1}", "remit: 1\ngrants:\n  - {a: 1}\n  - +\n"),
        ("remit: 1\r\ngrants:\r\n  - {a: 1}\r\nb: 2\r\n", "remit: 1\r\ngrants:\r\n  - {a: 1}\r\n  - +\r\nb: 2\r\n"),
        ("\ufeffgrants:\n  - {ä: ü}\nremit: 1\n", "\ufeffgrants:\n  - {ä: ü}\n  - +\nremit: 1\n"),
        ("x: {grants: [1]}\ngrants:\n  - 'a: ]'\n", "x: {grants: [1]}\ngrants:\n  - 'a: ]'\n  - +\n"),
        ("x:\n  grants:\n    - 1\n", "x:\n  grants:\n    - 1\ngrants:\n  - +\n"),
        ("grants:\n  - # what follows\n    {a: 1}\nb: 1\n", "grants:\n  - # what follows\n    {a: 1}\n  - +\nb: 1\n"),
    ],
)
def test_one_more_and_nothing_else(before: str, after: str) -> None:
    made = with_entry(before, "grants", ENTRY)
    assert made == after.replace("+", ENTRY)
    old, new = plain(parse(before, "x")), plain(parse(made, "x"))
    assert new == {**old, "grants": [*old.get("grants", []), {"agent": "new", "until": "2027-01-01"}]}


@pytest.mark.parametrize(
    "text",
    [
        "{remit: 1}\n",
        "  remit: 1\n  name: x\n",
        "remit: 1\ngrants: text\n",
        "remit: 1\ngrants:\n",
        "remit: 1\ngrants: {a: 1}\n",
        "remit: 1\n...\n",
        "remit: 1\nname: |\n  text\n  ...\n...\n",
    ],
)
def test_where_no_place_is_certain_it_says_so(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        with_entry(text, "grants", ENTRY)


@pytest.mark.parametrize("text", ["", "- a\n", "a: [", "a: &x 1\n"])
def test_what_is_no_policy_is_refused(text: str) -> None:
    with pytest.raises(PolicyError):
        with_entry(text, "grants", ENTRY)
