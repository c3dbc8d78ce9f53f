"""Whom documents and the texts of definitions list as those that an agent hands work to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document, Line, Table, read_markdown
from remit.scan.model import Account, Extent, Kind, Place
from remit.scan.names import Names
from remit.scan.vocabulary import bare, is_heading, mark_of, tokens, without_emoji, words

_SET_OFF = re.compile(r"^\W{0,4}(?:\*\*|`|\[)?[@`*]*@?([\w][\w .&-]{1,49}?)(?:\.md|\.agent)*[`*\]]+|^@([\w-]{2,50})")
_MOST = 500


def handed_over(text: Text, document: Document, known: Names) -> list[Account]:
    """Whom a document's tables and drawn hand-overs say that agents hand work to, if all of those are defined."""
    found = []
    for table in document.tables:
        columns = [n for n, cell in enumerate(table.head.cells) if _is_title(cell)]
        agent = _agents(table, columns, known) if columns else None
        for row in table.rows[:_MOST] if agent is not None else ():
            name = known.resolve(_plain(row.cells[agent or 0]))
            for column in columns:
                place = Place(text.path, row.line)
                names = tuple((one, place) for one in _named(row.cells[column], known))
                if name is not None and names:
                    found.append(_handing(name, place, names, offered=_is_offer(table.head.cells[column])))
    drawn: dict[str, dict[str, Place]] = {}
    for written, line, heading in _lines(document):
        if _FLOWS.search(heading) is not None:
            chain = [known.resolve(_plain(one)) for one in _ARROW.split(_COMMENT.sub("", written.strip("`*- "))) if one]
            for one, other in pairwise(chain):
                if one is not None and other is not None and one != other:
                    drawn.setdefault(one, {}).setdefault(other, Place(text.path, line))
    for name, others in drawn.items():
        first = next(iter(others.values()))
        found.append(msgspec.structs.replace(_handing(name, first, tuple(others.items()), offered=True), closed=False))
    return found


_FLOWS = re.compile(r"\bhand-?offs?\b|\bhand-?overs?\b", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:→|->|=>|⇒|➜|➔)\s*")
_COMMENT = re.compile(r"\s*[(（][^()（）]*[)）]\s*$|^[\w -]{2,30}:\s+")


def _lines(document: Document) -> Iterator[tuple[str, int, str]]:
    """The lines that may draw a hand-over, with their numbers and headings."""
    for line in document.lines:
        if _ARROW.search(line.text) and line.headings and len(line.text) < 300:
            yield line.text, line.line, line.headings[-1]
    for block in document.code:
        for number, row in enumerate(block.text.split("\n")[:_MOST], block.line):
            if _ARROW.search(row) and block.headings and len(row) < 300:
                yield row.strip(), number, block.headings[-1]


def _handing(agent: str, place: Place, names: tuple[tuple[str, Place], ...], *, offered: bool) -> Account:
    return Account(
        agent=agent,
        kind=Kind.ROSTER,
        place=place,
        extent=Extent.UNCLEAR,
        hands_to=() if offered else names,
        offers=names if offered else (),
    )


def _agents(table: Table, others: list[int], known: Names) -> int | None:
    """The column of those who hand work over: the one called so, or the first whose cells are agents."""
    for column, heading in enumerate(table.head.cells):
        if column not in others and is_heading(bare(heading), "agent"):
            return column
    for column in range(min(2, len(table.head.cells))):
        cells = [row.cells[column] for row in table.rows[:_MOST] if bare(row.cells[column])]
        right = sum(known.resolve(_plain(cell)) is not None for cell in cells)
        if column not in others and right >= 2 and right >= 0.8 * len(cells):
            return column
    return None


def _is_offer(cell: str) -> bool:
    """Whether a title speaks of handing over, which hosts offer to a person, and not of starting subagents."""
    return "hand" in bare(cell).lower()


def _is_title(cell: str) -> bool:
    return without_emoji(bare(cell)).lower().strip(": ") in words("hand_overs", "")


def _plain(cell: str) -> str:
    set_off = re.match(r"[\W_]*?(?:\*\*|__|`)@?([^*`_][^*`]*)(?:\*\*|__|`)", cell)
    return bare(without_emoji(set_off[1] if set_off else cell)).lstrip("@")


def _named(cell: str, known: Names) -> list[str]:
    """The agents in a cell; none if it says anything else."""
    if mark_of(cell) is not None:
        return []
    names = [known.resolve(_plain(one)) for one in tokens(re.sub(r"\s*(?:→|->|\band\b|\bor\b)\s*", ", ", cell[:2000]))]
    return [name for name in names if name is not None] if None not in names else []


def listed_in(body: str, path: str, first: int) -> tuple[tuple[str, Place], ...]:
    """The names of the list in a definition's text whose heading says that it hands work to them."""
    if not any(title in body.lower() for title in words("hand_overs", "")):
        return ()
    lines = [one for one in read_markdown(body, first).lines if one.headings and _is_title(one.headings[-1])]
    found = list(_items(lines, path))
    return tuple(found) if lines and all(one.item for one in lines[1:]) else ()


def _items(lines: list[Line], path: str) -> Iterator[tuple[str, Place]]:
    for line in lines[:_MOST]:
        match = _SET_OFF.match(line.text) if line.item else None
        if match is not None:
            yield (match[1] or match[2]).strip(), Place(path, line.line)
