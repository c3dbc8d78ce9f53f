"""Skills and commands that texts speak of as there: "the `write-page` skill", lists, columns."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document
from remit.scan.model import Place
from remit.scan.rosters import IF_THERE, is_made, kinds_of
from remit.scan.vocabulary import bare

_ID = r"/?[a-z][a-z0-9]*(?:[-_][a-z0-9]+)+"
_BEFORE = re.compile(rf"(?<![`*\w])(?:`|\*\*){{1,2}}({_ID})(?:`|\*\*){{1,2}}\s+skill\b")
_BEHIND = re.compile(rf"\b[Ss]kill:?\s+(?:`|\*\*){{1,2}}({_ID})(?:`|\*\*){{1,2}}(?![/\w])")
_LABELLED = re.compile(r"([^:：|`]{3,40}?)[:：]\s*(`\S.*)")
_CODED = re.compile(rf"`({_ID})`")
_BOLD = re.compile(rf"^\*\*`?({_ID})`?\*\*\s*(?:[—–:：(-]|$)")
_SET_OFF = re.compile(rf"(?:`|\*\*){_ID}(?=`|\*\*)")
_OPEN = re.compile(
    r"\b(?:plugins?|external|third[- ]party|install\w*|global|optional\w*|personal|user-level|without|no longer|not|"
    r"example|e\.g|future|planned|proposed|candidate|rather than|instead of|if present)\b|"
    r"~~|~/|https?:|github\.com|\bvendor",
    re.IGNORECASE,
)
"""What leaves it open whether the thing is here."""
_CALLED = re.compile(r"(?i:invo(?:ked?|cation)|usage|trigger|call(?:ed)?)\b[^/`]{0,20}`?/([a-z][\w:-]+)")
CALLED = "called"
"""The kind of a command by which a skill says that it is called."""
_KINDS = ("skills", "commands")
_MOST = 500


class Spoken(msgspec.Struct, frozen=True):
    """A name that a text uses for a skill or a command."""

    name: str
    kind: str
    place: Place
    within: str = ""
    """The list or the table that it is of; empty for a sentence."""


def spoken_in(text: Text, document: Document) -> list[Spoken]:
    """The skills and commands that a text speaks of."""
    return [*_in_lines(text, document), *_in_columns(text, document)][:_MOST]


def _in_lines(text: Text, document: Document) -> Iterator[Spoken]:
    for line in document.lines:
        if text.path.endswith("/SKILL.md") and (called := _CALLED.search(line.text[:2_000])) is not None:
            yield Spoken(called[1], CALLED, Place(text.path, line.line))
        said = _SET_OFF.sub("", line.text) if len(line.text) <= 2_000 else ""
        if not said or is_made(said) or IF_THERE.search(said) or _OPEN.search(said):
            continue
        if any(_OPEN.search(one) or is_made(one) for one in line.headings[-2:]):
            continue
        place = Place(text.path, line.line)
        for pattern in (_BEFORE, _BEHIND):
            yield from (Spoken(match[1], "skills", place) for match in pattern.finditer(line.text))
        label = _LABELLED.match(line.text.replace("**", ""))
        if label is not None and len(label[1].split()) <= 4:
            yield from (Spoken(name, kind, place) for kind in _kinds(label[1]) for name in _names(label[2]))
        bold = _BOLD.match(line.text) if line.item else None
        above = line.headings[-1] if line.headings else document.title
        if bold is not None:
            within = "\n".join(line.headings)
            yield from (Spoken(bold[1], kind, place, within) for kind in _kinds(above) or _kinds(document.title))


def _in_columns(text: Text, document: Document) -> Iterator[Spoken]:
    for table in document.tables:
        if any(_OPEN.search(one) or is_made(one) for one in (*table.headings[-2:], *table.head.cells)):
            continue
        for column, head in enumerate(table.head.cells[:12]):
            for kind in _kinds(head) if len(bare(head).split()) <= 3 else ():
                for row in table.rows[:_MOST]:
                    if not any(_OPEN.search(cell) for cell in row.cells):
                        place, within = Place(text.path, row.line), str(table.head.line)
                        yield from (Spoken(name, kind, place, within) for name in _names(row.cells[column]))


def _kinds(heading: str) -> list[str]:
    """The one kind that a heading names; none if it names several."""
    found = kinds_of(heading)
    return found if len(found) == 1 and found[0] in _KINDS else []


def _names(written: str) -> list[str]:
    """The names in marks of code, if there is nothing else."""
    rest = _CODED.sub("", re.sub(r"\s*[(（][^()（）]*[)）]", "", written))
    return _CODED.findall(written) if re.fullmatch(r"(?:[\s,/&+·•|*.]|<br\s*/?>|\band\b)*", rest) else []
