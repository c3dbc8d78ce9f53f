"""The layers of an overlay, and the mounts that make a root of them for one command."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from remit.confine.bounds import Bounds
from remit.confine.git_dirs import git_dirs, tracked
from remit.confine.interface import Place, Unconfinable
from remit.confine.launcher import Step
from remit.confine.look import Seen
from remit.confine.mounts import Mount, covered_in_proc
from remit.confine.upper import OPAQUE
from remit.model.profile import Profile
from remit.scopes.glob import Glob

_FLAGS = (
    (os.ST_NOSUID, "nosuid"),
    (os.ST_NODEV, "nodev"),
    (os.ST_NOEXEC, "noexec"),
    (os.ST_NOATIME, "noatime"),
    (os.ST_NODIRATIME, "nodiratime"),
    (os.ST_RELATIME, "relatime"),
)
SHARED_MEMORY = "/dev/shm"  # noqa: S108 (a place for a mount)


class Table:
    """Mounts, in their order, below a new root; the folders and files that they lie on are made at once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.skeleton = directory / "skeleton"
        self.nothing = directory / "nothing"
        self.root = directory / "root"
        self.masks = directory / "masks"
        for folder in (self.skeleton, self.nothing, self.root, self.masks):
            folder.mkdir(mode=0o755)
        self.steps: list[Step] = []
        self.bare: list[str] = []
        """Folders in which the places for further mounts may be missing: a project can lie below `/tmp`."""
        self._add("overlay", "", "overlay", f"ro,userxattr,lowerdir={self.skeleton}:{self.nothing}")
        self._folder("/proc")
        self._add("proc", "/proc", "proc", "nosuid,nodev,noexec")
        if os.geteuid() == 0:
            for name in covered_in_proc():
                self._add(f"{self.root}/proc/{name}", f"/proc/{name}", "none", "bind,ro,nosuid,nodev,noexec,relatime")

    def devices(self, names: Sequence[str]) -> None:
        """The harmless devices, and terminals of its own."""
        self._folder("/dev/pts")
        self._folder(SHARED_MEMORY)
        for name in names:
            (self.skeleton / "dev" / name).touch()
            self._add(f"/dev/{name}", f"/dev/{name}", "none", "bind")
        for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
            (self.skeleton / "dev" / name).symlink_to(target)
        (self.skeleton / "dev/ptmx").symlink_to("pts/ptmx")
        self._add("devpts", "/dev/pts", "devpts", "newinstance,ptmxmode=0666,mode=620,nosuid,noexec")
        self._add("tmpfs", SHARED_MEMORY, "tmpfs", "nosuid,nodev,mode=1777")
        self.bare.append(SHARED_MEMORY)

    def read_only(self, path: str) -> None:
        """A folder or file of the host's, as it is there, behind its mask if there is one."""
        if os.path.isfile(path):
            self._file(path)
            self._add(path, path, "none", f"bind,ro,{_flags(path)}")
            return
        self._folder(path)
        above = self.masks / path.strip("/")
        layers = [str(above), path] if above.is_dir() else [path, str(self.nothing)]
        self._overlay(path, layers)

    def shared(self, source: str, path: str) -> None:
        """A folder of the host's that may be written at once: a cache, or the session's temporary files."""
        self._folder(path)
        self._add(source, path, "none", "rbind")
        self.bare.append(path)

    def temporary(self, path: str) -> None:
        """An empty folder of its own."""
        self._folder(path)
        self._add("tmpfs", path, "tmpfs", "nosuid,nodev,mode=1777")
        self.bare.append(path)

    def cover(self, path: str) -> None:
        """Something in a shared folder that is not to be seen: an empty folder or file in its place, as of now."""
        if os.path.isdir(path):
            self._add("tmpfs", path, "tmpfs", "ro,nosuid,nodev,mode=555")
        else:
            empty = self.directory / "empty"
            empty.touch(0o644)
            self._add(str(empty), path, "none", f"bind,ro,{_flags(str(empty))}")

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._folder(os.path.dirname(path))
        (self.skeleton / path.strip("/")).symlink_to(target)

    def project(self, root: str, hide: Path | None, bases: Sequence[str]) -> None:
        """The project: read-only, with layers for writing at the bases."""
        self._folder(root)
        if "." not in bases:
            self._overlay(root, [str(hide), root] if hide is not None else [root, str(self.nothing)])
        for index, base in enumerate(bases):
            path = root if base == "." else f"{root}/{base}"
            upper, work = self.directory / f"upper-{index}", self.directory / f"work-{index}"
            mode = stat.S_IMODE(os.stat(path).st_mode) if os.path.isdir(path) else 0o755
            for folder in (upper, work):
                folder.mkdir()
                folder.chmod(mode & 0o777)
            mine = hide / base if hide is not None else None
            layers = [str(mine)] if mine is not None and mine.is_dir() else []
            layers += [path] if os.path.isdir(path) else [str(self.nothing)] if not layers else []
            self._overlay(path, layers, f",upperdir={upper},workdir={work}", writable=True)

    def keep(self, path: str) -> None:
        """Something of the project that can't be written while the command runs."""
        if os.path.isdir(path):
            self._overlay(path, [path, str(self.nothing)])
        else:
            self._add(path, path, "none", f"bind,ro,{_flags(path)}")

    def _overlay(self, path: str, layers: Sequence[str], more: str = "", *, writable: bool = False) -> None:
        for layer in layers:
            if any(char in layer for char in ',:\\"\n'):
                raise Unconfinable(f"an overlay can't have `{layer}` in it")
        self._add(
            "overlay", path, "overlay", f"{'rw' if writable else 'ro'},userxattr,lowerdir={':'.join(layers)}{more}"
        )

    def _add(self, source: str, path: str, kind: str, options: str) -> None:
        make = ""
        if any(path.startswith(each + "/") for each in self.bare):
            make = "file" if kind == "none" and os.path.isfile(source) else "folder"
        self.steps.append(Step(source, f"{self.root}{path}", kind, options, make))

    def _folder(self, path: str) -> None:
        """A place for a mount; where it lies in another mount, it is there already or this does nothing."""
        (self.skeleton / path.strip("/")).mkdir(mode=0o755, parents=True, exist_ok=True)

    def _file(self, path: str) -> None:
        self._folder(os.path.dirname(path))
        (self.skeleton / path.strip("/")).touch()


