"""Files that are whole or not there: written beside their place, put on the disk, then renamed.

write_whole(Path("settings.json"), data)

A crash leaves the old file or the new one, and at most a hidden leftover that `sweep` removes. No symlink is followed:
one that stands in the file's place is replaced, or refused where owner and mode are to stay. Everything here raises
OSError.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

PRIVATE = 0o600


def write_whole(path: Path, data: bytes, *, mode: int | None = PRIVATE, durable: bool = True) -> None:
    """Afterwards the file holds the data; if this raises, it is as it was, or, where only the folder could not be put
    on the disk, whole and new.

    `mode` is what the file gets, less the umask; None keeps owner and mode of the file that is there. Many files that
    are not `durable` are written faster, and the caller puts all of them on the disk.
    """
    with whole_file(path, mode=mode, durable=durable) as file:
        file.write(data)


@contextmanager
def whole_file(path: Path, *, mode: int | None = PRIVATE, durable: bool = True) -> Iterator[BinaryIO]:
    """The same for data that comes piece by piece: the file gets its name when the block ends well."""
    beside = _beside(path)
    try:
        with _created(beside, path, mode) as file:
            yield file
            if durable:
                _flush(file)
        os.replace(beside, path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def stage(path: Path, data: bytes, *, mode: int | None = PRIVATE) -> Path:
    """The first half of `write_whole`: the data is on the disk in a file beside `path`, whose name this gives."""
    beside = _beside(path)
    try:
        with _created(beside, path, mode) as file:
            file.write(data)
            _flush(file)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


def put_in_place(staged: Path, path: Path) -> None:
    """The second half: the staged file is the one at `path`, and stays it when the machine stops."""
    os.replace(staged, path)
    sync_folder(path.parent)


def sweep(path: Path) -> None:
    """Nothing is left beside the file by a write that was killed."""
    start = _start(path)
    try:
        for entry in os.scandir(path.parent):
            if entry.name.startswith(start) and re.fullmatch(r"[0-9a-f]{16}", entry.name[len(start) :]):
                os.unlink(entry.path)
    except OSError:
        return  # there is no such directory, or what lies in it is not ours to remove


def sync_folder(folder: Path) -> None:
    """The names in the folder are on the disk too."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _start(path: Path) -> str:
    return os.fsdecode(b".%b-" % os.fsencode(path.name)[:100])


def _beside(path: Path) -> Path:
    if not path.name:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return path.with_name(f"{_start(path)}{os.urandom(8).hex()}")


def _created(beside: Path, path: Path, mode: int | None) -> BinaryIO:
    """A new file to write to, with the mode and owner that it is to have."""
    there = os.lstat(path) if os.path.lexists(path) else None
    link = there is not None and stat.S_ISLNK(there.st_mode)
    replaced = link or (there is not None and stat.S_ISDIR(there.st_mode))  # renaming replaces a link, and no folder
    if there is not None and not stat.S_ISREG(there.st_mode) and not (replaced and mode is not None):
        raise OSError(errno.ELOOP if link else errno.EINVAL, "it is a symlink" if link else "it is not a plain file")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    first = mode if mode is not None else 0o666 if there is None else stat.S_IMODE(there.st_mode)
    handle = os.open(beside, flags, first)
    try:
        if mode is None and there is not None:
            if (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(handle, there.st_uid, there.st_gid)
            os.fchmod(handle, stat.S_IMODE(there.st_mode))
        return os.fdopen(handle, "wb")
    except BaseException:
        os.close(handle)
        raise


def _flush(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
