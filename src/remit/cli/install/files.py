"""Reading and writing the files of a host: plain files inside the project, replaced in one step."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path

from remit.cli.common import InputError
from remit.declare.nodes import show

MAX_SIZE = 4 * 1024 * 1024


def sha256(data: bytes) -> str:
    """Its SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def read_file(path: Path, root: Path) -> bytes | None:
    """The file's bytes, None if there is none. `root` is the project, with symlinks followed.

    Raises InputError for a file that lies outside of the project, behind a symlink, that is no plain file, belongs to
    another user, is too large or can't be read.
    """
    name = show(path, 300)
    if root not in path.parents:
        raise InputError(f"{name}: lies outside of the project", code="outside")
    try:
        if os.path.realpath(path) != str(path):
            raise InputError(
                f"{name}: is a symlink or lies behind one",
                code="symlink",
                help="replace the symlink by a plain file; Remit writes no file through one",
            )
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InputError(f"{name}: can't be read: {getattr(error, 'strerror', None) or error}") from None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"{name}: not a plain file")
        if about.st_uid != os.geteuid() and os.geteuid() != 0:
            raise InputError(f"{name}: belongs to another user", help="run this as that user")
        if about.st_size > MAX_SIZE:
            raise InputError(f"{name}: larger than {MAX_SIZE // 1024 // 1024} MiB")
        return file.read(MAX_SIZE + 1)


def write_file(path: Path, data: bytes, *, private: bool = False) -> None:
    """Afterwards the file holds the bytes; owner and mode stay. Raises InputError, and then it is as it was."""
    temporary = path.with_name(f".{path.name[:100]}-{os.urandom(8).hex()}")
    try:
        about = os.lstat(path) if os.path.lexists(path) else None
        mode = 0o600 if private else 0o666  # less what the umask takes away
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                if about is not None and not private:
                    if (about.st_uid, about.st_gid) != (os.geteuid(), os.getegid()):
                        os.fchown(file.fileno(), about.st_uid, about.st_gid)
                    os.fchmod(file.fileno(), stat.S_IMODE(about.st_mode))
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise InputError(f"{show(path, 300)}: can't be written: {error.strerror}") from None


def sweep(path: Path) -> None:
    """What a write that was killed left beside the file is gone."""
    start = f".{path.name[:100]}-"
    try:
        for entry in os.scandir(path.parent):
            if entry.name.startswith(start) and re.fullmatch(r"[0-9a-f]{16}", entry.name[len(start) :]):
                os.unlink(entry.path)
    except OSError:
        return  # there is no such directory, or what lies in it is not ours to remove


def remove_file(path: Path) -> None:
    """The file is gone. Raises InputError."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"{show(path, 300)}: can't be removed: {error.strerror}") from None
