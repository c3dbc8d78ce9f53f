"""The first process in a run's namespace: when it has ended, so has all that the run started.

A launcher tells the run's exit code as soon as the command has ended. What the command left running is killed then, but
not at once: so nobody looks at the project, and nothing is committed, before the kernel has ended all of it. The
launcher writes the number of the first process to a file of the launch, as bubblewrap does (`--info-fd`).
"""

from __future__ import annotations

import os
import re
import select
from contextlib import suppress
from pathlib import Path

from remit.model.errors import RemitError

FILE = "first"
PATIENCE = 20.0
"""Seconds. The kernel needs some milliseconds, unless a process waits for a disk."""
_NUMBER = re.compile(rb'"child-pid": *(\d+)')


class StillRunning(RemitError):
    """Something that the command started has not ended."""

    code = "confine-unfinished"


def wait_for_end(directory: Path, patience: float = PATIENCE) -> None:
    """Returns when all that ran by the launch in this folder has ended. Raises StillRunning."""
    number = _number(directory / FILE)
    if number is None:
        return  # nothing was started, or not in a namespace
    try:
        process = os.pidfd_open(number)
    except ProcessLookupError:
        return  # it is gone
    except OSError as error:
        raise StillRunning(f"nobody can tell whether the command has ended: {error.strerror}") from None
    try:
        ended = select.poll()  # `select` takes no descriptor above 1023
        ended.register(process, select.POLLIN)
        if _is_first(number) and not ended.poll(patience * 1000):
            raise StillRunning("what the command started is still running")
    finally:
        os.close(process)


def _number(file: Path) -> int | None:
    with suppress(OSError):
        found = _NUMBER.search(file.read_bytes())
        return int(found[1]) if found else None
    return None


def _is_first(number: int) -> bool:
    """Whether this process is the first of a namespace: otherwise its number has been given to another one."""
    with suppress(OSError):
        for line in Path(f"/proc/{number}/status").read_bytes().splitlines():
            if line.startswith(b"NSpid:"):
                return len(line.split()) > 2 and line.split()[-1] == b"1"
    return False
