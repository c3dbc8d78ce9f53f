"""The grammar of globs: text in, alternatives of tokens out, or a `GlobError` that says what is wrong.

Braces are expanded here, on tokens and not on text, so that no brace can assemble a wildcard that
nobody wrote. What reads differently in different tools (`{a}`, `[^a]`, `[[:alpha:]]`) is refused.
"""

from __future__ import annotations

import enum
import itertools
import unicodedata
from collections.abc import Iterable, Iterator

import msgspec

from remit.model.text import shown

MAX_LENGTH = 1024
MAX_ALTERNATIVES = 256
MAX_TOKENS = 16_384
MAX_DEPTH = 8
MAX_RANGE = 256

_LAST = 0x10FFFF
_SLASH = ord("/")


class GlobError(ValueError):
    """A text is no glob; the message says why, for the author of the policy."""


class Wild(enum.Enum):
    """`STAR` is any number of characters of one segment, `DEEP` any number of segments."""

    STAR = "*"
    DEEP = "**"


class CharSet(msgspec.Struct, frozen=True):
    """One character out of sorted, disjoint ranges of code points; never a slash."""

    ranges: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, ranges: Iterable[tuple[int, int]]) -> CharSet:
        """The set of these ranges, without the slash."""
        merged: list[tuple[int, int]] = []
        for low, high in sorted(ranges):
            if merged and low <= merged[-1][1] + 1:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        cut: list[tuple[int, int]] = []
        for low, high in merged:
            if low <= _SLASH <= high:
                cut += [(a, b) for a, b in ((low, _SLASH - 1), (_SLASH + 1, high)) if a <= b]
            else:
                cut.append((low, high))
        return cls(tuple(cut))

    def inverse(self) -> CharSet:
        """Every other character but the slash."""
        gaps, start = [], 0
        for low, high in self.ranges:
            if start < low:
                gaps.append((start, low - 1))
            start = high + 1
        if start <= _LAST:
            gaps.append((start, _LAST))
        return CharSet.of(gaps)

    def size(self) -> int:
        """How many characters it has."""
        return sum(high - low + 1 for low, high in self.ranges)

    def chars(self) -> Iterator[str]:
        """Its characters, in order."""
        return (chr(code) for low, high in self.ranges for code in range(low, high + 1))

    def __contains__(self, char: str) -> bool:
        code = ord(char)
        return any(low <= code <= high for low, high in self.ranges)


ANY = CharSet.of([(0, _LAST)])

Token = str | CharSet | Wild
Tokens = tuple[Token, ...]


def quoted(text: str) -> str:
    """`text` in backticks, for a message."""
    return f"`{shown(text)}`"


def expand(text: str) -> tuple[Tokens, ...]:
    """The alternatives that `text` stands for, each a flat run of tokens with `/` between segments.

    Raises `GlobError` for anything that is no well-formed glob.
    """
    if not text:
        raise GlobError("a glob can't be empty")
    if len(text) > MAX_LENGTH:
        raise GlobError(f"a glob of more than {MAX_LENGTH} characters: {quoted(text)}")
    if "\\" in text:
        help_ = "write `/` between folders, and `[*]` for a literal star"
        raise GlobError(f"backslash in glob {quoted(text)}; {help_}")
    if any(unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text if not char.isprintable()):
        raise GlobError(f"control character in glob {quoted(text)}")
    branches = _Reader(text).read()
    if sum(map(len, branches)) > MAX_TOKENS:
        raise GlobError(f"the braces of {quoted(text)} stand for too much")
    unique = tuple(dict.fromkeys(tuple(branch) for branch in branches))
    for branch in unique:
        _check(branch, text)
    return unique


