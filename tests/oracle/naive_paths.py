"""Normal paths, and what it means for a unit of kind path to lie within something (semantics §2, §5, §6 step 2)."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any, NamedTuple

import msgspec

from remit.model.rulebook import Protected
from remit.scopes.path import PathScope
from tests.oracle import naive_globs as globs
from tests.oracle.naive_globs import fold, matches, matches_folded


class Refused(Exception):
    """A text that is refused in step 1; the codes are its arguments."""


class Unit(NamedTuple):
    """One unit of a call. For kind path, `spellings` are normal paths or, if it is wide, patterns."""

    kind: str
    arg: str | None
    effects: frozenset[str]
    spellings: tuple[str, ...] = ()
    wide: bool = False
    widest: bool = False
    root: str | None = None
    on: tuple[str, ...] = ()
    """Of the call itself: the arguments that are there and that its effects are on."""


# Normal paths


def strange(text: str) -> bool:
    """Whether a text can be no path, whatever its segments are."""
    if not text or len(text) > 4096 or "\\" in text:
        return True
    return any(unicodedata.category(character) in globs.BAD_CATEGORIES for character in text)


def normal(text: str, reads_only: bool, cwd: str | None, root: str | None) -> str:
    """The normal path of a text. Raises Refused."""
    if strange(text) or "//" in text or (text.endswith("/") and not reads_only):
        bad = True
    else:
        bad = bool(re.match(r"~|[A-Za-z]:/|\$[A-Za-z_{(]", text))
    if bad:
        raise Refused("bad-path", *_wrong_with(cwd, root))
    if text.startswith("/"):
        return relative(_join([], text), root)
    place = "." if cwd is None else normal(cwd, True, None, root)
    if place.startswith("/"):
        return relative(_join(globs.names_of(place), text), root)
    names = list(globs.names_of(place))
    for segment in text.removesuffix("/").split("/"):
        if segment == "..":
            if not names:
                raise Refused("outside-root")
            names.pop()
        elif segment != ".":
            names.append(segment)
    return "/".join(names) or "."


def _wrong_with(cwd: str | None, root: str | None) -> tuple[str, ...]:
    try:
        normal(cwd or ".", True, None, root)
    except Refused as refused:
        return tuple(map(str, refused.args))
    return ()


def _join(names: list[str], text: str) -> str:
    for segment in text.strip("/").split("/"):
        if segment == "..":
            names = names[:-1]
        elif segment not in (".", ""):
            names = [*names, segment]
    return "/" + "/".join(names)


def relative(path: str, root: str | None) -> str:
    """An absolute path at or below the root in its relative form, any other as it is."""
    if not globs.below(path, root):
        return path
    return path.removeprefix((root or "").rstrip("/")).removeprefix("/") or "."


def glob_argument(text: str, base: str | None, root: str | None, *, first: bool) -> str:
    """The pattern of a glob argument, below its base (a normal path) or the root. Raises Refused.

    Only the first spelling of the base must lie below the root.
    """
    wrong = []
    if strange(text):
        wrong += ["bad-glob", "bad-path"]
    elif not globs.is_glob(text):
        wrong.append("bad-glob")
    if ".." in text.split("/"):
        wrong.append("outside-root")
    if text.startswith("/") and not globs.below(text.rstrip("/"), root):
        wrong.append("outside-root")
    if first and base is not None and base.startswith("/") and not text.startswith("/"):
        wrong.append("outside-root")
    if wrong:
        raise Refused(*wrong)
    if text.startswith("/"):
        text, base = relative(text, root), None
    names = [name for name in text.removesuffix("/").split("/") if name != "."]
    if "/" not in text:
        names = ["**", *names]
    if text.endswith("/"):
        names.append("**")
    if set(names) == {"**"}:
        names = ["**"]
    start = "/" if base is not None and base.startswith("/") else ""
    return start + "/".join((*globs.names_of(base or "."), *names)) or "."


# Lying within


def reach(unit: Unit, spelling: str) -> int:
    """All that a wide unit could match."""
    return globs.reach(spelling, unit.widest, unit.root)


def surely(unit: Unit, patterns: tuple[str, ...]) -> bool:
    """Whether a unit certainly lies within globs: its own path, by exact case."""
    if unit.wide:
        return reach(unit, unit.spellings[0]) & ~globs.any_hit(patterns, False) == 0
    return any(matches(pattern, unit.spellings[0]) for pattern in patterns)


def maybe(unit: Unit, patterns: tuple[str, ...]) -> bool:
    """Whether a unit might lie within globs: any spelling, folded."""
    for spelling in unit.spellings:
        if unit.wide:
            if reach(unit, spelling) & globs.any_hit(patterns, True):
                return True
        elif any(matches_folded(pattern, spelling) for pattern in patterns):
            return True
    return False


def outside(unit: Unit) -> bool:
    """Whether a unit of kind path lies outside the root, or reaches there."""
    if unit.wide:
        return reach(unit, unit.spellings[0]) & globs.outside(unit.root) != 0
    return unit.spellings[0].startswith("/")


def scope_of(parts: dict[str, Any]) -> PathScope:
    """What a scope says about paths."""
    return msgspec.convert(parts.get("path", {}), PathScope)


def covers(scope: PathScope, unit: Unit) -> bool:
    """Whether a unit certainly lies within a path scope. Exceptions are for paths below the root."""
    if not unit.wide and outside(unit):
        return surely(unit, scope.outside)
    if not unit.wide:
        return surely(unit, scope.allow) and not maybe(unit, scope.except_)
    mine = reach(unit, unit.spellings[0])
    beyond = globs.outside(unit.root)
    if mine & beyond & ~globs.any_hit(scope.outside, False):
        return False
    if mine & ~beyond == 0:
        return True
    return mine & ~beyond & ~globs.any_hit(scope.allow, False) == 0 and not maybe(unit, scope.except_)


def touches(scope: PathScope, unit: Unit) -> bool:
    """Whether a unit might lie within a path scope."""
    for spelling in unit.spellings:
        one = unit._replace(spellings=(spelling,))
        if not surely(one, scope.except_):
            break
    else:
        return False
    return maybe(unit, (*scope.allow, *scope.outside))


# Protected paths


def protected(unit: Unit, what: Protected) -> bool:
    """Whether a unit names what nobody may change or, if it is hidden, read."""
    if unit.kind != "path":
        return False
    if "delete" in unit.effects and _changes(unit, what, True):
        return True
    if "write" in unit.effects and _changes(unit, what, False):
        return True
    return "read" in unit.effects and any(_hidden(unit, spelling, what) for spelling in unit.spellings)


def _changes(unit: Unit, what: Protected, deleting: bool) -> bool:
    if unit.wide:
        return any(_might_be_protected(unit, spelling, what) for spelling in unit.spellings)
    if any(matches(pattern, unit.spellings[0]) for pattern in what.lifted):
        return False
    return any(_is_protected(spelling, what, deleting, unit.root) for spelling in unit.spellings)


def _might_be_protected(unit: Unit, spelling: str, what: Protected) -> bool:
    bad = globs.any_hit(what.paths, True)
    for name in what.names:
        bad |= globs.with_name(name, anywhere=_could_be(unit, spelling, name))
    return reach(unit, spelling) & bad & ~globs.any_hit(what.lifted, False) != 0


def _could_be(unit: Unit, spelling: str, name: str) -> bool:
    """Whether a segment of a wide unit, more than a bare wildcard, could be that name."""
    for one in globs.braces(spelling):
        for segment in globs.names_of(one):
            if segment not in ("*", "**") and matches(fold(segment), fold(name), widest=unit.widest):
                return True
    return False


def _is_protected(path: str, what: Protected, deleting: bool, root: str | None) -> bool:
    if any(matches(pattern, path) for pattern in what.lifted):
        return False
    if any(fold(name) == fold(segment) for name in what.names for segment in globs.names_of(path)):
        return True
    if path.startswith("/"):
        return deleting and root is not None and globs.below(root, path)
    directories = [_directory(pattern) for pattern in what.paths]
    if any(matches_folded(pattern, path) for pattern in what.paths):
        return True
    if path != "." and any(fold(directory) == fold(path) for directory in directories):
        return True
    if not deleting:
        return False
    return path == "." or any(fold(directory).startswith(fold(path) + "/") for directory in directories)


@cache
def _directory(pattern: str) -> str:
    """The directory that a glob lies in: its segments before the last or the first with a wildcard."""
    names = pattern.split("/")[:-1]
    while any(character in "/".join(names) for character in "*?[{"):
        names.pop()
    return "/".join(names) or "."


def _hidden(unit: Unit, spelling: str, what: Protected) -> bool:
    for name in what.hidden:
        if unit.wide:
            if _could_be(unit, spelling, name):
                return True
        elif any(fold(segment) == fold(name) for segment in globs.names_of(spelling)):
            return not any(matches(one, spelling) for one in what.lifted)
    return False


# Labels that give a tier


def labelled(unit: Unit, patterns: tuple[str, ...]) -> bool:
    """Whether a unit of kind path has the label of these globs."""
    if not unit.wide:
        inside = [spelling.lstrip("/") or "." for spelling in unit.spellings]  # outside: as if the root were /
        if any(matches_folded(pattern, path) for pattern in patterns for path in inside):
            return True
        return "delete" in unit.effects and any(fold(path) in _directories(patterns) for path in inside)
    for spelling in unit.spellings:
        mine = reach(unit, spelling)
        samples = globs.samples(spelling, unit.widest)
        within = all(any(matches_folded(pattern, path) for pattern in patterns) for path in samples)
        if within and mine & ~globs.any_hit(patterns, True) == 0:
            return True
        named = {fold(name) for one in globs.braces(spelling) for name in globs.names_of(one) if _literal(name)}
        for pattern in patterns:
            names = globs.names_of(pattern)
            shares = mine & globs.hits(pattern, True) != 0
            if shares and len(names) > 1 and _literal(names[0]):
                return True
            if shares and any(_literal(name) and fold(name) in named for name in names):
                return True
    return False


def _directories(patterns: tuple[str, ...]) -> set[str]:
    """The literal directories that globs begin with."""
    found = set()
    for pattern in patterns:
        names = globs.names_of(pattern)[:-1]
        for length in range(1, len(names) + 1):
            if all(_literal(name) for name in names[:length]):
                found.add(fold("/".join(names[:length])))
    return found


def _literal(segment: str) -> bool:
    return not any(character in "*?[{" for character in segment)
