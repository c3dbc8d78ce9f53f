"""What a `sql:` scope admits, statement by statement, and what a prohibition meets."""

from __future__ import annotations

from typing import Any

import pytest

from remit.languages.sql.understand import understand_sql
from remit.scopes.sql.scope import SqlMatcher

KNOWLEDGE = {"select": "any", "insert": ["instruction_updates"], "pragma": ["busy_timeout"]}
REVIEWER = {"insert": {"tables": "any", "from": "values", "conflict": "none"}}
ORCHESTRATOR = {"select": "any", "ddl": ["table", "index", "view"]}
ANALYST = {"select": {"tables": ["orders", "customers", "hr.*"], "columns": {"customers": ["id", "country"]}}}
WRITER = {"update": ["t"], "delete": ["t"], "insert": {"tables": ["t"], "conflict": ["ignore", "update"]}}


def refusals(scope: dict[str, Any], text: str, dialect: str = "sqlite") -> list[str]:
    found = understand_sql(text, dialect)
    if found.problem is not None:
        return [found.problem]
    matcher = SqlMatcher(scope)
    return [reason for statement in found.statements if (reason := matcher.refuses_statement(statement)) is not None]


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        (KNOWLEDGE, "SELECT 1"),
        (KNOWLEDGE, "SELECT * FROM checks; PRAGMA busy_timeout=50;"),
        (KNOWLEDGE, "insert into INSTRUCTION_UPDATES(file) values('a') RETURNING id"),
        (KNOWLEDGE, "INSERT INTO main.instruction_updates SELECT * FROM checks"),
        ({**KNOWLEDGE, "explain": True}, "EXPLAIN QUERY PLAN SELECT * FROM checks"),
        (KNOWLEDGE, "VALUES (1), (2)"),
        (KNOWLEDGE, ""),
        (REVIEWER, "INSERT INTO reviews VALUES (1, 'a'), (2, -1.5e3)"),
        (REVIEWER, "INSERT INTO reviews (a, b) VALUES (NULL, x'00')"),
        (ORCHESTRATOR, "CREATE TABLE IF NOT EXISTS runs (id INTEGER PRIMARY KEY, note TEXT DEFAULT 'x')"),
        (ORCHESTRATOR, "DROP INDEX i; DROP VIEW v; ALTER TABLE t ADD COLUMN c"),
        (ORCHESTRATOR, "CREATE TABLE copy AS SELECT * FROM runs"),
        (ANALYST, "SELECT id, country FROM customers WHERE id > 3"),
        (ANALYST, "SELECT o.total FROM orders o JOIN customers c ON o.id = c.id"),
        (ANALYST, "SELECT * FROM hr.people"),
        (WRITER, "UPDATE t SET a = b + 1 WHERE c = 2"),
        (WRITER, "DELETE FROM t WHERE a IN (1, 2)"),
        (WRITER, "INSERT OR IGNORE INTO t VALUES (1)"),
        (WRITER, "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET a = 2"),
        ({"transaction": True, "insert": ["t"]}, "BEGIN; INSERT INTO t VALUES (1); COMMIT"),
        ({"select": ["t"], "functions": ["readfile"]}, "SELECT readfile('x') FROM t"),
    ],
)
def test_admitted(scope: dict[str, Any], text: str) -> None:
    assert refusals(scope, text) == []


