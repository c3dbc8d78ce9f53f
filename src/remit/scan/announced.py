"""Numbers that announce a list, whatever they count: "four layers:" over three of them, "Core (14): a, b, c"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from remit.scan.counts import NUMBERS, listed_after, listed_behind
from remit.scan.markdown import Document
from remit.scan.model import Place
from remit.scan.vocabulary import bare, section, words

_SPELLED = "|".join(sorted((word for word in NUMBERS if word.isascii()), key=len, reverse=True))
_NUMBER = rf"(?P<said>\d{{1,2}}|{_SPELLED})"
_NOUN = r"(?P<noun>(?:[a-z][\w/-]*\s+){0,3}?(?!ss\b)[a-z][a-z-]{2,}[a-rt-z]s)"
_OVER = re.compile(
    rf"(?:^|(?<=[\s*_]))(?<![-–~]){_NUMBER}\s+{_NOUN}(?:\s+(?:are|exist|apply|below|here|available|supported))?\W{{0,3}}[:：]\W{{0,3}}$",
    re.IGNORECASE,
)
"""A line that ends with what it announces: "It has four layers:"."""
_HEADING = re.compile(rf"^[^\w§]*(?:the\s+)?{_NUMBER}\s+{_NOUN}\W*$", re.IGNORECASE)
_BRACKET = re.compile(
    r"^\W*(?P<noun>[^\W\d][^:()（）|]{1,50}?)\W{0,4}[(（](?P<said>\d{1,2})(?:\s+(?P<unit>[a-z]+))?[)）]", re.IGNORECASE
)
"""A label with its number: "**Core (14):**"."""
_SERIES = re.compile(rf"(?:^|(?<=[\s*_(])){_NUMBER}-(?P<noun>[a-z]{{4,12}})\b", re.IGNORECASE)
"""How many of a numbered kind there are: "a five-phase pipeline"."""
_LONGEST = 600
_MOST = 60


class Announced(msgspec.Struct, frozen=True):
    """A number that does not fit the list that it announces."""

    said: int
    what: str
    listed: int
    place: Place


def announced_in(path: str, text: str, document: Document) -> Iterator[Announced]:
    """The numbers of a document that differ from the list that they announce."""
    rows = text.split("\n")
    found = 0
    for line in (*document.lines, *document.headings):
        written = line.text[:_LONGEST]
        at = line.line - 1
        if len(line.text) > _LONGEST or not 0 <= at < len(rows) or found >= _MOST:
            continue
        heading = rows[at].lstrip().startswith("#")
        one = _labelled(written, rows, at) or _over(written, rows, at, heading=heading)
        if one is not None and _is_wrong(*one):
            found += 1
            said, what, listed = one
            yield Announced(said, what, _nearest(said, listed), Place(path, line.line))
    yield from _numbered(path, document)
    yield from _described(path, document)


def _labelled(written: str, rows: Sequence[str], at: int) -> tuple[int, str, frozenset[int]] | None:
    """A label with its number, and the names behind it."""
    match = _BRACKET.match(bare(written))
    if match is None or _is_counted(match["noun"]):
        return None
    listed = listed_behind(bare(written)[match.end() :])
    return (int(match["said"]), match["noun"].strip(), listed) if listed else None


def _over(written: str, rows: Sequence[str], at: int, *, heading: bool) -> tuple[int, str, frozenset[int]] | None:
    """A number over the list of what it counts."""
    plain = bare(written)
    match = (_HEADING if heading else _OVER).search(plain)
    if (
        match is None
        or match["noun"].lower().split()[-1] not in words("announced", "")
        or _is_part(plain[: match.start("said")], match["noun"])
    ):
        return None
    said = NUMBERS.get(match["said"].lower()) or int(match["said"])
    return said, match["noun"], listed_after(rows, at, match["noun"])


def _is_counted(noun: str) -> bool:
    """Whether numbers of it are compared elsewhere."""
    last = noun.lower().split()[-1]
    return any(last in one["nouns"] or f"{last}s" in one["nouns"] for one in section("countables").values())


def _is_part(before: str, noun: str) -> bool:
    """Whether the words around a number make it a choice, a part or a limit."""
    last = re.findall(r"[a-z]+", before.lower())[-2:]
    some = words("counts_some", "") | words("part_of_agents", "") | {"one", "any", "either", "each", "all"}
    return not some.isdisjoint((*last, *noun.lower().split()[:-1]))


def _is_wrong(said: int, what: str, listed: frozenset[int]) -> bool:
    return bool(listed) and said >= 2 and said not in listed and 0.5 * said <= _nearest(said, listed) <= 2 * said


def _nearest(said: int, listed: frozenset[int]) -> int:
    return min(listed, key=lambda number: (abs(number - said), number))


def _described(path: str, document: Document) -> Iterator[Announced]:
    """ "A four-layer design:" over a list each of whose items is said to be a layer."""
    for line in [one for one in document.lines[:400] if bare(one.text).rstrip(" *_").endswith((":", "："))][:_MOST]:
        for match in _SERIES.finditer(bare(line.text[:_LONGEST])):
            noun = re.compile(rf"\b{re.escape(match['noun'])}\b", re.IGNORECASE)
            lists: dict[tuple[str, ...], list[str]] = {}
            for one in document.lines:
                if one.item and one.line > line.line and one.headings[: len(line.headings)] == line.headings:
                    lists.setdefault(one.headings, []).append(one.text[:_LONGEST])
            whole = [items for items in lists.values() if len(items) > 1 and all(map(noun.search, items))]
            said = NUMBERS.get(match["said"].lower()) or int(match["said"])
            if len(whole) == 1 and _is_wrong(said, match["noun"], frozenset({len(whole[0])})):
                yield Announced(said, f"{match['noun'].lower()}s", len(whole[0]), Place(path, line.line))
                return


def _numbered(path: str, document: Document) -> Iterator[Announced]:
    """ "A five-phase pipeline" over headings from "Phase 1" to "Phase 6"."""
    for line in (*document.headings[:3], *document.lines[:30]):
        for match in _SERIES.finditer(bare(line.text[:_LONGEST])):
            noun = match["noun"].lower()
            numbers = [
                int(one[1])
                for heading in document.headings
                if (one := re.match(rf"\W*{re.escape(noun)}\s+(\d{{1,2}})\b", bare(heading.text), re.IGNORECASE))
            ]
            said = NUMBERS.get(match["said"].lower()) or int(match["said"])
            whole = sorted(numbers) in (list(range(len(numbers))), list(range(1, len(numbers) + 1)))
            sizes = frozenset({len(numbers), max(numbers, default=0)})
            if len(numbers) > 2 and whole and _is_wrong(said, noun, sizes):
                yield Announced(said, f"{noun}s", len(numbers), Place(path, line.line))
                return
