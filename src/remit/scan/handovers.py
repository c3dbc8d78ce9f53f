"""Whom documents and the texts of definitions list as those that an agent hands work to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from remit.scan.files import Text
from remit.scan.markdown import Document, Line, read_markdown
from remit.scan.model import Account, Extent, Kind, Place
from remit.scan.names import Names
from remit.scan.vocabulary import bare, is_heading, mark_of, tokens, without_emoji, words

_SET_OFF = re.compile(r"^\W{0,4}(?:\*\*|`|\[)?[@`*]*@?([\w][\w .&-]{1,49}?)(?:\.md|\.agent)*[`*\]]+|^@([\w-]{2,50})")
_MOST = 500


def handed_over(text: Text, document: Document, known: Names) -> list[Account]:
    """The rows of a document's tables that say whom agents hand work to, if all of those are defined."""
    found = []
    for table in document.tables:
        head = [bare(cell) for cell in table.head.cells]
        agent = next((n for n, cell in enumerate(head) if is_heading(cell, "agent")), None)
        column = next((n for n, cell in enumerate(head) if n != agent and _is_title(cell)), None)
        for row in table.rows[:_MOST] if agent is not None and column is not None else ():
            name = known.resolve(_plain(row.cells[agent or 0]))
            place = Place(text.path, row.line)
            names = _named(row.cells[column or 0], known)
            if name is not None and names:
                found.append(
                    Account(
                        agent=name,
                        kind=Kind.ROSTER,
                        place=place,
                        extent=Extent.UNCLEAR,
                        closed=False,
                        hands_to=tuple((one, place) for one in names),
                    )
                )
    return found


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
