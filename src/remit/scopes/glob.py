"""Globs over normalised paths: `a/b/c` below a root that is itself `.`, or absolute ones that begin with `/`.

    >>> Glob.parse("docs/**/*.md").matches("docs/guide/start.md")
    True

`*` is one or more characters of one segment, `?` and `[0-9]` exactly one, `{a,b}` alternatives, `**` any
number of segments: `**/x` is also `x`, `docs/**` is strictly below docs, `**` alone is also the root itself.
Relative globs match no absolute path, and absolute ones no relative path. Hidden files are not special.
"""

from __future__ import annotations

import functools
import itertools
import math
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from remit.scopes import glob_algebra as algebra
from remit.scopes.glob_algebra import Alternative
from remit.scopes.glob_match import matcher
from remit.scopes.glob_syntax import ANY, CharSet, GlobError, Token, Tokens, Wild, expand, quoted, segments

__all__ = ["Glob", "GlobError", "fold"]

MAX_LOOSENED = 64
_ESCAPES = {ord(char): f"[{char}]" for char in "*?[]{}"}

_HALF = ANY.size() // 2
_CANDIDATES = "xabcdefghijklmnopqrstuvwyz0123456789_-ABCDEFGHIJKLMNOPQRSTUVWXYZ+=,@~#%."