@pytest.mark.parametrize(
    ("scope", "text", "reason"),
    [
        (KNOWLEDGE, "DELETE FROM checks", "DELETE is not among what it may do: select any table; insert"),
        (KNOWLEDGE, "SELECT 1; DROP TABLE checks", "DDL is not among"),
        (KNOWLEDGE, "INSERT INTO checks VALUES (1)", "it may insert into only instruction_updates"),
        (KNOWLEDGE, "INSERT INTO aux.instruction_updates VALUES (1)", "it would insert into aux.instruction_updates"),
        (KNOWLEDGE, "REPLACE INTO instruction_updates VALUES (1)", "a plain INSERT only, not OR REPLACE"),
        (KNOWLEDGE, "INSERT OR ABORT INTO instruction_updates VALUES (1)", "a plain INSERT only, not OR ABORT"),
        (KNOWLEDGE, "INSERT INTO instruction_updates VALUES (1) ON CONFLICT DO NOTHING", "a plain INSERT only"),
        (KNOWLEDGE, "PRAGMA journal_mode=OFF", "the pragma journal_mode is not among busy_timeout"),
        (KNOWLEDGE, "BEGIN", "TRANSACTION is not among"),
        (KNOWLEDGE, "EXPLAIN SELECT 1", "EXPLAIN is not among"),
        ({"select": "any", "explain": True}, "EXPLAIN DELETE FROM t", "DELETE is not among"),
        (KNOWLEDGE, "SELECT load_extension('x')", "load_extension"),
        (KNOWLEDGE, "ATTACH 'x.db' AS x", "x.db"),
        (REVIEWER, "SELECT 1", "SELECT is not among"),
        (REVIEWER, "INSERT INTO r SELECT * FROM s", "it would also read s"),
        (REVIEWER, "INSERT INTO r VALUES ((SELECT 1))", "literal values only"),
        (REVIEWER, "INSERT INTO r VALUES (random())", "literal values only"),
        (REVIEWER, "INSERT INTO r VALUES (?)", "literal values only"),
        (REVIEWER, "INSERT INTO r VALUES (1) RETURNING *", "it would also read r"),
        (ORCHESTRATOR, "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END", ""),
        (ORCHESTRATOR, "CREATE VIRTUAL TABLE x USING csv(filename='x')", ""),
        (ORCHESTRATOR, "WITH x AS (SELECT 1) DELETE FROM runs", "DELETE is not among"),
        (ANALYST, "SELECT * FROM customers", "columns of customers that the text doesn't name"),
        (ANALYST, "SELECT email FROM customers", "customers.email; of customers only country, id"),
        (ANALYST, "SELECT id FROM customers WHERE email LIKE 'a%'", "customers.email"),
        (ANALYST, "SELECT * FROM secrets", "it may read only orders, customers, hr.*"),
        (ANALYST, "SELECT 1 WHERE EXISTS (SELECT 1 FROM secrets)", "secrets"),
        (WRITER, "INSERT OR REPLACE INTO t VALUES (1)", "not OR REPLACE"),
        (WRITER, "UPDATE t SET a = (SELECT max(b) FROM u)", "it would also read u"),
        (WRITER, "UPDATE t SET a = 1 RETURNING *", "it would also read t"),
        (WRITER, "DELETE FROM u", "it may delete from only t"),
    ],
)
def test_refused(scope: dict[str, Any], text: str, reason: str) -> None:
    found = refusals(scope, text)
    assert found
    assert reason in found[0]


@pytest.mark.parametrize(
    ("text", "admitted"),
    [
        ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", False),
        ("SELECT * INTO copy FROM t", False),
        ("SELECT * FROM t FOR SHARE", False),  # it locks rows, which takes the right to update
        ("COPY t TO PROGRAM 'sh'", False),
        ("DO $$ BEGIN DELETE FROM t; END $$", False),
        ("SELECT pg_read_file('x')", False),
        ("EXPLAIN ANALYZE DELETE FROM t", False),
        ("SELECT $$; DELETE FROM t; $$", True),
        ("TABLE t", True),
    ],
)
def test_select_only_in_postgres(text: str, admitted: bool) -> None:
    assert (refusals({"select": "any"}, text, "postgres") == []) is admitted


@pytest.mark.parametrize(
    ("scope", "text", "met"),
    [
        ({"delete": "any"}, "SELECT 1", False),
        ({"delete": "any"}, "WITH x AS (SELECT 1) DELETE FROM t", True),
        ({"delete": "any"}, "DELETE FROM t", True),
        ({"delete": ["u"]}, "DELETE FROM t", False),
        ({"delete": ["T"]}, "DELETE FROM aux.t", True),
        ({"delete": ["aux.t"]}, "DELETE FROM t", True),
        ({"select": ["secrets"]}, "INSERT INTO t SELECT * FROM secrets", True),
        ({"select": {"tables": "any", "columns": {"people": ["salary"]}}}, "SELECT name FROM people", False),
        ({"select": {"tables": "any", "columns": {"people": ["salary"]}}}, "SELECT * FROM people", True),
        ({"insert": {"conflict": "replace"}}, "INSERT INTO t VALUES (1)", False),
        ({"insert": {"conflict": "replace"}}, "REPLACE INTO t VALUES (1)", True),
        ({"update": ["t"]}, "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 2", True),
        ({"delete": ["t"]}, "REPLACE INTO t VALUES (1)", True),
        ({"delete": ["t"]}, "INSERT INTO t VALUES (1)", False),
        ({"ddl": ["table"]}, "DROP INDEX i", False),
        ({"ddl": ["table"]}, "DROP TABLE t", True),
        ({"select": ["sqlite_master"]}, "SELECT sql FROM sqlite_schema", True),
        ({"pragma": ["key"]}, "PRAGMA main.KEY", True),
        ({"pragma": ["key"]}, "PRAGMA user_version", False),
        ({"pragma": ["key"], "select": ["secrets"]}, "SELECT * FROM secrets, pragma_table_info('x')", True),
        ({"explain": True}, "EXPLAIN SELECT 1", True),
        ({"explain": True}, "SELECT 1", False),
        ({"functions": ["random"]}, "SELECT Random()", True),
        ({"delete": "any"}, "SELECT unheard_of()", True),
    ],
)
def test_met_by_a_prohibition(scope: dict[str, Any], text: str, met: bool) -> None:
    matcher = SqlMatcher(scope)
    assert any(matcher.meets(statement) for statement in understand_sql(text, "sqlite").statements) is met


