"""A set of changes to files: told as a diff, and then made, in an order that can be interrupted anywhere."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from remit.adapters.install.files import EditError, read_file, remove_file, write_file
from remit.adapters.install.originals import Kind, Original
from remit.model.text import shown
from remit.store.files import sweep


class Change(msgspec.Struct, frozen=True):
    """One file: what it is now, what it is to be, and what is kept of it (None: nothing any more)."""

    kind: Kind
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


def diff(change: Change, root: Path) -> list[str]:
    """The lines of the change as a unified diff, not escaped yet."""
    name = relative(change.path, root)
    old = f"a/{name}" if change.now is not None else "/dev/null"
    new = f"b/{name}" if change.wanted is not None else "/dev/null"
    return list(difflib.unified_diff(_lines(change.now), _lines(change.wanted), old, new, lineterm=""))


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
    """They are there. Raises EditError."""
    for path in paths:
        try:
            os.makedirs(path, exist_ok=True)
        except OSError as error:
            raise EditError(f"{shown(path, 300)}: can't be made: {error.strerror}") from None


def remove_directories(paths: Iterable[str]) -> None:
    """Those that are empty are gone; given the outermost first."""
    for path in reversed(list(paths)):
        try:
            os.rmdir(path)
        except OSError:
            continue  # something else lies in it now


def check_unchanged(changes: Iterable[Change], root: Path) -> None:
    """Raises EditError if a file is no longer what was shown."""
    for change in changes:
        base = root if root in change.path.parents else change.path.parent
        if read_file(change.path, base) != change.now:
            raise EditError(f"{relative(change.path, root)}: changed meanwhile; nothing was written")


def make_changes(changes: Iterable[Change]) -> None:
    """The files are what they are to be. Raises EditError."""
    for change in changes:
        if not change.needed:
            sweep(change.path)
        elif change.wanted is None:
            remove_file(change.path)
        else:
            write_file(change.path, change.wanted)


def _lines(data: bytes | None) -> list[str]:
    """Without line ends, which would only clutter; no change is about them."""
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    return [line.removesuffix("\r") for line in (lines[:-1] if not lines[-1] else lines)]
