"""One program, run to its end: an argument vector, a clean environment, bounded output and time, nothing left behind.

finished = run_process(("git", "status"), program="/usr/bin/git", directory=root, environment={...}, bounds=Bounds())

When it returns, everything that the program started is gone too: its process group, what was seen to descend from it,
and what has the mark in its environment that each run gets. Only a process that detaches itself and clears its
environment within a fraction of a second can go on; where there is no /proc, any that leaves the group.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from remit.model.errors import RemitError

MARK = "REMIT_RUN"
"""Names the run in the environment of all that it starts."""
_TICK = 0.05
_GRACE = 2.0
"""Seconds between asking a program to end and ending it."""
_LOOK = 0.25
"""Seconds between two looks at what it has started."""
_ROUNDS = 20


class NotStarted(RemitError):
    """A program that can't be started; nothing has run."""

    code = "runner-not-started"


class Bounds(msgspec.Struct, frozen=True):
    """How long a program may run, and how much of its output is kept."""

    seconds: float = 120.0
    bytes: int = 1_000_000
    """Of each of its two outputs: the first half of this and the last half."""


class Finished(msgspec.Struct, frozen=True):
    """The result of a program."""

    words: tuple[str, ...]
    code: int | None
    """Its exit code; a signal as a negative number; None if it ran out of time or was cancelled."""
    out: str
    err: str
    took: int
    """Milliseconds."""
    truncated: bool = False
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        """It ended by itself, with 0."""
        return self.code == 0


def run_process(
    words: tuple[str, ...],
    *,
    program: str,
    directory: Path,
    environment: Mapping[str, str],
    bounds: Bounds,
    stopped: Callable[[], bool] = lambda: False,
    alone: bool = False,
    stdin: bytes | None = None,
) -> Finished:
    """What became of it; `stopped` ends it early. `alone`: it is known to start nothing else, so nobody looks for that.

    `stdin` is what it reads; None: nothing. Raises NotStarted.
    """
    began, mark = time.monotonic(), secrets.token_hex(16)
    try:
        with _given(stdin) as given:
            process = subprocess.Popen(  # noqa: S603  # a vector that was judged, of a program that was looked up
                [program, *words[1:]],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env={**environment, MARK: mark},
                start_new_session=True,
            )
    except (OSError, ValueError) as error:
        raise NotStarted(f"`{words[0]}` can't be started: {error}") from None
    with process:
        family = _Family(process.pid, mark, alone)
        outputs = _Outputs(process, bounds.bytes)
        ended = False
        try:
            end = began + bounds.seconds
            while not (ended := _has_ended(process.pid)) and time.monotonic() < end and not stopped():
                outputs.read(_TICK)
                family.look()
            if not ended:
                family.ask()
                end = time.monotonic() + _GRACE
                while not _has_ended(process.pid) and time.monotonic() < end:
                    outputs.read(_TICK)
        finally:
            family.end()
            process.wait()
            outputs.finish()
        took = int((time.monotonic() - began) * 1000)
        code = process.returncode if ended else None
        return Finished(words, code, *outputs.texts(), took, outputs.truncated, timed_out=not ended and not stopped())


@contextlib.contextmanager
def _given(data: bytes | None) -> Iterator[int | IO[bytes]]:
    """Something to read that from, without anybody who writes meanwhile."""
    if data is None:
        yield subprocess.DEVNULL
        return
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


