"""What a sweep took out of the way, kept so that a person can put it back.

Each thing lies in a folder of its own below the state directory: `thing`, and `about.json` that says where it lay,
when and why it was moved, and by whose run it came.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from remit.confine import git_trees
from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.model.text import shown, suggestion

FOLDER = "aside"
_WAY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class AsideError(RemitError):
    """Something can't be moved aside or put back."""

    code = "aside"


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that lies aside."""

    id: str
    at: int
    """Seconds since 1970."""
    root: str
    path: str
    """Below the root, as it can be printed; of a git reference its name."""
    why: str
    agent: str
    kind: str = "file"
    """`file`: anything that lay in the file system. `reference`: a reference of git, moved back."""
    raw: str = ""
    """The path or name in hexadecimal bytes, where it is no UTF-8."""
    git: str = ""
    """Of a reference: the repository's directory."""
    before: str = ""
    """Of a reference: where it pointed before the run; empty: it was not there."""
    after: str = ""
    """Of a reference: where the run had it point."""


class Aside:
    """The folder of things that lie aside."""

    def __init__(self, state: Path) -> None:
        self._folder = state / FOLDER

    def move(self, root: str, path: str, *, why: str, agent: str) -> Kept:
        """Moves what lies at a path below the root aside; no link on the way is followed. Raises AsideError."""
        text, raw = printable(path), os.fsencode(path).hex()
        kept = Kept(_new_id(), int(time.time()), root, text, why, agent, raw=raw if text != path else "")
        try:
            folder = self._made(kept)
            _take(root, path, f"{folder}/thing")
        except OSError as error:
            with suppress(OSError):
                shutil.rmtree(self._folder / kept.id)
            raise AsideError(f"`{shown(path)}` can't be moved aside: {error.strerror or error}") from None
        return kept

    def note(self, kept: Kept) -> Kept:
        """Keeps what is known of something that git keeps. Raises AsideError."""
        try:
            self._made(kept)
        except OSError as error:
            raise AsideError(f"`{shown(kept.path)}` can't be noted: {error.strerror or error}") from None
        return kept

    def new_reference(self, **about: str) -> Kept:
        """What `note` is given for a reference of git."""
        return Kept(_new_id(), int(time.time()), kind="reference", **about)

    def kept(self) -> list[Kept]:
        """Everything that lies aside, the oldest first."""
        return sorted(self._all(), key=lambda one: (one.at, one.id))

    def find(self, name: str) -> Kept:
        """One of them. Raises AsideError."""
        kept = self.kept()
        for one in kept:
            if one.id == name:
                return one
        what = f"nothing was moved aside as `{shown(name)}`{suggestion(name, [one.id for one in kept])}"
        raise AsideError(what, code="unknown-aside", help="see `remit aside`")

    def restore(self, one: Kept) -> None:
        """Puts it back where it lay. Raises AsideError if something lies there now, or its folder is gone."""
        path = os.fsdecode(bytes.fromhex(one.raw)) if one.raw else one.path
        if one.kind == "reference":
            try:
                git_trees.restore(one.git, path, one.before, one.after, f"refs/remit/aside/{one.id}")
            except git_trees.GitFailed as error:
                raise AsideError(f"`{shown(one.path)}` can't be put back: {error}") from None
            self.forget(one)
            return
        *folders, name = path.split("/")
        try:
            way = _opened(one.root, folders)
            try:
                if _there(name, way):
                    raise AsideError(f"there is something at `{shown(one.path)}` now", code="aside-occupied")
                _moved(f"{self._folder / one.id}/thing", name, None, way)
            finally:
                os.close(way)
        except OSError as error:
            raise AsideError(f"`{shown(one.path)}` can't be put back: {error.strerror or error}") from None
        self.forget(one)

    def forget(self, one: Kept) -> None:
        """Removes it for good, as far as that is possible."""
        shutil.rmtree(self._folder / one.id, ignore_errors=True)

    def _made(self, kept: Kept) -> Path:
        folder = self._folder / kept.id
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700)
        (folder / "about.json").write_bytes(msgspec.json.encode(kept))
        return folder

    def _all(self) -> Iterator[Kept]:
        with suppress(FileNotFoundError):
            for name in sorted(os.listdir(self._folder)):
                with suppress(OSError, msgspec.MsgspecError):
                    yield _KEPT.decode((self._folder / name / "about.json").read_bytes())


def printable(path: str) -> str:
    """A path as text that every format can hold: bytes that are no UTF-8 are written out."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _new_id() -> str:
    return f"Q-{secrets.token_hex(4)}"


def _opened(root: str, folders: list[str]) -> int:
    """A descriptor of a directory below the root, no link followed. Raises OSError."""
    here = os.open(root, _WAY)
    for folder in folders:
        try:
            below = os.open(folder, _WAY, dir_fd=here)
        finally:
            os.close(here)
        here = below
    return here


def _there(name: str, way: int) -> bool:
    try:
        os.lstat(name, dir_fd=way)
    except FileNotFoundError:
        return False
    return True


def _take(root: str, path: str, target: str) -> None:
    *folders, name = path.split("/")
    way = _opened(root, folders)
    try:
        _moved(name, target, way, None)
    finally:
        os.close(way)


def _moved(source: str, target: str, source_way: int | None, target_way: int | None) -> None:
    """By renaming, or by copying and deleting where it lies on another file system. Raises OSError."""
    one = _path(source, source_way)
    is_folder = stat.S_ISDIR(os.lstat(source, dir_fd=source_way).st_mode)
    if is_folder and not os.access(one, os.W_OK, follow_symlinks=False):
        os.chmod(one, 0o700)  # a directory that can't be written can't be moved
    try:
        os.rename(source, target, src_dir_fd=source_way, dst_dir_fd=target_way)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    other = _path(target, target_way)
    if is_folder:
        shutil.copytree(one, other, symlinks=True)
        shutil.rmtree(one)
    else:
        shutil.copy2(one, other, follow_symlinks=False)
        os.unlink(one)


def _path(name: str, way: int | None) -> str:
    return name if way is None else f"/proc/self/fd/{way}/{name}"


_KEPT = Decoding(Kept)
