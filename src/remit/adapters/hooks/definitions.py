"""The files that define a host's agents, found by the name that the host calls them by.

A name is no identity: another file could define an agent of the same name. So every file that might define it counts,
and each must be one that was pinned. What might define it is decided generously: a `name:` line that says so anywhere
in the head of the file, or the name of the file itself. YAML has many ways to say a name: a front matter in which not
every line is plain might define any agent.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from remit.model.digest import sha256
from remit.model.pattern import compile_later

_HEAD = 64 * 1024
_MAX_FILE = 4 * 1024 * 1024
_MAX_FILES = 10_000
_NAME = compile_later(rb"^[\s\xef\xbb\xbf]*[\"']?name[\"']?\s*:\s*(.*?)\s*$", re.MULTILINE)


ANY = "*"
"""In the place of a name: the file might define any agent."""
_OPENING = compile_later(rb"[\s\xef\xbb\xbf]*---")
_CLOSING = compile_later(rb"^---", re.MULTILINE)
_ODD = compile_later(
    rb"^\s*[^\sA-Za-z0-9_#-]|^\s*-*\s*name\s*$|[\x00\x0b\x0c]|\xc2\x85|\xe2\x80[\xa8\xa9]", re.MULTILINE
)
_PLAIN = compile_later(r"[\w .:@/-]*", re.ASCII)


def names_in(path: Path, data: bytes, endings: Iterable[str]) -> set[str]:
    """The names that a definition file might be known by."""
    found = {path.stem, *(path.name[: -len(end)] for end in endings if path.name.lower().endswith(end))}
    if _is_odd(data[:_HEAD].replace(b"\r", b"\n")):
        found.add(ANY)
    for match in _NAME.finditer(data[:_HEAD].replace(b"\r", b"\n")):
        text = match[1].decode("utf-8", "replace")
        bare = re.sub(r"\s+#.*$", "", text).strip().strip("\"'").strip()
        found.update({text, bare})
        if not _PLAIN.fullmatch(bare):
            found.add(ANY)
    return found


def might_define(names: Collection[str], agent: str) -> bool:
    """Whether a file that might be known by these names might define the agent."""
    return agent in names or ANY in names


def _is_odd(head: bytes) -> bool:
    """Whether a front matter might say a name otherwise than in a plain `name:` line."""
    opening = _OPENING.match(head)
    if opening is None:
        return False
    closing = _CLOSING.search(head, opening.end())
    return closing is None or _ODD.search(head[opening.end() : closing.start()]) is not None


def definition_files(directories: Iterable[str], endings: tuple[str, ...]) -> Iterator[Path]:
    """Every file that a host might read as a definition, in order; links are followed, as hosts do.

    Raises OSError for a directory that is there and can't be read, or for too many files.
    """
    count = 0
    for directory in directories:
        if not os.path.isdir(directory):
            continue
        seen = set[tuple[int, int]]()
        for folder, below, files in os.walk(directory, followlinks=True, onerror=_fail):
            about = os.stat(folder)
            if (about.st_dev, about.st_ino) in seen:
                below.clear()  # a link back up: it was walked already
                continue
            seen.add((about.st_dev, about.st_ino))
            below.sort()
            for name in sorted(files):
                if name.lower().endswith(endings):
                    count += 1
                    if count > _MAX_FILES:
                        raise OSError(f"more than {_MAX_FILES} definition files")
                    yield Path(folder, name)


class Definitions:
    """The definition files of a host, read again when they change."""

    def __init__(self, endings: tuple[str, ...]) -> None:
        self.endings = endings
        self._read: dict[str, tuple[tuple[int, ...], set[str], str]] = {}

    def of(self, agent: str, directories: Iterable[str]) -> dict[str, str]:
        """The files that might define the agent, with their SHA-256. Raises OSError."""
        found = self.all(directories)
        return {path: digest for path, (names, digest) in found.items() if might_define(names, agent)}

    def all(self, directories: Iterable[str]) -> dict[str, tuple[set[str], str]]:
        """Every definition file, with the names it might be known by and its SHA-256. Raises OSError."""
        found = {}
        for path in definition_files(directories, self.endings):
            if not path.is_file():
                continue  # a broken link defines nothing
            about = path.stat()
            mark = (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns, about.st_ctime_ns)
            known = self._read.get(str(path))
            if known is None or known[0] != mark:
                known = (mark, *_read(path, self.endings))
            found[str(path)] = known
        self._read = found
        return {path: (names, digest) for path, (_, names, digest) in found.items()}


def _read(path: Path, endings: Iterable[str]) -> tuple[set[str], str]:
    with path.open("rb") as file:
        data = file.read(_MAX_FILE + 1)
    if len(data) > _MAX_FILE:
        raise OSError(f"{path}: too large for a definition")
    return names_in(path, data, endings), sha256(data).hexdigest()


def definitions_of(agent: str, directories: Iterable[str], endings: tuple[str, ...]) -> dict[str, str]:
    """The files that might define the agent, with their SHA-256. Raises OSError."""
    return Definitions(endings).of(agent, directories)


def read_definitions(directories: Iterable[str], endings: tuple[str, ...]) -> dict[str, tuple[set[str], str]]:
    """Every definition file, with the names it might be known by and its SHA-256. Raises OSError."""
    return Definitions(endings).all(directories)


def _fail(error: OSError) -> None:
    raise error
