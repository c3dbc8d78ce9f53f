"""A profile and a look at the disk, as mounts: what a command sees, and what of it may be written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from remit.confine.bounds import Bounds
from remit.confine.environment import caches, home_of, surroundings
from remit.confine.git_dirs import GitDirs, git_dirs, tracked
from remit.confine.interface import Place, Unconfinable
from remit.confine.look import Seen, look
from remit.confine.tools import tool_folders
from remit.model.profile import PRIVATE, Profile
from remit.model.text import shown
from remit.scopes.glob import Glob

MOST = 120
"""More mounts than this cost more than the command: their price grows with the square."""
TEMPORARY = PRIVATE
PROC_FOLDERS = ("sys", "irq", "bus", "fs", "acpi", "scsi", "driver", "dynamic_debug", "pressure", "tty", "asound")
GIT_FILES = {".git/commondir": b".\n", ".git/config.worktree": b""}
"""Absent, they would be written to bring in other configuration. A folder in their place would stop git."""
How = Literal["ro", "rw", "tmpfs", "sealed", "empty", "dot", "link"]


class Mount(msgspec.Struct, frozen=True):
    """One thing to mount at an absolute path.

    `ro` and `rw` show what lies there, or at `source`. `tmpfs` is an empty folder of the run's own; `sealed` is one
    that is not for writing: what is put there is gone after the run. `empty` is an empty file, `dot` one that says `.`;
    `link` is a symbolic link to `source`.
    """

    path: str
    how: How
    source: str = ""


class Plan(msgspec.Struct, frozen=True):
    """All mounts in their order, and what goes with them."""

    mounts: tuple[Mount, ...]
    folders: tuple[str, ...]
    """Folders that must be there first, as places for mounts; who made them removes them."""
    files: dict[str, bytes]
    """The same for files that git reads, with what they must say so that it goes on working."""
    fragile: tuple[str, ...]
    """Files with a mount of their own: when somebody replaces one meanwhile, its mount is gone."""
    swappable: tuple[str, ...]
    """Mounts whose source another run could replace before they are made."""
    narrower: tuple[str, ...]
    """Globs of which these mounts admit less than the policy does."""


def plan(profile: Profile, place: Place, environment: Mapping[str, str]) -> Plan:
    """The mounts of one run. Raises Unconfinable."""
    root = str(place.root)
    sealed = tuple(_inside(root, place.sealed))
    seen = look(Bounds(profile), place.root, sealed)
    if seen.unheld:
        raise Unconfinable(
            f"mounts can't enforce the exception `{shown(seen.unheld[0])}` for files that don't exist yet",
            help="the overlay can: see `remit status`",
        )
    base = system(profile, place, environment)
    git = git_dirs(place.root) if profile.git else None
    inner = _below_root(profile, place, home_of(environment), seen, git)
    mounts = (*base, *inner)
    if len(mounts) > MOST:
        raise Unconfinable(
            f"{len(mounts)} mounts would be needed, and {MOST} is the most", help="the overlay needs few"
        )
    files = {f"{root}/{path}": GIT_FILES[path] for path in seen.absent if path in GIT_FILES}
    folders = tuple(f"{root}/{path}" for path in (*seen.make, *seen.absent) if path not in GIT_FILES)
    kept = [mount.path for mount in inner if mount.how in ("ro", "empty") and os.path.isfile(mount.path)]
    swappable = [mount.path for mount in inner if mount.how in ("ro", "rw") and _is_deep(root, mount.path)]
    return Plan(mounts, folders, files, tuple(kept), tuple(swappable), tuple(seen.narrower))


def covered_in_proc() -> list[str]:
    """What of /proc is made read-only for root. It is nobody inside, but these files are still its own: with them it
    could change the whole machine."""
    found = [name for name in PROC_FOLDERS if os.path.isdir(f"/proc/{name}")]
    with os.scandir("/proc") as entries:
        found += [one.name for one in entries if one.is_file(follow_symlinks=False) and one.stat().st_mode & 0o222]
    return sorted(found)


def system(profile: Profile, place: Place, environment: Mapping[str, str]) -> list[Mount]:
    """What a command sees besides its project: programs, a home of its own, folders for temporary files."""
    known = surroundings()
    home = home_of(environment)
    found: list[Mount] = []
    for path in known.system:
        if os.path.islink(path):
            found.append(Mount(path, "link", os.readlink(path)))
        elif os.path.exists(path):
            found.append(Mount(path, "ro"))
    if os.geteuid() == 0:
        found += [_hide(path) for path in known.etc if os.path.lexists(path) and os.stat(path).st_size]
    for path in TEMPORARY:
        found.append(Mount(path, "tmpfs"))
    if place.scratch is not None:
        found[-len(TEMPORARY)] = Mount(TEMPORARY[0], "rw", str(place.scratch))
    names = os.path.realpath("/etc/resolv.conf")
    if profile.network.mode == "open" and names.startswith("/run/") and os.path.isfile(names):
        found.append(Mount(names, "ro"))
    found += _home(profile, home)
    for path in tool_folders(environment, place, home):
        if not any(_within(path, mount.path) for mount in found if mount.how == "ro"):
            found.append(Mount(path, "ro"))
    visible = [mount.path for mount in found if mount.how in ("ro", "rw", "tmpfs")]
    for unseen in map(str, place.unseen):
        if os.path.lexists(unseen) and any(_within(unseen, each) for each in visible):
            found.append(_hide(unseen))
    return sorted(found, key=lambda mount: mount.path.split("/"))


def _home(profile: Profile, home: Path) -> list[Mount]:
    known = surroundings()
    if str(home) in ("/", ""):
        return []
    if profile.home == "read":
        found = [Mount(str(home), "ro")]
        hidden = [text.removeprefix("~/") for text in profile.hidden if text.startswith("~/")]
        for text in (*known.secrets, *(text.removesuffix("/**") for text in hidden)):
            if any(char in text for char in "*?[{"):
                raise Unconfinable(f"mounts can't hide `~/{shown(text)}`: name a folder or a file")
            if os.path.exists(home / text):
                found.append(_hide(os.path.realpath(home / text)))
    else:
        found = [Mount(str(home), "tmpfs")]
        for folder in known.tools:
            path = home / folder
            if os.path.exists(path) and not os.path.islink(path):
                found.append(Mount(str(path), "ro"))
    for path in caches(profile, home):
        if path.is_dir() and not path.is_symlink():
            found.append(Mount(str(path), "rw"))
    return found


def _below_root(profile: Profile, place: Place, home: Path, seen: Seen, git: GitDirs | None) -> list[Mount]:
    root = str(place.root)

    def full(path: str) -> str:
        return root if path == "." else f"{root}/{path}"

    found: dict[str, Mount] = {}
    if profile.read:
        found.update(_readable(profile, place))
    else:
        found[root] = Mount(root, "ro")
    for path in (*seen.write, *seen.make):
        found[full(path)] = Mount(full(path), "rw")
    for path in seen.keep:
        found[full(path)] = Mount(full(path), "ro")
    for path in seen.absent:
        content = GIT_FILES.get(path)
        found[full(path)] = Mount(full(path), "sealed" if content is None else "dot" if content else "empty")
    if git is not None and git.common != f"{root}/.git":
        for path in git.writable:
            found[path] = Mount(path, "rw")
        for path in git.kept:
            found[path] = Mount(path, "ro")
    for path in _untracked(place.root, seen.hide):
        found[full(path)] = _hide(full(path))
    if _within(str(home), root):  # the home lies in the project, and is read with it
        secret = (f"{home}/{name}" for name in surroundings().secrets)
        found.update((path, _hide(path)) for path in secret if path not in found and os.path.exists(path))
    for each in place.unseen:
        if _within(str(each), root) and os.path.lexists(each):
            found[str(each)] = _hide(str(each))
    _pin(found, root)
    order = sorted(found, key=lambda path: path.split("/"))
    last = [
        path for path in order if found[path].how == "sealed" and not any(_within(each, path + "/") for each in found)
    ]
    return [
        found[path] for path in (*(path for path in order if path not in last), *last)
    ]  # a bind reads all before it


def _untracked(root: Path, hidden: list[str]) -> list[str]:
    """What can be hidden without git taking it for deleted: of a folder with tracked files, only the other files."""
    known = tracked(root, hidden)
    found: list[str] = []
    for path in hidden:
        inside = [each for each in known if each.startswith(path + "/")]
        if inside:
            for folder, _, files in os.walk(root / path):
                found += [inner for name in files if (inner := os.path.relpath(f"{folder}/{name}", root)) not in known]
        elif path not in known:
            found.append(path)
    return found


def _readable(profile: Profile, place: Place) -> dict[str, Mount]:
    """Only what the read scopes admit, and what may be written: the root is an empty folder with these in it."""
    root = str(place.root)
    bounds = Bounds(profile)
    found = {root: Mount(root, "sealed")}
    waiting = ["."]
    while waiting:
        here = waiting.pop()
        for entry in sorted(os.scandir(f"{root}/{here}"), key=lambda entry: entry.name):
            path = entry.name if here == "." else f"{here}/{entry.name}"
            if entry.is_symlink():
                continue
            if entry.is_dir():
                if all(region.covers_below(path) for region in bounds.read):
                    found[f"{root}/{path}"] = Mount(f"{root}/{path}", "ro")
                elif all(region.meets_below(path) for region in bounds.read):
                    waiting.append(path)
            elif all(region.covers(path) for region in bounds.read):
                found[f"{root}/{path}"] = Mount(f"{root}/{path}", "ro")
            if len(found) > MOST:
                raise Unconfinable(f"more than {MOST} mounts would be needed for what may be read")
    for region in bounds.read:
        for path in [each for each in found if each != root]:
            for glob in region.avoid:
                if glob.intersects(Glob.below(path[len(root) + 1 :])):
                    raise Unconfinable(f"mounts can't enforce the exception `{shown(glob.text)}` to what may be read")
    if profile.git and os.path.isdir(f"{root}/.git"):
        found[f"{root}/.git"] = Mount(f"{root}/.git", "ro")
    return found


def _pin(found: dict[str, Mount], root: str) -> None:
    """A folder between a writable tree and what is kept in it becomes a mount, which can't be renamed.

    INVARIANT: nobody moves a folder away, together with what is kept in it, to put another one in its place.
    """
    for path in [path for path, mount in found.items() if mount.how not in ("rw", "tmpfs")]:
        above = path.rpartition("/")[0]
        way: list[str] = []
        while above not in found and _within(above, root):
            way.append(above)
            above = above.rpartition("/")[0]
        if above in found and found[above].how == "rw":
            found.update((each, Mount(each, "rw")) for each in way)


def _hide(path: str) -> Mount:
    return Mount(path, "sealed" if os.path.isdir(path) else "empty")


def _inside(root: str, paths: Iterable[Path]) -> Iterable[str]:
    return (str(path)[len(root) + 1 :] for path in paths if _within(str(path), root) and str(path) != root)


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _is_deep(root: str, path: str) -> bool:
    """Neither the root nor something in it that every run mounts: protected names, and git's own."""
    inner = path[len(root) + 1 :] if _within(path, root) and path != root else ""
    return "/" in inner and not inner.startswith(".git/")
