"""Migrations: from every version to the newest, and what happens when a store and the code do not fit."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from remit.store import StoreCorrupt, StoreMisconfigured, StoreTooNew
from remit.store.interface import Migratable
from remit.store.migrate import Step, migrate, shipped, steps
from remit.store.postgres import PostgresStore
from remit.store.sqlite import SqliteStore
from tests.postgres import Postgres
from tests.store.place import Place, names, put

KINDS = ("sqlite", "postgres")
SECOND = "CREATE TABLE second (a INTEGER);\nINSERT INTO second (a) VALUES (1);\n"
NEWEST = max(step.number for step in steps("sqlite", shipped()))


@pytest.fixture(params=KINDS)
def place(request: pytest.FixtureRequest) -> Place:
    return request.getfixturevalue(f"{request.param}_place")


@pytest.fixture
def store(place: Place):
    """A store without any tables."""
    opened = unmigrated(place)
    yield opened
    opened.close()


def unmigrated(place: Place) -> Migratable:
    if place.url.startswith("sqlite"):
        return SqliteStore(place.state / "remit.db")
    return PostgresStore(place.url)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What is shipped, and one migration more."""
    return folder_of(tmp_path / "migrations", NEWEST, more=SECOND)


def folder_of(path: Path, newest: int, more: str | None = None) -> Path:
    path.mkdir()
    for kind in KINDS:
        for step in steps(kind, shipped()):
            if step.number <= newest:
                (path / f"{step.number:04}-{step.name}.{kind}.sql").write_text(step.text)
        if more is not None:
            (path / f"{newest + 1:04}-more.{kind}.sql").write_text(more)
    return path


def recorded(store: Migratable) -> list[tuple[int, str, str]]:
    with store.read() as transaction:
        rows = transaction.rows("SELECT number, name, sha256 FROM migration ORDER BY number")
    return [(number, name, digest) for number, name, digest in rows]


def test_both_kinds_have_the_same_migrations():
    told = [[(step.number, step.name) for step in steps(kind, shipped())] for kind in KINDS]
    assert told[0] == told[1]
    assert told[0][:2] == [(0, "record"), (1, "ledger")]


def test_a_new_store_comes_to_the_newest_version(store: Migratable):
    assert migrate(store) == NEWEST
    assert recorded(store) == [(step.number, step.name, step.hash) for step in steps(store.kind, shipped())]
    assert migrate(store) == NEWEST


@pytest.mark.parametrize("version", range(NEWEST + 1))
def test_from_every_earlier_version(store: Migratable, folder: Path, tmp_path: Path, version: int):
    assert migrate(store, folder_of(tmp_path / "earlier", version)) == version
    if version >= 1:
        put(store, "kept")
    assert migrate(store, folder) == NEWEST + 1
    with store.read() as transaction:
        assert transaction.rows("SELECT a FROM second") == [(1,)]
    assert names(store) == (["kept"] if version >= 1 else [])


def test_it_locks_nothing_when_there_is_nothing_to_do(store: Migratable, place: Place):
    migrate(store)
    other = unmigrated(place)
    with store.write():
        assert migrate(other) == NEWEST
    other.close()


def test_a_store_of_a_newer_version_is_refused(store: Migratable, folder: Path, place: Place):
    migrate(store, folder)
    with pytest.raises(StoreTooNew, match=f"version {NEWEST + 1}.*version {NEWEST}"):
        migrate(store)
    with pytest.raises(StoreTooNew):
        place.open()


@pytest.mark.parametrize("number", [0, NEWEST + 1])
def test_a_migration_that_was_changed_afterwards_is_noticed(store: Migratable, folder: Path, number: int):
    migrate(store, folder)
    [file] = folder.glob(f"{number:04}-*.{store.kind}.sql")
    text = file.read_text()
    file.write_text(text + "-- harmless\n")
    with pytest.raises(StoreCorrupt, match=f"{number:04}-.*another text"):
        migrate(store, folder)
    file.write_bytes(text.replace("\n", "\r\n").encode())  # what a checkout may do to it
    assert migrate(store, folder) == NEWEST + 1


def test_a_record_with_a_gap_is_noticed(store: Migratable, folder: Path):
    migrate(store, folder)
    with store.write() as transaction:
        transaction.run("DELETE FROM migration WHERE number = 1")
    with pytest.raises(StoreCorrupt, match="no record of migration 0001"):
        migrate(store, folder)


def test_a_migration_that_fails_leaves_nothing(store: Migratable, tmp_path: Path):
    broken = folder_of(tmp_path / "broken", NEWEST, more=f"{SECOND}DROP TABLE nowhere;\n")
    for _ in range(2):
        with pytest.raises(Exception, match="nowhere") as caught:
            migrate(store, broken)
        assert caught.value.__class__.__name__ == "StoreMisused"
        assert len(recorded(store)) == NEWEST + 1
    assert migrate(store, folder_of(tmp_path / "mended", NEWEST, more=SECOND)) == NEWEST + 1


def test_stores_that_are_opened_at_once_are_migrated_once(place: Place, folder: Path):
    answers: list[object] = []

    def work() -> None:
        try:
            opened = unmigrated(place)
            answers.append(migrate(opened, folder))
            opened.close()
        except BaseException as error:
            answers.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [NEWEST + 1] * 6


def test_a_script_that_ends_in_the_middle(sqlite_place: Place, tmp_path: Path):
    store = unmigrated(sqlite_place)
    with pytest.raises(Exception, match="inside a statement"):
        migrate(store, folder_of(tmp_path / "half", NEWEST, more="CREATE TABLE a (b INTEGER)"))
    store.close()


def test_folders_with_gaps_or_doubles_are_refused(tmp_path: Path):
    folder = folder_of(tmp_path / "gap", 1)
    (folder / "0003-later.sqlite.sql").write_text("")
    with pytest.raises(StoreMisconfigured):
        steps("sqlite", folder)
    (folder / "0003-later.sqlite.sql").rename(folder / "0001-again.sqlite.sql")
    with pytest.raises(StoreMisconfigured):
        steps("sqlite", folder)
    with pytest.raises(StoreMisconfigured):
        steps("neither", folder)


def test_a_hash_is_of_the_text():
    assert Step(1, "a", "b").hash == Step(2, "c", "b").hash != Step(1, "a", "c").hash


def test_a_schema_that_an_administrator_made_is_used(postgres: Postgres, postgres_place: Place):
    with postgres.connect(autocommit=True) as connection:
        connection.execute("CREATE SCHEMA remit")
    put(postgres_place.open(), "a")
