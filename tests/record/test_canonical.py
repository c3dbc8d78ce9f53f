"""Canonical JSON, against the rfc8785 package as a second opinion."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
import pytest
import rfc8785
from hypothesis import example, given
from hypothesis import strategies as st

from remit.record.canonical import MAX_BYTES, MAX_DEPTH, MAX_INT, CanonicalError, decode, encode

text = st.text(st.characters(exclude_categories=["Cs"]))
# Keys whose order differs between code points and UTF-16: beyond U+FFFF, and between the surrogates and U+FFFF.
odd_keys = st.text(st.sampled_from("aZ\x00\x7f\x80é\ud7ff\ue000\uffff\U00010000\U0010ffff"), max_size=3)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-MAX_INT, MAX_INT) | text,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(text | odd_keys, inner),
    max_leaves=12,
)


@given(values)
@example({"\ue000": 1, "\U00010000": 2})
@example("".join(map(chr, range(0x100))) + "\u2028\u2029\ufffe\uffff")
def test_it_is_what_the_other_writes(value: Any):
    data = encode(value)
    assert data == rfc8785.dumps(value)
    assert encode(decode(data)) == data


@given(st.dictionaries(odd_keys, values, min_size=2))
def test_keys_are_in_utf16_order(value: dict[str, Any]):
    assert encode([value]) == rfc8785.dumps([value])


class Name(StrEnum):
    ONE = "one"


class Pair(NamedTuple):
    one: int


class Record(msgspec.Struct):
    one: int


class Sub(str):
    __slots__ = ()


@pytest.mark.parametrize(
    "value",
    [
        1.0,
        float("nan"),
        [0.5],
        MAX_INT + 1,
        -MAX_INT - 1,
        {"a": 10**400},
        "\ud800",
        {"\udfff": 1},
        {"\ud800": 1, "\U00010000": 2},
        {1: 2},
        {None: 1},
        {Name.ONE: 1},
        Name.ONE,
        Sub("one"),
        Pair(1),
        Record(1),
        b"bytes",
        {1, 2},
        object(),
        msgspec.Raw(b"1"),
    ],
)
def test_what_has_no_one_text_is_refused(value: Any):
    with pytest.raises(CanonicalError):
        encode(value)
    with pytest.raises(CanonicalError):
        encode({"inside": [value]})


@pytest.mark.parametrize("beside", [0, 1, 15, 16, 40])
@pytest.mark.parametrize("depth", range(7))
@pytest.mark.parametrize("wrong", [0.5, MAX_INT + 1, -MAX_INT - 1, Sub("one"), {1: 2}, {Name.ONE: 1}, b"bytes"])
def test_it_is_refused_however_deep_it_lies_and_whatever_lies_beside_it(wrong: Any, depth: int, beside: int):
    for kind in (dict, list, tuple):
        value = wrong
        for _ in range(depth + 1):
            items = [*range(beside), value]
            value = {str(place): one for place, one in enumerate(items)} if kind is dict else kind(items)
        with pytest.raises(CanonicalError):
            encode(value)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_depth_and_width_have_a_limit():
    assert encode(nested(MAX_DEPTH)) == b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    with pytest.raises(CanonicalError, match="deeper"):
        encode(nested(MAX_DEPTH + 1))
    with pytest.raises(CanonicalError, match="deeper"):
        encode(nested(100_000))
    itself: list[Any] = []
    itself.append(itself)
    with pytest.raises(CanonicalError, match="deeper"):
        encode(itself)
    bomb: Any = "x"
    for _ in range(100):
        bomb = [bomb, bomb]
    with pytest.raises(CanonicalError, match="more than"):
        encode(bomb)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" 1",
        b"1 ",
        b"1.0",
        b"1e3",
        b"-0",
        b"01",
        b"NaN",
        b"9007199254740992",
        b"1" * 5000,
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":1,"a":2}',
        b'{"a": 1}',
        '{"\ue000":1,"\U00010000":2}'.encode(),
        b'"\\u0041"',
        b'"\\/"',
        b'"\\u000A"',
        b'"\\ud800"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b"\xef\xbb\xbf1",
        b"[1,]",
        b"[" * 100_000,
        b"[" * 500 + b"]" * 500,
        b'"' + b"x" * MAX_BYTES + b'"',
    ],
)
def test_any_other_spelling_is_refused(data: bytes):
    with pytest.raises(CanonicalError):
        decode(data)


@given(values, st.data())
def test_of_changed_texts_only_canonical_ones_are_read(value: Any, data: st.DataObject):
    """Random bytes put into a canonical text: refused as CanonicalError, or again what its value is written as."""
    whole = encode(value)
    at = data.draw(st.integers(0, len(whole)))
    inserted = data.draw(st.binary(max_size=3) | st.sampled_from([b",", b'"', b"{}", b"[", b"0", b" ", b"\\u0000"]))
    changed = whole[:at] + inserted + whole[at + data.draw(st.integers(0, 2)) :]
    try:
        read = decode(changed)
    except CanonicalError:
        return
    assert rfc8785.dumps(read) == changed
    assert json.loads(changed) == read
