"""Looking which files a search would find: `find . -name '*.pyc' -delete` doesn't tell, the disk does.

Every answer names at least the files that the search finds, of those that match its pattern. Find itself tries the
other tests (`-size`, `-perm`, `! -path`), in words that only print; ages are left out, since they change with time. A
tree that is too large, or links out of itself, is no answer: a person is asked.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence

from remit.model.facts import PLAIN_NAMES
from remit.model.pattern import compile_later
from remit.scopes.glob import Glob, fold
from remit.scopes.glob_syntax import Wild
from remit.scopes.path import relative_to
from remit.scopes.shell.sole import Sole

SECONDS = 0.5
MAX_ENTRIES = 50_000
MAX_FILES = 5_000
PLACES = ("/usr/bin", "/bin", "/usr/local/bin")
"""Where find is looked for: no place that a workspace could put its own one."""
_PLAIN = compile_later(r"[\w.@%+,=][\w.@%+,:=~-]*")
"""A name that stays one word of a command, and is no option."""


class NoAnswer(Exception):
    """Nobody can tell what it would find."""


def changes_of(patterns: Sequence[Glob], root: str, search: Sole | None = None) -> dict[str, tuple[str, ...]]:
    """By pattern, what there is below the root that matches; and whether all these names are plain."""
    until = time.monotonic() + SECONDS
    found: dict[str, tuple[str, ...]] = {}
    try:
        tops = _found_by(search, root, until) if search is not None else None
        for pattern in patterns:
            found[pattern.text] = tuple(_matching(pattern, os.path.realpath(root), until, tops))
    except (NoAnswer, OSError, ValueError, RecursionError):
        return {}
    names = (name for paths in found.values() for path in paths for name in path.split("/"))
    return {**found, PLAIN_NAMES: ()} if all(map(_PLAIN.fullmatch, names)) else found


def _found_by(search: Sole, root: str, until: float) -> list[str] | None:
    """What find prints, without what lies below another of these; None if it fails, is too slow or prints too much."""
    program = next((path for place in PLACES if os.access(path := f"{place}/find", os.X_OK)), None)
    if program is None:
        return None
    base = os.path.join(os.path.realpath(root), search.base)
    try:
        done = subprocess.run(  # noqa: S603 -- words that only look, without a shell
            [program, *search.words[1:]],
            cwd=base,
            env={"PATH": ":".join(PLACES), "LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=max(until - time.monotonic(), 0.01),
            check=False,
        )
        names = done.stdout.decode("utf-8").split("\0")[:-1]
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    if done.returncode != 0 or len(names) > MAX_ENTRIES or not " ".join(search.words).isascii():
        return None
    tops: list[str] = []
    for path in sorted(os.path.normpath(os.path.join(base, name)) + "/" for name in names):
        if not tops or not path.startswith(tops[-1]):
            tops.append(path)
    return [path.rstrip("/") for path in tops]


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


def _matching(pattern: Glob, root: str, until: float, tops: list[str] | None = None) -> Iterator[str]:
    """What matches below the root, or at and below these paths."""
    top = os.path.realpath(os.path.join(root, pattern.base))
    if not f"{top}/".startswith(f"{root}/"):
        raise NoAnswer
    matched = 0
    depth = _depth(pattern) - pattern.base.count("/") - (pattern.base != ".")
    paths = _walk(top, depth) if tops is None else (path for below in tops for path in _walk(below, depth))
    for seen, path in enumerate(paths):
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