class _Kept:
    """The beginning and the end of an output."""

    def __init__(self, most: int) -> None:
        self._half = max(most // 2, 1)
        self._first, self._last, self._left_out = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        room = self._half - len(self._first)
        self._first += data[:room]
        self._last += data[room:] if room > 0 else data
        over = len(self._last) - self._half
        if over > 0:
            del self._last[:over]
            self._left_out += over

    @property
    def truncated(self) -> bool:
        return self._left_out > 0

    def text(self) -> str:
        between = f"\n… {self._left_out} bytes left out …\n" if self._left_out else ""
        first, last = self._first, self._last
        if not between:
            return (first + last).decode("utf-8", "replace")
        return first.decode("utf-8", "replace") + between + last.decode("utf-8", "replace")


class _Outputs:
    """Both outputs, read as they come, so that no program waits for its reader."""

    def __init__(self, process: subprocess.Popen[bytes], most: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._kept = (_Kept(most), _Kept(most))
        for pipe, kept in zip((process.stdout, process.stderr), self._kept, strict=True):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, kept)
        self._open = 2
        self._exit = _exit_of(process.pid)
        if self._exit is not None:
            self._selector.register(self._exit, selectors.EVENT_READ, None)

    def read(self, wait: float) -> bool:
        """Takes what is there; waits that long at most, or until the program ends. False if there was nothing."""
        if not self._selector.get_map():
            time.sleep(wait)
            return False
        ready = [key for key, _ in self._selector.select(wait) if key.data is not None]
        for key in ready:
            pipe, kept = key.fileobj, key.data
            data = self._take(pipe)  # type: ignore[arg-type]  # a pipe of the process
            if data == b"":
                self._selector.unregister(pipe)
                self._open -= 1
            elif data is not None:
                kept.add(data)
        return bool(ready)

    def finish(self) -> None:
        """Takes what is left in the pipes, now that nobody writes any more."""
        end = time.monotonic() + _GRACE
        while self._open and time.monotonic() < end and self.read(0):
            pass
        self._selector.close()
        if self._exit is not None:
            os.close(self._exit)

    @property
    def truncated(self) -> bool:
        return any(kept.truncated for kept in self._kept)

    def texts(self) -> tuple[str, str]:
        return self._kept[0].text(), self._kept[1].text()

    @staticmethod
    def _take(pipe: IO[bytes]) -> bytes | None:
        try:
            return os.read(pipe.fileno(), 65_536)
        except BlockingIOError:
            return None


def _exit_of(pid: int) -> int | None:
    """Something to wait for the end of a process with; None where the system has no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None


def _has_ended(pid: int) -> bool:
    """Whether it has; it is not reaped, so that nobody else gets its number."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


class _Family:
    """Everything that a program started, as far as anybody can tell."""

    def __init__(self, pid: int, mark: str, alone: bool) -> None:
        self._pid, self._mark, self._alone = pid, f"{MARK}={mark}".encode(), alone
        self._known: set[_One] = set()
        self._began = _began(pid)
        """What began before is none of it."""
        self._next = time.monotonic() + _LOOK

    def look(self) -> None:
        """Remembers what descends from the program, once in a while: an orphan has no ancestors."""
        if not self._alone and time.monotonic() >= self._next:
            self._known |= self._below(_living(self._began))
            self._next = time.monotonic() + _LOOK

    def ask(self) -> None:
        """Asks the program and its group to end."""
        if not self._alone:
            self._known |= self._below(_living(self._began))
        _signal(os.killpg, self._pid, signal.SIGTERM)

    def end(self) -> None:
        """Ends all of them. The program itself is not reaped yet, so its number is nobody else's."""
        if self._alone:
            _signal(os.killpg, self._pid, signal.SIGKILL)
            return
        for _ in range(_ROUNDS):
            living = _living(self._began)
            self._known |= self._below(living)
            _signal(os.killpg, self._pid, signal.SIGKILL)
            left = (self._known & living.keys()) | {one for one in living if _has(one.pid, self._mark)}
            left = {one for one in left if one.pid != self._pid}
            if not left:
                return
            for one in left:
                _signal(os.kill, one.pid, signal.SIGKILL)
            time.sleep(_TICK / 5)

    def _below(self, living: dict[_One, int]) -> set[_One]:
        """What descends from the program or from what did so."""
        found = {one.pid for one in self._known if one in living} | {self._pid}
        size = 0
        while len(found) != size:
            size = len(found)
            found |= {one.pid for one, parent in living.items() if parent in found}
        return {one for one in living if one.pid in found}


class _One(NamedTuple):
    """A process: its number, and when it began, since numbers come back."""

    pid: int
    began: int


def _began(pid: int) -> int:
    """When a process began, in the kernel's ticks; 0 where nobody can tell."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def _living(since: int) -> dict[_One, int]:
    """Every process that began since then, with its parent's number; none where there is no /proc."""
    found: dict[_One, int] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return found
    own = str(os.getpid())
    for name in names:
        if name.isdigit() and name != own:
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = _read(f"/proc/{name}/stat").rpartition(b")")[2].split()
                began = int(fields[19])
                if began >= since and fields[0] != b"Z":
                    found[_One(int(name), began)] = int(fields[1])
    return found


def _has(pid: int, mark: bytes) -> bool:
    try:
        return mark in _read(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.readall()


def _signal(how: Callable[[int, int], None], pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        how(pid, number)
