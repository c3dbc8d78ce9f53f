"""State in PostgreSQL: for several machines. Needs `pip install remit[postgres]`.

Everything is in a schema of its own, `remit`, so the database may be shared. Writers take turns by the lock on the one
row of `writer`; the connection must keep its session, so a pooler between must not pool by transaction.
"""

from __future__ import annotations

import itertools
import re
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from remit.store.base import BaseStore
from remit.store.errors import StoreCorrupt, StoreError, StoreMisconfigured, StoreMisused
from remit.store.interface import TIMEOUT
from remit.store.postgres_link import Link, connect, translate, usable
from remit.store.query import Query, read_query
from remit.store.transaction import BaseTransaction

SCHEMA = "remit"
MIGRATING = 0x72656D6974
"""The advisory lock that is held while tables change, since at first there is no table to lock."""

# A commit that was confirmed must survive a crash of the server.
REQUIRED = {"synchronous_commit": {"on", "local", "remote_write", "remote_apply"}, "fsync": {"on"}}
ENCODING = {"server_encoding": {"UTF8"}}

_FOREIGN = (psycopg.Error, psycopg.Warning)


class PostgresTransaction(BaseTransaction):
    """Statements between BEGIN and COMMIT."""

    foreign = _FOREIGN
    clock = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

    def __init__(self, link: Link, *, writes: bool) -> None:
        super().__init__()
        self._link = link
        self._writes = writes
        self._names = itertools.count(1)

    def _cursor(self, query: Query, values: tuple[Any, ...]) -> psycopg.Cursor[tuple[Any, ...]]:
        return self._link.execute(query.numbered.encode(), values)

    def _stream(self, query: Query, values: tuple[Any, ...]) -> Any:
        cursor = self._link.cursor(name=f"remit_{next(self._names)}")
        try:
            return cursor.execute(query.numbered.encode(), values)
        except BaseException:
            with suppress(*_FOREIGN):
                cursor.close()
            raise

    def _many(self, query: Query, rows: Iterable[tuple[Any, ...]]) -> int:
        with self._link.cursor() as cursor:
            cursor.executemany(query.numbered.encode(), rows)
            return cursor.rowcount

    def _together(self, statements: Sequence[tuple[Query, Sequence[tuple[Any, ...]]]]) -> int:
        """In one round trip."""
        last = None
        with self._link.pipeline():
            for query, rows in statements:
                for row in rows:
                    last = self._link.execute(query.numbered.encode(), row, prepare=True)
        return last.rowcount if last is not None else 0

    def _translate(self, error: BaseException) -> StoreError:
        if not self._writes and getattr(error, "sqlstate", None) == "25006":
            return StoreMisused("a write in a transaction that only reads")
        return translate(error)

    def script(self, text: str) -> None:
        with self.guarded():
            self._link.execute(text.encode(), prepare=False)


