"""JSON edited as text: the right value changes, and no byte beside it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.exchange.json_text import JsonError, append, get, parse, put, remove

scalars = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)
objects = st.dictionaries(st.text(max_size=4), values, max_size=4)
styles = st.sampled_from([None, 2, 4, "\t"])


@given(objects, styles)
def test_it_reads_what_json_reads(data: dict[str, Any], indent: Any):
    assert parse(json.dumps(data, indent=indent)).plain() == data


@given(objects, styles, st.text(max_size=4), values, st.booleans())
def test_putting_changes_one_key(data: dict[str, Any], indent: Any, key: str, value: Any, crlf: bool):
    text = json.dumps(data, indent=indent, ensure_ascii=False) + "\n"
    text = text.replace("\n", "\r\n") if crlf else text
    new = put(text, (key,), value)
    assert json.loads(new) == {**data, key: value}
    assert list(json.loads(new)) == list({**data, key: value})
    if key not in data and data:
        assert remove(new, (key,)) == text


@given(st.lists(values, max_size=4), styles, values)
def test_what_is_appended_can_be_removed(items: list[Any], indent: Any, value: Any):
    text = json.dumps({"a": 1, "list": items}, indent=indent)
    new = append(text, ("list",), value)
    assert json.loads(new) == {"a": 1, "list": [*items, value]}
    assert json.loads(remove(new, ("list", len(items)))) == json.loads(text)
    if items:
        assert remove(new, ("list", len(items))) == text


@given(st.lists(values, min_size=1, max_size=4), styles, st.data())
def test_any_item_can_be_removed(items: list[Any], indent: Any, data: st.DataObject):
    index = data.draw(st.integers(0, len(items) - 1))
    new = remove(json.dumps({"list": items}, indent=indent), ("list", index))
    assert json.loads(new) == {"list": items[:index] + items[index + 1 :]}


def test_it_writes_as_the_file_does():
    text = '{\r\n\t"a": [],\r\n\t"b": {"c": 1}\r\n}\r\n'
    assert append(text, ("a",), {"x": [1]}) == (
        '{\r\n\t"a": [\r\n\t\t{\r\n\t\t\t"x": [\r\n\t\t\t\t1\r\n\t\t\t]\r\n\t\t}\r\n\t],\r\n\t"b": {"c": 1}\r\n}\r\n'
    )
    assert put(text, ("b", "d"), 2) == text.replace('"c": 1', '"c": 1, "d": 2')


def test_a_byte_order_mark_stays():
    assert put('\ufeff{"a": 1}', ("b",), 2) == '\ufeff{"a": 1, "b": 2}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected a value"),
        ("[]", "line 1, column 1: expected an object"),
        ('{"a": 1,}', 'line 1, column 9: expected `"`'),
        ('{\n  // no\n  "a": 1}', "line 2, column 3: a comment, which JSON does not have"),
        ('{"a": /* no */ 1}', "line 1, column 7: a comment, which JSON does not have"),
        ('{"a": 1} x', "line 1, column 10: more text after the end"),
        ('{"a": 1, "a": 2}', "line 1, column 10: a key that appears twice"),
        ('{"a": NaN}', "line 1, column 7: expected a value"),
        ('{"a": "x\ny"}', "line 1, column 9: a string that does not end or has a bad character"),
        ('{"a" 1}', "line 1, column 6: expected `:`"),
        ('{"a": [1 2]}', "line 1, column 10: expected `,` or `]`"),
        ('{"a": 01}', "line 1, column 8: expected `,` or `}`"),
    ],
)
def test_what_is_not_json_is_refused_with_its_place(text: str, message: str):
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_depth_is_bounded():
    with pytest.raises(JsonError, match="nested deeper"):
        parse('{"a":' + "[" * 100_000)


def test_what_is_not_there():
    assert get('{"a": {}}', ("a", "b")) is None
    with pytest.raises(JsonError):
        append('{"a": 1}', ("a",), 1)
