"""What lies in protected places, to the byte: taken before a run and compared after it.

A file whose inode, size and times of change are as before is as before: the time of a change of the inode can't be
set. So content counts only where one of these differs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from remit.confine.inventory import Identity, identity
from remit.model.digest import sha256

MAX_BYTES = 4_000_000
"""A larger file counts as changed when its inode has."""
MAX_FILES = 2_000
"""The same of files beyond so many."""


class Content(NamedTuple):
    """One file, link or directory in a protected place."""

    identity: Identity
    changed: int
    """When its inode last changed, in nanoseconds; 0 of a directory, whose entries are looked at one by one."""
    digest: str
    """Of a file its bytes and mode, of a link its target; empty where it is too large, or is something else."""
    names: int
    """How many names a file has."""


def contents(root: str, tops: Iterable[str]) -> dict[str, Content]:
    """Everything at and below these paths."""
    found: dict[str, Content] = {}
    for path in _below(root, tops):
        content = content_of(f"{root}/{path}", digest=len(found) < MAX_FILES)
        if content is not None:
            found[path] = content
    return found


def content_of(full: str, *, digest: bool = True) -> Content | None:
    """What lies at one path; None if nothing does."""
    try:
        status = os.lstat(full)
    except (FileNotFoundError, NotADirectoryError):
        return None
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        return Content(identity(status), 0, "", 1)
    text = _digest(full, status) if digest else ""
    return Content(identity(status), status.st_ctime_ns, text, status.st_nlink)


def same(before: Content, after: Content) -> bool:
    """Whether nothing of what it says or permits has changed."""
    if before.identity.kind != after.identity.kind:
        return False
    if after.identity.kind == stat.S_IFDIR:
        return True  # what it contains is compared by itself
    if before.identity == after.identity and before.changed == after.changed:
        return True
    return bool(before.digest) and before.digest == after.digest


def _digest(full: str, status: os.stat_result) -> str:
    try:
        if stat.S_ISLNK(status.st_mode):
            return "link:" + os.readlink(full)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return ""
        handle = os.open(full, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError:
        return ""
    return f"{stat.S_IMODE(status.st_mode):o}:" + sha256(data).hexdigest()


def _below(root: str, tops: Iterable[str]) -> Iterator[str]:
    for top in tops:
        yield top
        if os.path.islink(f"{root}/{top}"):
            continue
        for here, folders, files in os.walk(f"{root}/{top}"):
            below = os.path.relpath(here, root)
            yield from (f"{below}/{name}" for name in (*folders, *files))
