"""Text that can't mislead: for any text, what is shown can be seen, stands behind a bar, and is all there."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.explain.visible import BAR, bounded, hidden_in, hints, marked, marked_lines, shown_value

TEXTS = st.text(st.characters(), max_size=60)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


def unseen(c: str) -> bool:
    return unicodedata.category(c)[0] in "C" or (unicodedata.category(c)[0] == "Z" and c != " ")


@given(TEXTS)
def test_everything_shown_can_be_seen(text: str) -> None:
    for shown in (marked(text), *marked_lines(text), bounded(text, 20)):
        assert not any(map(unseen, shown)), shown
        assert not shown.endswith(" ") or shown == BAR
    assert "\n" not in bounded(text, 20)


@given(TEXTS, st.integers(1, 40))
def test_nothing_is_cut_for_a_longer_note(text: str, most: int) -> None:
    assert len(bounded(text, most)) <= max(len(bounded(text, 10_000)), most + len(" [10 more characters]"))
    assert bounded("x" * 27, 26) == "x" * 27


@given(TEXTS, TEXTS)
def test_different_texts_are_shown_differently(one: str, two: str) -> None:
    assert (marked(one) == marked(two)) == (one == two)


@given(VALUES)
def test_a_value_has_one_line_of_ours_for_each_part_and_bars_before_the_rest(value: Any) -> None:
    lines = list(shown_value("x", value, full=True))
    assert not any(unseen(c) for line in lines for c in line)
    ours = [line for line in lines if not line.lstrip(" ").startswith("│")]
    assert len(ours) == _parts(value)
    theirs = [line.lstrip(" ") for line in lines if line.lstrip(" ").startswith("│")]
    assert theirs == [line for text in _texts(value) for line in marked_lines(text)]


def _parts(value: Any) -> int:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_parts, items))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in items for text in _texts(item)]


@given(st.text(st.sampled_from("ab \n"), max_size=4_000))
def test_what_is_left_out_is_counted(text: str) -> None:
    lines = [line.strip() for line in shown_value("x", text, full=False)][1:]
    kept = len(text)
    if lines and lines[-1].startswith("["):
        kept -= int(lines.pop()[1:].split(" ")[0])
    assert lines == [line.strip() for line in (marked_lines(text[:kept]) if kept or not text else [])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("plain text, naïve Straße, 北京, Москва", []),
        ("p\u0430ypal", ["mixes Cyrillic and Latin"]),
        ("\u0441\u043e\u0440\u0443", ["Cyrillic letters that look like Latin"]),
        ("\uff52\uff4d -rf", ["is not plain `rm`"]),
        ("\u05e9\u05dc\u05d5\u05dd", ["right to left"]),
        ("a\u0301\u0301\u0301\u0301", ["combining marks"]),
        ("e\u0301", []),
    ],
)
def test_hints(text: str, found: list[str]) -> None:
    got = hints(text)
    assert len(got) == len(found)
    assert all(words in hint for words, hint in zip(found, got, strict=True))


def test_hidden_characters_are_counted() -> None:
    assert hidden_in("a\u202eb\u202e\u200b\n\t⟨") == [
        "U+202E RIGHT-TO-LEFT OVERRIDE (2 times)",
        "U+200B ZERO WIDTH SPACE",
    ]
    assert hidden_in("plain ⟨x⟩\n") == []
