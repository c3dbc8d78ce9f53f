"""Globs by a recursive matcher, and wide units by brute force over a finite universe of paths (semantics §3).

What a wide unit could match is the set of paths of `UNIVERSE` that it matches. The generator draws every name and
every wildcard from what the universe was made for, so that two sets which differ at all mostly differ in it. Where
they don't, the oracle is too lax: a missing path is one that would have denied. (One exception: a wide unit that seems
to lie within a label gets its tier.) That is why the engine may be stricter for a wide unit, and never less strict.

A set of paths is an integer: bit i stands for `UNIVERSE[i]`.
"""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterable
from functools import cache

NAMES = (
    *("a", "ab", "b", "c", "z", "docs", "src", "DOCS", "deploy"),
    *("x.md", "a.md", ".env.md", "a.pem", "package.json"),
    *(".git", ".remit", ".github", ".claude"),
)
"""Every name that stands in a generated pattern, and one for each way in which two wildcards can overlap."""

TAILS = (
    *("migrations/z", "migrations/a.md", "alembic/versions/z", "requirements/z.txt", ".ssh/z", ".aws/z"),
    *("hooks/z", "hooks", "workflows/z", "agents/z", "agents", "actions/z"),
    *("azure-pipelines.yml", "alembic/versions", "Jenkinsfile", ".mcp.json", ".gitlab-ci.yml", ".codex/z"),
    *(".vscode", ".vscode/settings.json", ".vscode/mcp.json", ".drone.yml", ".circleci/z", ".buildkite/z"),
    *(".github/hooks/z", ".github/workflows/z", ".github/agents/z", ".gemini/z", ".cursor/z", "setup.py"),
    *(".remit/z", ".REMIT", ".env", "A", "q/q/q/q", "docs/z", "docs/x.md"),
    *(".git/z", "a/z", "z/a", "x.md/q", "a.md/q", "a/q", ".md"),
)
HEADS = ("a", "b", "z", "docs", "src")
"""What the catalog's labels and protected paths speak of is put below the root, each name, and two of these."""

OUTER = ("tmp", "etc", "w", "a", "z", "x.md")
"""The names of absolute paths."""


def _universe() -> tuple[str, ...]:
    paths = ["."]
    for depth in (1, 2, 3):
        paths += ["/".join(names) for names in itertools.product(NAMES, repeat=depth)]
    heads = [(), *((name,) for name in NAMES), *itertools.product(HEADS, repeat=2)]
    paths += ["/".join((*head, tail)) for head in heads for tail in TAILS]
    paths.append("/")
    for depth in (1, 2, 3):
        paths += ["/" + "/".join(names) for names in itertools.product(OUTER, repeat=depth)]
    return tuple(dict.fromkeys(paths))


UNIVERSE = _universe()


@cache
def fold(text: str) -> str:
    """Case, Unicode form and invisible characters taken away."""
    folded = unicodedata.normalize("NFKC", text.casefold())
    return "".join(character for character in folded if unicodedata.category(character) != "Cf")


@cache
def names_of(path: str) -> list[str]:
    """The segments of a normal path or of a pattern; the root has none."""
    return [] if path in (".", "/") else path.removeprefix("/").split("/")


def matches(pattern: str, path: str, *, widest: bool = False) -> bool:
    """Whether a glob matches a normal path. A relative one matches below the root only, an absolute one outside."""
    return _matches(pattern, path, widest, False)


def matches_folded(pattern: str, path: str) -> bool:
    """Whether a glob matches a path that differs from this one in case, Unicode form or invisible characters only."""
    return _matches(fold(pattern), fold(path), False, True)


def _matches(pattern: str, path: str, widest: bool, folded: bool) -> bool:
    if not path.startswith(_head(pattern)) or pattern.startswith("/") != path.startswith("/"):
        return False
    names = names_of(path)
    return any(one == ["**"] or _segments(one, names, widest, folded) for one in _choices(pattern))


@cache
def _head(pattern: str) -> str:
    """What a pattern begins with, before its first wildcard."""
    if set(pattern) & set("[{"):
        return "/" if pattern.startswith("/") else ""
    head = pattern.split("*")[0].split("?")[0]
    return head.rpartition("/")[0]


@cache
def _choices(pattern: str) -> tuple[list[str], ...]:
    """The segments of a pattern, once for each choice of its alternatives."""
    return tuple(names_of(one) for one in braces(pattern))


def _segments(pattern: list[str], names: list[str], widest: bool, folded: bool) -> bool:
    if not pattern:
        return not names
    if pattern[0] == "**":
        if len(pattern) == 1:
            return len(names) >= 1
        return any(_segments(pattern[1:], names[i:], widest, folded) for i in range(len(names) + 1))
    if not names or not _name(pattern[0], names[0], widest, folded):
        return False
    return _segments(pattern[1:], names[1:], widest, folded)


