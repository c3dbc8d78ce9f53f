"""A look at the disk: where below a root the limits of a profile lie right now."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from remit.confine.bounds import GIT_NEVER, Area, Bounds
from remit.confine.git_dirs import has_worktree_configuration
from remit.confine.interface import Unconfinable
from remit.confine.listings import Walk
from remit.confine.protected import is_named_like_file
from remit.model.profile import Profile
from remit.model.text import shown
from remit.scopes.glob import Glob, fold
from remit.scopes.glob_algebra import ANY_SEGMENT
from remit.scopes.glob_syntax import Wild

MAX_ENTRIES = 2_000_000
_BELOW = (ANY_SEGMENT, Wild.DEEP)
NOT_WALKED = ("objects", "lfs")
"""Of a `.git`: large, and nothing in it is a limit."""


GIT_ABSENT = ("hooks", "config", "commondir", "modules", "worktrees")
"""Of `GIT_NEVER`, what does harm in a `.git` that has none."""


class Seen(msgspec.Struct):
    """What was found; paths are relative to the root, each list in the order of a walk from the top."""

    write: list[str]
    """Trees and files that may be written; `.` is the root."""
    keep: list[str]
    """What may not be written, inside of these trees."""
    hide: list[str]
    """What may not be read: files, folders and sockets."""
    absent: list[str]
    """What may not be written and does not exist yet."""
    make: list[str]
    """Folders that may be written and do not exist yet."""
    narrower: list[str]
    """Globs that mean more than what exists now."""
    unheld: list[str]
    """Exceptions that mean more than what exists now: a new path would be written against the profile."""


def look(bounds: Bounds, root: Path, sealed: tuple[str, ...] = (), *, aliases: bool = True) -> Seen:
    """Walks the root once. `sealed` are more paths below it that are never written. With `aliases`, a hard link by
    which something protected could be written is refused. Raises Unconfinable."""
    walk = _Walk(bounds, root, frozenset(sealed))
    return walk.run(aliases=aliases)


def is_exact(profile: Profile) -> bool:
    """Whether mounts admit what the profile's write globs do, no less and no more: whole folders, plain exceptions."""
    for region in profile.write:
        if any(_trees(glob)[1] and glob.text != "**" for glob in map(Glob.parse, region.may)):
            return False
        if not all(plain_paths(glob) for glob in map(Glob.parse, region.except_)):
            return False
    return True


class _Special(NamedTuple):
    """One thing in a folder that a look has something to do with."""

    path: str
    kind: str
    is_folder: bool
    is_link: bool


class _Here(NamedTuple):
    """A folder: how much is in it, and what of that is special."""

    entries: int
    special: list[_Special]


