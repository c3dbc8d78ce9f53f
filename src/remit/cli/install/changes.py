"""A set of changes to files: shown as a diff, and then made, in an order that can be interrupted anywhere."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from remit.cli.common import InputError
from remit.cli.install.files import read_file, remove_file, write_file
from remit.cli.install.originals import Original
from remit.cli.output import paint
from remit.model.text import escaped, shown
from remit.store.files import sweep


class Change(msgspec.Struct, frozen=True):
    """One file: what it is now, what it is to be, and what is kept of it (None: nothing any more)."""

    path: Path
    now: bytes | None
    wanted: bytes | None
    original: Original | None = None

    @property
    def needed(self) -> bool:
        """True if a byte changes."""
        return self.now != self.wanted

    @property
    def word(self) -> str:
        """`create`, `edit`, `restore`, `remove` or `none`."""
        if not self.needed:
            return "none"
        if self.wanted is None:
            return "remove"
        if self.original is None:
            return "restore"
        return "create" if self.now is None else "edit"


def diff(change: Change, root: Path) -> str:
    """The change as a unified diff, safe to show."""
    name = relative(change.path, root)
    old = f"a/{name}" if change.now is not None else "/dev/null"
    new = f"b/{name}" if change.wanted is not None else "/dev/null"
    lines = list(difflib.unified_diff(_lines(change.now), _lines(change.wanted), old, new, lineterm=""))
    return "".join(f"{_painted(escaped(line))}\n" for line in lines)


def relative(path: Path, root: Path) -> str:
    """The path below the project, or in full; safe to show."""
    return shown(path.relative_to(root) if root in path.parents else path, 300)


def missing_directories(changes: Iterable[Change]) -> list[str]:
    """The directories that would have to be made, the outermost first."""
    found: list[str] = []
    for change in changes:
        folder = change.path.parent
        here: list[str] = []
        while change.wanted is not None and not os.path.lexists(folder):
            here.append(str(folder))
            folder = folder.parent
        found.extend(path for path in reversed(here) if path not in found)
    return found


def make_directories(paths: Iterable[str]) -> None:
    """They are there. Raises InputError."""
    for path in paths:
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise InputError(f"{shown(path, 300)}: can't be made: {error.strerror}") from None


def remove_directories(paths: Iterable[str]) -> None:
    """Those that are empty are gone; given the outermost first."""
    for path in reversed(list(paths)):
        try:
            os.rmdir(path)
        except OSError:
            continue  # something else lies in it now


def check_unchanged(changes: Iterable[Change], root: Path) -> None:
    """Raises InputError if a file is no longer what was shown."""
    for change in changes:
        if read_file(change.path, root) != change.now:
            raise InputError(f"{relative(change.path, root)}: changed meanwhile; nothing was written")


def make_changes(changes: Iterable[Change]) -> None:
    """The files are what they are to be. Raises InputError."""
    for change in changes:
        sweep(change.path)
        if not change.needed:
            continue
        if change.wanted is None:
            remove_file(change.path)
        else:
            write_file(change.path, change.wanted)


def _lines(data: bytes | None) -> list[str]:
    """Without line ends, which would only clutter; no change is about them."""
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]


def _painted(line: str) -> str:
    if line.startswith(("+++", "---")):
        return paint(line, "bold")
    return paint(line, "green") if line[:1] == "+" else paint(line, "red") if line[:1] == "-" else line
