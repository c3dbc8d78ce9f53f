"""What the upper layer of an overlay says: the exact list of changes that a run made to the layer below.

A character device 0/0 is a whiteout: what lay below is deleted. A folder marked opaque replaces the one below. Other
folders are merged with it; files, links and pipes stand in the place of what was there.
"""

from __future__ import annotations

import errno
import filecmp
import os
import stat
from typing import Literal

import msgspec

from remit.model.errors import RemitError
from remit.model.text import shown

How = Literal["file", "link", "pipe", "folder", "mode", "delete"]
OPAQUE = "user.overlay.opaque"
UNKNOWN = ("user.overlay.redirect", "user.overlay.metacopy", "user.overlay.whiteout")
"""Marks of features that are switched off: what they mean is not read here."""
CAPABILITIES = "security.capability"
SPECIAL = stat.S_ISUID | stat.S_ISGID


class NotCommitted(RemitError):
    """A run's changes were not taken over: none of them."""

    code = "confine-refused"


class Step(msgspec.Struct, frozen=True):
    """One change: what is at the path, relative to the root, after the run.

    `folder` is a new folder, `mode` one whose permissions changed. `was` says what lay there: see `identity`."""

    path: str
    how: How
    was: tuple[int, ...] | None
    source: str = ""
    """Where the new content lies."""
    same_as: str = ""
    """An earlier step's path, of which this is another name."""


def steps(upper: str, root: str, base: str) -> list[Step]:
    """The changes in the upper layer of `base`, a folder below the root, in an order in which they can be made.

    Deletions name every file and folder that goes, from the inside. Raises NotCommitted for what can't be read.
    """
    reader = _Reader(root)
    reader.folder(upper, base)
    return [*reader.deleted, *reader.made]


def identity(path: str) -> tuple[int, ...] | None:
    """What tells whether something was changed: kind and permissions, inode, size, times; None if nothing is there."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return of_status(status)


def of_status(status: os.stat_result) -> tuple[int, ...]:
    """The same from what the kernel says. The time of the last change of the inode is the last of them."""
    return (status.st_mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class _Reader:
    def __init__(self, root: str) -> None:
        self.root = root
        self.deleted: list[Step] = []
        self.made: list[Step] = []
        self.names: dict[tuple[int, int], str] = {}

    def folder(self, upper: str, path: str) -> None:
        """All changes in a folder that is merged with the one below."""
        for name in sorted(os.listdir(upper)):
            self.entry(f"{upper}/{name}", name if path == "." else f"{path}/{name}")

    def entry(self, source: str, path: str) -> None:
        status = os.lstat(source)
        mode = status.st_mode
        was = identity(f"{self.root}/{path}")
        if stat.S_ISCHR(mode) and status.st_rdev == 0:
            self.gone(path, was)
        elif stat.S_ISDIR(mode):
            self.as_folder(source, path, status, was)
        elif stat.S_ISSOCK(mode):
            return  # nobody listens any more
        elif stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISFIFO(mode):
            self.as_file(source, path, status, was)
        else:
            raise NotCommitted(f"`{shown(path)}` is a device")

    def as_folder(self, source: str, path: str, status: os.stat_result, was: tuple[int, ...] | None) -> None:
        marks = _marks(source, path)
        merged = was is not None and stat.S_ISDIR(was[0])
        if merged and OPAQUE not in marks:
            if was is not None and (was[0] ^ status.st_mode) & 0o777:
                self.made.append(Step(path, "mode", was, source))
        elif was is not None:
            self.gone(path, was)
            self.made.append(Step(path, "folder", None, source))
        else:
            self.made.append(Step(path, "folder", None, source))
        self.folder(source, path)

    def as_file(self, source: str, path: str, status: os.stat_result, was: tuple[int, ...] | None) -> None:
        if stat.S_ISREG(status.st_mode):
            if CAPABILITIES in _marks(source, path):
                raise NotCommitted(f"`{shown(path)}` has capabilities")
            if status.st_mode & SPECIAL:
                raise NotCommitted(f"`{shown(path)}` has a setuid or setgid bit")
        if was is not None and stat.S_ISDIR(was[0]):
            self.gone(path, was)
            was = None
        elif was is not None and _is_same(source, f"{self.root}/{path}", status, was):
            return  # copied up, and not changed
        how: How = "file" if stat.S_ISREG(status.st_mode) else "link" if stat.S_ISLNK(status.st_mode) else "pipe"
        first = self.names.setdefault((status.st_dev, status.st_ino), path) if status.st_nlink > 1 else path
        self.made.append(Step(path, how, was, source, "" if first == path else first))

    def gone(self, path: str, was: tuple[int, ...] | None) -> None:
        if was is None:
            return  # somebody else has deleted it too
        if stat.S_ISDIR(was[0]):
            for name in sorted(os.listdir(f"{self.root}/{path}")):
                self.gone(f"{path}/{name}", identity(f"{self.root}/{path}/{name}"))
        self.deleted.append(Step(path, "delete", was))


def _marks(source: str, path: str) -> frozenset[str]:
    try:
        found = frozenset(os.listxattr(source, follow_symlinks=False))
    except OSError as error:
        if error.errno not in (errno.ENOTSUP, errno.EPERM):
            raise
        return frozenset()
    if not found.isdisjoint(UNKNOWN):
        raise NotCommitted(f"`{shown(path)}`: an unknown kind of entry in the overlay")
    return found


def _is_same(source: str, place: str, status: os.stat_result, was: tuple[int, ...]) -> bool:
    """Kind, permissions and content are as they were; the time does not count."""
    if status.st_mode != was[0] or status.st_size != was[2]:
        return False
    if stat.S_ISLNK(status.st_mode):
        return os.readlink(source) == os.readlink(place)
    if stat.S_ISREG(status.st_mode):
        return filecmp.cmp(source, place, shallow=False)
    return stat.S_ISFIFO(status.st_mode)
