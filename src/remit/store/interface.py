"""What a store is, whichever kind it is. `tests/store/acceptance.py` holds every kind to it.

SQL is the subset that SQLite and PostgreSQL share, with `?` for values: SELECT, INSERT, UPDATE, DELETE, WITH. Values
are text, bytes, integers of 64 bits and None; `sum` and `count` give integers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

Value: TypeAlias = int | str | bytes | None

TIMEOUT = 5.0
"""Seconds that anything waits, unless told otherwise when the store is opened."""


class Transaction(Protocol):
    """Statements that see one state, and take effect together or not at all.

    It is over when its block ends. Once a statement failed it can only be rolled back, also if the error was caught.
    """

    @property
    def clock(self) -> str | None:
        """SQL for the milliseconds since 1970 that the server's clock shows; None where there is no server."""

    @property
    def looked(self) -> tuple[Any, ...] | None:
        """The first row that the query given to `write` found; None if it was not asked yet."""

    def recall(self, name: str) -> Any:
        """What this process has remembered of the store, from before this transaction or in it; None if nothing."""

    def remember(self, name: str, value: object) -> None:
        """Remembers something of the store in this process, once the transaction has ended well."""

    @property
    def local(self) -> dict[str, Any]:
        """What those share who work within this transaction."""

    def cached(self, name: tuple[str, ...]) -> Any:
        """What this process knows of the store as it stands now; None if anybody has written since, or may have.

        For writers only. Every change but those of `run_together` ends it, whoever makes it.
        """

    def cache(self, name: tuple[str, ...], value: object) -> None:
        """Knows something of the store as this transaction will leave it."""

    def uncache(self, kind: str) -> None:
        """Knows nothing any more of what has names that begin so."""

    def noted(self, name: str, key: str) -> Any:
        """As `recall`, of one of many things; but a reader may find what was noted after its moment."""

    def note(self, name: str, key: str, value: object) -> None:
        """As `remember`, of one of many things."""

    def rows(self, sql: str, *args: Value) -> list[tuple[Any, ...]]:
        """All rows of an answer that is known to be small."""

    def row(self, sql: str, *args: Value) -> tuple[Any, ...] | None:
        """The first row, or None."""

    def each(self, sql: str, *args: Value) -> Iterator[tuple[Any, ...]]:
        """The rows one after the other, in flat memory."""

    def run(self, sql: str, *args: Value) -> int:
        """Does it, and tells how many rows changed."""

    def run_many(self, sql: str, rows: Iterable[tuple[Value, ...]]) -> None:
        """Does it once for each row of values."""

    def run_together(self, *statements: tuple[str, Sequence[tuple[Value, ...]]]) -> int:
        """The same with several statements, one after the other, in as few round trips as the store can.

        Tells how many rows the last one changed. What is cached stays: the caller keeps it right. For values that were
        checked when they were made: of these, every store keeps all bytes, whole numbers of 63 bits, and texts without
        a NUL.
        """


class Store(Protocol):
    """Keeps state. Threads may share one, processes open their own on the same state. All methods raise StoreError."""

    kind: str
    """`sqlite` or `postgres`."""

    def write(self, look: str | None = None) -> AbstractContextManager[Transaction]:
        """The one writer: nobody else writes meanwhile. Durable when the block ends, rolled back on an exception.

        `look` is a query without values. Where asking it at once saves a way to the server, its first row is in
        `looked`.
        """

    def read(self) -> AbstractContextManager[Transaction]:
        """The state at one moment, whoever writes meanwhile."""

    def keep_notes(self, name: str, notes: dict[str, Any]) -> None:
        """What is noted under this name is kept there."""

    def forget(self) -> None:
        """Drops what transactions have remembered and noted."""

    def version(self) -> int:
        """Another number once anybody has written, for little; -1 where only reading tells."""

    def size(self) -> int | None:
        """Bytes that it takes up; None where nobody can say."""

    def settle(self, *, shrink: bool = False) -> list[str]:
        """Overwrites what was deleted, wherever this store still holds it: its log, its free space.

        With `shrink` the space goes back to the disk. Gives what may still hold it, and why."""

    def close(self) -> None:
        """Gives back everything; the store can't be used afterwards."""

    def describe(self) -> str:
        """What and where it is, for people, without passwords."""


class Migration(Transaction, Protocol):
    """A transaction that may also change tables."""

    def script(self, text: str) -> None:
        """Runs statements of this kind of store, one after the other."""


class Migratable(Store, Protocol):
    """A store as `migrate` sees it."""

    def migration(self) -> AbstractContextManager[Migration]:
        """As `write`, and works before there are any tables."""
