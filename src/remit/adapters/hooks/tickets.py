"""Tickets: one for each command that a host's shell starts confined, in a private folder of the state directory.

The host is told to run `. confined.sh TICKET` in the place of the command. What the folder holds:

    start       the words that begin a confined program, its environment, and until when: read by that script
    command     the command, whatever is in it
    about       what is needed to finish the run afterwards
    pid         made by the script, which takes the ticket up only if it is not there: its shell, the host, and what
                the kernel says of the shell
    own         by the script: functions, options and aliases of its shell
    said        by the shell inside, before the command: that it has begun. The command can't reach it
    stood       by the same, after the command: where it stood at its end
    ended       made by the script: the run is over
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from remit.confine.interface import Launch, Place
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.profile import Profile

FOLDER = "tickets"
SCRIPT = Path(__file__).with_name("confined.sh")
GOOD = 3600.0
"""Seconds for which a ticket can be taken up."""
ASKED = 24 * 3600.0
"""The same, while a person is asked."""
State = Literal["unused", "running", "over"]


class About(msgspec.Struct, frozen=True):
    """One run, as far as finishing it needs it."""

    call: str
    session: str
    profile: Profile
    backend: str
    place: Place
    launch: Launch
    until: float
    kept: str = ""
    """The folder of the session's keeper."""
    mark: int = 0
    """How long the list of what the session's commands tried to reach was before."""
    before: bytes = b""
    """What was seen before the run, for the look afterwards."""
    tool: str = ""
    policy: str = ""
    capsule: str | None = None


class Shell(NamedTuple):
    """The shell that took a ticket up."""

    pid: int
    began: bytes
    """As the kernel counts: another process with its number has begun at another time."""


class Ticket:
    """One ticket on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def text(self) -> str:
        """What the host's shell is to run."""
        return f". {shlex.quote(str(SCRIPT))} {shlex.quote(str(self.path))}"

    def about(self) -> About | None:
        """None if it can't be read: then it was never handed out."""
        with suppress(OSError, msgspec.MsgspecError, UnicodeError):
            return _ABOUT.decode((self.path / "about").read_bytes())
        return None

    def state(self) -> State:
        """Whether somebody has taken it up, and whether that still runs."""
        if os.path.lexists(self.path / "ended"):
            return "over"
        shell = self._shell()
        if shell is None:
            return "over" if os.path.lexists(self.path / "pid") else "unused"
        return "running" if _is_alive(shell) else "over"

    def has_begun(self) -> bool:
        """Whether the command began to run inside."""
        with suppress(OSError):
            return os.stat(self.path / "said").st_size > 0
        return False

    def void(self) -> None:
        """Nobody takes it up any more. Whoever did it just now has won: look at the state afterwards."""
        with suppress(OSError):
            os.close(os.open(self.path / "pid", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))

    def kill(self) -> None:
        """What runs by it ends: the confined processes end with the shell that started them."""
        shell = self._shell()
        if shell is not None and _is_alive(shell):
            with suppress(OSError):
                os.kill(shell.pid, signal.SIGKILL)
            end = time.monotonic() + 5
            while _is_alive(shell) and time.monotonic() < end:
                time.sleep(0.01)

    def remove(self) -> None:
        """It is gone."""
        shutil.rmtree(self.path, ignore_errors=True)

    def _shell(self) -> Shell | None:
        with suppress(OSError, ValueError, IndexError):
            numbers, _, status = (self.path / "pid").read_bytes()[:4096].partition(b"\n")
            return Shell(int(numbers.split()[0]), _status(status)[_BEGAN]) if status else None
        return None


def _is_alive(shell: Shell) -> bool:
    """Whether that very process runs."""
    try:
        status = _status(Path(f"/proc/{shell.pid}/stat").read_bytes())
    except OSError:
        return False
    return status[_STATE] not in (b"Z", b"X") and status[_BEGAN] == shell.began


_STATE, _BEGAN = 0, 19


def _status(line: bytes) -> list[bytes]:
    """What `/proc/PID/stat` says after the program's name, which may contain anything. Raises ValueError."""
    found = line.rpartition(b")")[2].split()
    if len(found) <= _BEGAN:
        raise ValueError("no line of /proc/PID/stat")
    return found


class Tickets:
    """All of one project."""

    def __init__(self, state: Path) -> None:
        """`state` is the folder of confinement."""
        self.folder = state / FOLDER

    def of(self, call: str) -> Ticket:
        """The ticket of a call, whether it is there or not."""
        return Ticket(self.folder / sha256(call.encode("utf-8", "replace")).hexdigest()[:40])

    def all(self) -> Iterator[Ticket]:
        """Those that are there."""
        with suppress(OSError):
            for entry in sorted(os.scandir(self.folder), key=lambda one: one.name):
                yield Ticket(Path(entry.path))

    def of_session(self, session: str) -> Iterator[Ticket]:
        """Those of one session."""
        for ticket in self.all():
            about = ticket.about()
            if about is not None and about.session == session:
                yield ticket

    def write(self, about: About, command: str, passed: Sequence[str]) -> Ticket:
        """A new ticket, whole. Raises OSError and ValueError, FileExistsError if the call has one already.

        `passed` are variables whose values the host's shell knows better; `LC_*` is all that begin like this.
        """
        if "\0" in command:
            raise ValueError("a command can't contain a NUL character")
        ticket = self.of(about.call)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        ticket.path.mkdir(mode=0o700)
        files = {
            "start": _start(about, passed).encode("utf-8", "surrogateescape"),
            "command": command.encode("utf-8", "surrogateescape"),
            "about": msgspec.json.encode(about, enc_hook=_plain),
        }
        try:
            for name, data in files.items():
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
                with os.fdopen(os.open(ticket.path / name, flags, 0o600), "wb") as file:
                    file.write(data)
        except BaseException:
            ticket.remove()
            raise
        return ticket


def _start(about: About, passed: Sequence[str]) -> str:
    """The part of a ticket that the script reads: assignments, every value quoted."""
    given = [f"{name}={value}" for name, value in about.launch.environment.items()]
    launch = about.launch
    texts = {
        "remit_until": str(int(about.until)),
        "remit_kept": about.kept,
        "remit_filter": launch.filter or os.devnull,
        "remit_first": launch.first or os.devnull,
        "remit_root": str(about.place.root),
    }
    start = "".join(f"{name}={shlex.quote(text)}\n" for name, text in texts.items())
    lists = {"remit_words": launch.behind or launch.words, "remit_set": given, "remit_pass": tuple(passed)}
    lines = [f"{name}=({' '.join(map(shlex.quote, words))})\n" for name, words in lists.items()]
    return start + "".join(lines)


def _plain(value: object) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _whole(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(kind.__name__)


_ABOUT = Decoding(About, _whole)
