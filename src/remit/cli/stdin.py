"""Standard input: what a person types and what other programs hand over. Some processes have none."""

from __future__ import annotations

import sys
from typing import BinaryIO

from remit.cli.common import InputError


def person_there() -> bool:
    """True if standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def answer() -> str:
    """The next line that a person types; empty at the end of input."""
    return sys.stdin.readline() if sys.stdin is not None else ""


def stream(option: str) -> BinaryIO:
    """What is handed over for `-`. Raises InputError without a standard input."""
    if sys.stdin is None:
        raise InputError(f"{option}: standard input is closed", help="pipe something into it, or name a file")
    return sys.stdin.buffer


def text(option: str, most: int = -1) -> str:
    """The same, whole, or so many bytes and one more. Raises InputError if it is not UTF-8."""
    data = stream(option).read(most + 1 if most >= 0 else -1)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{option}: standard input is not UTF-8, at byte {error.start}") from None
