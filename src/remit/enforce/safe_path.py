"""A path for tools that open files: no link on the way to it is followed, not even one that was put there just now.

@guard.tool(does={"write": "file"}, tier=1)
def save(file: SafePath, text: str) -> None:
    with file.open("w") as opened:
        opened.write(text)
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

from remit.model.arguments import check_arguments

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class SafePath:
    """An absolute path as it was judged. `open` walks to it folder by folder and follows no link."""

    __slots__ = ("_path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises ArgumentError for anything but a path."""
        check_arguments("SafePath", {"path": "path"}, path=path)
        self._path = os.fspath(path)

    @property
    def path(self) -> Path:
        """The same as a plain path, which says nothing about links any more."""
        return Path(self._path)

    def __fspath__(self) -> str:
        return self._path

    def __repr__(self) -> str:
        return f"SafePath({self._path!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SafePath) and self._path == other._path

    def __hash__(self) -> int:
        return hash(self._path)

    def open(self, mode: str = "r", *, encoding: str | None = None, newline: str | None = None) -> IO[Any]:
        """As `Path.open`. Raises OSError, also where a link is in the way or the path is not absolute."""
        kinds = {"mode": "text", "encoding": "text?", "newline": "text?"}
        check_arguments("SafePath.open", kinds, mode=mode, encoding=encoding, newline=newline)
        if not os.path.isabs(self._path):
            raise OSError("a path that was not judged by a guard")
        if encoding is None and "b" not in mode:
            encoding = "utf-8"
        return open(self._path, mode, encoding=encoding, newline=newline, opener=open_beneath)


def open_beneath(path: str, flags: int) -> int:
    """A descriptor for an absolute path, without following any link. Raises OSError."""
    *folders, name = [part for part in path.split("/") if part]
    here = os.open("/", FOLDER)
    try:
        for folder in folders:
            below = os.open(folder, FOLDER, dir_fd=here)
            os.close(here)
            here = below
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666, dir_fd=here)
    finally:
        os.close(here)
