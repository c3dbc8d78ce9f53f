"""The file of published tools says what was declared, whatever the declaration holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.declare.functions import with_functions
from remit.declare.nodes import parse
from remit.declare.published import published_name, published_text, record
from remit.forms.shapes import Reader
from remit.model.errors import PolicyError

words = st.text(max_size=20) | st.sampled_from(
    ["no", "on", "1e3", "0o17", "~", "null", "1", ".5", "0x1f", "- a", "a: b", "#", "{a}", "é", "\u200b", "a\nb", "*x"]
)
scalars = words | st.integers(-(10**9), 10**9) | st.booleans() | st.floats(allow_nan=False, allow_infinity=False)
kinds = st.sampled_from(["text", "number", "flag", "json"]) | st.fixed_dictionaries(
    {"one_of": st.lists(scalars, min_size=1, max_size=4)}
)
names = st.sampled_from(["a", "no", "a_b", "a[]", "rows[].on", "x.y", "$ref"])


@st.composite
def tools(draw: st.DrawFn) -> dict[str, Any]:
    args = draw(st.dictionaries(names, kinds, max_size=3)) | {"path": "path"}
    found: dict[str, Any] = {
        "args": args,
        "does": draw(st.sampled_from(["nothing", {"write": ["path"]}, {"read": "a/**"}])),
    }
    for key in ("about", "layer", "category"):
        if draw(st.booleans()):
            found[key] = draw(words)
    if draw(st.booleans()):
        found["tier"] = draw(st.integers(0, 4))
    return found


@given(tools())
def test_what_is_written_is_what_was_declared(told: dict[str, Any]):
    functions = {"tool": told}
    reader = Reader()
    with_functions({}, functions, reader)
    if reader.problems:
        return
    try:
        text = published_text(["app.py:guard"], functions)
    except PolicyError:
        assert not _writable(told)
        return
    values = record.read(parse(text, "file"), reader)
    [tool] = values["tools"].values()
    from msgspec.structs import replace

    with_functions({"tool": replace(tool, name="tool", published=True)}, functions, reader, ["app.py:guard"])
    assert reader.problems == []


def _writable(told: dict[str, Any]) -> bool:
    """Lone surrogates have no UTF-8."""
    try:
        repr(told).encode()
    except UnicodeEncodeError:
        return False
    return not any("\\ud" in repr(value) for value in (told,))


def test_the_order_of_a_program_does_not_matter():
    one, two = {"args": {}, "does": "nothing"}, {"args": {"b": "text", "a": "text"}, "does": "nothing"}
    assert published_text(["a:b"], {"x": one, "y": two}) == published_text(["a:b"], {"y": two, "x": one})


def test_what_yaml_has_no_form_for():
    with pytest.raises(PolicyError, match="can't be written as YAML"):
        published_text(["a:b"], {"x": {"args": {}, "does": {"write": object()}}})


@pytest.mark.parametrize(
    ("policy", "file"), [("remit.yaml", "remit.tools.yaml"), ("a.yml", "a.tools.yaml"), ("p", "p.tools.yaml")]
)
def test_its_name(policy: str, file: str):
    assert published_name(policy) == file
