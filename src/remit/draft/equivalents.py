"""Tools of one host in the place of another's: by what they do, and only where nothing gets wider.

translated(granted, pack)   # `read_file` and `list_dir` become `view` where one tool does both
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from remit import catalog
from remit.declare.nodes import parse
from remit.draft.packs import tools_for
from remit.forms.texts import plain
from remit.model.decoding import Decoding
from remit.scan.model import Place


class Granted(msgspec.Struct, frozen=True):
    """What a source grants: a tool by its written name, its limit in words (None: without), and where it stands."""

    tool: str
    limit: str | None
    place: Place


class Equal(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tool of a host, with what takes a part of it away, and what it gives then."""

    tool: str
    gives: frozenset[str]
    new_only: bool = False
    effect: str | None = None
    shell: str | None = None

    @property
    def width(self) -> tuple[bool, int]:
        """How much of the tool it is: all of it first, then by how much it gives."""
        return not (self.new_only or self.effect or self.shell), len(self.gives)


class Translated(msgspec.Struct, frozen=True):
    """A tool of the host, in the place of these of the source. All of them have the same limit."""

    equal: Equal
    sources: tuple[Granted, ...]


_EQUALS = Decoding(list[Equal])


@cache
def _table() -> tuple[dict[str, tuple[Equal, ...]], dict[str, tuple[str, ...]]]:
    data: dict[str, Any] = plain(parse(catalog.text("equivalents.yaml"), "catalog equivalents"))
    tools = {pack: tuple(_EQUALS.convert(rows)) for pack, rows in data["tools"].items()}
    return tools, {word: tuple(more) for word, more in data["implies"].items()}


def meanings(tool: str) -> frozenset[str]:
    """What a written name gives, if the tools that it names in any pack agree on that; else nothing."""
    tools, _ = _table()
    found = set()
    for pack, rows in tools.items():
        for name in tools_for(tool, pack):
            whole = [row.gives for row in rows if row.tool == name]
            if whole:
                found.add(max(whole, key=len))
    return frozenset(found.pop()) if len(found) == 1 else frozenset()


def translated(
    granted: Sequence[Granted], pack: str, denied: Collection[str] = ()
) -> tuple[list[Translated], list[Granted]]:
    """The host's tools for what is granted, and what has no equal there. `denied` are tools that the source denies:
    neither they nor what only they do is taken for granted."""
    tools, implied = _table()
    refused = {name for tool in denied for name in tools_for(tool, pack)}
    rows = [row for row in tools.get(pack, ()) if row.tool not in refused]
    never = {word for tool in denied for word in meanings(tool)}
    by_word: dict[str, list[Granted]] = {}
    for one in granted:
        for word in meanings(one.tool):
            for given in (word, *(more for more in implied.get(word, ()) if more not in never)):
                by_word.setdefault(given, []).append(one)
    found: list[Translated] = []
    used: set[Granted] = set()
    for row in _widest(rows, by_word):
        sources = [one for word in row.gives for one in _plainly(word, by_word)]
        if len({one.limit for one in sources}) == 1 and not (row.shell is not None and sources[0].limit is not None):
            kept = tuple(one for one in granted if one in sources)
            found.append(Translated(row, kept))
            used.update(kept)
    whole = {one.equal.tool for one in found if one.equal.width[0]}
    covered = {word for row in rows if row.tool in whole for word in row.gives}  # a whole shell reads, too
    return found, [one for one in granted if one not in used and not meanings(one.tool) <= covered]


def _plainly(word: str, by_word: dict[str, list[Granted]]) -> list[Granted]:
    """The sources of a word: those that say it themselves, else those that imply it."""
    own = [one for one in by_word[word] if word in meanings(one.tool)]
    return own or by_word[word]


def _widest(rows: Iterable[Equal], by_word: dict[str, list[Granted]]) -> Iterator[Equal]:
    """Of each tool, the widest form of which everything is granted."""
    best: dict[str, Equal] = {}
    for row in rows:
        if row.gives <= by_word.keys() and (row.tool not in best or row.width > best[row.tool].width):
            best[row.tool] = row
    yield from best.values()
