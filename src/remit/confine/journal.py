"""The journal of a commit: one that fails is undone by it, and one that is killed half way by the next one to come.

It lies in the launch's folder: the steps, and a byte for each that was begun. It goes when all are made. Commits are
made one at a time, under a lock that ends with its process; so a journal that the lock's holder finds is of somebody
dead.
"""

from __future__ import annotations

import filecmp
import json
import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path

import msgspec

from remit.confine.below import opened, split
from remit.confine.upper import Step
from remit.model.decoding import Decoding

NAME = "journal.json"
BEGUN = "journal.begun"
LEFT = "journal.left"
"""The name of one that could not be undone whole."""


class _Steps(msgspec.Struct, frozen=True):
    root: str
    steps: list[Step]


_STEPS = Decoding(_Steps)


def _encoded(steps: _Steps) -> str:
    """Names may have any bytes in them, which msgspec's JSON has no form for."""
    return json.dumps(msgspec.to_builtins(steps))


class Journal:
    """Of one commit, while it is made: `begin` before each step, `end` after the last, or `undo`."""

    def __init__(self, folder: Path, root: str, steps: Sequence[Step]) -> None:
        """What stands in the place of the steps goes to `folder / "aside"`, by the number of the step."""
        self.folder = folder
        self._begun = os.open(folder / BEGUN, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        scratch = folder / "journal.new"
        scratch.write_text(_encoded(_Steps(root, list(steps))))
        os.replace(scratch, folder / NAME)

    def begin(self) -> None:
        """The next step is about to be made."""
        os.write(self._begun, b".")

    def end(self) -> None:
        """All steps are made."""
        os.close(self._begun)
        os.unlink(self.folder / NAME)

    def undo(self) -> list[str]:
        """Undoes what was begun; the paths that could not be, whose journal then stays."""
        os.close(self._begun)
        return _undo_all(self.folder)


def open_journals(state: Path, name: str = NAME) -> list[Path]:
    """The folders of launches whose commit has not ended, or could not be undone."""
    try:
        with os.scandir(state / "launches") as entries:
            return sorted(Path(one.path) for one in entries if os.path.exists(f"{one.path}/{name}"))
    except FileNotFoundError:
        return []


def undo_cut_off(state: Path) -> None:
    """Whatever a killed process had begun to commit is undone. Whoever calls it holds the lock of commits.

    Where something can't be undone, because somebody has changed the same since, that stays, and so does the folder."""
    for folder in open_journals(state):
        try:
            left = _undo_all(folder)
        except (OSError, ValueError):
            os.replace(folder / NAME, folder / LEFT)
            continue
        if not left:
            remove_launch(folder)


def _undo_all(folder: Path) -> list[str]:
    """The last step first. The paths of those that could not be undone; raises OSError and ValueError."""
    journal = _STEPS.convert(json.loads((folder / NAME).read_text()))
    begun = list(enumerate(journal.steps))[: os.stat(folder / BEGUN).st_size]
    left = [step.path for number, step in reversed(begun) if not _undo(journal, number, step, folder / "aside")]
    if left:
        os.replace(folder / NAME, folder / LEFT)
    else:
        os.unlink(folder / NAME)
    return left


def remove_launch(folder: Path) -> None:
    """A launch's folder, with all that a command may have left in it; not one with something that must be put back."""
    if os.path.exists(folder / LEFT):
        return
    for above, folders, _ in os.walk(folder):
        for name in folders:
            path = f"{above}/{name}"
            if not os.path.islink(path):
                os.chmod(path, 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def _undo(journal: _Steps, number: int, step: Step, aside: Path) -> bool:
    """One step undone, made or not; False if that can't be done."""
    above, name = split(step.path)
    kept = f"{aside}/{number}"
    try:
        with opened(journal.root, above) as folder:
            now = _status(name, folder)
            if step.how == "mode":
                return _restore_mode(step, name, folder, now)
            if now is not None and step.was is not None and now.st_ino == step.was[1]:
                return True  # what stood there still does
            if now is not None and not _remove_made(journal, step, name, folder, now):
                return not os.path.lexists(kept)  # somebody else's: it stays, and only what was set aside is missing
            if step.was is None:
                return True
            if stat.S_ISDIR(step.was[0]):
                os.mkdir(name, 0o700, dir_fd=folder)
                os.chmod(name, stat.S_IMODE(step.was[0]), dir_fd=folder)
            else:
                _put_back(kept, name, folder)
            return True
    except FileNotFoundError:
        return step.was is None and not os.path.lexists(kept)  # its folder is gone, and with it what was made
    except OSError:
        return False


def _restore_mode(step: Step, name: str, folder: int, now: os.stat_result | None) -> bool:
    if now is None or not stat.S_ISDIR(now.st_mode) or step.was is None:
        return False
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.fchmod(descriptor, stat.S_IMODE(step.was[0]))
    finally:
        os.close(descriptor)
    return True


def _remove_made(journal: _Steps, step: Step, name: str, folder: int, now: os.stat_result) -> bool:
    """Takes away what the step made there; False if something else is there."""
    if step.how == "folder":
        if not stat.S_ISDIR(now.st_mode):
            return False
        os.rmdir(name, dir_fd=folder)
        return True
    source = step.source
    if step.same_as:
        source = next((one.source for one in journal.steps if one.path == step.same_as), "")
    if step.how == "delete" or not source or not _is_same(source, name, folder, now):
        return False
    os.unlink(name, dir_fd=folder)
    return True


def _is_same(source: str, name: str, folder: int, now: os.stat_result) -> bool:
    """The new content, by its own name in the layer or copied."""
    made = os.lstat(source)
    if (made.st_dev, made.st_ino) == (now.st_dev, now.st_ino):
        return True
    if stat.S_IFMT(made.st_mode) != stat.S_IFMT(now.st_mode):
        return False
    if stat.S_ISLNK(now.st_mode):
        return os.readlink(source) == os.readlink(name, dir_fd=folder)
    if not stat.S_ISREG(now.st_mode):
        return stat.S_ISFIFO(now.st_mode)
    place = f"/proc/self/fd/{folder}/{name}"
    if made.st_dev != now.st_dev:  # a copy, which may have been cut off
        return _begins_with(source, place)
    return filecmp.cmp(source, place, shallow=False)


def _begins_with(source: str, place: str) -> bool:
    """Whether a file begins with all that another has, apart from the holes of that: such a copy may be cut off."""
    with open(source, "rb") as whole, open(place, "rb") as part:
        size, at = os.fstat(part.fileno()).st_size, 0
        if size > os.fstat(whole.fileno()).st_size:
            return False
        while at < size:
            try:
                at = os.lseek(part.fileno(), at, os.SEEK_DATA)
            except OSError:
                return True  # only a hole is left
            part.seek(at)
            whole.seek(at)
            data = part.read(1 << 20)
            if whole.read(len(data)) != data:
                return False
            at += len(data)
    return True


def _put_back(kept: str, name: str, folder: int) -> None:
    """What was set aside, where it was; never over something."""
    place = f"/proc/self/fd/{folder}/{name}"
    try:
        os.link(kept, place, follow_symlinks=False)
    except OSError:
        if os.path.lexists(place) or not os.path.lexists(kept):
            raise
        shutil.move(kept, place)
    else:
        os.unlink(kept)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
