"""Looking which files a formatter could change: those below its directory that end as it wants them.

`black .` doesn't tell which files it writes; the disk does. Every answer here names at least the files that the command
could write. A workspace that is too large, that links out of itself, or whose configuration makes the formatter take
other files, is no answer: a person is asked.
"""

from __future__ import annotations

import os
import time
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

from remit.scopes.path import relative_to
from remit.scopes.shell.sole import Sole

SECONDS = 0.5
MAX_ENTRIES = 50_000
MAX_FILES = 5_000
MAX_CONFIG = 1_000_000


class Formatter(NamedTuple):
    """What a formatter takes, and the options that change nothing about that."""

    ends: tuple[str, ...]
    flags: frozenset[str]
    config: str = ""
    """The table of its own in `pyproject.toml`."""


_PYTHON = (".py", ".pyi", ".ipynb")
_QUIET = frozenset(("-q", "--quiet", "-v", "--verbose"))
_RUFF = Formatter(_PYTHON, _QUIET | {"--fix", "--unsafe-fixes", "--no-cache", "-n", "--show-fixes"}, "ruff")
_GO = Formatter((".go",), frozenset(("-w", "-s", "-l")))
_RUST = Formatter((".rs",), _QUIET | {"--all"})
FORMATTERS = {
    ("black",): Formatter(_PYTHON, _QUIET | {"-S", "-C", "--fast", "--safe", "--no-cache"}, "black"),
    ("ruff", "format"): _RUFF,
    ("ruff", "check"): _RUFF,
    ("isort",): Formatter((".py", ".pyi", ".pyx", ".pxd"), _QUIET | {"--atomic"}, "isort"),
    ("gofmt",): _GO,
    ("goimports",): _GO,
    ("go", "fmt"): _GO,
    ("cargo", "fmt"): _RUST,
    ("rustfmt",): _RUST,
}
_TABLES = frozenset(("pyproject.toml", "ruff.toml", ".ruff.toml"))
_LISTS = frozenset(("setup.cfg", "tox.ini", ".isort.cfg", ".editorconfig"))
_CHOOSING = ("include", "extension", "extend", "preview")
"""Settings with one of these in their name make a formatter take other files, or name another configuration."""


class NoAnswer(Exception):
    """Nobody can tell which files it would take."""


def changes_of(sole: Sole, root: str) -> tuple[str, ...] | None:
    """The paths that the command could change, below the root or absolute; None where nobody can tell."""
    for count in (2, 1):
        formatter = FORMATTERS.get(sole.words[:count])
        if formatter is not None and all(_is_plain(formatter, word) for word in sole.words[count:]):
            try:
                top = os.path.realpath(os.path.join(root, sole.base))
                return tuple(sorted(relative_to(path, root) for path in _files(formatter, top)))
            except (NoAnswer, OSError, ValueError, RecursionError):
                return None
    return None


def _is_plain(formatter: Formatter, word: str) -> bool:
    """A harmless option, or a path below the directory that it runs in."""
    if word.startswith("-"):
        return word in formatter.flags
    return not word.startswith(("/", "~")) and ".." not in word.split("/")


def _files(formatter: Formatter, top: str) -> list[str]:
    until = time.monotonic() + SECONDS
    above = top
    while formatter.config and above != "/":
        above = os.path.dirname(above)
        for name in sorted((_TABLES | _LISTS) & set(os.listdir(above))):
            _check(formatter, os.path.join(above, name))
    found: list[str] = []
    for count, entry in enumerate(_walk(top, top)):
        if count > MAX_ENTRIES or len(found) > MAX_FILES or time.monotonic() > until:
            raise NoAnswer
        if formatter.config and entry.name in _TABLES | _LISTS:
            _check(formatter, entry.path)
        if entry.name.lower().endswith(formatter.ends):
            found.append(os.path.realpath(entry.path))
    return found


def _walk(folder: str, top: str) -> Iterator[os.DirEntry[str]]:
    """Every file below. Raises NoAnswer for a link to a directory elsewhere."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir():
                yield entry
            elif entry.is_symlink():
                if not f"{os.path.realpath(entry.path)}/".startswith(f"{top}/"):
                    raise NoAnswer
            elif not (entry.name == "objects" and folder.endswith("/.git")):
                yield from _walk(entry.path, top)


def _check(formatter: Formatter, path: str) -> None:
    """Raises NoAnswer if the configuration may make the formatter take other files."""
    with open(path, "rb") as file:
        data = file.read(MAX_CONFIG + 1)
    name = os.path.basename(path)
    if len(data) > MAX_CONFIG:
        raise NoAnswer
    if name in _LISTS:
        if formatter.config == "isort" and b"extension" in data:
            raise NoAnswer
        return
    table: Any = tomllib.loads(data.decode("utf-8"))
    if name == "pyproject.toml":
        table = table.get("tool", {}).get(formatter.config, {})
    elif formatter.config != "ruff":
        return
    if any(word in key for key in _keys(table) for word in _CHOOSING):
        raise NoAnswer


def _keys(table: Any) -> Iterator[str]:
    if isinstance(table, dict):
        for key, value in table.items():
            if key not in ("extend-select", "extend-ignore", "extend-exclude", "extend-per-file-ignores"):
                yield key
            yield from _keys(value)
