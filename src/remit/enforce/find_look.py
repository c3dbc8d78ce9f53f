"""Looking which files a search would find: `find . -name '*.pyc' -delete` doesn't tell, the disk does.

Every answer names at least the files that match the pattern of the search; what else it tests only makes them fewer. A
tree that is too large, or links out of itself, is no answer: a person is asked.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence

from remit.model.facts import PLAIN_NAMES
from remit.model.pattern import compile_later
from remit.scopes.glob import Glob, fold
from remit.scopes.glob_syntax import Wild
from remit.scopes.path import relative_to

SECONDS = 0.5
MAX_ENTRIES = 50_000
MAX_FILES = 5_000
_PLAIN = compile_later(r"[\w.@%+,=][\w.@%+,:=~-]*")
"""A name that stays one word of a command, and is no option."""


class NoAnswer(Exception):
    """Nobody can tell what it would find."""


def changes_of(patterns: Sequence[Glob], root: str) -> dict[str, tuple[str, ...]]:
    """By pattern, what there is below the root that matches; and whether all these names are plain."""
    until = time.monotonic() + SECONDS
    found: dict[str, tuple[str, ...]] = {}
    try:
        for pattern in patterns:
            found[pattern.text] = tuple(_matching(pattern, os.path.realpath(root), until))
    except (NoAnswer, OSError, ValueError, RecursionError):
        return {}
    names = (name for paths in found.values() for path in paths for name in path.split("/"))
    return {**found, PLAIN_NAMES: ()} if all(map(_PLAIN.fullmatch, names)) else found


def protected_among(patterns: Iterable[Glob], protected: Sequence[Glob], root: str) -> dict[str, tuple[str, ...]]:
    """By pattern, what it stands for of the files that others protect; no pattern if nobody can tell."""
    there = changes_of(protected, root)
    if not all(glob.text in there for glob in protected):
        return {}
    paths = {path for glob in protected for path in there[glob.text]}
    return {
        pattern.text: tuple(sorted(path for path in paths if pattern.folded().matches(fold(path))))
        for pattern in patterns
    }


def named_below(folders: Iterable[tuple[Glob, str]], names: frozenset[str], root: str) -> dict[str, tuple[str, ...]]:
    """By pattern, the files of one of these names (folded) in the folder that tells what the pattern stands for.

    A pattern without any is not there. A folder that is copied or moved in and too large to look at counts as if it had
    one; one that only goes away does not, or every `rm -rf node_modules` would be asked about."""
    until = time.monotonic() + SECONDS
    found: dict[str, tuple[str, ...]] = {}
    for pattern, folder in sorted(folders, key=lambda pair: (pair[0].text, pair[1])):
        own: list[str] = []
        for seen, path in enumerate(_files(os.path.join(root, folder))):
            if seen > MAX_ENTRIES or time.monotonic() > until:
                if folder != pattern.base:
                    own.append(f"{folder}/{min(names)}")
                break
            below = relative_to(path, root)
            if fold(below).rpartition("/")[2] in names and (folder != pattern.base or pattern.matches(below)):
                own.append(below)
        if own:
            found[pattern.text] = (*found.get(pattern.text, ()), *own)
    return found


def _files(folder: str) -> Iterator[str]:
    for here, _, names in os.walk(folder):
        for name in names:
            yield os.path.join(here, name)


def _matching(pattern: Glob, root: str, until: float) -> Iterator[str]:
    top = os.path.realpath(os.path.join(root, pattern.base))
    if not f"{top}/".startswith(f"{root}/"):
        raise NoAnswer
    matched = 0
    for seen, path in enumerate(_walk(top, _depth(pattern) - pattern.base.count("/") - (pattern.base != "."))):
        if seen > MAX_ENTRIES or matched > MAX_FILES or time.monotonic() > until:
            raise NoAnswer
        below = os.path.relpath(path, root)
        if pattern.matches(below) or pattern.matches(fold(below)):  # what protects is folded
            matched += 1
            yield below
            if os.path.islink(path):
                yield relative_to(os.path.realpath(path), root)


def _depth(pattern: Glob) -> int:
    """How many names its paths have at most."""
    deep = any(isinstance(part, Wild) for parts in pattern.alternatives for part in parts)
    return MAX_ENTRIES if deep else max(map(len, pattern.alternatives))


def _walk(folder: str, depth: int) -> Iterator[str]:
    """The folder itself and all below it, so many names deep. Raises NoAnswer for a link to a directory that would be
    entered: a search may follow it."""
    if not os.path.lexists(folder):
        return
    yield folder
    if not os.path.isdir(folder) or depth <= 0:
        return
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink() and entry.is_dir() and depth > 1:
                raise NoAnswer
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, depth - 1)
            else:
                yield entry.path
