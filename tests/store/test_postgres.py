"""PostgreSQL alone: a server that is misconfigured, hangs, dies and comes back."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import psycopg
import pytest

from remit.store import StoreBusy, StoreError, StoreMisconfigured, StoreUnavailable, open_store
from remit.store.postgres import PostgresStore
from remit.store.postgres_link import translate
from tests.postgres import Postgres, running
from tests.store.place import Place, code_of, count_up, counted, hear, names, put


@pytest.fixture
def place(postgres_place: Place) -> Place:
    return postgres_place


class Own:
    """A server that a test may mistreat."""

    def __init__(self, server: Postgres) -> None:
        self.server = server
        self._postmaster = server._server

    def pids(self) -> list[int]:
        process = self._postmaster.get_postmaster_info().process
        assert process is not None
        return [process.pid, *(child.pid for child in process.children(recursive=True))]

    def kill(self) -> None:
        """At once, as when the machine loses power; the disk keeps what it was told to keep."""
        pids = self.pids()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        deadline = time.monotonic() + 20
        while any(map(alive, pids)):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def start(self) -> None:
        # Of a process that is dead, as `kill` has seen; where nobody reaps zombies, the server would take it for alive.
        for name in ("postmaster.pid", ".s.PGSQL.5432.lock"):
            (self._postmaster.pgdata / name).unlink()
        self._postmaster.ensure_postgres_running()

    def send(self, number: signal.Signals) -> None:
        for pid in self.pids():
            os.kill(pid, number)


def alive(pid: int) -> bool:
    """Neither gone nor a zombie."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def own(state: Path) -> Iterator[Own]:
    with running(durable=True) as server:
        yield Own(server)


def test_a_server_that_is_killed_and_comes_back(own: Own, state: Path):
    store = open_store(own.server.uri, state, timeout=2)
    for _ in range(3):
        count_up(store, "before")
    counted(store)
    own.kill()
    for act in (lambda: count_up(store, "x"), lambda: counted(store), lambda: open_store(own.server.uri, state)):
        with pytest.raises(StoreUnavailable):
            act()
    own.start()
    assert counted(store) == [(n, "before") for n in range(3)]
    count_up(store, "after")
    assert len(counted(store)) == 4

    # Once more, inside a transaction: nothing of it is kept.
    def block() -> None:
        with store.write() as transaction:
            transaction.run("INSERT INTO meta (name) VALUES ('lost')")
            own.kill()
            transaction.run("INSERT INTO meta (name) VALUES ('lost too')")

    assert code_of(block) == "store-unavailable"
    own.start()
    assert names(store) == []

    # And right before the commit: the caller is told that it can't know.
    with pytest.raises(StoreUnavailable) as caught, store.write() as transaction:  # noqa: PT012 (the end of it raises)
        transaction.run("INSERT INTO meta (name) VALUES ('perhaps')")
        own.kill()
    assert caught.value.uncertain
    own.start()
    assert names(store) == []
    put(store, "a")
    store.close()


@pytest.mark.more  # waits for three time limits
def test_a_server_that_hangs(own: Own, state: Path):
    store = open_store(own.server.uri, state, timeout=1)
    put(store, "a")
    names(store)
    own.send(signal.SIGSTOP)
    try:
        for act in (lambda: put(store, "b"), lambda: names(store), lambda: PostgresStore(own.server.uri, timeout=1)):
            assert code_of(act) == "store-unavailable"  # or it would wait for ever
    finally:
        own.send(signal.SIGCONT)
    put(store, "c")
    assert names(store) == ["a", "c"]
    store.close()


def test_a_statement_that_takes_too_long(place: Place):
    store = place.open(timeout=2)
    with pytest.raises(StoreBusy), store.read() as transaction:
        transaction.row("SELECT 1 FROM pg_sleep(?)", 3600)
    assert names(store) == []


@pytest.mark.more  # takes longer than a time limit
def test_many_small_statements_may_take_longer_than_one(place: Place):
    store = place.open(timeout=2)
    with store.write() as transaction:
        transaction.run_many("INSERT INTO meta (name) VALUES (?)", slowly(30))
    assert len(names(store)) == 30


def slowly(count: int) -> Iterator[tuple[str]]:
    for number in range(count):
        time.sleep(0.08)
        yield (str(number),)


def test_a_connection_that_an_administrator_ends(postgres: Postgres, place: Place):
    store = place.open()
    put(store, "a")
    names(store)
    with postgres.connect(autocommit=True) as connection:
        ended = connection.execute(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'remit'"
        ).fetchone()
    assert ended == (2,)
    assert names(store) == ["a"]
    put(store, "b")


@pytest.mark.parametrize(("name", "value"), [("synchronous_commit", "off")])
def test_a_server_that_does_not_wait_for_its_disk(postgres: Postgres, place: Place, name: str, value: str):
    with postgres.connect(autocommit=True) as connection:
        connection.execute(f"ALTER ROLE postgres SET {name} = {value}".encode())
        try:
            with pytest.raises(StoreMisconfigured, match=name):
                place.open()
        finally:
            connection.execute(f"ALTER ROLE postgres RESET {name}".encode())
    place.open()


def test_a_server_without_fsync(state: Path):
    with running() as server, pytest.raises(StoreMisconfigured, match="fsync"):
        open_store(server.uri, state)