@cache
def _name(pattern: str, name: str, widest: bool, folded: bool) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        least = 0 if widest else 1
        return any(_name(pattern[1:], name[i:], widest, folded) for i in range(least, len(name) + 1))
    if not name:
        return False
    if pattern[0] == "[":
        end = pattern.index("]", 2)
        characters = {name[0], name[0].upper()} if folded else {name[0]}
        if not any(_in_class(pattern[1:end], character) for character in characters):
            return False
        return _name(pattern[end + 1 :], name[1:], widest, folded)
    return pattern[0] in ("?", name[0]) and _name(pattern[1:], name[1:], widest, folded)


def _in_class(body: str, character: str) -> bool:
    negated = body[0] in "!^"
    rest = body[1:] if negated else body
    found = False
    while rest:
        if len(rest) >= 3 and rest[1] == "-":
            found = found or rest[0] <= character <= rest[2]
            rest = rest[3:]
        else:
            found = found or rest[0] == character
            rest = rest[1:]
    return found != negated


@cache
def braces(pattern: str) -> tuple[str, ...]:
    """The pattern once for each choice of its alternatives."""
    end = pattern.find("}")
    if end < 0:
        return (pattern,)
    start = pattern.rindex("{", 0, end)
    found: list[str] = []
    for choice in pattern[start + 1 : end].split(","):
        found += braces(pattern[:start] + choice + pattern[end + 1 :])
    return tuple(found)


def is_glob(pattern: str) -> bool:
    """Whether the text of an argument is a glob."""
    if any(pattern.count(opening) != pattern.count(closing) for opening, closing in ("[]", "{}")):
        return False
    for segment in pattern.removeprefix("/").removesuffix("/").split("/"):
        if not segment or ("**" in segment and segment != "**"):
            return False
    return True


BAD_CATEGORIES = ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


@cache
def hits(pattern: str, folded: bool) -> int:
    """The paths of the universe that a pattern of the policy matches."""
    judge = matches_folded if folded else matches
    return set_of(judge(pattern, path) for path in UNIVERSE)


def set_of(members: Iterable[bool]) -> int:
    """The paths of the universe for which something holds."""
    return int("".join("1" if member else "0" for member in members)[::-1], 2)


@cache
def with_name(name: str, anywhere: bool) -> int:
    """The paths of the universe with this name among their segments, or first among those below the root."""
    found = []
    for path in UNIVERSE:
        names = [fold(one) for one in names_of(path)]
        found.append(fold(name) in (names if anywhere else names[:1]) and (anywhere or not path.startswith("/")))
    return set_of(found)


def any_hit(patterns: tuple[str, ...], folded: bool) -> int:
    """The paths of the universe that one of several patterns matches."""
    found = 0
    for pattern in patterns:
        found |= hits(pattern, folded)
    return found


@cache
def outside(root: str | None) -> int:
    """The paths of the universe that lie outside the root."""
    return set_of(path.startswith("/") and not below(path, root) for path in UNIVERSE)


def below(path: str, root: str | None) -> bool:
    """Whether an absolute path lies at or below the root."""
    return root is not None and (path == root or path.startswith(root.rstrip("/") + "/"))


_BEGINNING: dict[str, list[int]] = {}
for _i, _path in enumerate(UNIVERSE):
    _BEGINNING.setdefault(_path.split("/")[0], []).append(_i)


class Unfit(Exception):
    """A wide unit that the universe has nothing for, so that brute force can't judge it."""


def reach(pattern: str, widest: bool, root: str | None) -> int:
    """All that a wide unit could match. One that begins above the root reaches what lies below it too."""
    found = _reach(pattern, widest, root if pattern.startswith("/") else None)
    if not found:
        raise Unfit(pattern)
    return found


@cache
def _reach(pattern: str, widest: bool, root: str | None) -> int:
    first = pattern.split("/")[0]
    if any(character in "*?[{" for character in first) or pattern.startswith("/"):
        return set_of(_reaches(pattern, path, widest, root) for path in UNIVERSE)
    return sum(1 << i for i in _BEGINNING.get(first, ()) if matches(pattern, UNIVERSE[i], widest=widest))


def _reaches(pattern: str, path: str, widest: bool, root: str | None) -> bool:
    if path.startswith("/"):
        return matches(pattern, path, widest=widest) and not below(path, root)
    if pattern.startswith("/"):
        if root is None:
            return False
        path = root if path == "." else root.rstrip("/") + "/" + path
    return matches(pattern, path, widest=widest)


@cache
def samples(pattern: str, widest: bool) -> tuple[str, ...]:
    """Some paths that a pattern matches, with names of no other pattern."""
    found: list[str] = []
    for one in braces(pattern):
        choices = []
        for segment in names_of(one):
            fillings = ("q", "") if widest else ("q",)
            plain = segment.replace("?", "q").replace("[ab]", "a")
            choices.append(("q", "q/q") if segment == "**" else tuple(plain.replace("*", text) for text in fillings))
        start = "/" if one.startswith("/") else ""
        found += [start + "/".join(names) for names in itertools.product(*choices) if all(names)]
    return tuple(found)
