"""Asking a person at a terminal."""

from __future__ import annotations

import sys

from remit.cli.output import out


def at_terminal() -> bool:
    """True if somebody can be asked, and sees what is asked."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def answer(question: str) -> str:
    """One line."""
    out(question)
    return sys.stdin.readline().strip()


def confirmed(question: str) -> bool:
    """True only for a plain yes."""
    return answer(f"{question} [y/N] ").lower() in ("y", "yes")