class Glob:
    """One glob: immutable, a value.

    `matches(path)` says whether it matches a path that is already normalised; a folded glob expects a path
    that went through `fold`, and counts the characters of that form.
    """

    __slots__ = ("_hash", "_tokens", "absolute", "alternatives", "is_folded", "matches", "place", "text")

    text: str
    absolute: bool
    is_folded: bool
    alternatives: tuple[Alternative, ...]
    place: Glob | None
    """What `below` and the like were asked of: `src` of `src/**`. None of any other glob."""
    matches: Callable[[str], bool]
    _tokens: tuple[Tokens, ...]
    _hash: int

    def __init__(
        self, text: str, tokens: tuple[Tokens, ...], *, absolute: bool, is_folded: bool, place: Glob | None = None
    ) -> None:
        """For this package only: `parse`, `literal` and `below` make globs."""
        put = object.__setattr__
        put(self, "text", text)
        put(self, "absolute", absolute)
        put(self, "is_folded", is_folded)
        put(self, "place", place)
        put(self, "_tokens", tokens)
        put(self, "_hash", hash((text, is_folded)))

    @classmethod
    def parse(cls, text: str, *, absolute: bool = False, fold: bool = False) -> Glob:
        """The glob that `text` says; raises `GlobError`. A leading `/` needs `absolute`."""
        branches = expand(text)
        rooted = {branch[0] == "/" for branch in branches}
        if len(rooted) > 1:
            raise GlobError(f"glob {quoted(text)} is partly absolute")
        if rooted == {True}:
            if not absolute:
                raise GlobError(f"absolute glob {quoted(text)}; globs here are relative to the root")
            branches = tuple(branch[1:] for branch in branches)
        plain = cls(text, branches, absolute=rooted == {True}, is_folded=False)
        return plain.folded() if fold else plain

    @classmethod
    def literal(cls, path: str) -> Glob:
        """Exactly this normalised path; nothing in it is a wildcard."""
        if not path:
            raise GlobError("a path can't be empty")
        absolute = path.startswith("/")
        tokens = () if path == "." else tuple(path.removeprefix("/"))
        return cls(_escaped(path), (tokens,), absolute=absolute, is_folded=False)

    @classmethod
    def below(cls, directory: str) -> Glob:
        """All strictly below this normalised directory; below `.` also the root itself."""
        root = cls.literal(directory)
        above = root._tokens[0]
        text = "**" if directory == "." else root.text.removesuffix("/") + "/**"
        tokens: Tokens = (*above, "/", Wild.DEEP) if above else (Wild.DEEP,)
        return cls(text, (tokens,), absolute=root.absolute, is_folded=False, place=root)

    def all_below(self) -> Glob:
        """All strictly below what it matches."""
        deep = tuple((*branch, "/", Wild.DEEP) if branch else (Wild.DEEP,) for branch in self._tokens)
        return Glob(f"{self.text}/**", deep, absolute=self.absolute, is_folded=self.is_folded, place=self)

    def and_below(self) -> Glob:
        """What it matches, and all below that."""
        below = self.all_below()
        both = self._tokens + below._tokens
        text = f"{{{self.text},{below.text}}}"
        return Glob(text, both, absolute=self.absolute, is_folded=self.is_folded, place=self)

    def or_else(self, other: Glob) -> Glob:
        """What either matches; both are absolute or neither, both folded or neither."""
        if (self.absolute, self.is_folded) != (other.absolute, other.is_folded):
            raise ValueError("globs of different kinds can't be one")
        text = f"{{{self.text},{other.text}}}"
        return Glob(text, self._tokens + other._tokens, absolute=self.absolute, is_folded=self.is_folded)

    def folded(self) -> Glob:
        """The same glob for folded paths."""
        if self.is_folded:
            return self
        tokens = tuple(_fold_tokens(each) for each in self._tokens)
        place = self.place.folded() if self.place is not None else None
        return Glob(self.text, tokens, absolute=self.absolute, is_folded=True, place=place)

    @property
    def base(self) -> str:
        """The longest literal directory that all of it lies in: `docs` for `docs/**/*.md`, else the root."""
        common: list[str] | None = None
        for alternative in self.alternatives:
            texts: list[str] = []
            for element in alternative[:-1]:
                if not isinstance(element, str):
                    break
                texts.append(element)
            if common is None:
                common = texts
            shared = [a == b for a, b in zip(common, texts, strict=False)]
            common = common[: shared.index(False) if False in shared else len(shared)]
        joined = "/".join(common or ())
        return "/" + joined if self.absolute else joined or "."

    def includes(self, other: Glob) -> bool:
        """True only if this matches every path that `other` matches."""
        if self.absolute != other.absolute or (other.is_folded and not self.is_folded):
            return False
        theirs = other.folded() if self.is_folded else other
        return all(any(algebra.includes(a, b) for a in self.alternatives) for b in theirs.alternatives)

    def intersects(self, other: Glob) -> bool:
        """False only if no path is matched by both."""
        if self.absolute != other.absolute:
            return False
        one, two = (self.folded(), other.folded()) if self.is_folded or other.is_folded else (self, other)
        return any(algebra.intersects(a, b) for a in one.alternatives for b in two.alternatives)

    def loosened(self) -> Glob:
        """The same glob in which each `*` beside other characters may also match nothing."""
        found: dict[Tokens, None] = {}
        for branch in self._tokens:
            choices = [_loose_segment(part) for part in segments(branch)]
            if math.prod(map(len, choices)) > MAX_LOOSENED:
                choices = [[(Wild.STAR,)] if len(options) > 1 else options for options in choices]
            for first, *rest in itertools.product(*choices):
                found[(*first, *(token for part in rest for token in ("/", *part)))] = None
        return Glob(self.text, tuple(found), absolute=self.absolute, is_folded=self.is_folded)

    def marks(self) -> tuple[tuple[str, str, str], ...]:
        """For each alternative something that every match must have, as (segment, prefix, suffix).

        One of the three is set: a segment of this text, or a last segment that starts or a path that ends so;
        or none is, where nothing can be said.
        """
        return tuple(_mark(alternative) for alternative in self.alternatives)

    def tails(self) -> tuple[str, ...]:
        """For each alternative the plain text that every match ends with, perhaps none."""
        lasts = (alternative[-1] if alternative else Wild.DEEP for alternative in self.alternatives)
        return tuple("" if isinstance(last, Wild) else "".join(reversed(list(_run(reversed(last))))) for last in lasts)

    def aims_at(self, name: str) -> bool:
        """True if a segment that is more than a bare wildcard could be exactly `name`."""
        elements = (each for alternative in self.alternatives for each in alternative)
        return any(
            not isinstance(each, Wild) and each != algebra.ANY_SEGMENT and algebra.segment_intersects(each, name)
            for each in elements
        )

    def sample(self, filler: str = "x") -> str:
        """Some path that it matches, with `filler` (without a slash) where anything would do."""
        lead = "/" if self.absolute else ""
        first = self.alternatives[0]
        if first == (Wild.DEEP,):
            return lead + filler
        parts = [_sample(each, filler) for each in first if not isinstance(each, Wild)]
        return lead + "/".join(parts) or "."

    def __getattr__(self, name: str) -> Any:
        # Only an unset slot gets here: the normal form is made when it is first needed, and the test is compiled
        # when a path is first matched, since globs that are only compared (an agent's own) never need it.
        found: object
        if name == "matches":
            found = matcher(self.alternatives, lead="/" if self.absolute else "")
        elif name == "alternatives":
            found = tuple(dict.fromkeys(map(algebra.normal, self._tokens)))
        else:
            raise AttributeError(name)
        object.__setattr__(self, name, found)
        return found

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a glob can't be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a glob can't be changed: {name}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Glob):
            return NotImplemented
        return (self.text, self.is_folded, self._tokens) == (other.text, other.is_folded, other._tokens)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Glob({self.text!r}{', folded' if self.is_folded else ''})"

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.text, self._tokens, self.absolute, self.is_folded, self.place))


