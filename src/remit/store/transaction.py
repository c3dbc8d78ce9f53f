"""What the transactions of both kinds of store have in common: checks before a statement, and one error after it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import Any, ClassVar

from remit.store.errors import StoreError, StoreMisused
from remit.store.interface import Value
from remit.store.process import here
from remit.store.query import Query, checked, read_query

_BATCH = 256
_MOST = 50
"""Things that are cached at a time."""


class BaseTransaction(ABC):
    """A transaction over a DB-API connection; a kind of store says how it runs a statement and what its errors mean."""

    foreign: ClassVar[tuple[type[BaseException], ...]]
    """What the driver raises."""
    clock: ClassVar[str | None] = None
    failure: StoreError | None = None
    looked: tuple[Any, ...] | None = None
    recalled: Mapping[str, Any] = MappingProxyType({})
    """What was remembered before it began."""
    notes: Mapping[str, dict[str, Any]] = MappingProxyType({})
    """What this process has noted before."""
    alone = False
    """Nobody else has written since the last transaction of this process that wrote."""
    changed = False
    """Something was changed that nobody who caches need know of."""
    _over = False

    def __init__(self) -> None:
        self._process = here[0]
        self._streams: list[Any] = []
        self.remembered: dict[str, Any] = {}
        self.fresh_notes: dict[str, dict[str, Any]] = {}
        self.local: dict[str, Any] = {}
        self.known: dict[tuple[str, ...], Any] = {}
        """What is cached."""

    @abstractmethod
    def _cursor(self, query: Query, values: tuple[Any, ...]) -> Any:
        """A cursor over the answer."""

    @abstractmethod
    def _stream(self, query: Query, values: tuple[Any, ...]) -> Any:
        """A cursor that doesn't hold the whole answer in memory."""

    @abstractmethod
    def _many(self, query: Query, rows: Iterable[tuple[Any, ...]]) -> int:
        """How many rows that changed."""

    @abstractmethod
    def _translate(self, error: BaseException) -> StoreError: ...

    def recall(self, name: str) -> Any:
        return self.remembered[name] if name in self.remembered else self.recalled.get(name)

    def remember(self, name: str, value: object) -> None:
        self.remembered[name] = value

    def cached(self, name: tuple[str, ...]) -> Any:
        return self.known.get(name)

    def cache(self, name: tuple[str, ...], value: object) -> None:
        if len(self.known) >= _MOST:
            self.known.clear()
        self.known[name] = value

    def uncache(self, kind: str) -> None:
        for name in [name for name in self.known if name[0] == kind]:
            del self.known[name]

    def noted(self, name: str, key: str) -> Any:
        if (fresh := self.fresh_notes.get(name)) is not None and key in fresh:
            return fresh[key]
        return self.notes[name].get(key) if name in self.notes else None

    def note(self, name: str, key: str, value: object) -> None:
        self.fresh_notes.setdefault(name, {})[key] = value

    def rows(self, sql: str, *args: Value) -> list[tuple[Any, ...]]:
        with self.guarded():
            query = read_query(sql)
            return list(self._cursor(query, checked(query, args)).fetchall())

    def row(self, sql: str, *args: Value) -> tuple[Any, ...] | None:
        with self.guarded():
            query = read_query(sql)
            cursor = self._cursor(query, checked(query, args))
            found: tuple[Any, ...] | None = cursor.fetchone()
            cursor.close()
            return found

    def run(self, sql: str, *args: Value) -> int:
        self.changed, self.known = True, {}
        with self.guarded():
            query = read_query(sql)
            return max(0, int(self._cursor(query, checked(query, args)).rowcount))

    def run_many(self, sql: str, rows: Iterable[tuple[Value, ...]]) -> None:
        self.changed, self.known = True, {}
        with self.guarded():
            query = read_query(sql)
            self._many(query, (checked(query, row) for row in rows))

    def run_together(self, *statements: tuple[str, Sequence[tuple[Value, ...]]]) -> int:
        self._check()
        try:
            return self._together([(read_query(sql), rows) for sql, rows in statements if rows])
        except BaseException as error:
            self._failed(error)
            raise

    def _together(self, statements: Sequence[tuple[Query, Sequence[tuple[Any, ...]]]]) -> int:
        """How many rows the last of the statements changed."""
        changed = 0
        for query, rows in statements:
            changed = self._cursor(query, rows[0]).rowcount if len(rows) == 1 else self._many(query, rows)
        return changed

    def each(self, sql: str, *args: Value) -> Iterator[tuple[Any, ...]]:
        with self.guarded():
            query = read_query(sql)
            cursor = self._stream(query, checked(query, args))
            self._streams.append(cursor)
        return self._rows_of(cursor)

    def _rows_of(self, cursor: Any) -> Iterator[tuple[Any, ...]]:
        while True:
            with self.guarded():
                batch = cursor.fetchmany(_BATCH)
            if not batch:
                return
            for row in batch:
                self._check()
                yield row

    def end(self) -> None:
        """No statement may follow; open streams are closed."""
        self._over = True
        if not self._streams:
            return
        for cursor in self._streams:
            with suppress(*self.foreign):
                cursor.close()
        self._streams.clear()

    def abandon(self) -> None:
        """As `end`, but touches nothing: the connection belongs to another process."""
        self._over = True
        self._streams.clear()

    def guarded(self) -> BaseTransaction:
        """For a `with` statement: the driver's errors become ours, and whatever went wrong ends the transaction."""
        return self

    def __enter__(self) -> None:
        self._check()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if error is not None:
            self._failed(error)

    def _failed(self, error: BaseException) -> None:
        """The transaction can only be rolled back; an error of the driver is raised as ours."""
        if isinstance(error, StoreError):
            self.failure = error
        elif isinstance(error, self.foreign):
            self.failure = self._translate(error)
            raise self.failure from error
        else:
            self.failure = StoreMisused("a statement was interrupted")

    def _check(self) -> None:
        if self._over:
            raise StoreMisused("the transaction is over")
        if self._process != here[0]:
            raise StoreMisused("the transaction belongs to the process that this one was forked from")
        if self.failure is not None:
            raise StoreMisused(f"the transaction has failed before: {self.failure}")