def mask(table: Table, mounts: Sequence[Mount], mount: Mount, content: bytes = b"") -> None:
    """Hides something in a folder of the system, by a layer above it: an empty folder, an empty file or another one."""
    if not any(mount.path.startswith(each.path + "/") for each in mounts if each.how == "ro"):
        return
    _cover(table.masks / mount.path.strip("/"), mount.path, folder=mount.how == "sealed", content=content)


def hidden_layer(bounds: Bounds, place: Place, seen: Seen, bases: Sequence[str], layer: Path) -> Path | None:
    """A layer above the project in which what may not be read is empty; also folders for bases that don't exist."""
    root = str(place.root)
    known = tracked(place.root, seen.hide)
    hidden = [path for path in seen.hide if path not in known and not any(one.startswith(path + "/") for one in known)]
    for path in (str(each) for each in place.unseen):
        if path.startswith(root + "/") and os.path.lexists(path):
            hidden.append(path[len(root) + 1 :])
    if bounds.read:
        hidden += _unreadable(bounds, root)
    absent = [base for base in bases if not os.path.isdir(f"{root}/{base}")]
    if not hidden and not absent:
        return None
    layer.mkdir(mode=0o755)
    layer.chmod(stat.S_IMODE(os.stat(root).st_mode) & 0o777)
    for path in dict.fromkeys(hidden):
        place_ = f"{root}/{path}"
        _cover(layer / path, place_, folder=os.path.isdir(place_))
    for base in absent:
        (layer / base).mkdir(parents=True, exist_ok=True)
    return layer


def write_bases(profile: Profile, root: Path) -> list[str]:
    """The folders in which a run may change something: of one region that all writing must be in, and git's."""
    found = ["."]
    for region in profile.write:
        mine = sorted({base for text in region.may for base in _bases(Glob.parse(text))})
        if "." not in mine:
            found = mine
            break
    if profile.git:
        git = git_dirs(root)
        if git is not None and git.common != f"{root}/.git":
            raise Unconfinable("the overlay can't confine a git worktree, whose objects are elsewhere")
        if os.path.isdir(root / ".git"):
            found.append(".git")
    inner = [base for base in found if any(base != one and (one == "." or base.startswith(one + "/")) for one in found)]
    return [base for base in found if base not in inner or base == ".git"]  # a mount of its own can't be renamed


def _bases(glob: Glob) -> list[str]:
    """The folders that its alternatives lie in."""
    found: list[str] = []
    for alternative in glob.alternatives:
        texts: list[str] = []
        for each in alternative[:-1]:
            if not isinstance(each, str):
                break
            texts.append(each)
        found.append("/".join(texts) or ".")
    return found


def _unreadable(bounds: Bounds, root: str) -> list[str]:
    found: list[str] = []
    waiting = ["."]
    while waiting:
        here = waiting.pop()
        for entry in os.scandir(f"{root}/{here}"):
            path = entry.name if here == "." else f"{here}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if path == ".git" and bounds.profile.git:
                    continue
                if all(area.meets_below(path) for area in bounds.read):
                    waiting.append(path)
                else:
                    found.append(path)
            elif not bounds.reads(path):
                found.append(path)
    return found


def _cover(cover: Path, place: str, *, folder: bool, content: bytes = b"") -> None:
    """One thing that stands in the place of another, in folders that have the permissions of those below."""
    above = os.path.dirname(place)
    parents = [cover.parent]
    while not parents[-1].exists():
        parents.append(parents[-1].parent)
    cover.parent.mkdir(parents=True, exist_ok=True)
    for parent in parents[:-1]:
        parent.chmod(stat.S_IMODE(os.stat(above).st_mode) & 0o777)
        above = os.path.dirname(above)
    if folder:
        cover.mkdir(mode=0o755, exist_ok=True)
        os.setxattr(cover, OPAQUE, b"y")
    else:
        cover.write_bytes(content)
        cover.chmod(0o644)


def _flags(path: str) -> str:
    """Options of the mount that a path lies on: an ordinary user may not take them away."""
    flags = os.statvfs(path).f_flag
    return ",".join(name for bit, name in _FLAGS if flags & bit) or "relatime"
