"""State in one SQLite file: for one machine, any number of processes and threads.

Every commit is on the disk when `write` returns (WAL, synchronous=FULL).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from remit.store.base import BaseStore
from remit.store.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreMisconfigured,
    StoreMisused,
    StoreRefused,
    StoreUnavailable,
)
from remit.store.interface import TIMEOUT
from remit.store.pool import Pool
from remit.store.query import Query
from remit.store.sqlite_files import Files, Identity
from remit.store.transaction import BaseTransaction

APPLICATION = 0x52_4D_49_54
"""`RMIT`, in the header of the file: the database is one of ours."""

OLDEST = (3, 37, 0)
"""The first SQLite with STRICT tables."""

SETTINGS = {
    "synchronous": "FULL",
    "fullfsync": "ON",  # macOS, where a plain fsync leaves data in the drive's cache; nothing elsewhere
    "checkpoint_fullfsync": "ON",
    "foreign_keys": "ON",
    "trusted_schema": "OFF",
    "recursive_triggers": "ON",  # otherwise INSERT OR REPLACE deletes without asking the triggers
    "secure_delete": "ON",  # what is erased is overwritten
    "cell_size_check": "ON",
}

_KINDS: dict[int, type[StoreError]] = {
    sqlite3.SQLITE_BUSY: StoreBusy,
    sqlite3.SQLITE_LOCKED: StoreBusy,
    sqlite3.SQLITE_PROTOCOL: StoreBusy,
    sqlite3.SQLITE_FULL: StoreFull,
    sqlite3.SQLITE_IOERR: StoreFull,
    sqlite3.SQLITE_READONLY: StoreFull,
    sqlite3.SQLITE_CORRUPT: StoreCorrupt,
    sqlite3.SQLITE_NOTADB: StoreCorrupt,
    sqlite3.SQLITE_FORMAT: StoreCorrupt,
    sqlite3.SQLITE_CANTOPEN: StoreUnavailable,
    sqlite3.SQLITE_PERM: StoreUnavailable,
    sqlite3.SQLITE_AUTH: StoreUnavailable,
    sqlite3.SQLITE_NOMEM: StoreUnavailable,
    sqlite3.SQLITE_INTERRUPT: StoreUnavailable,
    sqlite3.SQLITE_CONSTRAINT: StoreRefused,
}
TICK = 50_000_000
"""Nanoseconds: two changes of a directory that lie further apart have different times on every file system."""
LOG_HEADER, FRAME_HEADER = 32, 24
"""Bytes of the log before its first frame, and of a frame before its page."""
LOOKS = 3
_SAME_VERSION = "SELECT (SELECT count(*) FROM migration) = (SELECT user_version FROM pragma_user_version)"
_USABLE = (StoreRefused, StoreMisused, StoreBusy)
"""After these a connection is as good as before."""
_FOREIGN = (sqlite3.Error, sqlite3.Warning)

R = TypeVar("R")


class Link:
    """A connection, and the files it had open at first."""

    def __init__(self, connection: sqlite3.Connection, files: tuple[Identity | None, ...]) -> None:
        self.connection = connection
        self.files = files
        self.place: tuple[int, ...] | None = None
        """The directory, as it was when these files were last found in it, if another change would show."""
        self.logged = 0
        """How long the log was when this connection had last written."""
        self.spoilt = False
        self.version: int | None = None
        """Which changes others had made when it last wrote."""


class SqliteTransaction(BaseTransaction):
    """Statements between BEGIN and COMMIT."""

    foreign = _FOREIGN

    def __init__(self, link: Link, *, writes: bool) -> None:
        super().__init__()
        self._link = link
        self._writes = writes

    def _cursor(self, query: Query, values: tuple[Any, ...]) -> sqlite3.Cursor:
        return self._link.connection.execute(query.text, values)

    _stream = _cursor

    def _many(self, query: Query, rows: Iterable[tuple[Any, ...]]) -> int:
        return self._link.connection.executemany(query.text, rows).rowcount

    def _translate(self, error: BaseException) -> StoreError:
        if not self._writes and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY:
            return StoreMisused("a write in a transaction that only reads")
        found = translate(error)
        if not isinstance(found, _USABLE):
            self._link.spoilt = True
        return found

    def script(self, text: str) -> None:
        """Not `executescript`, which would commit first."""
        self.changed, self.known = True, {}
        with self.guarded():
            part = ""
            for line in text.splitlines(keepends=True):
                part += line
                if sqlite3.complete_statement(part):
                    self._link.connection.execute(part)
                    part = ""
            if part.strip():
                raise StoreMisused("a script that ends inside a statement")


class SqliteStore(BaseStore[Link, SqliteTransaction]):
    """A database file, made if it is not there. Its directory must be private."""

    kind = "sqlite"

    def __init__(self, path: Path, *, timeout: float = TIMEOUT) -> None:
        super().__init__(timeout)
        if sqlite3.sqlite_version_info < OLDEST:
            raise StoreMisconfigured(f"SQLite {sqlite3.sqlite_version} is too old; 3.37 or newer is needed")
        self._files = Files(path)
        self._watched = 0
        self._watchers = Pool(1, open=self._open_reader, close=self._close, inherited=self._inherited)
        deadline = time.monotonic() + timeout
        try:
            with self._files.opening(deadline) as alone:
                crashed = alone and self._files.left_behind()
                link, _ = self._writers.take(deadline)
                broken = True
                try:
                    if crashed:
                        _examine(link.connection, path)
                    broken = False
                finally:
                    self._writers.give(link, broken=broken)
        except BaseException:
            self.close()
            raise

    def describe(self) -> str:
        return f"SQLite in {self._files.path}"

    def version(self) -> int:
        """Of a connection that never writes: SQLite tells it what others did."""
        watch, new = self._watchers.take(time.monotonic() + self.timeout)
        self._watched += new  # the numbers of two connections say nothing about each other
        broken = True
        try:
            found = int(watch.connection.execute("PRAGMA data_version").fetchone()[0])
            broken = False
        except _FOREIGN as error:
            raise translate(error) from error
        finally:
            self._watchers.give(watch, broken=broken)
        return (self._watched << 40) + found

    def size(self) -> int | None:
        found = 0
        for path in (self._files.path, self._files.log):
            with suppress(OSError):
                found += path.stat().st_size
        return found

    def settle(self, *, shrink: bool = False) -> list[str]:
        """Moves the log into the database and empties it. Deleted rows are zeroes there (`secure_delete`)."""
        deadline = time.monotonic() + self.timeout
        link, _ = self._writers.take(deadline)
        broken = True
        try:
            if shrink:
                self._execute(link, "VACUUM", deadline)
            while True:
                busy = link.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
                if not busy or time.monotonic() >= deadline:
                    break
                time.sleep(0.01)
            broken = False
        except _FOREIGN as error:
            raise translate(error) from error
        finally:
            self._writers.give(link, broken=broken)
        if busy:
            return [f"`{self._files.log}`: another process reads from it; stop it, or do this again later"]
        return []

    def close(self) -> None:
        super().close()
        self._watchers.shut()
        self._files.release()

    def _inherited(self) -> None:
        self._files.inherit()

    def _open_writer(self, deadline: float) -> Link:
        return self._open(deadline)

    def _open_reader(self, deadline: float) -> Link:
        link = self._open(deadline)
        link.connection.execute("PRAGMA query_only = ON")
        return link

    def _open(self, deadline: float) -> Link:
        self._files.check()
        uri = f"{self._files.path.as_uri()}?mode=rw"
        connection = None
        try:
            # No waiting inside SQLite: its pauses grow so long that others always get in between.
            connection = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None, check_same_thread=False)
            self._prepare(connection, deadline)
            files = self._files.identities()
            if None in files or files[0] != self._files.identity:
                raise StoreCorrupt(f"the files of `{self._files.path}` changed while they were opened")
            return Link(connection, files)
        except BaseException as error:
            if connection is not None:
                with suppress(*_FOREIGN):
                    connection.close()
            if isinstance(error, _FOREIGN):
                raise translate(error) from error
            raise

    def _prepare(self, connection: sqlite3.Connection, deadline: float) -> None:
        """Settings, and the cheap checks: a database, ours, with a log."""

        def ask(sql: str) -> Any:
            found = patiently(lambda: connection.execute(sql).fetchone(), deadline)
            return found[0] if found else None

        application = ask("PRAGMA application_id")
        if application == 0 and not ask("SELECT count(*) FROM sqlite_master") and not ask("PRAGMA user_version"):
            ask(f"PRAGMA application_id = {APPLICATION}")
        elif application != APPLICATION:
            raise StoreCorrupt(f"`{self._files.path}` is a database of another program")
        elif ask("SELECT count(*) FROM sqlite_master WHERE name = 'migration'") and not ask(_SAME_VERSION):
            raise StoreCorrupt(f"the header of `{self._files.path}` tells another version than its tables")
        for name, value in SETTINGS.items():
            ask(f"PRAGMA {name} = {value}")
        if ask("PRAGMA journal_mode = WAL") != "wal":
            raise StoreMisconfigured(f"SQLite can't keep a write-ahead log beside `{self._files.path}`")
        if ask("PRAGMA synchronous") != 2:
            raise StoreMisconfigured("SQLite does not wait for the disk (synchronous)")
        ask("SELECT count(*) FROM sqlite_master")  # opens the log

    def _close(self, connection: Link) -> None:
        with suppress(*_FOREIGN):
            connection.connection.close()

    def _begin_write(self, connection: Link, deadline: float, look: str | None = None) -> SqliteTransaction:
        self._check_place(connection)
        self._check_log(connection, deadline)
        self._execute(connection, "BEGIN IMMEDIATE", deadline)
        transaction = SqliteTransaction(connection, writes=True)
        version = connection.connection.execute("PRAGMA data_version").fetchone()[0]
        transaction.alone, connection.version = version == connection.version, version
        return transaction  # which looks for itself: there is no way to the server to be saved

    _begin_migration = _begin_write

    def _begin_read(self, connection: Link, deadline: float) -> SqliteTransaction:
        self._check_files(connection)
        self._execute(connection, "BEGIN", deadline)
        self._execute(connection, "SELECT 1 FROM sqlite_master LIMIT 1", deadline)  # the snapshot is of now
        return SqliteTransaction(connection, writes=False)

    def _commit(self, connection: Link) -> None:
        try:
            connection.connection.execute("COMMIT")
        except _FOREIGN as error:
            connection.spoilt = True
            failure = translate(error)
            failure.uncertain = True
            raise failure from error
        connection.logged = self._files.log_size()
        try:
            self._check_place(connection)
        except StoreError as error:
            error.uncertain = True
            raise

    def _leave(self, connection: Link) -> None:
        try:
            connection.connection.execute("COMMIT")
        except _FOREIGN as error:
            connection.spoilt = True
            raise translate(error) from error

    def _rollback(self, connection: Link) -> bool:
        try:
            if connection.connection.in_transaction:
                connection.connection.execute("ROLLBACK")
        except _FOREIGN:
            return False
        return not connection.spoilt

    def _execute(self, link: Link, sql: str, deadline: float) -> None:
        try:
            try:
                link.connection.execute(sql)
            except sqlite3.OperationalError:
                patiently(lambda: link.connection.execute(sql).fetchone(), deadline)
        except _FOREIGN as error:
            failure = translate(error)
            link.spoilt = not isinstance(failure, StoreBusy)
            raise failure from error

    def _check_place(self, link: Link) -> None:
        """The same, but as long as no name in the directory changes, the files under them are those that they were."""
        place = self._files.place()
        if place is None or place != link.place:
            self._check_files(link)
            link.place = place if place is not None and time.time_ns() - place[-1] > TICK else None

    def _check_log(self, link: Link, deadline: float) -> None:
        """A log that was cut must not be written to: SQLite would go on from memory, with zeroes where it was cut.

        A log also gets shorter when somebody empties it (`settle`), but of that SQLite knows. Raises StoreCorrupt.
        """
        looks = 0
        while self._files.log_size() < link.logged:
            try:
                _, frames, _ = link.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                page = link.connection.execute("PRAGMA page_size").fetchone()[0]
            except _FOREIGN:
                frames, looks = -1, LOOKS
            if frames < 0 and looks < LOOKS and time.monotonic() < deadline:  # another moves the log just now
                time.sleep(0.005)
                continue
            size = self._files.log_size()
            if frames == 0 or (frames > 0 and size >= LOG_HEADER + frames * (FRAME_HEADER + page)):
                link.logged = size
                return
            looks += 1  # others may have emptied it, or written, between the two questions
            if looks >= LOOKS:
                link.spoilt = True
                raise StoreCorrupt(f"`{self._files.log}` was cut while it was in use")

    def _check_files(self, link: Link) -> None:
        """What a connection writes to must still be what others find under the names."""
        now = self._files.identities()
        if now == link.files:
            return
        link.spoilt = True
        if now[0] is None:
            raise StoreUnavailable(f"`{self._files.path}` is gone")
        raise StoreCorrupt(f"`{self._files.path}`, or its log, was replaced by another file while it was in use")


def patiently(act: Callable[[], R], deadline: float) -> R:
    """Tries until the deadline, as long as another process has the lock."""
    pause = 0.0005
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            busy = getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 1.5, 0.005)


def translate(error: BaseException) -> StoreError:
    """What an error of SQLite means to those who know nothing of SQLite."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        # Without a code it is Python's part that failed: on our arguments, or on a text that is no text.
        kind: type[StoreError] = StoreCorrupt if isinstance(error, sqlite3.OperationalError) else StoreMisused
    elif code in (sqlite3.SQLITE_IOERR_CORRUPTFS, sqlite3.SQLITE_IOERR_DATA):
        kind = StoreCorrupt
    else:
        kind = _KINDS.get(code & 0xFF, StoreMisused)
    help = "the disk is full, read-only or failing" if kind is StoreFull else None
    return kind(f"SQLite: {error}", help=help)


def _examine(connection: sqlite3.Connection, path: Path) -> None:
    try:
        found = [str(row[0]) for row in connection.execute("PRAGMA quick_check(1)")]
    except _FOREIGN as error:
        raise translate(error) from error
    if found != ["ok"]:
        raise StoreCorrupt(
            f"`{path}` is damaged: {found[0] if found else 'no answer'}",
            help="restore it from a backup, or move it away to start again",
        )
