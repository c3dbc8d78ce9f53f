"""Asking a person at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable

from remit.cli import stdin
from remit.cli.common import InputError
from remit.cli.output import out
from remit.model.text import shown


def at_terminal() -> bool:
    """True if somebody can be asked, and sees what is asked."""
    return stdin.person_there() and sys.stdout is not None and sys.stdout.isatty()


def answer(question: str) -> str:
    """One line."""
    out(question)
    return stdin.answer().strip()


def confirmed(question: str) -> bool:
    """True only for a plain yes."""
    return answer(f"{question} [y/N] ").lower() in ("y", "yes")


def check_allowed(*, yes: bool, asking: bool) -> None:
    """Raises InputError if nobody has agreed and nobody can be asked."""
    if not yes and not asking:
        raise InputError("nobody can be asked here, and nothing was written", help="write with --yes", code="needs-yes")


def main_agent(host: str) -> Callable[[list[str]], str]:
    """What asks who the host's main agent is."""

    def asked(agents: list[str]) -> str:
        out(f"The policy does not say who {shown(host)}'s main agent is: the one that people talk to.\n")
        return answer(f"main agent ({shown(', '.join(agents), 300)}): ")

    return asked
