"""Tools that take open files: callers give a path, and the guard opens it for as long as the call lasts.

@guard.tool(does={"write": "file"}, tier=1)
def save(file: TextIO, text: str) -> None:
    file.write(text)

guard.call("save", {"file": "notes.txt", "text": "x"})
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import PurePath
from typing import IO, Any

from remit.enforce.codec import Coded, Unfit
from remit.enforce.safe_path import SafePath

MODES = {
    frozenset({"read"}): "r",
    frozenset({"write"}): "w",
    frozenset({"read", "write"}): "r+",
}
"""How a file is opened, by the effects that the tool has on it."""


class OpenFile(Coded):
    """`TextIO`, `BinaryIO`, `IO[…]`: judged as a path."""

    def __init__(self, *, binary: bool) -> None:
        schema = {"type": "string", "description": "path"}
        super().__init__("path", _is_path, os.fspath, SafePath, "the path of a file", schema)
        self._binary = "b" if binary else ""
        self.mode = ""

    def judged(self, value: Any) -> Any:
        if hasattr(value, "fileno") and not _is_path(value):
            raise Unfit("must be the path of the file: the guard opens it")
        return super().judged(value)

    def allow(self, effects: frozenset[str]) -> bool:
        """Settles how it is opened; False for effects that an open file can't have."""
        self.mode = MODES.get(effects, "")
        return bool(self.mode)

    def open(self, path: SafePath) -> IO[Any]:
        """The file, opened without following a link. Raises OSError."""
        return path.open(f"{self.mode[0]}{self._binary}{self.mode[1:]}")


class OpenFiles:
    """The files of one call."""

    def __init__(self) -> None:
        self._files: list[IO[Any]] = []

    def add(self, file: IO[Any]) -> IO[Any]:
        """A file that is closed with the others."""
        self._files.append(file)
        return file

    def close(self) -> None:
        """All of them are closed, once. Raises OSError for what could not be written."""
        failed: OSError | None = None
        while self._files:
            try:
                with suppress(ValueError):  # the function took it apart
                    self._files.pop().close()
            except OSError as error:
                failed = failed or error
        if failed is not None:
            raise failed


def _is_path(value: Any) -> bool:
    return isinstance(value, str | PurePath | SafePath)