class _Walk:
    def __init__(self, bounds: Bounds, root: Path, sealed: frozenset[str]) -> None:
        self.bounds, self.root, self.sealed = bounds, str(root), sealed
        self.seen = Seen([], [], [], [], [], [], [])
        self.count = 0
        self.linked: dict[tuple[int, int], str] = {}

    def run(self, *, aliases: bool) -> Seen:
        regions = self.bounds.write
        whole = all(region.covers_below(".") for region in regions)
        if whole:
            self.seen.write.append(".")
        try:
            self.visit(".", writable=whole)
            self.absent_ones()
            if not whole:
                self.bases(regions)
            if self.linked and aliases:
                self.aliases()
        except OSError as error:
            raise Unconfinable(f"can't inspect `{shown(self.root)}`: {error.strerror}") from error
        return self.seen

    def visit(self, directory: str, *, writable: bool) -> None:
        """One folder that is neither hidden nor protected."""
        walk: Walk[_Here] = Walk(("look", self.root, self.bounds.profile.digest, self.sealed))
        waiting = [(directory, writable)]
        while waiting:
            here, writable = waiting.pop()
            for path, kind, is_folder, is_link in self.special(walk, here, writable=writable):
                if kind == "hide":
                    self.seen.hide.append(path)
                elif is_link:
                    if kind == "keep" and writable:
                        self.behind(path)
                elif kind == "keep":
                    if writable:
                        self.seen.keep.append(path)
                    self.inside_kept(path, is_folder=is_folder, writable=writable)
                elif path == ".git" and self.bounds.profile.git:
                    self.git(path, is_folder=is_folder)
                elif writable:
                    avoided = self.bounds.avoids(path)
                    if avoided:
                        self.seen.keep.append(path)
                        self.note_links(path)
                    if is_folder:
                        waiting.append((path, not avoided))
                elif is_folder:
                    open_ = self.tree(path)
                    waiting.append((path, open_))
                elif all(region.covers(path) for region in self.bounds.write) and not self.bounds.is_protected(path):
                    self.seen.write.append(path)
        walk.done()

    def special(self, walk: Walk[_Here], here: str, *, writable: bool) -> list[_Special]:
        """The folders in one, and what else in it is not just a file or a link like all others."""
        try:
            status = os.lstat(self.root if here == "." else f"{self.root}/{here}")
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            return []  # not ours to read, or gone meanwhile
        known = walk.known((here, writable), status)
        if known is None:
            count, found = self.count, []
            for path, entry in self.entries(here):
                kind = self.limit(path, entry)
                is_folder, is_link = entry.is_dir(follow_symlinks=False), entry.is_symlink()
                plain = not (kind or is_folder or path == ".git")
                if plain and (is_link or (writable and not self.bounds.avoids(path))):
                    continue
                found.append(_Special(path, kind, is_folder, is_link))
            known = _Here(self.count - count, found)
            walk.keep((here, writable), status, known)
        else:
            self.counted(known.entries)
        return known.special

    def entries(self, here: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        prefix = "" if here == "." else here + "/"
        try:
            found = os.scandir(self.root if here == "." else f"{self.root}/{here}")
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            return  # not ours to read, or gone meanwhile
        with found:
            for entry in found:
                self.counted(1)
                yield prefix + entry.name, entry

    def counted(self, more: int) -> None:
        self.count += more
        if self.count > MAX_ENTRIES:
            raise Unconfinable(f"`{shown(self.root)}` has more than {MAX_ENTRIES} entries")

    def limit(self, path: str, entry: os.DirEntry[str]) -> str:
        """What an entry is by itself, in a folder that is nothing special."""
        bounds = self.bounds
        if bounds.hides(path) or _is_socket(entry):
            return "hide"
        return "keep" if path in self.sealed or bounds.keeps(path) else ""

    def tree(self, path: str) -> bool:
        """Whether all below a folder may be written, so that it becomes a tree of its own."""
        if all(region.covers_below(path) for region in self.bounds.write) and not self.bounds.avoids(path):
            self.seen.write.append(path)
            return True
        return False

    def inside_kept(self, path: str, *, is_folder: bool, writable: bool = False) -> None:
        """In what is kept, files may be hidden and have other names elsewhere; folders may be taken out of it again."""
        self.note_links(path)
        if not is_folder:
            return
        waiting = [path]
        while waiting:
            for inner, each in self.entries(waiting.pop()):
                if self.bounds.hides(inner) or _is_socket(each):
                    self.seen.hide.append(inner)
                elif each.is_dir(follow_symlinks=False):
                    if writable and self.bounds.lifts_below(inner):
                        self.seen.write.append(inner)
                        continue
                    if not (fold(path).rpartition("/")[2] == ".git" and each.name in NOT_WALKED):
                        waiting.append(inner)
                else:
                    self.note_links(inner)

    def git(self, path: str, *, is_folder: bool) -> None:
        """A `.git` that may be written, but for what runs programs."""
        if not is_folder or not self.exists(f"{path}/HEAD"):
            # A worktree's file: `mounts` looks where it leads to. Or no repository: the placeholder of another run.
            self.seen.keep.append(path)
            return
        self.seen.write.append(path)
        for inner, each in self.entries(path):
            if each.is_symlink():
                continue
            if each.name in GIT_NEVER:
                self.seen.keep.append(inner)
                self.inside_kept(inner, is_folder=each.is_dir(follow_symlinks=False))
            elif _is_socket(each):
                self.seen.hide.append(inner)
        self.seen.absent += [f"{path}/{name}" for name in GIT_ABSENT if not self.exists(f"{path}/{name}")]
        if not self.exists(f"{path}/config.worktree") and has_worktree_configuration(f"{self.root}/{path}"):
            self.seen.absent.append(f"{path}/config.worktree")

    def behind(self, path: str) -> None:
        """A protected name that is a link: what it leads to, if that lies below the root."""
        target = os.path.realpath(f"{self.root}/{path}")
        if target.startswith(self.root + "/") and os.path.exists(target):
            inner = target[len(self.root) + 1 :]
            if inner not in self.seen.keep:
                self.seen.keep.append(inner)

    def note_links(self, path: str) -> None:
        status = os.lstat(f"{self.root}/{path}")
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            self.linked[status.st_dev, status.st_ino] = path

    def aliases(self) -> None:
        """A hard link to a protected file is a way to write it. Raises Unconfinable if one may be written."""
        for folder, folders, files in os.walk(self.root):
            if os.path.basename(folder) in NOT_WALKED and folder.startswith(f"{self.root}/.git/"):
                folders.clear()
                continue
            for name in files:
                place = f"{folder}/{name}"
                path = place[len(self.root) + 1 :]
                if not self.bounds.writes(path) or path in self.sealed:
                    continue
                status = os.lstat(place)
                original = self.linked.get((status.st_dev, status.st_ino)) if status.st_nlink > 1 else None
                if original is not None:
                    raise Unconfinable(
                        f"`{shown(path)}` is another name (a hard link) of `{shown(original)}`, which is protected",
                        help=f"replace it by a copy: cp {shown(path)} copy && mv copy {shown(path)}",
                    )

    def absent_ones(self) -> None:
        """What is protected by a plain path and isn't there: only where its place may be written.

        A file is left to the sweep, but for what is sealed and for exceptions, which no sweep looks for.
        """
        plain = [*self.bounds.profile.protected_names, ".git", *self.sealed]
        for glob in map(Glob.parse, self.bounds.profile.protected_paths):
            plain += plain_paths(glob)
        for text in (text for region in self.bounds.profile.write for text in region.except_):
            found = plain_paths(Glob.parse(text))
            plain += found
            if not found:
                self.seen.unheld.append(text)
        for path in dict.fromkeys(plain):
            if is_named_like_file(path) and path not in self.sealed and not self.bounds.avoids(path):
                continue
            if not self.exists(path) and self.in_tree(path) and not self.below_kept(path):
                self.seen.absent.append(path)

    def bases(self, regions: tuple[Area, ...]) -> None:
        """Folders of write globs that don't exist yet, and globs that mean more than folders."""
        for glob in (glob for region in regions for glob in region.may):
            trees, others = _trees(glob)
            self.seen.make += [tree for tree in trees if not self.exists(tree) and self.tree_of(tree)]
            if others:
                self.seen.narrower.append(glob.text)

    def tree_of(self, base: str) -> bool:
        below = all(region.covers_below(base) for region in self.bounds.write)
        return below and not self.bounds.is_protected(base) and not self.in_tree(base)

    def exists(self, path: str) -> bool:
        return os.path.lexists(f"{self.root}/{path}")

    def in_tree(self, path: str) -> bool:
        return any(tree == "." or path.startswith(tree + "/") for tree in self.seen.write)

    def below_kept(self, path: str) -> bool:
        return any(path.startswith(kept + "/") for kept in (*self.seen.keep, *self.seen.hide))


def _is_socket(entry: os.DirEntry[str]) -> bool:
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False) or entry.is_symlink():
        return False
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except FileNotFoundError:
        return False


def plain_paths(glob: Glob) -> list[str]:
    """The paths that a glob names without wildcards: `a/b` for itself and for `a/b/**`; empty if it has others."""
    found: list[str] = []
    for alternative in glob.alternatives:
        texts = alternative[:-2] if alternative[-2:] == _BELOW else alternative
        if not texts or not all(isinstance(each, str) for each in texts):
            return []
        found.append("/".join(map(str, texts)))
    return found


def _trees(glob: Glob) -> tuple[list[str], bool]:
    """The folders `a/b` of alternatives `a/b/**`, and whether there are alternatives of another form."""
    found = [
        "/".join(map(str, each[:-2]))
        for each in glob.alternatives
        if len(each) > 2 and each[-2:] == _BELOW and all(isinstance(part, str) for part in each[:-2])
    ]
    return found, len(found) < len(glob.alternatives)
