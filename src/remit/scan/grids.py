"""What places say of the rights of agents to things: to memories, folders and secrets as well as to kinds of tools.

| Agent | Plans | Notes |
|---|---|---|
| scout | Read | - |

A grid has a cell for each agent and thing, from a table, or from lists of paths below "read" and "write" in a team's
settings and in the pages of its agents. Cells of two grids are compared by the names of both, whatever the things are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document, Table
from remit.scan.model import Account, Mark, Place
from remit.scan.names import key_of
from remit.scan.statements import Statements
from remit.scan.vocabulary import bare, mark_of, section, words

_MOST = 500
_ITEM = re.compile(r"^[`*_\"']*([\w.@~-]*[/.{<*][\w./{}<>*@~-]*)")
_PLACEHOLDER = re.compile(r"\{[^}/]*\}|<[^>/]*>")
_ALL = {"use": True, "read": True, "write": True}
_NONE = {"use": False, "read": False, "write": False}


class Cell(msgspec.Struct, frozen=True):
    """What a place says of one agent's right to one thing: `use`, `read`, `write`, as far as it says anything."""

    may: dict[str, bool]
    place: Place
    shown: str
    narrow: bool = False
    """Whether it is of a part of the thing that others mean: "write source" is part of writing files."""


class Grid(msgspec.Struct, frozen=True):
    """The cells of one source, by the keys of the agent and of the thing."""

    source: str
    cells: dict[tuple[str, str], Cell]
    matrix: bool = False
    """Whether it was read as a matrix of tools too."""
    paths: bool = False
    """Whether it comes of lists of paths."""


class Paths(msgspec.Struct, frozen=True):
    """A list of paths that an agent may read or write, or may not."""

    agent: str
    right: str
    granted: bool
    paths: tuple[str, ...]
    place: Place


def grids_of(text: Text, document: Document, statements: Statements, matrices: Sequence[Account]) -> Iterator[Grid]:
    """The tables of a document that give agents rights to things; `matrices` were read from it already."""
    lines = {entry.place.line for one in matrices for entry in one.entries}
    for table in document.tables:
        cells = dict(_cells(text, table, statements))
        if len({agent for agent, _ in cells}) > 1:
            read = any(row.line in lines for row in table.rows)
            yield Grid(text.path, cells, matrix=read)


def _cells(text: Text, table: Table, statements: Statements) -> Iterator[tuple[tuple[str, str], Cell]]:
    column = statements.agents_down(table)
    rows = table.rows[:_MOST]
    if column is not None:
        columns = [n for n in range(len(table.head.cells)) if n != column and _are_levels(row.cells[n] for row in rows)]
        things = things_in([table.head.cells[n] for n in columns])
        for row in rows:
            for agent in statements.named(row.cells[column]) or ():
                for n, thing in zip(columns, things, strict=True):
                    yield from _cell(agent, thing, table.head.cells[n], row.cells[n], Place(text.path, row.line))
    elif statements.agents_across(table):
        levels = [row for row in rows if _are_levels(row.cells[1:])]
        things = things_in([row.cells[0] for row in levels])
        for row, thing in zip(levels, things, strict=True):
            for n, heading in enumerate(table.head.cells[1:], 1):
                for agent in statements.named(heading) or ():
                    yield from _cell(agent, thing, row.cells[0], row.cells[n], Place(text.path, row.line))


def _cell(
    agent: str, thing: tuple[str, bool], heading: str, cell: str, place: Place
) -> Iterator[tuple[tuple[str, str], Cell]]:
    may = level(cell)
    if may and thing[0]:
        yield (key_of(agent), thing[0]), Cell(may, place, f"{bare(heading)}: {bare(cell)}", thing[1])


def _are_levels(cells: Iterable[str]) -> bool:
    filled = [cell for cell in cells if bare(cell)]
    sure = sum(bool(level(cell)) for cell in filled)
    return sure > 1 and sure >= 0.8 * len(filled)


@cache
def _levels() -> dict[str, str]:
    return {word: kind for kind, found in section("levels").items() for word in found}


def level(cell: str) -> dict[str, bool]:
    """What a cell gives: nothing, reading, writing or something; empty where it doesn't say."""
    plain = re.sub(r"\s+", " ", bare(cell).lower()).strip(" .")
    first, bracket, _ = plain.partition("(")
    part = bool(bracket) and first.strip() != ""
    plain = first.strip() if part else plain
    if len(plain) > 40:
        return {}
    kinds = [_levels().get(plain, "")]
    if not kinds[0]:
        kinds = [_levels().get(one.strip(), "") for one in re.split(r"[/+&,、]|\s(?:and|y|et|und|e|и)\s", plain)]
    if all(kinds):
        if "write" not in kinds and "both" not in kinds:
            return {"use": True, "read": True} if part else {"use": True, "read": True, "write": False}
        return dict(_ALL) if "both" in kinds or "read" in kinds else {"use": True, "write": True}
    found = mark_of(cell)
    if found is None or found[0] is Mark.UNCLEAR:
        return {}
    if found[0] is Mark.NO:
        return {} if part or found[1] else dict(_NONE)
    return {"use": True}


