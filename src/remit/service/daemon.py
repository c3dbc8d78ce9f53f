"""The daemon of a project: it holds the activated rulebook and the store, and answers hooks until it is stopped."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from remit.adapters.hooks.carrier import Answer, HookAnswerer
from remit.adapters.hooks.client import PING, DaemonFailed, ask
from remit.adapters.hooks.installed import InstallError, read_installed
from remit.adapters.hosts import registry
from remit.confine.interface import state_for
from remit.confine.pick import working
from remit.enforce.attempt import Enforcer
from remit.enforce.in_force import ledger_settings
from remit.model.errors import RemitError
from remit.model.policy import Stream
from remit.record.open import open_ledger
from remit.record.stream import Delivery, Streaming
from remit.record.streams import open_destination
from remit.record.writer import Ledger
from remit.service.hooks import HookServer
from remit.store.open import default_url
from remit.store.place import state_directory

LOCK = "serve.lock"
EVERY = 60.0
"""Seconds between two looks for what ran without a hook."""


class Daemon:
    """One for each project and state directory."""

    def __init__(
        self,
        root: Path,
        on_answer: Callable[[str, Answer], None],
        *,
        on_fault: Callable[[str], object],
        state: Path | None = None,
    ) -> None:
        """`on_answer` is called with every answer, `on_fault` with what is wrong with the ledger.

        Raises RemitError: another one runs, the ledger can't be opened, or no policy is activated.
        """
        self.root = Path(os.path.realpath(root))
        self.state = state if state is not None else state_directory(root)
        self._lock = _lock(self.state)
        try:
            url = _installed_store(self.state)
            self.opened = open_ledger(
                self.root,
                point="serve",
                state=self.state,
                url=url,
                settings=ledger_settings(self.root),
                on_fault=on_fault,
            )
            for fault in self.opened.warnings:
                on_fault(fault)
            self._ledgers = {
                host: Ledger(
                    self.opened.store, point=host, elsewhere=True, on_break=self.opened.on_break, state=self.state
                )
                for host in registry.names()
            }
            if self.opened.keeper is not None:
                self.opened.keeper.ledgers += self._ledgers.values()
            answerers = {host: self._answerer(host, ledger) for host, ledger in self._ledgers.items()}
            self.rulebook = next(iter(answerers.values())).enforcer.rulebook()
            if any(caller.confine in ("required", "preferred") for caller in self.rulebook.book.callers.values()):
                working(state_for(self.state))  # tried now: the first command would wait for it
            delivery = Delivery(self.opened.store, self.opened.origin, self.state, open_destination)
            self._streaming = Streaming(delivery, partial(_streams, next(iter(answerers.values())).enforcer))
            self.server = HookServer(self.state, answerers, on_answer)
            self.opened.ledger.event("start", {"point": "serve", "policy": self.rulebook.hash})
        except BaseException:
            self._give_back()
            raise

    def _ledger(self, host: str) -> Ledger:
        opened = self.opened
        return Ledger(opened.store, point=host, elsewhere=True, on_break=opened.on_break, state=self.state)

    def _answerer(self, host: str, ledger: Ledger) -> HookAnswerer:
        enforcer = Enforcer.of_project(self.root, self.state, self.opened.store, ledger)
        return HookAnswerer(host, enforcer, lambda: read_installed(self.state, host), self.state)

    def look(self) -> None:
        """What ran in a host without a hook is recorded, and confined runs that nobody reported are finished."""
        for host, answerer in self.server.answerers.items():
            with suppress(RemitError):
                answerer.look(read_installed(self.state, host), every=EVERY)
                answerer.sweep()

    def serve(self) -> None:
        """Answers until `stop`."""
        ending = threading.Event()
        looking = threading.Thread(target=self._keep_looking, args=(ending,), name="remit-look", daemon=True)
        looking.start()
        try:
            self.server.serve()
        finally:
            ending.set()
            looking.join()

    def _keep_looking(self, ending: threading.Event) -> None:
        while not ending.wait(EVERY):
            self.look()

    def stop(self) -> None:
        """Ends `serve`, from a signal handler or another thread."""
        threading.Thread(target=self.server.close, name="remit-stop", daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.server.close()
        self.opened.ledger.event("stop", {"point": "serve"})
        self._give_back()

    def _give_back(self) -> None:
        if hasattr(self, "_streaming"):
            self._streaming.close()
        for ledger in getattr(self, "_ledgers", {}).values():
            ledger.close()
        if hasattr(self, "opened"):
            self.opened.close()
        os.close(self._lock)


def _streams(enforcer: Enforcer) -> Sequence[Stream]:
    """Those of the policy in force. Raises RemitError where none is."""
    settings = enforcer.rulebook().book.ledger
    return settings.streams if settings is not None else ()


def _installed_store(state: Path) -> str | None:
    """The store that hooks without a daemon use, as far as something is installed: there must be only one."""
    for host in registry.names():
        with suppress(InstallError):
            return read_installed(state, host).store or default_url(state)
    return None


def _lock(state: Path) -> int:
    """Held as long as the daemon lives; the kernel gives it back. Raises RemitError if another one has it."""
    handle = os.open(state / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise RemitError("a daemon is already running for this project", code="already-serving") from None
    return handle


def is_answering(state: Path) -> bool:
    """Whether a daemon that serves answers, as a hook would ask it: one that hangs denies every call."""
    here = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return ask(PING, str(state), b"") is not None
    except DaemonFailed:
        return False
    finally:
        os.fchdir(here)
        os.close(here)


def is_serving(state: Path) -> bool:
    """Whether a daemon holds the lock."""
    try:
        handle = os.open(state / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
