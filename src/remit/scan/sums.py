"""Totals that a document gives beside the numbers of their parts: "20 agents: 5 + 8 + 6", rows and a last one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from remit.scan.counts import NUMBERS
from remit.scan.files import Text
from remit.scan.markdown import Code, Document, Line, Table
from remit.scan.model import Place
from remit.scan.vocabulary import bare, section, words

_CELL = re.compile(r"~?(\d{1,3})(?:\s+[\w-]+)?")
_PART = re.compile(r"\s*(\d{1,3})\s+[^\d(),+]{1,60}")
_BRACKET = re.compile(r"[(（]\s*(\d{1,3})(?:\s+[\w-]+){0,2}\s*[)）]\s*$")
_PLURAL = re.compile(r"s\s*(?:,|$)")
"""What is counted beside a part: "3 hosts, 4 languages" are no parts of agents."""
_LONGEST = 500
_DRAWN = re.compile(r"^([\s│|]*(?:[├└][─\s-]*|[+`|]--+\s*)?)(?:[^\w\s.#|(]+\s)?(\S+)")
_DRAWN_NUMBER = re.compile(
    r"[(（](\d{1,3})(?:\s+(?:agents|subagents|skills|commands|files|hooks|prompts|scripts|个|個))?[)）]"
    r"|(?:#|//|<-|←|—)\s*(\d{1,3})\s+(?:[\w-]+\s+){0,2}(?:agents|subagents|commands|files|hooks|prompts|scripts|rules)\b"
)

_PAGE = re.compile(r"(?:^|[/_-])(?:readme|template|index|registry)\.", re.IGNORECASE)
"""Files of a folder that are none of those it holds."""


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
    for block in document.code:
        yield from _tree(text, block)
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


def _tree(text: Text, block: Code) -> Iterator[Sum]:
    """`team/ (5)` in a drawn tree, over the files that are drawn in it."""
    if "└" not in block.text and "|--" not in block.text:
        return
    open_at: list[tuple[int, int, int, list[str]]] = []

    def ended(column: int) -> Iterator[Sum]:
        while open_at and open_at[-1][0] >= column:
            _, said, line, drawn = open_at.pop()
            drawn = [one for one in drawn if _PAGE.search(one) is None]
            leaves = [one for one in drawn if one.endswith((".md", ".py", ".sh", ".js", ".ts", ".toml", ".json"))]
            whole = len(leaves) == len(drawn) and len({one.rpartition(".")[2] for one in drawn}) == 1
            if said >= 2 and whole and len(leaves) >= 3 and 0 < abs(said - len(leaves)) <= max(2, said // 4):
                yield Sum("files", said, len(leaves), (Place(text.path, line),))

    for number, line in enumerate(block.text.split("\n")[:2000], block.line):
        match = _DRAWN.match(line[:400])
        if match is None:
            continue
        column = len(match[1])
        yield from ended(column)
        if open_at:
            open_at[-1][3].append(match[2])
        counted = _DRAWN_NUMBER.search(line[match.end() : 400]) if match[2].endswith("/") else None
        open_at.append((column, int(counted[1] or counted[2]) if counted else 0, number, []))
    yield from ended(0)


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
