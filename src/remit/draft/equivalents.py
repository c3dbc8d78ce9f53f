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
from remit.draft.packs import is_alias, tools_for
from remit.forms.texts import plain
from remit.model.decoding import Decoding
from remit.scan.model import Place
from remit.scan.vocabulary import capability, pack_of_host, tool_key


class Granted(msgspec.Struct, frozen=True):
    """What a source grants: a tool by its written name, its limit in words (None: without), and where it stands."""

    tool: str
    limit: str | None
    place: Place
    host: str | None = None
    whole: bool = False
    """Whether a command of the limit without a star is the whole command."""

    @property
    def meanings(self) -> frozenset[str]:
        """What it gives."""
        return meanings(self.tool, self.host)


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


class _Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a host reads a rule of its own settings and definitions."""

    whole: bool = False
    stands_for: dict[str, tuple[str, ...]] = {}
    last: bool = False
    run: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()


_EQUALS = Decoding(list[Equal])
_RULES = Decoding(dict[str, _Rules])


@cache
def _catalog() -> dict[str, Any]:
    found: dict[str, Any] = plain(parse(catalog.text("equivalents.yaml"), "catalog equivalents"))
    return found


@cache
def _table() -> tuple[dict[str, tuple[Equal, ...]], dict[str, tuple[str, ...]]]:
    data = _catalog()
    tools = {pack: tuple(_EQUALS.convert(rows)) for pack, rows in data["tools"].items()}
    return tools, {word: tuple(more) for word, more in data["implies"].items()}


@cache
def _rules() -> dict[str, _Rules]:
    return _RULES.convert(_catalog()["rules"])


@cache
def _names() -> dict[str, dict[str, tuple[str, ...]]]:
    every: dict[str, dict[str, list[str]]] = _catalog()["names"]
    return {pack: {tool_key(name): tuple(given) for name, given in names.items()} for pack, names in every.items()}


def but_words() -> frozenset[str]:
    """Words by which a sentence says that something is not meant."""
    return frozenset(_catalog()["but"])


def gives(pack: str) -> list[tuple[str, frozenset[str]]]:
    """Each tool of a pack with all that it gives."""
    return [(row.tool, row.gives) for row in _table()[0].get(pack, ()) if row.width[0]]


def looking(pack: str) -> list[tuple[str, str]]:
    """The shells of a pack that has no tools which read, with the scope in which they read."""
    rows = _table()[0].get(pack, ())
    return [(row.tool, f"{{shell: {{sets: [{row.shell}]}}}}") for row in rows if row.shell is not None]


def is_whole(host: str | None) -> bool:
    """Whether a command without a star is the whole command, in rules of this host."""
    return host is not None and host in _rules() and _rules()[host].whole


def counts_last(host: str | None) -> bool:
    """Whether the last of the answers that match counts, in settings and definitions of this host."""
    return host is not None and host in _rules() and _rules()[host].last


def stands_for(tool: str, host: str | None) -> tuple[str, ...]:
    """The tools that a rule of this host about one of them means."""
    rules = _rules().get(host) if host is not None else None
    return rules.stands_for.get(tool, (tool,)) if rules is not None else (tool,)


def beside(host: str | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What this host runs beside the commands of its rules, without a rule: programs, and filters after a pipe."""
    rules = _rules().get(host) if host is not None else None
    return (rules.run, rules.filters) if rules is not None else ((), ())


@cache
def meanings(tool: str, host: str | None = None) -> frozenset[str]:
    """What a written name gives: as its host understands it, else what it gives in every pack that knows it."""
    own = pack_of_host(host) if host is not None else None
    if own in _table()[0] and not is_alias(tool, own) and (found := _gives(tool, own)):
        return found
    if own is not None and (named := _names().get(own, {}).get(tool_key(tool))):
        return frozenset(named)
    every = [_gives(tool, pack) for pack in _table()[0] if tools_for(tool, pack)]
    return frozenset.intersection(*every) if every else frozenset()


def named_tools(tool: str, pack: str, host: str | None) -> list[str]:
    """The tools of a pack that a written name means, and that give no more than it does: `create_file` is a name of
    another host's Write, too, but there it would overwrite."""
    given = dict(gives(pack))
    names = tools_for(tool, pack)
    means = meanings(tool, host) if is_alias(tool, pack) else None
    return [name for name in names if means is None or given.get(name, frozenset()) <= means]


def _gives(tool: str, pack: str) -> frozenset[str]:
    """What the tools of a pack that a name means give together, each as a whole."""
    names = tools_for(tool, pack)
    given = frozenset(word for name, words in gives(pack) if name in names for word in words)
    if len(names) < 2:
        return given
    return given & frozenset(_catalog()["kinds"].get(capability(tool), ()))  # a word for a kind of tools means no other


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
        for word in one.meanings:
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
    return found, [one for one in granted if one not in used and not one.meanings <= covered]


def _plainly(word: str, by_word: dict[str, list[Granted]]) -> list[Granted]:
    """The sources of a word: those that say it themselves, else those that imply it."""
    own = [one for one in by_word[word] if word in one.meanings]
    return own or by_word[word]


def _widest(rows: Iterable[Equal], by_word: dict[str, list[Granted]]) -> Iterator[Equal]:
    """Of each tool, the widest form of which everything is granted."""
    best: dict[str, Equal] = {}
    for row in rows:
        if row.gives <= by_word.keys() and (row.tool not in best or row.width > best[row.tool].width):
            best[row.tool] = row
    yield from best.values()
