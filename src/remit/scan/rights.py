"""What documents say of an agent's rights in words of their own: "read-only", "Write access: docs/".

Tools are named by tables and lists of tools; a right is a kind of tool that an agent has or lacks altogether.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from remit.scan.claims import claims_read_only
from remit.scan.files import Text
from remit.scan.markdown import Document, Row, Table
from remit.scan.model import Account, Extent, Kind, Mark, Place, Right
from remit.scan.names import Names, key_of
from remit.scan.vocabulary import bare, is_heading, mark_of, section, tokens, without_emoji

_LABEL = re.compile(r"^(?:\*\*|__)?([^\W\d_][\w /-]{2,30}?)(?:\*\*|__)?\s*[:：](?:\*\*|__)?\s*(\S.{0,200})$")
_WRITES = re.compile(
    r"^(?:full|full access|read[ /&+,-]+(?:and )?write|r/?w|read[- ]?write(?: access)?|write|edit|read, write"
    r"|读写|읽기/쓰기|lesen und schreiben|lectura y escritura|lecture/écriture)$",
    re.IGNORECASE,
)
_PATH = re.compile(r"[\w.*-]+/[\w.*{}/-]*|\*[\w.*/-]*")
_MINE = re.compile(
    r"^(?:(?P<no>(?:strictly )?read[- ]only|no[- ]write|non[- ]writing)(?: (?:sub-?)?agents?| tier| group)?"
    r"|(?:sub-?)?agents? (?:with|that have) (?:(?P<none>read[- ]only|no write)|(?:full )?write|read[/ -]write) access"
    r"|(?:write[- ]capable|read[/ -]write|writing) (?:sub-?)?agents?)$",
    re.IGNORECASE,
)
"""What heads a group of agents with one right."""
_NUMBERED = re.compile(r"^(?:(?:level|tier|stufe|nivel|l|t)\s?\d+\s*[:.–—-]*\s*|\d+[.)]\s*)", re.IGNORECASE)
_ELSEWHERE = re.compile(
    r"\b(?:mcp|servers?|apis?|databases?|db|github|gitlab|services?|secrets?|environments?|branch(?:es)?|cloud|clusters?"
    r"|kubernetes|data|budget|memory|issues?|tickets?|endpoints?)\b",
    re.IGNORECASE,
)
"""What a table of postures may be about besides files."""
_MOST = 500


def rights_of(text: Text, document: Document, known: Names) -> list[Account]:
    """The rights that a document gives or denies agents that are defined, as accounts without tools."""
    found = [*_tables(text, document, known), *_groups(text, document, known), *_labels(text, document, known)]
    by_agent: dict[str, list[Right]] = {}
    for agent, right in found[:_MOST]:
        by_agent.setdefault(agent, []).append(right)
    return [
        Account(
            agent=agent,
            kind=Kind.ROSTER,
            place=rights[0].place,
            extent=Extent.UNCLEAR,
            closed=False,
            rights=tuple(rights),
        )
        for agent, rights in by_agent.items()
    ]


def own_rights(body: str, path: str, first: int) -> tuple[Right, ...]:
    """The rights that the text of a definition gives or denies its own agent, on lines with a label."""
    found = []
    for number, line in enumerate(body.split("\n")[:400], first):
        match = _LABEL.match(re.sub(r"^\s*[-*+]\s+", "", line[:300]).strip()) if ":" in line[:80] else None
        if match is not None and (said := _said(match[1], match[2])) is not None:
            found.append(Right(*said, line.strip()[:80], Place(path, number)))
    return tuple(found)


@cache
def _kinds() -> dict[str, str]:
    return {word: kind for kind, found in section("rights").items() for word in found}


def _said(label: str, value: str) -> tuple[str, bool] | None:
    """The right that a label, or the heading of a column, and what stands under it give or deny."""
    kind = _kinds().get(bare(label).lower().strip(": "))
    plain = bare(value).strip(" .")
    if kind == "mode":
        return (plain.lower(), True) if plain.lower() in ("primary", "subagent") else None
    if kind is None or not plain:
        return None
    if claims_read_only(plain):
        return ("changes", False) if kind in ("all", "write") else None
    if kind == "all":
        return ("write", True) if _WRITES.match(plain) else None
    mark = mark_of(value)
    if mark is not None and mark[0] is Mark.NO and not mark[1]:
        return kind, False
    if (mark is not None and mark[0] is Mark.YES) or (kind == "write" and _are_paths(value)):
        return kind, True
    return None


def _are_paths(value: str) -> bool:
    parts = [one for one in re.split(r"[,;]\s*|<br\s*/?>|\s+and\s+", value[:400]) if one.strip()]
    return bool(parts) and all(_PATH.fullmatch(bare(one)) for one in parts)


def _name(cell: str) -> str:
    set_off = re.match(r"[\W_]*?(?:\*\*|__|`)@?([^*`_][^*`]*)(?:\*\*|__|`)", cell)
    return bare(without_emoji(set_off[1] if set_off else cell)).lstrip("@")


def _agents(cells: Sequence[str], known: Names) -> list[str] | None:
    """The agents that these cells name, if every one of them is defined."""
    names = [known.resolve(_name(one)) for one in cells]
    return [name for name in names if name is not None] if names and None not in names else None


def _tables(text: Text, document: Document, known: Names) -> Iterator[tuple[str, Right]]:
    for table in document.tables:
        head = table.head.cells
        columns = [n for n, cell in enumerate(head) if bare(cell).lower() in _kinds()]
        if _ELSEWHERE.search(" ".join((*head, *table.headings[-1:]))[:500]):
            columns = [n for n in columns if _kinds()[bare(head[n]).lower()] != "all"]
        agent = next((n for n, cell in enumerate(head) if is_heading(cell, "agent")), 0)
        if columns and agent not in columns and _speaks_of(table, agent, known):
            yield from _rows(text, table, agent, columns, known)
        yield from _postures(text, table, known)


def _speaks_of(table: Table, agent: int, known: Names) -> bool:
    found = [known.resolve(_name(row.cells[agent])) for row in table.rows]
    return sum(one is not None for one in found) >= max(2, 0.6 * len(found))


def _rows(text: Text, table: Table, agent: int, columns: Sequence[int], known: Names) -> Iterator[tuple[str, Right]]:
    for row in table.rows:
        name = known.resolve(_name(row.cells[agent]))
        for column in columns:
            if name is not None and (said := _said(table.head.cells[column], row.cells[column])) is not None:
                shown = f"{bare(table.head.cells[column])}: {bare(row.cells[column])}"
                yield name, Right(*said, shown[:80], Place(text.path, row.line))


def _postures(text: Text, table: Table, known: Names) -> Iterator[tuple[str, Right]]:
    """Rows of groups: "Read-only" in the first cell, those who are in another."""
    column = next((n for n, cell in enumerate(table.head.cells) if n and is_heading(cell, "agent")), None)
    for row in table.rows if column is not None else ():
        yield from _row_of_group(text, row, column or 0, known)


def _row_of_group(text: Text, row: Row, column: int, known: Names) -> Iterator[tuple[str, Right]]:
    match = _head(row.cells[0])
    for name in (_agents(tokens(row.cells[column]), known) or ()) if match is not None else ():
        if match is not None:
            yield name, Right(*_of_group(match), bare(row.cells[0])[:80], Place(text.path, row.line))


def _of_group(match: re.Match[str]) -> tuple[str, bool]:
    """The right that what heads a group gives or denies."""
    if match["no"] or match["none"]:
        return "changes" if "only" in match[0].lower() else "write", False
    return "write", True


def _groups(text: Text, document: Document, known: Names) -> Iterator[tuple[str, Right]]:
    """Lists of agents under a heading or a label that gives all of them one right."""
    group: re.Match[str] | None = None
    last, under = 0, ""
    for line in document.lines:
        heading = line.headings[-1] if line.headings else ""
        if heading != under:
            under, group, last = heading, _head(heading), line.line
        label, colon, rest = line.text.partition(":")
        said = _head(label.strip("*_ ")) if colon and len(label) < 60 else None
        if said is not None:
            for name in _agents(tokens(rest.strip("*_ .")), known) or () if rest.strip("*_ ") else ():
                yield name, Right(*_of_group(said), label.strip("*_ "), Place(text.path, line.line))
            group, last = (None if rest.strip("*_ ") else said), line.line
        elif not line.item or line.line > last + 3:
            group = group if line.line == last and not line.item else None
        elif group is not None:
            first = re.split(r"\s[—–-]\s|:\s|\s\(", line.text[:100])[0]
            member = known.by_key.get(key_of(_name(first)))
            if member is not None:
                last = line.line
                yield member, Right(*_of_group(group), group[0][:80], Place(text.path, line.line))
            else:
                group = None


def _head(written: str) -> re.Match[str] | None:
    return _MINE.match(_NUMBERED.sub("", bare(without_emoji(written[:100])).strip(" :")))


def _labels(text: Text, document: Document, known: Names) -> Iterator[tuple[str, Right]]:
    """Lines such as "Write access: docs/" in the section of an agent."""
    for line in document.lines:
        match = _LABEL.match(line.text) if ":" in line.text[:60] or "：" in line.text[:60] else None
        if match is None or (said := _said(match[1], match[2])) is None:
            continue
        named = next((found for one in line.headings[::-1] if (found := known.by_key.get(_own(one)))), None)
        if named is not None:
            yield named, Right(*said, bare(line.text)[:80], Place(text.path, line.line))


def _own(heading: str) -> str:
    return key_of(_name(re.sub(r"^(?:§\s*)?[\d.]*\s*", "", heading))) if len(heading) < 60 else ""
