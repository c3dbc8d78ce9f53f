"""Enumerations in one line, behind the word for what they enumerate: "Available agents: `docs`, `tests`, `release`"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from remit.scan.markdown import Document

_LABELLED = re.compile(r"(?P<label>[^:：|`(（]{3,60}?)\s*(?:[(（][^()（）]{0,40}[)）]\s*)?[:：]\s*(?P<names>\S.*)")
_BRACKETS = re.compile(r"\s*[(（][^()（）]*[)）]")
_ENDED = re.compile(r"[.。;；](?:\s|$)|\s[—–-]\s|\s\+\s")
_BETWEEN = re.compile(r"\s*[,、，·]\s*(?:(?:and|und|y|et|e)\s)?|\s+(?:and|und|y|et)\s+")
_OPEN = re.compile(r"\.\.\.|…|\betc\b|\bmore\b|\bothers\b|\bexamples?\b|e\.g|such as|等|\*", re.IGNORECASE)
_NAME = re.compile(r"[@/]?\w[\w./:-]{1,50}")
_FEWEST = 3
_LONGEST = 2_000


class Enumerated(msgspec.Struct, frozen=True):
    """The names behind a label."""

    label: str
    names: tuple[str, ...]
    line: int
    headings: tuple[str, ...]


def enumerated(document: Document) -> Iterator[Enumerated]:
    """The lines of a document that are a label and nothing but names behind it."""
    for line in document.lines:
        if ":" not in line.text and "：" not in line.text:
            continue
        plain = re.sub(r"\*\*|__", "", line.text[:_LONGEST])
        match = _LABELLED.match(plain)
        if match is None or len(match["label"].split()) > 6 or len(line.text) > _LONGEST:
            continue
        names = names_in(match["names"])
        if names:
            yield Enumerated(match["label"].strip("*_ "), tuple(names), line.line, line.headings)


def names_in(written: str) -> Sequence[str]:
    """The names that a text enumerates; none if it holds anything else, or says that there are more."""
    own = _ENDED.split(_BRACKETS.sub("", written))[0].rstrip(".")
    parts = [one.strip(' `*_"') for one in _BETWEEN.split(own)]
    whole = len(parts) >= _FEWEST and _OPEN.search(written) is None and all(map(_NAME.fullmatch, parts))
    return parts if whole else []


def names_of_cell(cell: str) -> Sequence[str]:
    """The names in marks of code in a cell, if it holds nothing else: "`docx` · `pdf`"."""
    names = re.findall(r"`([^`]+)`", cell)
    rest = re.sub(r"`[^`]+`|<br\s*/?>|\b(?:and|or)\b", "", cell)
    return names if len(names) > 1 and re.fullmatch(r"[\s,/&+·•|*]*", rest) else []
