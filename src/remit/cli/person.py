"""A passphrase, read from the terminal itself and from nothing else.

Not from stdin, the environment or an argument, which a program can fill. A program can also make a terminal; so the
terminal proves nothing, the passphrase does.
"""

from __future__ import annotations

import os
import termios

from remit.grant.person import PersonError

TERMINAL = "/dev/tty"
_LONGEST_LINE = 4096
"""Bytes: what a terminal keeps of a line."""


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