def things_in(headings: Sequence[str]) -> list[tuple[str, bool]]:
    """The keys of the things that headings name, without the words that most of them share: "Notes memory", "Plans
    memory"; and whether it is a part of what others mean by it."""
    parts = [re.findall(r"[^\W_]+", bare(heading).lower()) for heading in headings]
    often = Counter(word for one in parts for word in set(one))
    shared = {word for word, count in often.items() if len(parts) > 2 and 2 * count > len(parts)}
    return [_thing(one, shared) for one in parts]


def _thing(parts: Sequence[str], shared: set[str]) -> tuple[str, bool]:
    narrow = any(word in words("level_fillers", "narrow") for word in parts)
    little = words("level_fillers", "broad") | words("level_fillers", "narrow") | shared
    kept = [word for word in parts if word not in little]
    kinds = {section_of_things().get(word, "") for word in kept}
    if len(kinds) == 1 and "" not in kinds:
        return kinds.pop(), narrow
    return key_of(" ".join(kept or parts)), narrow


@cache
def section_of_things() -> dict[str, str]:
    """Kinds of tools by their words."""
    return {word: kind for kind, found in section("things").items() for word in found}


# lists of paths


def paths_of(text: Text, document: Document, statements: Statements, agent: str | None) -> Iterator[Paths]:
    """The lists of paths below "Read access", "Write access" and "Forbidden writes" in the section of an agent, or in
    the page of `agent`."""
    found: dict[int, tuple[str, tuple[str, bool], list[str]]] = {}
    broken: set[int] = set()
    label, start = "", 0
    under: tuple[str, ...] | None = None
    for line in document.lines:
        if line.headings != under:
            under, label = line.headings, (line.headings[-1] if line.headings else "")
            start = line.line
        if not line.item or re.search(r"[:：]\W*$", line.text):
            label, start = line.text, line.line
            continue
        right = path_label(label)
        owner = (statements.owner(line.headings) or agent) if right is not None else None
        if right is None or owner is None:
            continue
        match = _ITEM.match(line.text)
        if match is None or not is_path(match[1]):
            broken.add(start)
        else:
            found.setdefault(start, (owner, right, []))[2].append(match[1])
    for at, (owner, (right_of, granted), paths) in found.items():
        if at not in broken:
            yield Paths(owner, right_of, granted, tuple(paths[:_MOST]), Place(text.path, at))


@cache
def _path_labels() -> dict[str, str]:
    return {word: kind for kind, found in section("path_lists").items() for word in found}


def path_label(written: str) -> tuple[str, bool] | None:
    """The right that a heading, a label or a key gives or denies to the paths below it."""
    plain = re.sub(r"[_\s]+", " ", bare(written[:80]).lower()).strip(" :：*")
    kind = _path_labels().get(plain)
    return (kind.removeprefix("no "), not kind.startswith("no ")) if kind is not None else None


def is_path(written: str) -> bool:
    """Whether a text is a path below the root, or a pattern of such."""
    return "://" not in written and ("/" in written or re.search(r"\w\.\w{1,5}$|^\*", written) is not None)


def folder_of(path: str) -> str:
    """A path with its placeholders in one form, and without what says that it is a folder."""
    plain = _PLACEHOLDER.sub("{}", path.strip().lower().removeprefix("./"))
    return re.sub(r"(?:/\*+)*/?$", "", plain)


def grid_of(lists: Sequence[Paths], source: str) -> Grid:
    """The grid of lists that belong together: the folders that they name, and who may read and write each."""
    folders: dict[str, set[str]] = {}
    for one in lists:
        for path in one.paths:
            folder = folder_of(path)
            last = folder.rpartition("/")[2]
            if re.fullmatch(r"\.?[\w-]+", last):
                folders.setdefault(key_of(last), set()).add(folder)
    cells: dict[tuple[str, str], Cell] = {}
    for agent in dict.fromkeys(key_of(one.agent) for one in lists):
        own = [one for one in lists if key_of(one.agent) == agent]
        for thing, paths in folders.items():
            if len(paths) == 1:
                told = _told(own, next(iter(paths)))
                if told:
                    may = {right: yes for right, (yes, _) in told.items()}
                    place = next(iter(sorted(told.values(), key=lambda each: not each[0])))[1]
                    cells[agent, thing] = Cell(may, place, "")
    return Grid(source, cells, paths=True)


def _told(lists: Sequence[Paths], folder: str) -> dict[str, tuple[bool, Place]]:
    """What an agent's lists say of a folder: a list without it, or what is in it, leaves it out."""
    found: dict[str, tuple[bool, Place]] = {}
    for one in sorted(lists, key=lambda each: each.granted, reverse=True):
        covers = any(folder == path or folder.startswith(f"{path}/") for path in map(folder_of, one.paths))
        within = any(path.startswith(f"{folder}/") for path in map(folder_of, one.paths))
        if one.granted and (covers or not within):
            found.setdefault(one.right, (covers, one.place))
        elif not one.granted and covers:
            found[one.right] = (False, one.place)
    return found