def test_it_shares_a_database_and_keeps_to_its_schema(postgres: Postgres, place: Place):
    with postgres.connect(autocommit=True) as connection:
        connection.execute("CREATE TABLE public.meta (theirs INTEGER)")
        try:
            store = place.open()
            put(store, "a")
            found = connection.execute("SELECT count(*) FROM public.meta").fetchone()
            assert found == (0,)
            tables = connection.execute("SELECT DISTINCT schemaname FROM pg_tables WHERE tablename = 'leaf'").fetchall()
            assert tables == [("remit",)]
        finally:
            connection.execute("DROP TABLE public.meta")


def test_a_role_that_may_only_add(postgres: Postgres, place: Place):
    place.open().close()
    with postgres.connect(autocommit=True) as connection:
        connection.execute("CREATE ROLE narrow LOGIN")
        try:
            connection.execute("GRANT USAGE ON SCHEMA remit TO narrow")
            connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA remit TO narrow")
            connection.execute("GRANT INSERT ON remit.leaf TO narrow")
            connection.execute("GRANT UPDATE ON remit.writer, remit.head TO narrow")
            store = open_store(place.url.replace("postgres:@", "narrow:@"), place.state)
            count_up(store, "a")
            assert counted(store) == [(0, "a")]
            assert code_of(lambda: put(store, "b")) == "store-misconfigured"
            store.close()
        finally:
            connection.execute("DROP OWNED BY narrow")
            connection.execute("DROP ROLE narrow")


def test_tables_that_vanish(postgres: Postgres, place: Place):
    store = place.open()
    with postgres.connect(autocommit=True) as connection:
        connection.execute("DELETE FROM remit.writer")
        assert code_of(lambda: put(store, "a")) == "store-corrupt"
        connection.execute("DROP SCHEMA remit CASCADE")
        assert code_of(lambda: put(store, "a")) == "store-corrupt"


def test_nobody_can_empty_the_ledger(postgres: Postgres, place: Place):
    store = place.open()
    count_up(store, "a")
    with postgres.connect(autocommit=True) as connection, pytest.raises(psycopg.Error, match="only be added to"):
        connection.execute("TRUNCATE remit.leaf")


def test_a_writer_that_stops_half_way_loses_its_turn(place: Place, monkeypatch: pytest.MonkeyPatch):
    store = place.open(timeout=2)
    holder = place.worker("hold")
    assert hear(holder) == "held"
    with pytest.raises(StoreBusy):
        put(store, "a")
    with store.read() as transaction:
        limits = transaction.rows("SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'")
    assert limits == [("0",)]  # a reader may take its time
    holder.kill()
    holder.wait()
    with store.write() as transaction:
        limits = transaction.rows("SELECT setting FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'")
        assert limits == [("10000",)]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/d", "store-unavailable"),
        ("postgresql://u:hunter2@/d?host=/nowhere", "store-unavailable"),
        ("postgresql://u:hunter2@nowhere.invalid/d", "store-unavailable"),
        ("postgresql://u:hun/hunter2@h/d", "store-misconfigured"),
        ("postgresql://u:hunter2@h:port/d", "store-misconfigured"),
        ("postgresql://u:p@h/d?hunter2", "store-misconfigured"),
        ("postgresql://u:12/hunter2@h/d", "store-misconfigured"),
        ("postgresql://u:12?hunter2@nowhere.invalid/d", "store-unavailable"),
        ("postgresql://[hunter2", "store-misconfigured"),
    ],
)
def test_no_password_is_shown(state: Path, url: str, code: str):
    with pytest.raises(StoreError) as caught:
        open_store(url, state, timeout=1)
    assert caught.value.code == code
    assert "hunter2" not in f"{caught.value} {caught.value.help}"


def test_a_database_or_role_that_is_not_there(postgres: Postgres, state: Path):
    assert code_of(lambda: open_store(postgres.uri_of("nothing"), state)) == "store-misconfigured"
    assert code_of(lambda: open_store(postgres.uri.replace("postgres:@", "nobody:@"), state)) == "store-misconfigured"


def test_a_description_has_no_password(postgres: Postgres, place: Place):
    store = open_store(place.url.replace("postgres:@", "postgres:hunter2@"), place.state)
    assert "hunter2" not in store.describe()
    assert store.describe().endswith(", postgres, schema remit")
    store.close()


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (psycopg.errors.DiskFull("x"), "store-full"),
        (psycopg.errors.IoError("x"), "store-full"),
        (psycopg.errors.ReadOnlySqlTransaction("x"), "store-full"),
        (psycopg.errors.DataCorrupted("x"), "store-corrupt"),
        (psycopg.errors.IndexCorrupted("x"), "store-corrupt"),
        (psycopg.errors.LockNotAvailable("x"), "store-busy"),
        (psycopg.errors.DeadlockDetected("x"), "store-busy"),
        (psycopg.errors.TooManyConnections("x"), "store-unavailable"),
        (psycopg.errors.AdminShutdown("x"), "store-unavailable"),
        (psycopg.errors.InsufficientPrivilege("x"), "store-misconfigured"),
        (psycopg.errors.UniqueViolation("x"), "store-refused"),
        (psycopg.OperationalError("x"), "store-unavailable"),
        (psycopg.InterfaceError("x"), "store-unavailable"),
        (psycopg.ProgrammingError("x"), "store-misused"),
    ],
)
def test_errors_have_a_meaning(error: psycopg.Error, code: str):
    assert translate(error).code == code
