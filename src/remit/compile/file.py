"""The rulebook on disk: `.remit/rulebook`, a header line and the book as JSON.

Reading it runs no examples, imports no YAML, and trusts nothing but a file of the right owner and mode whose
sum is right. It is written in one step, so that a reader sees the old one or the new one.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.errors import RulebookError
from remit.model.rulebook import FORMAT, Book, Rulebook

if TYPE_CHECKING:
    from pathlib import Path

MAX_SIZE = 256 * 1024 * 1024
STAGED = ".rulebook-"
"""How the names begin of files that are not in force yet."""


class _Header(msgspec.Struct, frozen=True):
    remit_rulebook: int
    hash: str
    sum: str


def rulebook_path(root: Path) -> Path:
    """Where the rulebook of a policy's directory lies."""
    return root / ".remit" / "rulebook"


def encode_rulebook(rulebook: Rulebook) -> bytes:
    """What a file says that holds the rulebook; the same for the same book."""
    body = msgspec.json.encode(rulebook.book)
    header = _Header(FORMAT, rulebook.hash, _sum(rulebook.hash, body))
    return msgspec.json.encode(header) + b"\n" + body


def stage_rulebook(data: bytes, path: Path) -> Path:
    """Writes a file beside the one that counts, on disk when this returns, and gives its name. Raises RulebookError."""
    from remit.store.files import stage  # here: whoever only reads a rulebook, as a hook does, needs no store

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.parent.is_symlink():
            raise RulebookError(f"{path.parent}: it is a symlink, and leads elsewhere", help="remove the link")
        os.chmod(path.parent, 0o700)
        _untracked(path.parent)
        return stage(path, data)
    except OSError as error:
        raise RulebookError(f"{path}: can't be written: {error.strerror}") from None


def _untracked(folder: Path) -> None:
    """Git passes over the folder: each machine activates for itself, and `git add -A` must not read a rulebook."""
    with suppress(FileExistsError), open(folder / ".gitignore", "x", encoding="utf-8") as file:
        file.write("*\n")


def put_in_place(staged: Path, path: Path) -> None:
    """Afterwards the staged file is the one that counts. Raises RulebookError."""
    from remit.store import files  # here: for the same reason

    try:
        files.put_in_place(staged, path)
    except OSError as error:
        raise RulebookError(f"{path}: can't be written: {error.strerror}") from None


def write_rulebook(rulebook: Rulebook, path: Path) -> None:
    """Afterwards the file holds the rulebook, readable by its owner only. Raises RulebookError."""
    staged = stage_rulebook(encode_rulebook(rulebook), path)
    try:
        put_in_place(staged, path)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise


_HEADER, _BOOK = Decoding(_Header), Decoding(Book)


def read_rulebook(path: Path | str, *, digest: str | None = None) -> Rulebook:
    """The rulebook of a file. Raises RulebookError for one that is missing, foreign, writable by others or changed.

    `digest` is the SHA-256 that the whole file must have, in hex.
    """
    data = _read(path)
    if digest is not None and sha256(data).hexdigest() != digest:
        help_ = "run `remit activate` again"
        raise RulebookError(f"{path}: not the rulebook that was activated last", code="not-activated", help=help_)
    first, _, body = data.partition(b"\n")
    try:
        header = _HEADER.decode(first)
    except msgspec.MsgspecError:
        raise RulebookError(f"{path}: not a rulebook") from None
    if header.remit_rulebook != FORMAT:
        raise RulebookError(f"{path}: written by another version of Remit", help="run `remit activate` again")
    if _sum(header.hash, body) != header.sum:
        raise RulebookError(f"{path}: changed since it was written", help="run `remit activate` again")
    try:
        return Rulebook(_BOOK.decode(body), header.hash)
    except msgspec.MsgspecError as error:
        raise RulebookError(f"{path}: can't be read: {error}") from None


def _sum(content: str, body: bytes) -> str:
    return sha256(content.encode() + b"\n" + body).hexdigest()


def _read(path: Path | str) -> bytes:
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
        parent = os.path.dirname(path) or "."
        for name, info in ((path, about), (parent, os.stat(parent))):
            if info.st_uid not in (os.geteuid(), 0):
                raise RulebookError(f"{name}: belongs to another user")
            if info.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                raise RulebookError(f"{name}: others may write it", help=f"chmod go-w {name}")
        return file.read()
