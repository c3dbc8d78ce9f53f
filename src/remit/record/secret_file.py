"""Files that hold a secret key: of a fixed length, beside the ledger's keys, and readable by nobody else."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from remit.record.errors import LedgerError
from remit.store.files import stage, sync_folder


def read_secret(path: Path, length: int, what: str) -> bytes | None:
    """The bytes; None if there is no such file. `what` names it for people. Raises LedgerError."""
    try:
        found = os.lstat(path)
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        raise LedgerError(f"{what} can't be read", code="key-unreadable") from None
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise LedgerError(f"others can read {what}", code="key-unsafe", help=f"chmod 600 {path}")
    if len(data) != length:
        raise LedgerError(f"{what} is malformed", code="key-malformed")
    return data


def make_secret(path: Path, data: bytes, what: str) -> bytes:
    """Writes a new one; where another process was quicker, gives that one's. Raises LedgerError."""
    try:
        beside = stage(path, data)
        try:
            with suppress(FileExistsError):
                os.link(beside, path)
        finally:
            beside.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise LedgerError(f"{what} can't be written: {error.strerror}", code="key-unwritable") from None
    kept = read_secret(path, len(data), what)
    if kept is None:
        raise LedgerError(f"{what} is missing", code="key-missing")
    return kept
