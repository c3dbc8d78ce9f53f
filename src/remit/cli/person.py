"""That a person is here, not a program: a passphrase, read from the terminal itself and from nothing else.

Not from stdin, the environment or an argument, which a program can fill. A program can also make a terminal; so the
terminal proves nothing, the passphrase does.
"""

from __future__ import annotations

import os
import termios

from remit.cli.ledger.user import user_name
from remit.grant.credential import CredentialError, check_passphrase, is_set
from remit.model.errors import RemitError
from remit.model.rulebook import Book
from remit.store.interface import Store

TERMINAL = "/dev/tty"
LIFTED = "unsafe_no_credential"
_LONGEST_LINE = 4096
"""Bytes: what a terminal keeps of a line."""


class PersonError(RemitError):
    """Nobody is there to ask, or nothing that they could prove themselves with."""

    code = "no-person"


def prove_person(store: Store, book: Book | None, *, doing: str) -> str:
    """Who does it, once they have given the passphrase. Raises PersonError, CredentialError and StoreError.

    `book` is the activated one, or None where there is none that can be trusted: a policy that isn't in force can't
    say that no passphrase is needed.
    """
    name = user_name(None)
    if lifted(book):
        return without_credential(name)
    if not is_set(store):
        raise PersonError(
            f"to {doing}, a person has to prove who they are, and no passphrase is set",
            code="no-credential",
            help="run `remit credential set` in a terminal",
        )
    text = read_secret(f"passphrase, to {doing}: ")
    if not check_passphrase(store, text, who=name, doing=doing):
        raise CredentialError("wrong passphrase", code="wrong-passphrase")
    return f"{name} (passphrase)"


def lifted(book: Book | None) -> bool:
    """Whether an activated policy says that people need no credential."""
    return book is not None and LIFTED in book.unsafe


def without_credential(name: str) -> str:
    """How entries name somebody who proved nothing."""
    return f"{name} (no credential)"


def read_secret(prompt: str) -> str:
    """A line that is typed at the terminal, unseen. Raises PersonError."""
    try:
        terminal = os.open(TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        raise PersonError("there is no terminal to ask for the passphrase", help="run it in a terminal") from None
    try:
        data = _typed(terminal, prompt)
    except (OSError, termios.error):
        raise PersonError("the terminal can't be read without showing what is typed") from None
    finally:
        os.close(terminal)
    if not data.endswith(b"\n"):
        raise PersonError("no passphrase was entered")
    try:
        return data.removesuffix(b"\n").decode()
    except UnicodeDecodeError:
        raise PersonError("the passphrase is not in UTF-8", help="set the terminal to UTF-8") from None


def _typed(terminal: int, prompt: str) -> bytes:
    before = termios.tcgetattr(terminal)
    quiet = [*before[:3], before[3] & ~termios.ECHO | termios.ICANON | termios.ISIG, *before[4:]]
    data = b""
    try:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, quiet)  # what was typed before the question is no answer
        if termios.tcgetattr(terminal)[3] & termios.ECHO:
            raise OSError
        os.write(terminal, prompt.encode())
        while not data.endswith(b"\n") and len(data) <= 2 * _LONGEST_LINE:
            piece = os.read(terminal, _LONGEST_LINE)
            if not piece:
                break
            data += piece
        os.write(terminal, b"\n")
    finally:
        termios.tcsetattr(terminal, termios.TCSAFLUSH, before)
    return data
