"""The socket that hooks ask: a question a connection, a thread each, and no answer to what isn't one.

    remit-hook 2 HOST attended 9f0c… 812⏎{…}     →     remit-hook 2 9f0c… 0 97 0⏎{…}

The answer is the exit code of the hook, and what it writes to stdout and stderr, with their lengths.

The socket lies in the state directory, which only its owner can enter.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from remit.adapters.hooks.carrier import Answer, HookAnswerer
from remit.adapters.hooks.client import LIMIT, PING, SOCKET
from remit.model.errors import RemitError

DEADLINE = 5.0
"""Seconds for a question to arrive, and for its answer to be taken."""
MANY = 64
_HEAD = re.compile(rb"remit-hook 2 ([a-z0-9-]{1,40}) (alone|attended) ([0-9a-f]{16}) ([0-9]{1,9})")


class HookServer:
    """Listens until it is closed."""

    def __init__(
        self, state: Path, answerers: Mapping[str, HookAnswerer], on_answer: Callable[[str, Answer], None]
    ) -> None:
        """`on_answer` is called with every answer that was sent. Raises RemitError if the socket can't be made."""
        self.path, self.answerers, self.on_answer = state / SOCKET, answerers, on_answer
        self._room = threading.BoundedSemaphore(MANY)
        self._closing, self._ending = False, threading.Lock()
        self._idle = threading.Event()
        self._idle.set()
        self._listener = _listen(state)

    def serve(self) -> None:
        """Answers, until `close` is called from elsewhere."""
        self._idle.clear()
        try:
            self._serve()
        finally:
            self._idle.set()

    def _serve(self) -> None:
        while True:
            try:
                link, _ = self._listener.accept()
            except OSError:
                if self._closing:
                    return
                time.sleep(0.05)  # out of file descriptors, say, and others end first
                continue
            if not self._room.acquire(timeout=DEADLINE):
                link.close()
                continue
            threading.Thread(target=self._attend, args=(link,), name="remit-hook", daemon=True).start()

    def close(self) -> None:
        """No new questions; those that were asked are still answered, within the deadline. More than once is fine."""
        with self._ending:
            if self._closing:
                return
            self._closing = True
            with suppress(OSError):
                self.path.unlink()
            with suppress(OSError):
                self._listener.shutdown(socket.SHUT_RDWR)  # who stands in line already is still let in
            end = time.monotonic() + DEADLINE
            self._idle.wait(DEADLINE)
            self._listener.close()
            for _ in range(MANY):
                self._room.acquire(timeout=max(0.0, end - time.monotonic()))

    def _attend(self, link: socket.socket) -> None:
        try:
            with link, suppress(OSError):
                if _is_ours(link):
                    self._answer(link)
        finally:
            self._room.release()

    def _answer(self, link: socket.socket) -> None:
        found = _question(link)
        if found is None:
            return
        if found.host == PING:
            link.sendall(b"remit-hook 2 %s 0 0 0\n" % found.mark)
            return
        answerer = self.answerers.get(found.host)
        if answerer is None:
            return
        answer = answerer.answer(found.data, alone=found.alone)
        try:
            link.settimeout(DEADLINE)
            out, err, code = answer.reply
            link.sendall(b"remit-hook 2 %s %d %d %d\n" % (found.mark, code, len(out), len(err)) + out + err)
        except OSError:
            if answer.running is not None:  # nobody heard that it may run
                answerer.enforcer.ended(answer.running, "not-run", error="hook-gone")
            return
        self.on_answer(found.host, answer)


def _is_ours(link: socket.socket) -> bool:
    """Whether the same user asks, where the system tells."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True  # the folder lets nobody else in
    _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, option, struct.calcsize("3i")))
    return bool(user == os.geteuid())


class _Question(NamedTuple):
    """What was asked, in the host's own words."""

    host: str
    alone: bool
    mark: bytes
    data: bytes


def _question(link: socket.socket) -> _Question | None:
    """The question; None for anything else."""
    end = time.monotonic() + DEADLINE
    data = bytearray()
    head: re.Match[bytes] | None = None
    while head is None or len(data) < int(head[4]):
        left = end - time.monotonic()
        if left <= 0:
            return None
        link.settimeout(left)
        chunk = link.recv(1024 * 1024)
        if not chunk:
            return None
        data += chunk
        if head is None and b"\n" in data:
            line, _, rest = bytes(data).partition(b"\n")
            head, data = _HEAD.fullmatch(line), bytearray(rest)
            if head is None or int(head[4]) > LIMIT:
                return None
        elif head is None and len(data) > 200:
            return None
    if len(data) != int(head[4]):
        return None
    return _Question(head[1].decode(), head[2] == b"alone", head[3], bytes(data))


def _listen(state: Path) -> socket.socket:
    """A listening socket in the state directory. Raises RemitError; whoever calls holds the lock of the daemon."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        os.chdir(state)  # the path of a socket may have no more than some 100 characters
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)  # left behind by one that was killed
        before = os.umask(0o177)
        try:
            listener.bind(SOCKET)
        finally:
            os.umask(before)
        listener.listen(MANY)
    except OSError as error:
        listener.close()
        raise RemitError(f"the socket can't be made: {error.strerror}", code="no-socket") from None
    finally:
        os.fchdir(here)
        os.close(here)
    return listener
