"""The rulebook on disk: `.remit/rulebook`, a header line and the book as JSON.

Reading it runs no examples, imports no YAML, and trusts nothing but a file of the right owner and mode whose
sum is right. It is written in one step, so that a reader sees the old one or the new one.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import msgspec

from remit.model.errors import RulebookError
from remit.model.rulebook import FORMAT, Book, Rulebook

MAX_SIZE = 256 * 1024 * 1024


class _Header(msgspec.Struct, frozen=True):
    remit_rulebook: int
    hash: str
    sum: str


def rulebook_path(root: Path) -> Path:
    """Where the rulebook of a policy's directory lies."""
    return root / ".remit" / "rulebook"


def write_rulebook(rulebook: Rulebook, path: Path) -> None:
    """Afterwards the file holds the rulebook, readable by its owner only. Raises RulebookError."""
    body = msgspec.json.encode(rulebook.book)
    header = _Header(FORMAT, rulebook.hash, _sum(rulebook.hash, body))
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chmod(path.parent, 0o700)
        temporary = path.parent / f".rulebook-{os.getpid()}-{os.urandom(8).hex()}"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(msgspec.json.encode(header) + b"\n" + body)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise RulebookError(f"{path}: can't be written: {error.strerror}") from None


def read_rulebook(path: Path) -> Rulebook:
    """The rulebook of a file. Raises RulebookError for one that is missing, foreign, writable by others or changed."""
    data = _read(path)
    first, _, body = data.partition(b"\n")
    try:
        header = msgspec.json.decode(first, type=_Header)
    except msgspec.MsgspecError:
        raise RulebookError(f"{path}: not a rulebook") from None
    if header.remit_rulebook != FORMAT:
        raise RulebookError(f"{path}: written by another version of Remit", help="run `remit activate` again")
    if _sum(header.hash, body) != header.sum:
        raise RulebookError(f"{path}: changed since it was written", help="run `remit activate` again")
    try:
        return Rulebook(msgspec.json.decode(body, type=Book), header.hash)
    except msgspec.MsgspecError as error:
        raise RulebookError(f"{path}: can't be read: {error}") from None


def _sum(content: str, body: bytes) -> str:
    return hashlib.sha256(content.encode() + b"\n" + body).hexdigest()


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise RulebookError(f"{path}: no rulebook is activated", code="no-rulebook") from None
    except OSError as error:
        raise RulebookError(f"{path}: can't be read: {error.strerror}") from None
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_SIZE:
        os.close(descriptor)
        raise RulebookError(f"{path}: not a rulebook")
    with os.fdopen(descriptor, "rb") as file:
        folder = os.stat(path.parent)
        for name, info in ((path, about), (path.parent, folder)):
            if info.st_uid not in (os.geteuid(), 0):
                raise RulebookError(f"{name}: belongs to another user")
            if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise RulebookError(f"{name}: others may write it", help=f"chmod go-w {name}")
        return file.read()