class PostgresStore(BaseStore[Link, PostgresTransaction]):
    """A schema in a database. The server must be there, and wait for its disk before it confirms a commit."""

    kind = "postgres"

    def __init__(self, url: str, *, timeout: float = TIMEOUT) -> None:
        super().__init__(timeout)
        self._conninfo, self._told = _read(url)
        deadline = time.monotonic() + timeout
        link, _ = self._readers.take(deadline)
        self._readers.give(link, broken=False)

    def describe(self) -> str:
        host = self._told.get("host") or self._told.get("hostaddr") or "the default host"
        port = f":{self._told['port']}" if self._told.get("port") else ""
        database = self._told.get("dbname") or "the default database"
        return f"PostgreSQL at {host}{port}, {database}, schema {SCHEMA}"

    def size(self) -> int | None:
        with self.read() as view:
            row = view.row(
                "SELECT sum(pg_total_relation_size(c.oid)) FROM pg_class c WHERE c.relkind = 'r'"
                " AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ?)",
                SCHEMA,
            )
        return int(row[0]) if row is not None and row[0] is not None else None

    def settle(self, *, shrink: bool = False) -> list[str]:
        """Vacuums the tables, and has the server write them to their files if its role may. What the server keeps of
        its past is beyond this."""
        held = ["the server's write-ahead log, also in segments that it will use again; its archive, and replicas"]
        link, _ = self._writers.take(time.monotonic() + self.timeout)
        broken = True
        try:
            link.execute(b"SET statement_timeout = 0", prepare=False)
            for table in ("leaf", "secret", "sealed", "checkpoint"):
                link.execute(f"VACUUM {'FULL ' if shrink else ''}{table}".encode(), prepare=False)
            try:
                link.execute(b"CHECKPOINT", prepare=False)
            except psycopg.errors.InsufficientPrivilege:
                held.append("the tables' files, until the server's next checkpoint (the role may not ask for one)")
            link.execute(f"SET statement_timeout = {round(self.timeout * 1000)}".encode(), prepare=False)
            broken = False
        except _FOREIGN as error:
            raise translate(error) from error
        finally:
            self._writers.give(link, broken=broken)
        return held if shrink else [*held, "free space in the tables' files, until `VACUUM FULL` or until it is reused"]

    def _open_writer(self, deadline: float) -> Link:
        # A writer that stops half-way must not hold the lock for ever.
        idle = round(max(10.0, 4 * self.timeout) * 1000)
        return self._open(deadline, f"SET idle_in_transaction_session_timeout = {idle}")

    def _open_reader(self, deadline: float) -> Link:
        return self._open(deadline)

    def _open(self, deadline: float, *more: str) -> Link:
        link = connect(self._conninfo, timeout=self.timeout, deadline=deadline)
        limit = round(self.timeout * 1000)
        settings = [
            f"SET search_path TO {SCHEMA}, pg_temp",
            f"SET statement_timeout = {limit}",
            f"SET lock_timeout = {limit}",
            "SET standard_conforming_strings = on",
            *more,
        ]
        try:
            link.execute("; ".join(settings).encode(), prepare=False)
            _check_settings(link)
        except BaseException as error:
            self._close(link)
            if isinstance(error, _FOREIGN):
                raise translate(error) from error
            raise
        return link

    def _close(self, connection: Link) -> None:
        with suppress(*_FOREIGN):
            connection.close()

    def _begin_write(self, connection: Link, deadline: float, look: str | None = None) -> PostgresTransaction:
        # Each statement sees what was committed before it: the look sees what the writer before has done.
        more = (read_query(look).numbered,) if look is not None else ()
        lock, *looked = self._execute(connection, "BEGIN", _limit(deadline), "SELECT one FROM writer FOR UPDATE", *more)
        if lock is None:
            raise StoreCorrupt(f"the row that writers lock is missing: {SCHEMA}.writer")
        transaction = PostgresTransaction(connection, writes=True)
        transaction.looked = looked[0] if looked else None
        return transaction

    def _begin_migration(self, connection: Link, deadline: float) -> PostgresTransaction:
        self._execute(connection, "BEGIN", _limit(deadline), f"SELECT pg_advisory_xact_lock({MIGRATING})")
        return PostgresTransaction(connection, writes=True)

    def _begin_read(self, connection: Link, deadline: float) -> PostgresTransaction:
        # The snapshot is taken by the first statement.
        self._execute(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "SELECT 1")
        return PostgresTransaction(connection, writes=False)

    def _execute(self, link: Link, *statements: str) -> list[tuple[Any, ...] | None]:
        """In one round trip; the first row of each answer that could have one."""
        try:
            cursor = link.execute("; ".join(statements).encode(), prepare=False)
            found = []
            while True:
                if cursor.description is not None:
                    found.append(cursor.fetchone())
                if not cursor.nextset():
                    return found
        except _FOREIGN as error:
            if getattr(error, "sqlstate", None) in ("42P01", "3F000"):
                raise StoreCorrupt(f"the tables of schema {SCHEMA} are not there") from error
            raise translate(error) from error

    def _commit(self, connection: Link) -> None:
        try:
            status = connection.execute("COMMIT").statusmessage
        except _FOREIGN as error:
            failure = translate(error)
            failure.uncertain = True
            raise failure from error
        if status != "COMMIT":  # the server answers ROLLBACK if a statement had failed
            raise StoreMisused("nothing was saved, since a statement had failed")

    def _rollback(self, connection: Link) -> bool:
        try:
            if not usable(connection):
                connection.execute("ROLLBACK")
        except _FOREIGN:
            return False
        return usable(connection)


def _read(url: str) -> tuple[str, dict[str, Any]]:
    """What a URL says. Neither it nor the driver's message is shown: what is wrong may be a part of the password."""
    try:
        told = conninfo_to_dict(url)
        conninfo = make_conninfo(url)
    except psycopg.Error:
        told, conninfo = {"port": "unreadable"}, ""
    # A password with a `/` or `?` that was not escaped ends up in the port and in the name of the database.
    if not re.fullmatch(r"[0-9,]*", str(told.get("port") or "")) or "@" in str(told.get("dbname") or ""):
        raise StoreMisconfigured(
            "not a URL that PostgreSQL understands",
            help="`postgresql://USER@HOST:PORT/DATABASE`, with %XX for special characters",
        )
    return conninfo, told


def _limit(deadline: float) -> str:
    """Waiting for the lock ends with the deadline. Zero would mean for ever."""
    return f"SET LOCAL lock_timeout = {max(1, round((deadline - time.monotonic()) * 1000))}"


def _check_settings(link: Link) -> None:
    for name, good in (REQUIRED | ENCODING).items():
        row = link.execute(f"SHOW {name}".encode()).fetchone()
        if row is None or row[0] not in good:
            raise StoreMisconfigured(
                f"PostgreSQL has `{name}` = `{row[0] if row else ''}`",
                help=f"it must be {' or '.join(f'`{value}`' for value in sorted(good))}",
            )