def fold(path: str) -> str:
    """`path` with case and Unicode form ignored: equal for paths that some file system takes for one.

    Invisible format characters go too: HFS+ takes `.g<U+200C>it` for `.git`.
    """
    return path.lower() if path.isascii() else _fold(path)


def _fold(path: str) -> str:
    while True:
        visible = "".join(char for char in path if unicodedata.category(char) != "Cf")
        done = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
        if done == path:
            return done
        path = done


def _rebuild(text: str, tokens: tuple[Tokens, ...], absolute: bool, is_folded: bool, place: Glob | None) -> Glob:
    return Glob(text, tokens, absolute=absolute, is_folded=is_folded, place=place)


def _loose_segment(part: Tokens) -> list[Tokens]:
    """A segment, and it again without some of its stars."""
    stars = [index for index, token in enumerate(part) if token is Wild.STAR]
    if len(stars) > 4:
        return [(Wild.STAR,)]
    found: list[Tokens] = []
    for left in itertools.product((True, False), repeat=len(stars)):
        dropped = {index for index, keep in zip(stars, left, strict=True) if not keep}
        rest = tuple(token for index, token in enumerate(part) if index not in dropped)
        if rest and rest not in ((".",), (".", ".")):
            found.append(rest)
    return found


def _mark(alternative: Alternative) -> tuple[str, str, str]:
    literals = [each for each in alternative if isinstance(each, str)]
    if literals:
        return max(literals, key=len), "", ""
    last = alternative[-1] if alternative else Wild.DEEP
    if isinstance(last, (Wild, str)):
        return "", "", ""
    head = "".join(_run(last))
    tail = "".join(reversed(list(_run(reversed(last)))))
    return ("", head, "") if len(head) >= len(tail) and head else ("", "", tail)


def _run(atoms: Iterable[Token]) -> Iterable[str]:
    """The plain characters before the first wildcard."""
    for atom in atoms:
        if not isinstance(atom, str):
            return
        yield atom


def _escaped(path: str) -> str:
    return path.translate(_ESCAPES)


def _fold_tokens(tokens: Tokens) -> Tokens:
    """Each literal run folded as a whole, each class member by member."""
    done: list[Token] = []
    run = ""
    for token in (*tokens, Wild.STAR):
        if isinstance(token, str):
            run += token
            continue
        done += fold(run)
        run = ""
        done.append(_fold_set(token) if isinstance(token, CharSet) else token)
    return tuple(done[:-1])


@functools.lru_cache(maxsize=1024)
def _fold_set(chosen: CharSet) -> Token:
    """A set that has the folded form of every member; a star if one folds to several characters."""
    if chosen.size() > _HALF:  # a negated class: it leaves out only what it leaves out in either case
        gone = [char for char in chosen.inverse().chars() if not _has(chosen, char.lower(), char.upper())]
        return _set_of(form for form in map(fold, gone) if len(form) == 1).inverse()
    forms = {fold(char) for char in chosen.chars()}
    if any(len(form) != 1 for form in forms):
        return Wild.STAR
    return _set_of(forms)


def _has(chosen: CharSet, *forms: str) -> bool:
    return any(len(form) == 1 and form in chosen for form in forms)


def _set_of(chars: Iterable[str]) -> CharSet:
    return CharSet.of((ord(char), ord(char)) for char in chars)


def _sample(segment: algebra.Segment, filler: str) -> str:
    if isinstance(segment, str):
        return segment
    text = ""
    choices = filler[:1] + _CANDIDATES
    for atom in segment:
        if atom is Wild.STAR:
            text += filler[1:]
        elif isinstance(atom, CharSet):
            text += next((char for char in choices if char in atom), "") or next(atom.chars())
        else:
            text += str(atom)
    return text
