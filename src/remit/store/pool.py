"""A pool: connections that threads share, with a deadline on waiting for one, and safe when the process forks.

SQLite loses commits if a process forks with a connection open and the child opens another one, since the child takes
the locks for its own that only the parent has. So idle connections are closed before a fork. If one was in use, the
child may not touch the store at all, and is told so.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

from remit.store.errors import StoreBusy, StoreMisused, StoreUnavailable
from remit.store.process import here

C = TypeVar("C")


class Pool(Generic[C]):
    """At most `size` connections. `inherited` is called in a forked child if one was in use in the parent."""

    def __init__(
        self,
        size: int,
        *,
        open: Callable[[float], C],
        close: Callable[[C], None],
        inherited: Callable[[], None] = lambda: None,
    ) -> None:
        self._size = size
        self._open = open
        self._close = close
        self._inherited = inherited
        self._idle: list[C] = []
        self._used: list[C | None] = []
        self._shut = False
        self._orphaned = False
        self._process = here[0]
        self._free = size
        self._waiting = 0
        self._mutex = threading.Lock()
        self._given = threading.Condition(self._mutex)
        _POOLS.add(self)

    def take(self, deadline: float, *, fresh: bool = False) -> tuple[C, bool]:
        """A connection, and whether it was just opened. `open` gets the deadline, and raises StoreErrors."""
        with self._mutex:
            while not self._free:
                self._waiting += 1
                given = self._given.wait(deadline - time.monotonic())
                self._waiting -= 1
                if not given:
                    raise StoreBusy("all connections to the store are in use by other threads of this process")
            self.check()
            self._free -= 1
            if self._idle and not fresh:
                connection = self._idle.pop()
                self._used.append(connection)
                return connection, False
            self._used.append(None)  # being opened: it counts if the process forks now
        opening: C | None = None
        try:
            opening = self._open(deadline)
        finally:
            with self._mutex:
                self._used.remove(None)
                if opening is not None:
                    self._used.append(opening)
                else:
                    self._freed()
        return opening, True

    def give(self, connection: C, *, broken: bool) -> None:
        """Takes a connection back, and closes it if it is broken. Does nothing in a child that didn't open it."""
        if self._process != here[0] or self._orphaned:
            return
        with self._mutex:
            keep = not broken and not self._shut
            if connection in self._used:
                self._used.remove(connection)
            if keep:
                self._idle.append(connection)
                self._freed()
        if not keep:
            self._close(connection)
            with self._mutex:
                self._freed()

    def _freed(self) -> None:
        """One connection more may be taken. For those who hold the mutex."""
        self._free += 1
        if self._waiting:
            self._given.notify()

    def check(self) -> None:
        """Raises a StoreError if this pool can't be used in this process, or any more."""
        if self._shut:
            raise StoreMisused("the store has been closed")
        if self._orphaned or self._process != here[0]:
            raise StoreUnavailable(
                "this process was forked while the store was in use",
                help="fork before the store is used, or start a new program instead of forking",
            )

    def rest(self) -> None:
        """Closes what is idle."""
        with self._mutex:
            idle, self._idle = self._idle, []
        for connection in idle:
            self._close(connection)

    def shut(self) -> None:
        """Closes everything, now or when it is given back."""
        self._shut = True
        if self._process == here[0]:
            self.rest()

    def _before_fork(self) -> None:
        """Whoever uses a connection gets a moment to give it back: a child can't open what was in use."""
        end = time.monotonic() + PATIENCE
        self._mutex.acquire()
        if self._process != here[0]:
            return
        while self._used and time.monotonic() < end:
            self._mutex.release()
            time.sleep(0.001)
            self._mutex.acquire()
        while self._idle:
            with suppress(Exception):
                self._close(self._idle.pop())

    def _after_in_parent(self) -> None:
        self._mutex.release()

    def _after_in_child(self) -> None:
        self._mutex = threading.Lock()
        self._given = threading.Condition(self._mutex)
        self._free, self._waiting = self._size, 0
        self._idle = []
        if self._used:
            # Kept for ever: closing what belongs to the parent would end its work.
            _KEPT.extend(self._used)
            self._used = []
            self._orphaned = True
            self._inherited()
        self._process = here[0]


PATIENCE = 0.5
"""Seconds that a fork waits for connections in use."""
_POOLS: weakref.WeakSet[Pool[Any]] = weakref.WeakSet()
_KEPT: list[Any] = []
_forking: list[Pool[Any]] = []
_fork_mutex = threading.Lock()


def _before() -> None:
    _fork_mutex.acquire()
    _forking[:] = list(_POOLS)
    for pool in _forking:
        pool._before_fork()


def _in_parent() -> None:
    for pool in _forking:
        pool._after_in_parent()
    _forking.clear()
    _fork_mutex.release()


def _in_child() -> None:
    global _fork_mutex
    _fork_mutex = threading.Lock()
    for pool in _forking:
        pool._after_in_child()
    _forking.clear()


os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
