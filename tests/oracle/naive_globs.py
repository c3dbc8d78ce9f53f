"""Globs by a recursive matcher, and wide units by brute force over a finite universe of paths (semantics §3).

What a wide unit could match is the set of paths of `UNIVERSE` that it matches. The generator draws every name and
every wildcard from what the universe was made for, so that two sets which differ at all differ in it. Where they
still don't, the oracle is too lax, never too strict: a missing path is one that would have denied.

A set of paths is an integer: bit i stands for `UNIVERSE[i]`.
"""

from __future__ import annotations

import itertools
import unicodedata
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
    *(".remit/z", ".REMIT", ".env", "A", "q/q/q/q"),
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
EVERYTHING = (1 << len(UNIVERSE)) - 1


class NoGlob(Exception):
    """The text is no glob."""


@cache
def fold(text: str) -> str:
    """Case, Unicode form and invisible characters taken away."""
    folded = unicodedata.normalize("NFKC", text.casefold())
    return "".join(character for character in folded if unicodedata.category(character) != "Cf")


def names_of(path: str) -> list[str]:
    """The segments of a normal path or of a pattern; the root has none."""
    return [] if path in (".", "/") else path.removeprefix("/").split("/")


def matches(pattern: str, path: str, *, widest: bool = False) -> bool:
    """Whether a glob matches a normal path. A relative glob matches below the root only, an absolute one outside."""
    if pattern.startswith("/") != path.startswith("/"):
        return False
    for one in braces(pattern):
        if one in ("**", "/**") or _segments(names_of(one), names_of(path), widest):
            return True
    return False


def _segments(pattern: list[str], names: list[str], widest: bool) -> bool:
    if not pattern:
        return not names
    if pattern[0] == "**":
        if len(pattern) == 1:
            return len(names) >= 1
        return any(_segments(pattern[1:], names[i:], widest) for i in range(len(names) + 1))
    return bool(names) and _name(pattern[0], names[0], widest) and _segments(pattern[1:], names[1:], widest)


@cache
def _name(pattern: str, name: str, widest: bool) -> bool:
    if not pattern:
        return not name
    if pattern[0] == "*":
        least = 0 if widest else 1
        return any(_name(pattern[1:], name[i:], widest) for i in range(least, len(name) + 1))
    if not name:
        return False
    if pattern[0] == "[":
        end = pattern.index("]", 2)
        return _in_class(pattern[1:end], name[0]) and _name(pattern[end + 1 :], name[1:], widest)
    return pattern[0] in ("?", name[0]) and _name(pattern[1:], name[1:], widest)


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


def check(pattern: str) -> None:
    """Raises NoGlob for a text that is none."""
    if not pattern or len(pattern) > 4096 or "\\" in pattern:
        raise NoGlob
    if any(unicodedata.category(character) in BAD_CATEGORIES for character in pattern):
        raise NoGlob
    for opening, closing in ("[]", "{}"):
        if pattern.count(opening) != pattern.count(closing):
            raise NoGlob
    for segment in pattern.removeprefix("/").removesuffix("/").split("/"):
        if not segment or ("**" in segment and segment != "**"):
            raise NoGlob


BAD_CATEGORIES = ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp")


@cache
def hits(pattern: str, folded: bool) -> int:
    """The paths of the universe that a pattern of the policy matches."""
    found = 0
    text = fold(pattern) if folded else pattern
    for i, path in enumerate(UNIVERSE):
        if matches(text, fold(path) if folded else path):
            found |= 1 << i
    return found


def any_hit(patterns: tuple[str, ...], folded: bool) -> int:
    """The paths of the universe that one of several patterns matches."""
    found = 0
    for pattern in patterns:
        found |= hits(pattern, folded)
    return found


@cache
def outside(root: str | None) -> int:
    """The paths of the universe that lie outside the root."""
    found = 0
    for i, path in enumerate(UNIVERSE):
        if path.startswith("/") and not below(path, root):
            found |= 1 << i
    return found


def below(path: str, root: str | None) -> bool:
    """Whether an absolute path lies at or below the root."""
    return root is not None and (path == root or path.startswith(root.rstrip("/") + "/"))


class Unfit(Exception):
    """A wide unit that the universe has nothing for, so that brute force can't judge it."""


@cache
def reach(pattern: str, widest: bool, root: str | None) -> int:
    """All that a wide unit could match. One that begins above the root reaches what lies below the root too."""
    found = 0
    for i, path in enumerate(UNIVERSE):
        if path.startswith("/"):
            if not below(path, root) and matches(pattern, path, widest=widest):
                found |= 1 << i
        elif pattern.startswith("/"):
            absolute = None if root is None else root if path == "." else root.rstrip("/") + "/" + path
            if absolute is not None and matches(pattern, absolute, widest=widest):
                found |= 1 << i
        elif matches(pattern, path, widest=widest):
            found |= 1 << i
    if not found:
        raise Unfit(pattern)
    return found
