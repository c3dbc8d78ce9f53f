"""A run's changes, judged by the policy's own matcher and then made: all of them or none.

INVARIANT: every path is reached through folders that were opened step by step without following links, and what stood
there is what was judged; whatever somebody else has changed meanwhile stays, and nothing of the run is taken over.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from remit.confine.below import opened, split
from remit.confine.bounds import Bounds
from remit.confine.interface import Change
from remit.confine.journal import Journal, undo_cut_off
from remit.confine.upper import NotCommitted, Step, of_status
from remit.model.text import shown

MOST_NAMED = 5
SAID = {"delete": "deleted", "link": "linked"}


def judge(steps: Sequence[Step], bounds: Bounds, sealed: Sequence[str], since: int) -> None:
    """Raises NotCommitted if the profile admits one of them not, or if somebody else has changed the same meanwhile."""
    refused = [step.path for step in steps if not _admits(step, bounds, sealed)]
    if refused:
        protected = [path for path in refused if bounds.is_protected(path) or path in sealed]
        told = protected or refused
        named = ", ".join(f"`{shown(path)}`" for path in told[:MOST_NAMED])
        more = f" and {len(told) - MOST_NAMED} more" if len(told) > MOST_NAMED else ""
        why = ("are protected" if len(told) > 1 else "is protected") if protected else "may not be written"
        raise NotCommitted(f"{named}{more} {why}; none of the command's changes were applied")
    for step in steps:
        if step.was is not None and step.was[-1] > since and not (step.how == "mode" and stat.S_ISDIR(step.was[0])):
            raise NotCommitted(_meanwhile(step.path))


def commit(steps: Sequence[Step], root: Path, aside: Path) -> tuple[Change, ...]:
    """Makes the changes. `aside` is an empty folder of Remit's in that of the launch, for what they replace. Raises
    NotCommitted. If the process is killed, `undo_cut_off` makes none of them have been made."""
    journal = Journal(aside.parent, str(root), steps)
    work = _Work(str(root), str(aside))
    try:
        for number, step in enumerate(steps):
            journal.begin()
            work.make(step, number)
    except BaseException as error:
        left = journal.undo()
        if left:
            named = ", ".join(f"`{shown(path)}`" for path in left[:MOST_NAMED])
            kept = f"the previous content is in `{shown(str(aside))}`"
            raise NotCommitted(f"the changes could not be made, and {named} could not be put back: {kept}") from error
        if isinstance(error, OSError):
            raise NotCommitted(f"the changes could not be made, and none was: {error}") from error
        raise
    journal.end()
    return tuple(Change(step.path, SAID.get(step.how, "written")) for step in steps)


@contextmanager
def alone(state: Path) -> Iterator[None]:
    """One commit at a time; one that was cut off is undone first."""
    descriptor = os.open(state / "commit.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        undo_cut_off(state)
        yield
    finally:
        os.close(descriptor)


def _admits(step: Step, bounds: Bounds, sealed: Sequence[str]) -> bool:
    if any(
        step.path == each or step.path.startswith(each + "/") or each.startswith(step.path + "/") for each in sealed
    ):
        return False
    if step.how == "folder" or (step.how == "delete" and step.was is not None and stat.S_ISDIR(step.was[0])):
        return bounds.may_make(step.path)
    return bounds.writes(step.path)


def _meanwhile(path: str) -> str:
    return f"`{shown(path)}` was changed by somebody else meanwhile; none of the command's changes were applied"


class _Work:
    """Makes steps, and keeps what stood in their place, by the number of the step."""

    def __init__(self, root: str, aside: str) -> None:
        self.root, self.aside = root, aside

    def make(self, step: Step, number: int) -> None:
        above, name = split(step.path)
        with ExitStack() as stack:
            folder = stack.enter_context(opened(self.root, above))
            if step.how == "mode":
                self._check(step, folder, name)
                self._permissions(step, folder, name)
                return
            self._set_aside(step, folder, name, f"{self.aside}/{number}")
            if step.how == "delete":
                return
            if step.how == "folder":
                os.mkdir(name, 0o700, dir_fd=folder)
                self._permissions(step, folder, name)
            elif step.same_as:
                first, other = split(step.same_as)
                origin = stack.enter_context(opened(self.root, first))
                os.link(other, name, src_dir_fd=origin, dst_dir_fd=folder, follow_symlinks=False)
            else:
                _put(step.source, name, folder)

    def _check(self, step: Step, folder: int, name: str) -> None:
        try:
            now = of_status(os.stat(name, dir_fd=folder, follow_symlinks=False))
        except FileNotFoundError:
            now = None
        if step.was is None or now is None:
            same = now is step.was
        elif stat.S_ISDIR(step.was[0]):  # its times change with what is in it
            same = stat.S_ISDIR(now[0]) and now[1] == step.was[1]
        else:
            same = now[:-1] == step.was[:-1]
        if not same:
            raise NotCommitted(_meanwhile(step.path))

    def _set_aside(self, step: Step, folder: int, name: str, kept: str) -> None:
        """Moves away what stands there; afterwards it must be what was judged."""
        self._check(step, folder, name)
        if step.was is None:
            return
        if stat.S_ISDIR(step.was[0]):
            os.rmdir(name, dir_fd=folder)
            return
        _move(name, folder, kept, None)
        moved = of_status(os.lstat(kept))
        if (moved[0], moved[2], moved[3]) != (step.was[0], step.was[2], step.was[3]):
            _move(kept, None, name, folder)
            raise NotCommitted(_meanwhile(step.path))

    def _permissions(self, step: Step, folder: int, name: str) -> None:
        _set_mode(name, folder, stat.S_IMODE(os.lstat(step.source).st_mode) & 0o1777)


def _set_mode(name: str, folder: int, mode: int) -> None:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def _put(source: str, name: str, folder: int) -> None:
    """The new file in its place. Nothing stands there; if something does by now, this fails."""
    for mark in os.listxattr(source, follow_symlinks=False) if os.path.isfile(source) else ():
        if mark.startswith("user.overlay."):
            os.removexattr(source, mark)
    try:
        os.link(source, name, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EMLINK):
            raise
        _copy(source, None, name, folder)


def _move(source: str, source_folder: int | None, name: str, folder: int | None) -> None:
    try:
        os.rename(source, name, src_dir_fd=source_folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _copy(source, source_folder, name, folder)
        os.unlink(source, dir_fd=source_folder)


def _copy_content(old: int, new: int, size: int) -> None:
    """All of it, and holes as holes: a file may claim to be larger than any disk."""
    at = 0
    while at < size:
        try:
            start = os.lseek(old, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            break  # only a hole is left
        end = os.lseek(old, start, os.SEEK_HOLE)
        os.lseek(old, start, os.SEEK_SET)
        os.lseek(new, start, os.SEEK_SET)
        while start < end:
            data = os.read(old, min(1 << 20, end - start))
            if not data:
                break
            start += os.write(new, data)
            os.lseek(old, start, os.SEEK_SET)
        at = max(end, start, at + 1)
    os.ftruncate(new, size)


def _copy(source: str, source_folder: int | None, name: str, folder: int | None) -> None:
    """To another file system: content, permissions and times; never over something."""
    status = os.stat(source, dir_fd=source_folder, follow_symlinks=False)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source, dir_fd=source_folder), name, dir_fd=folder)
        return
    if stat.S_ISFIFO(status.st_mode):
        os.mkfifo(name, stat.S_IMODE(status.st_mode), dir_fd=folder)
        return
    reader = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=source_folder)
    with os.fdopen(reader, "rb") as old:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as new:
            _copy_content(old.fileno(), new.fileno(), status.st_size)
            os.fchmod(new.fileno(), stat.S_IMODE(status.st_mode) & 0o1777)
            os.utime(new.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))
