"""Guard(schemas=…): what a tool's SQL reaches, told by its database."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit import CallDenied, Guard, GuardError, Sql
from remit.enforce.schemas import Schemas
from tests.postgres import Postgres

DDL = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, password TEXT);
CREATE VIEW logins AS SELECT name, password FROM users;
CREATE TABLE orders (id INTEGER PRIMARY KEY, total INTEGER);
"""
POLICY: dict[str, Any] = {
    "remit": 1,
    "agents": {
        "a": {"may": [{"query": {"sql": {"select": "any"}}}], "may_not": [{"query": {"sql": {"select": ["users"]}}}]}
    },
}


def made(root: Path, schemas: dict[str, Any] | None, dialect: str = "sqlite") -> Guard:
    guard = Guard(POLICY, root=root, schemas=schemas)

    @guard.tool(does={"read": {"records": "app"}}, dialect=dialect, tier=0)
    def query(sql: Sql) -> str:
        return f"ran {sql}"

    return guard


def outcome(guard: Guard, text: str) -> str:
    with guard.agent("a"):
        try:
            return str(guard.call("query", {"sql": text}))
        except CallDenied as denied:
            return denied.decision.code


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "app.db")
    connection.executescript(DDL)
    yield connection
    connection.close()


def source(kind: str, tmp_path: Path, database: sqlite3.Connection) -> Any:
    if kind == "dump":
        (tmp_path / "dump.sql").write_text(DDL)
    if kind == "memory":
        other = sqlite3.connect(":memory:")
        other.executescript(DDL)
        return other
    return {
        "connection": database,
        "text": DDL,
        "path": tmp_path / "app.db",
        "name": str(tmp_path / "app.db"),
        "dump": tmp_path / "dump.sql",
    }[kind]


@pytest.mark.parametrize("kind", ["connection", "memory", "text", "path", "name", "dump"])
def test_what_a_view_shows_is_seen(kind: str, tmp_path: Path, database: sqlite3.Connection) -> None:
    given = source(kind, tmp_path, database)
    with made(tmp_path, {"query": given}) as guard:
        assert outcome(guard, "SELECT total FROM orders") == "ran SELECT total FROM orders"
        assert outcome(guard, "SELECT * FROM logins") == "may-not"
        assert outcome(guard, "SELECT * FROM nobody") == "may-not"  # it could be anything
    if isinstance(given, sqlite3.Connection):
        given.close()


def test_without_a_schema_the_text_is_all_there_is(tmp_path: Path) -> None:
    with made(tmp_path, None) as guard:
        assert outcome(guard, "SELECT * FROM logins") == "ran SELECT * FROM logins"


@pytest.mark.parametrize("kind", ["connection", "memory", "path"])
def test_a_live_database_is_looked_at_for_each_call(kind: str, tmp_path: Path, database: sqlite3.Connection) -> None:
    given = source(kind, tmp_path, database)
    with made(tmp_path, {"query": given}) as guard:
        assert outcome(guard, "SELECT id FROM fresh") == "may-not"
        changed = given if kind == "memory" else database
        changed.execute("CREATE VIEW fresh AS SELECT id FROM orders")
        changed.commit()
        assert outcome(guard, "SELECT id FROM fresh") == "ran SELECT id FROM fresh"
        changed.execute("DROP VIEW fresh")
        changed.execute("CREATE VIEW fresh AS SELECT id FROM users")
        changed.commit()
        assert outcome(guard, "SELECT id FROM fresh") == "may-not"
    if kind == "memory":
        given.close()


def test_a_connection_of_another_thread(tmp_path: Path) -> None:
    connection = sqlite3.connect(":memory:")
    connection.executescript(DDL)
    found: list[str] = []
    with made(tmp_path, {"query": connection}) as guard:
        thread = threading.Thread(target=lambda: found.append(outcome(guard, "SELECT * FROM logins")))
        thread.start()
        thread.join()
    connection.close()
    assert found == ["may-not"]


def test_a_database_that_is_gone_denies(tmp_path: Path, database: sqlite3.Connection) -> None:
    with made(tmp_path, {"query": tmp_path / "app.db"}) as guard:
        (tmp_path / "app.db").unlink()
        assert outcome(guard, "SELECT total FROM orders") == "schema-unavailable"


def test_postgres(tmp_path: Path, postgres: Postgres) -> None:
    with postgres.connect(postgres.new_database()) as connection:
        connection.execute(DDL.encode())
        connection.commit()
        with made(tmp_path, {"query": connection}, "postgres") as guard:
            assert connection.info.transaction_status == 0  # no transaction is left open
            assert outcome(guard, "SELECT total FROM orders") == "ran SELECT total FROM orders"
            assert outcome(guard, "SELECT * FROM logins") == "may-not"
            assert outcome(guard, "SELECT o.total FROM orders o") == "ran SELECT o.total FROM orders o"
            assert outcome(guard, "SELECT o.leak FROM orders o") == "may-not"  # a function: it could do anything
        connection.execute("SELECT 1")
        Schemas({"query": connection})
        assert connection.info.transaction_status == 2  # that of the program goes on


@pytest.mark.parametrize(
    ("schemas", "dialect", "code"),
    [
        ({"query": 3}, "sqlite", "bad-schema"),
        ({"query": "nowhere.db"}, "sqlite", "bad-schema"),
        ({"query": "CREATE TABLE t (a); DROP TABLE t"}, "sqlite", "bad-schema"),
        ({"query": "(nothing)"}, "postgres", "bad-schema"),
        ({"query": DDL}, "mysql", "bad-schema"),
        ({"other": DDL}, "sqlite", "undeclared-tool"),
    ],
)
def test_what_is_no_schema(schemas: dict[str, Any], dialect: str, code: str, tmp_path: Path) -> None:
    with pytest.raises(GuardError) as caught:
        made(tmp_path, schemas, dialect).start()
    assert caught.value.code == code


@pytest.mark.parametrize("kind", ["connection", "memory"])
@pytest.mark.parametrize(
    ("temporary", "expected"),
    [
        ("CREATE TEMP VIEW orders AS SELECT * FROM users", "schema-unavailable"),
        ("CREATE TEMP TABLE Orders AS SELECT * FROM users", "schema-unavailable"),
        ("CREATE TEMP TRIGGER t AFTER INSERT ON orders BEGIN DELETE FROM users; END", "schema-unavailable"),
        ("CREATE TEMP TABLE mine (a)", ""),
    ],
)
def test_what_is_temporary_comes_before_what_the_database_has(
    tmp_path: Path, database: sqlite3.Connection, kind: str, temporary: str, expected: str
) -> None:
    connection = source(kind, tmp_path, database)
    text = "SELECT * FROM orders"
    try:
        with made(tmp_path, {"query": connection}) as guard:
            assert outcome(guard, text) == f"ran {text}"
            connection.executescript(temporary)
            assert outcome(guard, text) == (expected or f"ran {text}")
    finally:
        connection.close()
