"""Reading policy files from disk, trusting as little as possible."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from remit.declare.nodes import MAX_SIZE
from remit.model.errors import PolicyError, Problem
from remit.model.text import shown

_ATTEMPTS = 3


def read_text(path: Path, name: str | None = None) -> str:
    """The file's text, read in one piece.

    Raises PolicyError for a symlink, a directory or device, a file that everybody may write, one that changes
    while it is read, one that is too large or not UTF-8.
    """
    name = name or shown(path)
    for _ in range(_ATTEMPTS):
        data = _read_once(path, name)
        if data is not None:
            break
    else:
        raise _refused("policy-changing", "the file changes while it is read", name)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        wide = data[:2] in (b"\xff\xfe", b"\xfe\xff")
        what = "UTF-16, not UTF-8" if wide else f"not UTF-8 at line {line}"
        raise _refused("not-utf8", what, name, "save it as UTF-8") from None


def _read_once(path: Path, name: str) -> bytes | None:
    """The bytes, or None when the file changed under our eyes."""
    flags = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        if path.is_symlink():
            raise _refused("policy-symlink", "the file is a symlink", name, "name the file that it points to")
        descriptor = os.open(path, flags)
    except FileNotFoundError:
        raise _refused("no-policy", "no such file", name) from None
    except (OSError, ValueError) as error:
        raise _refused("unreadable", f"can't be read: {getattr(error, 'strerror', None) or error}", name) from None
    before = os.fstat(descriptor)
    if not stat.S_ISREG(before.st_mode):
        os.close(descriptor)
        raise _refused("unreadable", "not a regular file", name)
    with os.fdopen(descriptor, "rb") as file:
        if before.st_mode & stat.S_IWOTH:
            raise _refused("world-writable", "everybody may write this file", name, f"chmod o-w {name}")
        if before.st_size > MAX_SIZE:
            raise _refused("too-large", f"larger than {MAX_SIZE // 1024 // 1024} MiB", name)
        data = file.read(MAX_SIZE + 1)
        after = os.fstat(descriptor)
    try:
        there = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    same = (before.st_ino, before.st_size, before.st_mtime_ns)
    if same != (after.st_ino, after.st_size, after.st_mtime_ns) or there.st_ino != before.st_ino:
        return None
    return data if len(data) == before.st_size else None


def _refused(code: str, message: str, at: str, help: str | None = None) -> PolicyError:
    return PolicyError((Problem(code, message, at, help),))
