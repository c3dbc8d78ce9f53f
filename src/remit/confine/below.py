"""Paths below a folder, opened step by step, so that no link that is put there meanwhile leads out of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened(root: str, path: str = ".") -> Iterator[int]:
    """The descriptor of a folder below the root; raises OSError, also where a link stands in the way."""
    descriptor = os.open(root, _FOLDER)
    try:
        for name in () if path == "." else path.split("/"):
            inner = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


def split(path: str) -> tuple[str, str]:
    """The folder that a relative path is in, and its name there."""
    above, _, name = path.rpartition("/")
    return above or ".", name
