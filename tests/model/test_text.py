"""Shown text: over all of Unicode, nothing that people can't see gets through, and nothing is longer than its bound."""

from __future__ import annotations

import ast
import re
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from remit.cli.output import LINE_END, problem_text
from remit.explain.visible import bounded, marked
from remit.model.errors import Problem
from remit.model.text import brief, did_you_mean, escaped, is_visible, shown, shown_name
from remit.scopes.glob_syntax import quoted

ALL = [chr(code) for code in range(sys.maxunicode + 1)]

# Derived property Default_Ignorable_Code_Point, from DerivedCoreProperties.txt of Unicode 16.
IGNORABLE = [
    *(range(0xAD, 0xAE), range(0x34F, 0x350), range(0x61C, 0x61D), range(0x115F, 0x1161), range(0x17B4, 0x17B6)),
    *(range(0x180B, 0x1810), range(0x200B, 0x2010), range(0x202A, 0x202F), range(0x2060, 0x2070)),
    *(range(0x3164, 0x3165), range(0xFE00, 0xFE10), range(0xFEFF, 0xFF00), range(0xFFA0, 0xFFA1)),
    *(range(0xFFF0, 0xFFF9), range(0x1BCA0, 0x1BCA4), range(0x1D173, 0x1D17B), range(0xE0000, 0xE1000)),
]
BLANK = "\u2800\U0001d159\ufffc\U00016fe4"
IGNORED = [chr(code) for part in IGNORABLE for code in part]
UNSEEN = {*IGNORED, *BLANK}


def hidden(c: str) -> bool:
    """Control, format, surrogate, private, unassigned; a blank other than the space; drawn as nothing."""
    return c in UNSEEN or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") or _odd_space(c)


def _odd_space(c: str) -> bool:
    return c != " " and (unicodedata.category(c) == "Zs" or c.isspace())


EMPTY = [c for c in ALL if unicodedata.category(c) in ("Cn", "Co")]
"""Unassigned and private: nine tenths of what is hidden, and all alike."""


def test_a_long_name_keeps_its_end():
    assert brief("reader", 8) == "reader"
    assert brief("agent-of-the-north-07", 12) == "agent-…th-07"
    assert brief("a\u202eb", 80) == "a\\u202eb"


@pytest.mark.parametrize("step", [41, pytest.param(1, marks=pytest.mark.more)])
def test_no_hidden_character_of_unicode_is_shown(step: int):
    unseen = {*filter(hidden, ALL)}
    assert [f"U+{ord(c):04X}" for c in sorted(unseen) if is_visible(c)] == []
    tried = sorted((unseen - set(EMPTY)) | set(EMPTY[::step]) | UNSEEN)
    for show in (shown, shown_name, escaped, marked, bounded, quoted):
        wrong = [f"U+{ord(c):04X}" for c in tried if c in show(c)]
        assert wrong == [], show


def test_what_can_be_seen_is_shown_as_it_is():
    seen = [c for c in ALL if not hidden(c)]
    assert len(seen) > 140_000
    assert [f"U+{ord(c):04X}" for c in seen if shown(c) != c or escaped(c) != c] == []
    assert shown("naïve Straße, 北京, Москва, 👍 é") == "naïve Straße, 北京, Москва, 👍 é"


def test_messages_of_the_command_line_hide_nothing():
    for c in "\u3164\u034f\u202e\ufe0f\U000e0041\x1b\r":
        assert c not in problem_text(Problem("x", f"a{c}b", "remit.yaml:1:1", None))


@given(st.text(st.characters()), st.integers(1, 100))
@example("\u202e" * 30, 80)
@example("x" * 80, 80)
@example("x" * 81, 80)
def test_it_is_one_line_within_its_bound_and_cuts_no_escape(text: str, limit: int):
    for show in (shown, shown_name):
        found = show(text, limit)
        whole = found.removesuffix("…") if len(show(text, 10_000)) > limit else found
        assert len(whole) <= limit
        assert not any(map(hidden, found))
        assert show(text, 10_000).startswith(whole)
        rest = show(text, 10_000)[len(whole) :]
        assert not rest or len(whole) + 10 >= limit  # an escape has up to ten characters and is never cut


ESCAPES = st.sampled_from(["\\", "n", "x", "u", "U", "202e", "00", "\u202e", "\n", "\u0301", "a", "\U000e0041"])


@given(st.lists(ESCAPES, max_size=12).map("".join), st.lists(ESCAPES, max_size=12).map("".join))
@example("\\u202e", "\u202e")
@example("\\\\u202e", "\\\u202e")
@example("\\\\n", "\\n")
@example("C:\\new", "C:\new")
def test_different_texts_are_shown_differently(one: str, two: str):
    for show in (shown, shown_name):
        assert (show(one, 1000) == show(two, 1000)) == (one == two)
        assert read_back(show(one, 1000)) == one


def read_back(text: str) -> str:
    """What was shown, read as the docstring says."""
    form = r"n|r|t|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8}"

    def read(found: re.Match[str]) -> str:
        literal, odd = divmod(len(found[1]), 2)
        last = ast.literal_eval(f"'\\{found[2]}'") if odd else found[2]
        return "\\" * literal + last

    return re.sub(rf"(\\+)({form})", read, text)


def test_a_backslash_that_starts_no_escape_stays_single():
    assert shown("C:\\docs \\d+ \\\\host") == "C:\\docs \\d+ \\\\host"
    assert shown("\\u202e") == "\\\\u202e"


def test_a_run_of_combining_marks_is_bounded():
    assert shown("e" + "\u0301" * 6 + "!") == "e" + "\u0301" * 4 + "\\u0301" * 2 + "!"
    assert shown("नि\u0301") == "नि\u0301"


@given(st.text(st.characters()))
def test_escaping_keeps_what_it_is_told_to_and_is_stable(text: str):
    once = escaped(text, keep=LINE_END)
    assert escaped(once, keep=LINE_END) == once
    assert once.count("\n") == text.count("\n")


def test_a_name_shows_letters_that_are_not_ascii():
    assert shown("p\u0430th") == "p\u0430th"
    assert shown_name("p\u0430th") == "p\\u0430th"


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        ("raed", ["read", "write"], "; did you mean `read`?"),
        ("READ", ["read"], "; did you mean `read`?"),
        ("zzz", ["read"], ""),
        ("read", [], ""),
        ("a\u202eb", ["a\u202ec"], "; did you mean `a\\u202ec`?"),
    ],
)
def test_a_nearby_word_is_offered(word: str, known: list[str], hint: str):
    assert did_you_mean(word, known) == hint