@pytest.mark.parametrize("scope", [{"insert": {"from": "values"}}, {"insert": {"conflict": "ignore"}}])
def test_a_prohibition_looks_at_each_insert_of_a_statement(scope: dict[str, Any]) -> None:
    text = (
        "WITH a AS (INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING RETURNING 1) "
        "INSERT INTO t SELECT * FROM u ON CONFLICT (x) DO UPDATE SET x = 2"
    )
    (statement,) = understand_sql(text, "postgres").statements
    assert statement.unknown == ()
    assert SqlMatcher(scope).meets(statement)


@pytest.mark.parametrize(
    ("dialect", "table"),
    [
        ("postgres", "pg_stats"),
        ("postgres", "pg_catalog.pg_statistic"),
        ("postgres", "pg_stat_activity"),
        ("sqlite", "sqlite_stat4"),
        ("sqlite", "aux.sqlite_stat4"),
        ("mysql", "mysql.general_log"),
        ("mysql", "information_schema.PROCESSLIST"),
    ],
)
def test_tables_that_show_what_is_in_others(dialect: str, table: str) -> None:
    """What a database keeps about its tables has values of them in it: limits on a table are limits on that too."""
    text = f"SELECT * FROM {table}"  # noqa: S608
    [statement] = understand_sql(text, dialect).statements
    assert SqlMatcher({"select": ["users"]}).meets(statement)
    assert not SqlMatcher({"delete": ["users"]}).meets(statement)
    assert refusals({"select": "any"}, text, dialect) == []
    assert refusals({"select": [table]}, text, dialect) == []
    for limits in ({"rows": {"users": {"id": 1}}}, {"select": {"tables": "any", "columns": {"users": ["id"]}}}):
        [reason] = refusals({"select": "any", **limits}, text, dialect)
        assert "shows other tables" in reason


@pytest.mark.parametrize(
    ("dialect", "text", "reads"),
    [
        ("duckdb", "WITH RECURSIVE a AS (SELECT * FROM users), users AS (SELECT 1) SELECT * FROM a", True),
        ("mysql", "WITH RECURSIVE a AS (SELECT * FROM users), users AS (SELECT 1) SELECT * FROM a", True),
        ("duckdb", "WITH RECURSIVE users AS (SELECT * FROM users) SELECT * FROM users", True),
        ("duckdb", "WITH RECURSIVE users AS (SELECT * FROM users UNION ALL SELECT 1) SELECT * FROM users", True),
        ("snowflake", "WITH RECURSIVE users AS (SELECT * FROM users UNION ALL SELECT 1) SELECT * FROM users", True),
        ("duckdb", "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t", False),
        ("mysql", "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t", False),
        ("postgres", "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t", False),
        ("sqlite", "WITH t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t) SELECT * FROM t", False),
    ],
)
def test_a_name_is_that_of_a_cte_only_where_the_cte_is_seen(dialect: str, text: str, reads: bool) -> None:
    assert bool(refusals({"select": ["nothing"]}, text, dialect)) is reads


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_an_alias_around_a_join_hides_whose_columns_are_read(dialect: str) -> None:
    scope = {"select": {"tables": ["x", "users"], "columns": {"users": ["id"]}}}
    for text in (
        "SELECT u.secret FROM (x u CROSS JOIN users) AS u",
        "SELECT u.id FROM (users u CROSS JOIN x) AS u(a, id)",
    ):
        [reason] = refusals(scope, text, dialect)
        assert "columns of users that the text doesn't name" in reason
    assert refusals(scope, "SELECT u.id FROM (x CROSS JOIN users u)", dialect) == []
