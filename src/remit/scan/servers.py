"""What documents say of MCP servers: which of them an agent may use, and which there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document, Row, Table
from remit.scan.model import Mark, Place
from remit.scan.names import key_of
from remit.scan.vocabulary import bare, is_heading, mark_of, tokens, tool_key

_SERVERS = re.compile(
    r"(?:(?!recommended|optional|useful|suggested)\w+ )?(?:mcp servers?|mcps?|servers?)(?: access)?|mcp 服务器",
    re.IGNORECASE,
)
_USERS = re.compile(
    r"(?:used|needed|required|called) by(?: agents?)?|(?:agents?|agents? using it|users?)", re.IGNORECASE
)
_ALL = re.compile(r"(?:active |available |configured |enabled |our |the )*mcp servers?|mcps", re.IGNORECASE)
_SET_OFF = re.compile(r"^\W{0,4}(?:\*\*|`|\[)[`*]*([\w.-]{2,50}?)[`*\]]+")


class Use(msgspec.Struct, frozen=True):
    """What a row of a table says of one agent and the servers: granted, and told about at all."""

    agent: str
    granted: frozenset[str]
    told: frozenset[str] | None
    """The servers that the table has a column for; None if it lists what is granted, and means nothing else."""
    place: Place
    name: str = ""
    """The agent as it is written."""


class Listing(msgspec.Struct, frozen=True):
    """A list or table under a heading that means every server."""

    names: frozenset[str]
    place: Place
    spoken: frozenset[str]
    """Every name that the page sets off somewhere."""
    others: tuple[tuple[str, Place], ...] = ()
    """What it lists besides, as it is written."""


class Switched(msgspec.Struct, frozen=True):
    """A row of a table that calls a server enabled or disabled."""

    server: str
    on: bool
    place: Place


def switched_in(text: Text, document: Document, servers: frozenset[str]) -> Iterator[Switched]:
    """The rows of tables whose first column names servers and another says of each whether it is enabled."""
    for table in document.tables if servers else ():
        rows = [row for row in table.rows if tool_key(bare(row.cells[0])) in servers]
        for column in range(1, len(table.head.cells)):
            said = [_STATE.fullmatch(bare(row.cells[column])) for row in table.rows]
            if len(rows) >= 2 and len(rows) * 2 >= len(said) and all(said):
                for row in rows:
                    state = _STATE.fullmatch(bare(row.cells[column]))
                    on = state is not None and state[1].lower() == "enabled"
                    yield Switched(tool_key(bare(row.cells[0])), on, Place(text.path, row.line))
                break


_STATE = re.compile(r"[^\w()]{0,4}(enabled|disabled)[^\w()]{0,4}", re.IGNORECASE)


def uses_of(text: Text, document: Document, servers: frozenset[str]) -> Iterator[Use]:
    """The rows of a document's tables that give agents servers; `servers` are the keys of those that are declared."""
    if not servers:
        return
    for table in document.tables:
        head = [bare(cell) for cell in table.head.cells]
        rows = {_key(row.cells[0], servers): row for row in table.rows}
        users = next((n for n, cell in enumerate(head) if n and _USERS.fullmatch(cell)), None)
        if (
            users is not None
            and len(rows) >= 2
            and _SERVERS.fullmatch(head[0])
            and len(rows.keys() & servers) * 2 >= len(rows)
        ):
            yield from _used(text, {name: row for name, row in rows.items() if name in servers}, users)
            continue
        if _SERVERS.fullmatch(head[0]) and len(rows) >= 2 and len(rows.keys() & servers) * 2 >= len(rows):
            yield from _across(text, head, rows)
            continue
        agent = next((n for n, cell in enumerate(head) if is_heading(cell, "agent")), None)
        if agent is None:
            continue
        listed = next((n for n, cell in enumerate(head) if n > agent and _SERVERS.fullmatch(cell)), None)
        columns = {n: tool_key(cell) for n, cell in enumerate(head) if tool_key(cell) in servers}
        for row in table.rows:
            name, place = bare(row.cells[agent]).lstrip("@"), Place(text.path, row.line)
            if not name or len(tokens(row.cells[agent])) > 1:
                continue  # nobody, or a group
            if listed is not None:
                names = _names(row.cells[listed])
                if names and len(names & servers) * 2 >= len(names):
                    yield Use(key_of(name), names, None, place, name)
            elif len(columns) >= 3 and len(columns) * 2 >= len(head):
                yield from _marked(row, columns, name, place)