def segments(tokens: Tokens) -> list[Tokens]:
    """`tokens` split at each slash."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token == "/":
            parts.append([])
        else:
            parts[-1].append(token)
    return [tuple(part) for part in parts]


def _check(branch: Tokens, text: str) -> None:
    """Raise if one alternative isn't a path of proper segments."""
    parts = segments(branch)
    if len(parts) > 1 and not parts[0]:
        parts = parts[1:]
    if not parts[-1]:
        raise GlobError(f"glob {quoted(text)} ends in `/`, or is empty; for all below it write `/**`")
    for part in parts:
        if not part:
            raise GlobError(f"empty segment in glob {quoted(text)}")
        if part in ((".",), (".", ".")):
            raise GlobError(f"segment `{'.' * len(part)}` in glob {quoted(text)}")
        if Wild.DEEP in part and len(part) > 1:
            raise GlobError(f"`**` must be a whole segment in glob {quoted(text)}")
        if any(a is b is Wild.STAR for a, b in itertools.pairwise(part)):
            raise GlobError(f"two adjacent `*` in glob {quoted(text)}")


class _Reader:
    """Reads one text from left to right; `read` is called once."""

    __slots__ = ("at", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def read(self, depth: int = 0) -> list[list[Token]]:
        """The expansions up to the end, or, inside braces, up to the next `,` or `}`."""
        branches: list[list[Token]] = [[]]
        while self.at < len(self.text):
            char = self.text[self.at]
            if depth and char in ",}":
                break
            if char == "{":
                options = self._braces(depth + 1)
                if len(branches) * len(options) > MAX_ALTERNATIVES:
                    raise GlobError(f"more than {MAX_ALTERNATIVES} alternatives in glob {quoted(self.text)}")
                branches = [branch + option for branch in branches for option in options]
                continue
            token = self._token(char)
            for branch in branches:
                branch.append(token)
        return branches

    def _braces(self, depth: int) -> list[list[Token]]:
        if depth > MAX_DEPTH:
            raise GlobError(f"braces nested too deeply in glob {quoted(self.text)}")
        options: list[list[Token]] = []
        parts = 0
        while True:
            self.at += 1
            options += self.read(depth)
            parts += 1
            if self.at >= len(self.text):
                raise GlobError(f"unclosed `{{` in glob {quoted(self.text)}")
            if self.text[self.at] == "}":
                break
        self.at += 1
        if parts < 2:
            raise GlobError(f"braces without a comma in glob {quoted(self.text)}; write `[{{]` for a literal brace")
        return options

    def _token(self, char: str) -> Token:
        if char == "[":
            return self._class()
        if char in "]}":
            raise GlobError(f"unmatched `{char}` in glob {quoted(self.text)}")
        self.at += 1
        if char == "?":
            return ANY
        if char != "*":
            return char
        run = len(self.text[self.at - 1 :]) - len(self.text[self.at - 1 :].lstrip("*"))
        if run > 2:
            raise GlobError(f"more than two `*` in a row in glob {quoted(self.text)}")
        self.at += run - 1
        return Wild.DEEP if run == 2 else Wild.STAR

    def _class(self) -> Token:
        start = self.at + 1
        negated = self.text.startswith("!", start)
        start += negated
        end = self.text.find("]", start + 1)  # a `]` that comes first is a member
        if end == -1:
            raise GlobError(f"unclosed `[` in glob {quoted(self.text)}")
        body = self.text[start:end]
        if body.startswith("^") and not negated:
            raise GlobError(f"class `[^` in glob {quoted(self.text)}; write `[!`")
        if "/" in body or any(body.find("[" + mark) >= 0 for mark in ":.="):
            raise GlobError(
                f"class {quoted(self.text[self.at : end + 1])} in glob {quoted(self.text)} is not supported"
            )
        self.at = end + 1
        chosen = CharSet.of(self._ranges(body))
        if negated:
            return chosen.inverse()
        return next(chosen.chars()) if chosen.size() == 1 else chosen

    def _ranges(self, body: str) -> Iterator[tuple[int, int]]:
        at = 0
        while at < len(body):
            low = high = ord(body[at])
            if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
                high = ord(body[at + 2])
                at += 2
            at += 1
            if not low <= high < low + MAX_RANGE:
                bad = f"{chr(low)}-{chr(high)}"
                raise GlobError(f"range {quoted(bad)} in glob {quoted(self.text)} is reversed or too wide")
            yield low, high
