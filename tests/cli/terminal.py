"""A command at a terminal of its own: a pty that is `/dev/tty` for it, while stdin, stdout and stderr are pipes."""

from __future__ import annotations

import fcntl
import os
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cli.kit import Ran


class Typed(Ran, frozen=True):
    """What a command left behind, and what was to be seen on the terminal."""

    screen: str = ""


Answer = str | Callable[[], str]
"""What is typed, or what happens before that and gives it."""


def at_terminal(
    *args: str, cwd: Path, answers: Sequence[tuple[str, Answer]], stdin: bytes | None = b"", typed: str = ""
) -> Typed:
    """Runs `remit …`, and types an answer whenever its question appears. `typed` is typed before any question.

    Without `stdin`, that is the terminal, too.
    """
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "remit", *args]
    child = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=theirs if stdin is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(theirs, termios.TIOCSCTTY, 0),
    )
    screen = ""
    try:
        if typed:
            os.write(ours, typed.encode())
        for question, answer in answers:
            screen += _until(ours, question)
            os.write(ours, (answer if isinstance(answer, str) else answer()).encode())
        out, err = child.communicate(stdin, timeout=60)
        echo = termios.tcgetattr(theirs)[3] & termios.ECHO
        screen += _rest(ours)
    finally:
        child.kill()
        child.__exit__(None, None, None)  # closes its pipes
        os.close(theirs)
        os.close(ours)
    assert echo, "the terminal was left without echo"
    return Typed(child.returncode, out.decode(), err.decode(), screen)


def without_terminal(*args: str, cwd: Path, stdin: bytes = b"") -> Ran:
    """Runs `remit …` in a session that has no terminal."""
    command = [sys.executable, "-m", "remit", *args]
    ran = subprocess.run(
        command, cwd=cwd, input=stdin, capture_output=True, timeout=60, check=False, start_new_session=True
    )
    return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())


def _until(terminal: int, question: str) -> str:
    seen, end = "", time.monotonic() + 30
    while question not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, f"no question `{question}`, only {seen!r}"
        seen += os.read(terminal, 4096).decode()
    return seen


def _rest(terminal: int) -> str:
    seen = ""
    while select.select([terminal], [], [], 0)[0]:
        seen += os.read(terminal, 4096).decode()
    return seen
