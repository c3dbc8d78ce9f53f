"""Totals that a document gives beside the numbers of their parts: "20 agents: 5 + 8 + 6", rows and a last one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from remit.scan.counts import NUMBERS
from remit.scan.files import Text
from remit.scan.markdown import Document, Line, Table
from remit.scan.model import Place
from remit.scan.vocabulary import bare, section, words

_CELL = re.compile(r"~?(\d{1,3})(?:\s+[\w-]+)?")
_PART = re.compile(r"\s*(\d{1,3})\s+[^\d(),+]{1,60}")
_BRACKET = re.compile(r"[(（]\s*(\d{1,3})(?:\s+[\w-]+){0,2}\s*[)）]\s*$")
_PLURAL = re.compile(r"s\s*(?:,|$)")
"""What is counted beside a part: "3 hosts, 4 languages" are no parts of agents."""
_LONGEST = 500


class Sum(msgspec.Struct, frozen=True):
    """A total and what its parts add up to."""

    kind: str
    said: int
    added: int
    places: tuple[Place, ...]


def sums_of(text: Text, document: Document) -> Iterator[Sum]:
    """The totals of a document that its own parts don't add up to."""
    for table in document.tables:
        yield from _table(text, table)
    yield from _headings(text, document)
    for line in document.lines:
        if "+" in line.text or "(" in line.text or ":" in line.text:
            yield from _line(text, line)


@cache
def _noun() -> re.Pattern[str]:
    nouns = {
        noun: kind
        for kind, one in section("countables").items()
        if kind not in ("tools", "rules")
        for noun in one["nouns"]
    }
    ascii_nouns = sorted((noun for noun in nouns if noun.isascii()), key=len, reverse=True)
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, ascii_nouns))})\b", re.IGNORECASE)


@cache
def _inline() -> re.Pattern[str]:
    number = "|".join(sorted(NUMBERS, key=len, reverse=True))
    return re.compile(
        rf"(?<![\w.,/-])(?P<said>\d{{1,3}}|{number})\s+(?:[\w-]+\s+){{0,2}}?(?P<noun>{_noun().pattern})\s*"
        r"(?:=|:|[(（])\s*(?P<parts>\d{1,3}\s[^()（）\n;]{2,300})",
        re.IGNORECASE,
    )


def _table(text: Text, table: Table) -> Iterator[Sum]:
    """A column of numbers with a total in the last row."""
    if len(table.rows) < 3 or bare(table.rows[-1].cells[0]).lower() not in words("row_totals", ""):
        return
    for column in range(1, min(8, len(table.head.cells))):
        head = table.head.cells[column]
        noun = _noun().search(bare(head)) or (
            _noun().search(" ".join((bare(table.head.cells[0]), *table.headings[-1:])))
            if bare(head).lower() in words("columns", "count")
            else None
        )
        cells = [_CELL.fullmatch(bare(row.cells[column])) for row in table.rows]
        if noun is None or not all(cells):
            continue
        numbers = [int(cell[1]) for cell in cells if cell is not None]
        if sum(numbers[:-1]) != numbers[-1]:
            place = Place(text.path, table.rows[-1].line)
            yield Sum(noun[0].lower(), numbers[-1], sum(numbers[:-1]), (place, Place(text.path, table.head.line)))


def _headings(text: Text, document: Document) -> Iterator[Sum]:
    """`## Agents (20)` over `### Core (5)`, `### Tests (8)`: each of them with its number."""
    children: dict[tuple[str, ...], list[Line]] = {}
    for one in document.headings:
        children.setdefault(one.headings[:-1], []).append(one)
    for one in document.headings:
        noun, total = _noun().search(one.text[:_LONGEST]), _BRACKET.search(one.text[:_LONGEST])
        below = children.get(one.headings, ())
        numbers = [_BRACKET.search(child.text[:_LONGEST]) for child in below]
        if noun is None or total is None or len(numbers) < 2 or not all(numbers):
            continue
        added = sum(int(number[1]) for number in numbers if number is not None)
        if added != int(total[1]):
            places = (Place(text.path, one.line), *(Place(text.path, child.line) for child in below[:5]))
            yield Sum(noun[0].lower(), int(total[1]), added, places)


def _line(text: Text, line: Line) -> Iterator[Sum]:
    """ "20 agents: 5 core + 8 for tests + 6 for docs"."""
    for match in _inline().finditer(line.text[:_LONGEST]):
        cut = re.split(r"(?<=\w)[.;](?:\s|$)|\s[—–=]\s", match["parts"])[0]
        parts = [_PART.fullmatch(one) for one in re.split(r"\+|,(?:\s*and\b)?|\s(?=and\s\d)and\b", cut) if one.strip()]
        if len(parts) < 2 or not all(parts) or ("+" not in cut and (len(parts) < 3 or _PLURAL.search(cut))):
            continue
        said = NUMBERS.get(match["said"].lower()) or int(match["said"])
        added = sum(int(part[1]) for part in parts if part is not None)
        others = [_noun().search(part[0]) for part in parts if part is not None]
        if added != said and not any(other and other[0].lower() != match["noun"].lower() for other in others):
            yield Sum(match["noun"].lower(), said, added, (Place(text.path, line.line),))
