"""`python -m remit.adapters.hooks.keeper FOLDER`: keeps the namespaces of a host's session, and ends with it.

The commands of an agent in a session share a network of their own, so that a server which one of them starts is reached
by the next; other agents, who may do other things, do not reach it. A hook lives for one call: so it starts this
process, which lives until the host is gone, the session is over, or nothing has used it for a while. Whatever way it
ends, all that runs in these namespaces is killed (`confine.network`).

In the folder, which is in the state directory:

    lock        held by this process, as long as it lives
    wanted      by the hook: the session, and the network that the policy gives its agent
    ready       by this process: how to join; or why that can't be
    host        by the script in the host's shell: the process of the host
    contacts    what commands tried to reach, a line each
"""

from __future__ import annotations

import fcntl
import os
import select
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from remit.adapters.hooks.tickets import Ticket, Tickets
from remit.confine.interface import Unconfinable
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.errors import RemitError
from remit.model.profile import Network
from remit.store.files import write_whole

if TYPE_CHECKING:
    from remit.confine.destinations import Contact
    from remit.confine.sweep import Before

FOLDER = "sessions"
PATIENCE = 8.0
"""Seconds for a keeper to begin, and to end."""
LOOK = 1.0
MOST_TOLD = 5
MOST_BYTES = 4 * 1024 * 1024
IDLE = 30 * 60.0
"""Seconds without a command that runs."""
MODULE = "remit.adapters.hooks.keeper"


class Wanted(msgspec.Struct, frozen=True):
    """For whom, and which network."""

    session: str
    network: Network
    agent: str = ""


class Joining(msgspec.Struct, frozen=True):
    """How commands join, or why they can't."""

    pid: int
    words: tuple[str, ...] = ()
    variables: dict[str, str] = {}
    failed: str | None = None


_WANTED, _JOINING = Decoding(Wanted), Decoding(Joining)


class Sessions:
    """The sessions of one project's hosts."""

    def __init__(self, state: Path) -> None:
        """`state` is the folder of confinement."""
        self.folder = state / FOLDER

    def join(self, session: str, agent: str, network: Network) -> tuple[Path, Joining]:
        """The folder of the agent's namespaces for such a network, made if need be, and how to join them.

        Raises Unconfinable.
        """
        wanted = msgspec.json.encode(Wanted(session, network, agent))
        here = self.folder / sha256(wanted).hexdigest()[:40]
        end = time.monotonic() + PATIENCE
        try:
            here.mkdir(mode=0o700, parents=True, exist_ok=True)
            while time.monotonic() < end:
                if (handle := _lock(here)) is not None:  # nobody keeps it
                    try:
                        (here / "ready").unlink(missing_ok=True)
                        write_whole(here / "wanted", wanted)
                        _spawn(here, handle)
                    finally:
                        os.close(handle)
                found = _joining(here)
                if found is not None and found.failed is not None:
                    raise Unconfinable(found.failed)
                if found is not None:
                    return here, found
                time.sleep(0.01)
        except OSError as error:
            raise Unconfinable(f"the session's network can't be made: {error.strerror}") from None
        raise Unconfinable("the session's network did not begin in time")

    def leave(self, session: str) -> None:
        """The session is over: so is all that runs in it."""
        for here in self.of(session):
            if _is_kept(here):
                self._end(here)
            if not _is_kept(here):
                shutil.rmtree(here, ignore_errors=True)

    def mark(self, kept: str) -> int:
        """How much commands of the session have tried to reach so far."""
        with suppress(OSError):
            return os.stat(Path(kept) / "contacts").st_size if kept else 0
        return 0

    def refused(self, kept: str, since: int) -> list[str]:
        """What they could not reach since a mark, for the agent; each once."""
        found = _contacts(Path(kept), since)[0] if kept else []
        told = (one for one in found if one.verdict == "refused")
        return list(dict.fromkeys(one.message for one in told))[:MOST_TOLD]

    @contextmanager
    def unrecorded(self, kept: Path) -> Iterator[list[Contact]]:
        """What nobody has recorded yet: afterwards it is."""
        try:
            handle = os.open(kept / "recorded", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError:
            yield []
            return
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            found, end = _contacts(kept, int(os.pread(handle, 20, 0) or b"0"))
            yield found
            os.ftruncate(handle, 0)
            os.pwrite(handle, b"%d" % end, 0)
        finally:
            os.close(handle)

    def sweep(self) -> None:
        """Folders that nobody keeps are gone."""
        for here in self._all():
            if (handle := _lock(here)) is not None:
                shutil.rmtree(here, ignore_errors=True)
                os.close(handle)

    def _end(self, here: Path) -> None:
        found = _joining(here)
        for number in (signal.SIGTERM, signal.SIGKILL):
            if found is not None and _is_kept(here):
                with suppress(OSError):
                    os.kill(found.pid, number)
            end = time.monotonic() + PATIENCE / 4
            while _is_kept(here) and time.monotonic() < end:
                time.sleep(0.01)

    def of(self, session: str) -> Iterator[Path]:
        """The folders of one session."""
        for here in self._all():
            with suppress(OSError, msgspec.MsgspecError):
                if _WANTED.decode((here / "wanted").read_bytes()).session == session:
                    yield here

    def _all(self) -> list[Path]:
        try:
            return sorted(self.folder.iterdir())
        except OSError:
            return []


def _lock(here: Path) -> int | None:
    """The lock of a keeper; None while it lives. Raises OSError."""
    handle = os.open(here / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except BaseException:
        os.close(handle)
        raise
    return handle


def _is_kept(here: Path) -> bool:
    try:
        handle = _lock(here)
    except OSError:
        return False
    if handle is None:
        return True
    os.close(handle)
    return False


def _joining(here: Path) -> Joining | None:
    with suppress(OSError, msgspec.MsgspecError):
        return _JOINING.decode((here / "ready").read_bytes())
    return None


def _spawn(here: Path, lock: int) -> None:
    """A process of its own session, which holds the lock from its first moment. Raises OSError."""
    words = [sys.executable, "-I", "-m", MODULE, str(here)]
    env = {name: os.environ[name] for name in ("HOME", "PATH", "LANG", "TZ") if name in os.environ}
    nowhere = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in (0, 1, 2)]
    os.posix_spawn(sys.executable, words, env, file_actions=[*nowhere, (os.POSIX_SPAWN_DUP2, lock, 3)], setsid=True)


def main(here: Path, *, look: float = LOOK, idle: float = IDLE) -> int:
    """Keeps the session until it ends; 1 if it could not begin."""
    from remit.confine.network import Session  # here: hooks start this process, and need none of it

    ending: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: ending.append(number))
    os.chdir("/")
    try:
        wanted = _WANTED.decode((here / "wanted").read_bytes())
        contacts = open(here / "contacts", "ab", buffering=0, opener=_private)  # noqa: SIM115 - open to the end

        def record(contact: Contact) -> None:
            contacts.write(msgspec.json.encode(contact) + b"\n")

        with Session.start(wanted.network, record) as session:
            ready = Joining(os.getpid(), tuple(session.words), dict(session.variables))
            write_whole(here / "ready", msgspec.json.encode(ready))
            _keep(here, wanted.session, ending, look, idle, lambda: session.is_alive)
            (here / "ready").unlink(missing_ok=True)
    except RemitError as error:
        write_whole(here / "ready", msgspec.json.encode(Joining(os.getpid(), failed=str(error))))
        return 1
    return 0


