"""Numbers with their nouns, and names from the file system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from remit.model.text import as_text, counted, how_often

SOURCE = Path(__file__).parents[2] / "src" / "remit"


@pytest.mark.parametrize(
    ("count", "noun", "text"),
    [
        (0, "call", "0 calls"),
        (1, "call", "1 call"),
        (2, "entry", "2 entries"),
        (1, "entry", "1 entry"),
        (2, "key", "2 keys"),
        (1000, "entry", "1,000 entries"),
    ],
)
def test_a_number_and_its_noun(count: int, noun: str, text: str) -> None:
    assert counted(count, noun) == text


def test_how_often() -> None:
    assert [how_often(count) for count in (1, 2, 1234)] == ["once", "2 times", "1,234 times"]


def test_plurals_are_spelled_in_one_place() -> None:
    spelled = re.compile(
        r"""['"]s?['"] if \w+(?:\([^)]*\))? [!=]= 1 else|(\w+)['"] if .{1,40} == 1 else f?['"](?:\{[^}]*\} )?\1s"""
    )
    found = [
        f"{file.name}: {line.strip()}"
        for file in sorted(SOURCE.rglob("*.py"))
        for line in file.read_text().splitlines()
        if spelled.search(line)
    ]
    assert [line for line in found if not line.startswith("text.py")] == []


def test_a_name_that_is_not_utf_8_becomes_text() -> None:
    assert as_text("caf\udce9") == "caf\ufffd"
    assert as_text("sp ace ünï") == "sp ace ünï"
