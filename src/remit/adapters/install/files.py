"""Reading and writing the files of a host: plain files inside the project, replaced in one step."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from remit.model.errors import RemitError
from remit.model.text import shown
from remit.store.files import PRIVATE, sweep, write_whole

MAX_SIZE = 4 * 1024 * 1024


class EditError(RemitError):
    """A file that can't be read, edited or written, or a question about it that nobody answered."""

    code = "bad-file"


def sha256(data: bytes) -> str:
    """Its SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


def read_file(path: Path, root: Path) -> bytes | None:
    """The file's bytes, None if there is none. `root` is the project, with symlinks followed.

    Raises EditError for a file that lies outside the project, behind a symlink, that is not a plain file, belongs to
    another user, is too large or can't be read.
    """
    name = shown(path, 300)
    if root not in path.parents:
        raise EditError(f"{name}: lies outside the project", code="outside")
    try:
        if os.path.realpath(path) != str(path):
            raise EditError(
                f"{name}: is a symlink, or below one",
                code="symlink",
                help="replace the symlink by a plain file; Remit writes no file through one",
            )
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise EditError(f"{name}: can't be read: {getattr(error, 'strerror', None) or error}") from None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise EditError(f"{name}: not a plain file")
        if about.st_uid != os.geteuid() and os.geteuid() != 0:
            raise EditError(f"{name}: belongs to another user", help="run this as that user")
        if about.st_size > MAX_SIZE:
            raise EditError(f"{name}: larger than {MAX_SIZE // 1024 // 1024} MiB")
        return file.read(MAX_SIZE + 1)


def write_file(path: Path, data: bytes, *, private: bool = False) -> None:
    """Afterwards the file holds the bytes; owner and mode stay. Raises EditError, and then it is as it was.

    What a write that was killed has left beside it is gone.
    """
    sweep(path)
    try:
        write_whole(path, data, mode=PRIVATE if private else None)
    except OSError as error:
        raise EditError(f"{shown(path, 300)}: can't be written: {error.strerror}") from None


def remove_file(path: Path) -> None:
    """The file is gone, and what a killed write has left beside it. Raises EditError."""
    sweep(path)
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise EditError(f"{shown(path, 300)}: can't be removed: {error.strerror}") from None