def _keep(here: Path, session: str, ending: list[int], look: float, idle: float, is_alive: Callable[[], bool]) -> None:
    """Returns when the session is over: somebody says so, the host is gone, or nothing has run for long."""
    tickets, watch, host, watched, used = Tickets(here.parent.parent), _Watch(), 0, -1, time.monotonic()
    while not ending and is_alive() and os.path.lexists(here / "wanted"):
        if watched >= 0 and select.select([watched], [], [], 0)[0]:
            return  # the host has ended
        named = _host(here)
        if named not in (0, host):
            host = named
            if watched >= 0:
                os.close(watched)
            try:
                watched = os.pidfd_open(host)
            except OSError:
                return  # it has ended already
        running = [one for one in tickets.of_session(session) if one.state() == "running"]
        watch.look(running)
        if running:
            used = time.monotonic()
        elif time.monotonic() - used > idle:
            return
        if watched >= 0:
            with suppress(InterruptedError):
                select.select([watched], [], [], look)
        else:
            time.sleep(look)


class _Watch:
    """Looks at the root while commands run on: one that got at what is protected is ended, and swept as any other."""

    def __init__(self) -> None:
        self._next = 0.0
        self._seen: dict[Path, Before] = {}

    def look(self, running: list[Ticket]) -> None:
        """One look, unless the last one was just now: it takes one part in `SHARE` of the time."""
        began = time.monotonic()
        self._seen = {one.path: self._seen[one.path] for one in running if one.path in self._seen}
        if began < self._next:
            return
        from remit.confine.kept import read  # here: most commands are over before anybody looks
        from remit.confine.run import SHARE

        for ticket in running:
            about = ticket.about()
            try:
                if about is not None and ticket.path not in self._seen:
                    self._seen[ticket.path] = read(about.profile, about.place, about.before)
                elif about is not None and self._seen[ticket.path].alarm() is not None:
                    ticket.kill()
            except (OSError, ValueError, KeyError, TypeError):
                ticket.kill()  # nobody can watch it
        self._next = time.monotonic() + SHARE * (time.monotonic() - began)


def _contacts(kept: Path, since: int) -> tuple[list[Contact], int]:
    """The contacts after a place in the list, and where the last whole one ends."""
    from remit.confine.destinations import Contact  # here: most sessions reach nothing

    try:
        with open(kept / "contacts", "rb") as file:
            file.seek(since)
            data = file.read(MOST_BYTES)
    except OSError:
        return [], since
    whole = data[: data.rfind(b"\n") + 1]
    reading = Decoding(Contact)
    return [reading.decode(line) for line in whole.splitlines()], since + len(whole)


def _host(here: Path) -> int:
    """The process of the host, as its shell said; 0 before it has."""
    with suppress(OSError, ValueError):
        return int((here / "host").read_bytes()[:20])
    return 0


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
