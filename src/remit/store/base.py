"""What both kinds of store have in common: turns, connections, and how a transaction begins and ends."""

from __future__ import annotations

import math
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Generic, TypeVar

from remit.store.errors import StoreError, StoreMisconfigured, StoreMisused, StoreUnavailable
from remit.store.pool import Pool
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
    def _begin_write(self, connection: C, deadline: float) -> T: ...

    @abstractmethod
    def _begin_read(self, connection: C, deadline: float) -> T: ...

    @abstractmethod
    def _begin_migration(self, connection: C, deadline: float) -> T: ...

    @abstractmethod
    def _commit(self, connection: C) -> None:
        """Raises a StoreError, with `uncertain` where it may have been kept."""

    @abstractmethod
    def _rollback(self, connection: C) -> bool:
        """Never raises; false if the connection can't be used any more."""

    def _inherited(self) -> None:
        """Called in a forked child, if a connection was in use."""

    @contextmanager
    def write(self) -> Iterator[T]:
        with self._alone(), self._transaction(self._writers, self._begin_write) as transaction:
            yield transaction

    @contextmanager
    def migration(self) -> Iterator[T]:
        with self._alone(), self._transaction(self._writers, self._begin_migration) as transaction:
            yield transaction

    @contextmanager
    def read(self) -> Iterator[T]:
        with self._transaction(self._readers, self._begin_read) as transaction:
            yield transaction

    def version(self) -> int:
        """Another number once anybody has written; -1 where only reading tells."""
        return -1

    def close(self) -> None:
        self._readers.shut()
        self._writers.shut()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if getattr(self._turn, "process", None) == os.getpid():
            raise StoreMisused("a write inside a write: the outer block must end first")
        self._turn.process = os.getpid()
        try:
            yield
        finally:
            self._turn.process = None

    @contextmanager
    def _transaction(self, pool: Pool[C], begin: Callable[[C, float], T]) -> Iterator[T]:
        process = os.getpid()
        connection, transaction = self._begin(pool, begin)
        broken = True
        try:
            try:
                yield transaction
                if process != os.getpid():
                    raise StoreMisused("the process forked inside a transaction; it belongs to the parent")
                if transaction.failure is not None:
                    raise transaction.failure
                transaction.end()
                self._commit(connection)
                broken = False
            except BaseException:
                if process == os.getpid():
                    transaction.end()
                    broken = not self._rollback(connection)
                else:
                    transaction.abandon()
                raise
        finally:
            pool.give(connection, broken=broken)

    def _begin(self, pool: Pool[C], begin: Callable[[C, float], T]) -> tuple[C, T]:
        """Begins a transaction; where a connection turns out to be dead, on a new one."""
        deadline = time.monotonic() + self.timeout
        fresh = False
        while True:
            connection, new = pool.take(deadline, fresh=fresh)
            try:
                return connection, begin(connection, deadline)
            except BaseException as error:
                pool.give(connection, broken=not self._rollback(connection))
                if new or not isinstance(error, StoreUnavailable):
                    raise
                with suppress(StoreError):
                    pool.rest()  # the others died with it
                fresh = True