def _used(text: Text, rows: dict[str, Row], users: int) -> Iterator[Use]:
    """A table whose rows are servers, with a column of the agents that use each; of other servers it says nothing."""
    by_agent: dict[str, dict[str, int]] = {}
    for server, row in rows.items():
        for name in tokens(row.cells[users]):
            by_agent.setdefault(key_of(bare(name).lstrip("@")), {})[server] = row.line
    for agent, granted in by_agent.items():
        yield Use(agent, frozenset(granted), frozenset(granted), Place(text.path, min(granted.values())), agent)


def _across(text: Text, head: list[str], rows: dict[str, Row]) -> Iterator[Use]:
    """A table whose rows are servers and whose columns are agents."""
    for n, name in enumerate(head):
        marks = {server: mark_of(row.cells[n]) for server, row in rows.items()}
        if n and name and all(mark is not None for mark in marks.values()):
            granted = frozenset(server for server, mark in marks.items() if mark and mark[0] is not Mark.NO)
            yield Use(key_of(name), granted, frozenset(marks), Place(text.path, next(iter(rows.values())).line), name)


def _key(cell: str, servers: frozenset[str]) -> str:
    """The key of a server's name, without "MCP" or "server" if there is one so called: "GitHub MCP"."""
    key = tool_key(bare(cell))
    short = re.sub(r"^mcp|(?:mcp)?(?:server)?$", "", key)
    return short if short in servers and key not in servers else key


def _names(cell: str) -> frozenset[str]:
    return frozenset(tool_key(bare(name)) for name in tokens(cell))


def _marked(row: Row, columns: dict[int, str], agent: str, place: Place) -> Iterator[Use]:
    marks = {server: mark_of(row.cells[n]) for n, server in columns.items()}
    if all(mark is not None for mark in marks.values()):
        granted = frozenset(server for server, mark in marks.items() if mark is not None and mark[0] is not Mark.NO)
        yield Use(key_of(agent), granted, frozenset(marks), place, agent)


def listings_of(text: Text, document: Document, servers: frozenset[str]) -> Iterator[Listing]:
    """The lists of all servers: under a heading that says so, most of them declared."""
    if len(servers) < 3:
        return
    found: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for line in document.lines:
        if line.item and line.headings and (match := _SET_OFF.match(line.text)):
            found.setdefault(line.headings, []).append(("" if _MAYBE.search(line.text) else match[1], line.line))
    for table in document.tables:
        if table.headings and len(table.head.cells) > 1:
            found.setdefault(table.headings, []).extend(_firsts(table))
    spoken = frozenset(tool_key(one) for one in re.findall(r"(?:`|\*\*)@?([\w.-]{2,50})(?:`|\*\*)", text.text))
    for headings, rows in found.items():
        names = frozenset(tool_key(name) for name, _ in rows if name)
        heading = re.sub(r"\([^)]*\)|^[\W\d_]*(?:[A-Z]\.)?\W*|\W+$", "", headings[-1][:200])
        if _ALL.fullmatch(heading) and len(names & servers) >= 3 and len(names & servers) >= 0.8 * len(names):
            known = [one for one in servers if len(one) > 2]
            others = [(name, line) for name, line in rows if name and not _is_one(tool_key(name), known)]
            there = tuple((name, Place(text.path, line)) for name, line in others)
            yield Listing(names & servers, Place(text.path, rows[0][1]), spoken, there)


_MAYBE = re.compile(
    r"\b(?:optional|planned|future|soon|plugin|user[- ]level|global(?:ly)?|cloud|built-?in|extension|if you|example"
    r"|remov|deprecat|disabled|alternativ)",
    re.IGNORECASE,
)
"""Words of a row that make it open whether the settings should have it."""


def _is_one(name: str, known: Iterable[str]) -> bool:
    """Whether a name may be a spelling of one that is known."""
    return any(name in one or one in name for one in known)


def _firsts(table: Table) -> Iterable[tuple[str, int]]:
    maybe = (_MAYBE.search(" ".join(row.cells)) is not None for row in table.rows)
    return [("" if open_ else bare(row.cells[0]), row.line) for row, open_ in zip(table.rows, maybe, strict=True)]
