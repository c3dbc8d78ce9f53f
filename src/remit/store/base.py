"""What both kinds of store have in common: turns, connections, and how a transaction begins and ends."""

from __future__ import annotations

import math
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

from remit.store.errors import StoreError, StoreMisconfigured, StoreMisused, StoreUnavailable
from remit.store.pool import Pool
from remit.store.process import here
from remit.store.transaction import BaseTransaction

C = TypeVar("C")
T = TypeVar("T", bound=BaseTransaction)

READERS = 4
"""Connections for reading; more readers wait for their turn."""


class BaseStore(ABC, Generic[C, T]):
    """A store over connections of type C, whose transactions are of type T."""

    kind: str

    def __init__(self, timeout: float) -> None:
        if not (0 < timeout <= 3600 and math.isfinite(timeout)):
            raise StoreMisconfigured(f"a timeout of {timeout} seconds")
        self.timeout = timeout
        self._memory: Mapping[str, Any] = {}
        """What transactions have remembered. Replaced, never changed: a transaction keeps the one it began with."""
        self._remembering = threading.Lock()
        self._notes: dict[str, dict[str, Any]] = {}
        self._known: dict[tuple[str, ...], Any] = {}
        """What is known of the store since the last write of this process, for as long as nobody else writes."""
        self._turn = threading.local()
        self._writers = Pool(1, open=self._open_writer, close=self._close, inherited=self._inherited)
        self._readers = Pool(READERS, open=self._open_reader, close=self._close, inherited=self._inherited)

    @abstractmethod
    def _open_writer(self, deadline: float) -> C: ...

    @abstractmethod
    def _open_reader(self, deadline: float) -> C: ...

    @abstractmethod
    def _close(self, connection: C) -> None:
        """Never raises."""

    @abstractmethod
    def _begin_write(self, connection: C, deadline: float, look: str | None = None) -> T:
        """`look` is a query without values; where it is asked at once, its first row is in `looked`."""

    @abstractmethod
    def _begin_read(self, connection: C, deadline: float) -> T: ...

    @abstractmethod
    def _begin_migration(self, connection: C, deadline: float) -> T: ...

    @abstractmethod
    def _commit(self, connection: C) -> None:
        """Raises a StoreError, with `uncertain` where it may have been kept."""

    def _leave(self, connection: C) -> None:
        """Ends a transaction that only read. Raises StoreError."""
        self._commit(connection)

    @abstractmethod
    def _rollback(self, connection: C) -> bool:
        """Never raises; false if the connection can't be used any more."""

    def _inherited(self) -> None:
        """Called in a forked child, if a connection was in use."""

    def write(self, look: str | None = None) -> Block[C, T]:
        return Block(self, self._writers, self._begin_write, writes=True, look=look)

    def migration(self) -> Block[C, T]:
        return Block(self, self._writers, self._begin_migration, writes=True)

    def read(self) -> Block[C, T]:
        return Block(self, self._readers, self._begin_read, writes=False)

    def keep_notes(self, name: str, notes: dict[str, Any]) -> None:
        self._notes[name] = notes

    def _remember(self, transaction: T, *, writes: bool) -> None:
        """Keeps what a transaction has remembered. What a reader saw is old if somebody has remembered more since."""
        with self._remembering:
            if writes:
                self._memory = {**self._memory, **transaction.remembered}
                return
            for name, value in transaction.remembered.items():
                if self._memory.get(name) is transaction.recalled.get(name):
                    self._memory = {**self._memory, name: value}

    def forget(self) -> None:
        self._memory, self._known = {}, {}
        self._notes.clear()

    def version(self) -> int:
        """Another number once anybody has written; -1 where only reading tells."""
        return -1

    def close(self) -> None:
        self._readers.shut()
        self._writers.shut()

    def _begin(self, pool: Pool[C], begin: Callable[..., T], look: str | None) -> tuple[C, T]:
        """Begins a transaction; where a connection turns out to be dead, on a new one."""
        deadline = time.monotonic() + self.timeout
        fresh = False
        while True:
            connection, new = pool.take(deadline, fresh=fresh)
            try:
                return connection, begin(connection, deadline) if look is None else begin(connection, deadline, look)
            except BaseException as error:
                pool.give(connection, broken=not self._rollback(connection))
                if new or not isinstance(error, StoreUnavailable):
                    raise
                with suppress(StoreError):
                    pool.rest()  # the others died with it
                fresh = True


class Block(Generic[C, T]):
    """One transaction, for a `with` statement: committed at its end, rolled back on an exception."""

    __slots__ = ("_begin", "_connection", "_look", "_pool", "_process", "_store", "_transaction", "_writes")

    def __init__(
        self, store: BaseStore[C, T], pool: Pool[C], begin: Callable[..., T], *, writes: bool, look: str | None = None
    ) -> None:
        self._store, self._pool, self._begin, self._writes, self._look = store, pool, begin, writes, look

    def __enter__(self) -> T:
        store = self._store
        self._process = process = here[0]
        memory = store._memory  # from before the snapshot of a reader, which sees all that was remembered
        if self._writes:
            if getattr(store._turn, "process", None) == process:
                raise StoreMisused("a write inside a write: the outer block must end first")
            store._turn.process = process
        try:
            self._connection, self._transaction = store._begin(self._pool, self._begin, self._look)
        except BaseException:
            if self._writes:
                store._turn.process = None
            raise
        self._transaction.recalled = store._memory if self._writes else memory
        self._transaction.notes = store._notes
        if self._writes:
            if self._transaction.alone:
                self._transaction.known = dict(store._known)
            store._known = {}  # until it has ended well
        return self._transaction

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        store, transaction, connection = self._store, self._transaction, self._connection
        broken = True
        try:
            try:
                if error is not None:
                    return
                if self._process != here[0]:
                    raise StoreMisused("the process forked inside a transaction; it belongs to the parent")
                if transaction.failure is not None:
                    raise transaction.failure
                transaction.end()
                if self._writes:
                    store._commit(connection)
                else:
                    store._leave(connection)
                broken = False
                if self._writes and not transaction.changed:
                    store._known = transaction.known
                if transaction.remembered:
                    store._remember(transaction, writes=self._writes)
                for name, more in transaction.fresh_notes.items():
                    store._notes.setdefault(name, {}).update(more)
            finally:
                if broken and self._process == here[0]:
                    transaction.end()
                    broken = not store._rollback(connection)
                elif broken:
                    transaction.abandon()
        finally:
            self._pool.give(connection, broken=broken)
            if self._writes:
                store._turn.process = None
