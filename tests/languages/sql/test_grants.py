"""Column privileges of real databases as the truth: what a scope admits, they must permit."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from remit.languages.sql.statement import SqlUnderstanding
from remit.languages.sql.understand import understand_sql
from tests import mariadb
from tests.languages.sql.grants import Database, MariaGrants, PgGrants, SqliteGrants, compare
from tests.postgres import Postgres


@pytest.fixture(scope="module")
def sqlite() -> Iterator[SqliteGrants]:
    made = SqliteGrants()
    yield made
    made.close()


@pytest.fixture(scope="module")
def pg(postgres: Postgres) -> Iterator[PgGrants]:
    made = PgGrants(postgres)
    yield made
    made.close()


@pytest.fixture(scope="module")
def maria() -> Iterator[MariaGrants]:
    absent = mariadb.missing()
    if absent:
        pytest.skip(f"MariaDB is not installed: no {', '.join(absent)}")
    with mariadb.running() as server:
        yield MariaGrants(server)


def check(database: Database, seed: int, count: int) -> None:
    result = compare(database, seed, count)
    assert result.findings == [], result.report()
    assert result.compared > count / 4, result.report()
    assert result.admitted > result.permitted / 2, result.report()  # otherwise it shows little


def careless(text: str, dialect: str) -> SqlUnderstanding:
    """Reads statements, and overlooks what they read of a table that they change."""
    found = understand_sql(text, dialect)
    blind = []
    for each in found.statements:
        changed = {use.table for use in each.uses if use.verb != "select"}
        uses = tuple(use for use in each.uses if use.verb != "select" or use.table not in changed)
        blind.append(each._replace(uses=uses))
    return found._replace(statements=tuple(blind))


@pytest.mark.more
def test_postgres(pg: PgGrants) -> None:
    check(pg, 1, 1500)


@pytest.mark.more
def test_sqlite(sqlite: SqliteGrants) -> None:
    check(sqlite, 2, 3000)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10, 14))
def test_postgres_long(pg: PgGrants, seed: int) -> None:
    check(pg, seed, 10_000)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20, 24))
def test_sqlite_long(sqlite: SqliteGrants, seed: int) -> None:
    check(sqlite, seed, 20_000)


@pytest.mark.hosts
def test_mariadb(maria: MariaGrants) -> None:
    check(maria, 1, 2000)


@pytest.mark.hosts
def test_a_reader_that_overlooks_reads_of_what_is_changed_is_found_out_by_mariadb(
    maria: MariaGrants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.languages.sql.grants.understand_sql", careless)
    assert compare(maria, 3, 1000).findings


@pytest.mark.more
def test_a_reader_that_overlooks_reads_of_what_is_changed_is_found_out(
    sqlite: SqliteGrants, pg: PgGrants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.languages.sql.grants.understand_sql", careless)
    assert compare(sqlite, 3, 1500).findings
    assert compare(pg, 3, 1500).findings
