"""Markdown by its lines: headings, tables, list items, code; each with the line where it stands.

No renderer: what a scan needs is where things are, and a table is read the same inside of `<details>` or a quote.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

_FENCE = re.compile(r"\s{0,3}(?:>\s?)*(`{3,}|~{3,})\s*([\w+-]*)")
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$")
_ITEM = re.compile(r"(\s*)(?:[-*+]|\d{1,3}[.)])\s+(.*)")
_QUOTE = re.compile(r"^\s{0,3}>\s?")
WIDEST = 200
"""Columns of a table that are read."""
LONGEST = 20_000
"""Characters of a line that are read."""


class Row(msgspec.Struct, frozen=True):
    """One row of a table."""

    cells: tuple[str, ...]
    line: int


class Table(msgspec.Struct, frozen=True):
    """A table, under the headings that lead to it, outermost first."""

    head: Row
    rows: tuple[Row, ...]
    headings: tuple[str, ...]


class Line(msgspec.Struct, frozen=True):
    """A line of text or a list item, under its headings."""

    text: str
    line: int
    headings: tuple[str, ...]
    item: bool
    indent: int = 0


class Code(msgspec.Struct, frozen=True):
    """A fenced block."""

    language: str
    text: str
    line: int
    headings: tuple[str, ...]


class Document(msgspec.Struct):
    """The parts of a document, in order."""

    title: str = ""
    tables: list[Table] = []
    lines: list[Line] = []
    code: list[Code] = []
    headings: list[Line] = []


@lru_cache(maxsize=2)
def read_markdown(text: str, first: int = 1) -> Document:
    """The parts of a text; `first` is the number of its first line. Kept for those who look at one text in turn."""
    document = Document()
    above: list[tuple[int, str]] = []
    rows = text.split("\n")
    at = 0
    while at < len(rows):
        raw = rows[at][:LONGEST]
        line = first + at
        headings = tuple(name for _, name in above)
        fence = _FENCE.match(raw)
        if fence:
            end = at + 1
            while end < len(rows) and not rows[end].strip().lstrip("> ").startswith(fence[1]):
                end += 1
            document.code.append(Code(fence[2].lower(), "\n".join(rows[at + 1 : end]), line + 1, headings))
            at = end + 1
            continue
        plain = _QUOTE.sub("", raw)
        heading = _HEADING.match(plain)
        if heading:
            level = len(heading[1])
            above = [(depth, name) for depth, name in above if depth < level] + [(level, heading[2])]
            document.title = document.title or heading[2]
            document.headings.append(Line(heading[2], line, tuple(name for _, name in above), False))
            at += 1
            continue
        if "|" in plain and at + 1 < len(rows) and is_rule(_QUOTE.sub("", rows[at + 1][:LONGEST])):
            table, at = _table(rows, at, first, headings)
            document.tables.append(table)
            continue
        if plain.strip():
            item = _ITEM.match(plain)
            indent = len(item[1]) if item else 0
            document.lines.append(Line(item[2] if item else plain.strip(), line, headings, item is not None, indent))
        at += 1
    return document


def is_rule(line: str) -> bool:
    """Whether a line is the one between a table's head and its rows."""
    return "-" in line and "|" in line and len(line) < 4000 and _RULE.fullmatch(line) is not None


def _table(rows: list[str], at: int, first: int, headings: tuple[str, ...]) -> tuple[Table, int]:
    head = Row(_cells(rows[at]), first + at)
    found: list[Row] = []
    last = at + 2
    while last < len(rows) and "|" in rows[last] and rows[last].strip():
        cells = _cells(rows[last])
        found.append(Row((*cells, *[""] * (len(head.cells) - len(cells))), first + last))
        last += 1
    return Table(head, tuple(found), headings), last


def _cells(line: str) -> tuple[str, ...]:
    text = _QUOTE.sub("", line[:LONGEST]).strip()
    text = text.removeprefix("|")
    if text.endswith("|") and not text.endswith("\\|"):
        text = text[:-1]
    cells, cell, code = [], "", False
    skip = False
    for at, character in enumerate(text):
        if skip:
            skip = False
            continue
        if character == "\\" and text[at + 1 : at + 2] == "|":
            cell += "|"
            skip = True
        elif character == "|" and not code:
            cells.append(cell.strip())
            cell = ""
        else:
            if character == "`":
                code = not code if "`" in text[at + 1 :] or code else code
            cell += character
    cells.append(cell.strip())
    return tuple(cells[:WIDEST])


def example_rows(text: str) -> frozenset[int]:
    """The lines of tables whose head says that they give examples, or names to be replaced."""
    found: set[int] = set()
    within = inside = False
    for number, line in enumerate(text.split("\n"), 1):
        row = line.lstrip().startswith("|")
        if row and not inside:
            within = _EXAMPLES.search(line[:LONGEST]) is not None
        inside = row
        if row and within:
            found.add(number)
    return frozenset(found)


_EXAMPLES = re.compile(
    r"\b(?:examples?|samples?|placeholders?|e\.g|beispiele?|ejemplos?|exemples?|exemplos?)\b|示例|예시|例",
    re.IGNORECASE,
)
