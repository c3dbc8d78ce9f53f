"""An inventory of a root: where something protected lies, and what else a sweep compares.

Everything is named by its path below the root, with `/`; bytes that are no UTF-8 come as Python escapes them.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Container
from contextlib import suppress
from typing import NamedTuple

from remit.confine.listings import Walk
from remit.confine.protected import GIT, Protected, held_in_git
from remit.scopes.glob import fold

_PLAIN, _NAMED, _GIT, _PART = range(4)
_SETUID_OR_SETGID = stat.S_ISUID | stat.S_ISGID
_PARTS_OF_GIT = frozenset(("HEAD", "objects", "refs"))
"""git takes a directory that has these for a repository, whatever its name is."""


class Identity(NamedTuple):
    """Which file it is: another one that took its place has another identity."""

    device: int
    inode: int
    kind: int
    """The type of file, as `stat` has it."""


class Inventory:
    """What was found below one root."""

    def __init__(self) -> None:
        self.silent: set[str] = set()
        """Protected paths at which nothing lies that says anything: empty directories, a `commondir` that leads nowhere
        else. Runs that go on put these there, as mount points."""
        self.tops: dict[str, Identity] = {}
        """Protected paths, the highest of each; of a `.git` what is held in it."""
        self.repositories: dict[str, Identity] = {}
        """Directories and files that git takes for a repository: `.git`, and directories that look like one."""
        self.links: dict[str, tuple[int, int]] = {}
        """Symbolic links outside of what is protected: inode, and when they last changed."""
        self.setuid: dict[str, int] = {}
        """Files that run with the rights of their owner or group; looked for only if that was asked for."""
        self.unreadable: dict[str, str] = {}
        """Directories that can't be looked into, and why."""
        self.files = 0


def identity(found: os.stat_result) -> Identity:
    """The identity of what `lstat` found."""
    return Identity(found.st_dev, found.st_ino, stat.S_IFMT(found.st_mode))


class _Here(NamedTuple):
    """What the names in one directory say."""

    folders: tuple[str, ...]
    protected: tuple[tuple[str, int], ...]
    links: tuple[tuple[str, tuple[int, int]], ...]
    files: int
    is_repository: bool


def inventory(root: str, protected: Protected, *, modes: bool = False) -> Inventory:
    """Everything below the root. `modes`: every file is looked at for its mode, which takes most of the time."""
    found = Inventory()
    names = _Names(protected)
    walk: Walk[_Here] = Walk(("inventory", root, protected.digest))
    stack = [""]
    while stack:
        here = stack.pop()
        full = f"{root}/{here}" if here else root
        try:
            status = os.lstat(full)
            listed = None if modes else walk.known(here, status)
            if listed is None:
                listed = _listed(full, here, protected, names, found.setuid if modes else None)
                walk.keep(here, status, listed)
        except (FileNotFoundError, NotADirectoryError):
            continue  # gone meanwhile
        except OSError as error:
            found.unreadable[here or "."] = error.strerror or type(error).__name__
            continue
        stack += listed.folders
        found.files += listed.files
        found.links.update(listed.links)
        for path, kind in listed.protected:
            _protected(found, root, path, kind, protected)
        if listed.is_repository and here:
            found.repositories[here] = identity(status)
    walk.done()
    return found


def _listed(full: str, here: str, protected: Protected, names: dict[str, int], setuid: dict[str, int] | None) -> _Here:
    """`setuid` is where files with such a mode go; None: nobody asks. Raises OSError."""
    globs = protected.may_match_in(here)
    prefix = f"{here}/" if here else ""
    folders: list[str] = []
    special: list[tuple[str, int]] = []
    links: list[tuple[str, tuple[int, int]]] = []
    files = parts = 0
    with os.scandir(full) as entries:
        for entry in entries:
            kind = names[entry.name]
            if kind or globs:
                parts += kind == _PART
                path = prefix + entry.name
                if kind in (_NAMED, _GIT) or (globs and path in protected):
                    special.append((path, kind))
                    continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(prefix + entry.name)
                continue
            files += 1
            if setuid is None and not entry.is_symlink():
                continue
            with suppress(FileNotFoundError):  # gone meanwhile
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    links.append((prefix + entry.name, (status.st_ino, status.st_ctime_ns)))
                elif setuid is not None and stat.S_ISREG(status.st_mode) and status.st_mode & _SETUID_OR_SETGID:
                    setuid[prefix + entry.name] = status.st_mode
    return _Here(tuple(folders), tuple(special), tuple(links), files, parts == len(_PARTS_OF_GIT))


def names_of(root: str, inodes: Container[tuple[int, int]], protected: Protected) -> dict[str, tuple[int, int]]:
    """The paths below the root, of what is not protected, by which these files can be reached."""
    found: dict[str, tuple[int, int]] = {}
    for here, folders, files in os.walk(root):
        below = os.path.relpath(here, root)
        prefix = "" if below == "." else f"{below}/"
        folders[:] = [name for name in folders if prefix + name not in protected]
        for name in files:
            with suppress(OSError):
                status = os.lstat(f"{here}/{name}")
                if (one := (status.st_dev, status.st_ino)) in inodes and prefix + name not in protected:
                    found[prefix + name] = one
    return found


class _Names(dict[str, int]):
    """What a name alone says; most names come many times."""

    def __init__(self, protected: Protected) -> None:
        super().__init__()
        self._protected = protected

    def __missing__(self, name: str) -> int:
        form = fold(name)
        if form == GIT:
            kind = _GIT
        elif form in self._protected.names:
            kind = _NAMED
        else:
            kind = _PART if name in _PARTS_OF_GIT else _PLAIN
        self[name] = kind
        return kind


def _protected(found: Inventory, root: str, path: str, kind: int, protected: Protected) -> None:
    try:
        status = os.lstat(f"{root}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return  # gone meanwhile
    if kind == _GIT:
        found.repositories[path] = identity(status)
        if GIT in protected.names:
            _held(found, root, path)
        return
    _noted(found, root, path, status)


def _noted(found: Inventory, root: str, path: str, status: os.stat_result) -> None:
    if _is_silent(f"{root}/{path}", status):
        found.silent.add(path)
    else:
        found.tops[path] = identity(status)


def _is_silent(full: str, status: os.stat_result) -> bool:
    try:
        if stat.S_ISDIR(status.st_mode):
            return not os.listdir(full)
        if stat.S_ISREG(status.st_mode) and full.endswith("/commondir") and status.st_size < 3:
            with open(full, "rb") as file:
                return file.read(3).strip() == b"."
    except OSError:
        pass
    return False


def _held(found: Inventory, root: str, git: str) -> None:
    """Of a `.git`: what is held even where the rest is written. The rest is too much to be looked at each time."""
    stack = [""]
    while stack:
        below = stack.pop()
        try:
            with os.scandir(f"{root}/{git}/{below}") as entries:
                for entry in entries:
                    inner = f"{below}{entry.name}"
                    if held_in_git(inner.split("/")):
                        _noted(found, root, f"{git}/{inner}", entry.stat(follow_symlinks=False))
                    elif f"{inner}/".startswith("modules/") and entry.is_dir(follow_symlinks=False):
                        stack.append(f"{inner}/")
        except NotADirectoryError:
            continue  # a file that leads to a repository
        except OSError as error:
            found.unreadable[f"{git}/{below}"] = error.strerror or type(error).__name__
