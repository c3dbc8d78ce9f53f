"""What SQL texts are understood to do, case by case, and against SQLite's own word."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from remit import PolicyError, build_rulebook
from remit.languages.sql.statement import DIALECTS, SqlStatement, SqlUnderstanding
from remit.languages.sql.understand import CACHE, MAX_STATEMENTS, understand_sql

CASES = yaml.safe_load((Path(__file__).parent / "cases.yaml").read_text("utf-8"))


def said(found: SqlUnderstanding) -> list[str]:
    """What was understood, a line for each statement."""
    if found.problem is not None:
        assert not found.statements
        return [f"problem: {found.problem}"]
    return [_line(each) for each in found.statements]


def _line(one: SqlStatement) -> str:
    parts = [one.verb]
    others = sorted(one.verbs - {one.verb})
    parts.extend(f"+{verb}" for verb in others)
    for use in sorted(one.uses, key=str):
        columns = "*" if use.columns is None else ", ".join(sorted(use.columns))
        parts.append(f"{'own' if use.own else use.verb} {use.table!r} ({columns})")
    parts.extend(f"kind {kind}" for kind in sorted(one.ddl))
    parts.extend(["drops"] * one.drops)
    parts.extend([f"from {one.source}"] * bool(one.source))
    parts.extend([f"conflict {one.conflict}"] * (one.conflict not in ("", "none")))
    parts.extend(["returning"] * one.returning)
    parts.extend(f"pragma {name}" for name in one.pragmas)
    parts.extend(f"calls {name}" for name in sorted(one.functions - set(one.strange)))
    parts.extend(f"strange {name}" for name in one.strange)
    parts.extend(f"{r.effect} {r.kind} {r.value!r} by {r.by}" for r in sorted(one.reaches))
    parts.extend(f"unknown: {reason}" for reason in one.unknown)
    return "; ".join(parts)


def _cases() -> list[tuple[str, str, list[str]]]:
    return [(dialect, case["sql"], case["is"]) for dialect, cases in CASES.items() for case in cases]


@pytest.mark.parametrize(("dialect", "sql", "expected"), _cases())
def test_case(dialect, sql, expected):
    assert said(understand_sql(sql, dialect)) == expected


def test_there_are_enough_cases():
    assert len(_cases()) >= 250
    assert set(CASES) == set(DIALECTS)


def test_repeated_texts_are_remembered_up_to_a_bound():
    first = understand_sql("SELECT 1", "sqlite")
    assert understand_sql("SELECT 1", "sqlite") is first
    assert understand_sql("SELECT 1", "postgres") is not first
    for number in range(CACHE + 1):
        understand_sql(f"PRAGMA p{number}", "sqlite")
    assert understand_sql("SELECT 1", "sqlite") is not first


@pytest.mark.sample(25)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 90 + "1" + ")" * 90,
        "SELECT " + "abs(" * 39 + "1" + ")" * 39,
        "SELECT " + "- " * 3000 + "1",
        "SELECT " + "CASE WHEN 1 THEN " * 200 + "1" + " END" * 200,
        "SELECT 1" + "; SELECT 1" * (MAX_STATEMENTS + 1),
        "SELECT '" + "x" * 70_000 + "'",
        "SELECT " + "1," * 11_000 + "1",
        "(" * 20_000,
        ")" * 20_000,
        "\ud800",
        "SELECT 1\0",
    ],
)
def test_what_is_huge_or_broken_is_not_understood_and_raises_nothing(text, dialect):
    found = understand_sql(text, dialect)
    assert found.problem is not None or any(each.unknown for each in found.statements)


def test_nested_arrays_take_no_time():
    text = "SELECT " + "ARRAY[" * 18 + "1" + "]" * 18
    assert said(understand_sql(text, "postgres")) == ["select"]


@pytest.mark.parametrize("dialect", ["bigquery", "oracle", "tsql"])
def test_a_tool_with_another_dialect_does_not_load(dialect: str):
    tools = {"query": {"args": {"sql": "sql"}, "dialect": dialect}}
    expected = f"expected one of sqlite, postgres, mysql, duckdb, snowflake, got `{dialect}`"
    with pytest.raises(PolicyError, match=expected):
        build_rulebook({"remit": 1, "tools": tools, "agents": {"a": {"may": ["query"]}}})


def test_an_unknown_dialect_is_not_understood():
    assert understand_sql("SELECT 1", "oracle").problem == "the dialect oracle isn't known"


def test_the_parser_is_loaded_only_for_queries():
    code = (
        "import sys; from remit.languages.sql.understand import understand_sql as u;"
        "u('PRAGMA busy_timeout = 1; DROP TABLE t', 'sqlite'); assert 'sqlglot' not in sys.modules;"
        "u('SELECT 1', 'sqlite'); assert 'sqlglot' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


SCHEMA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, a, b, c, d, key, rows, filter, j);
CREATE TABLE u (id, x, y, a, b);
CREATE TABLE w (id, z);
CREATE TABLE checks (id, ok, note);
CREATE TABLE "left" (id, q);
"""
READS, INSERTS, UPDATES, DELETES = 20, 18, 23, 9
VERBS = {READS: "select", INSERTS: "insert", UPDATES: "update", DELETES: "delete"}
QUIET = [
    "SELECT x.a FROM t AS x JOIN u AS y ON x.id = y.id LEFT JOIN w USING (id)",
    "SELECT a FROM t NATURAL JOIN w",
    "SELECT a FROM (t JOIN u USING (id, a))",
]
"""Statements that read a table which SQLite's authorizer isn't told of."""
ASKED = [
    *QUIET,
    "SELECT a, b FROM t WHERE c = 1 ORDER BY d",
    "SELECT * FROM t",
    "SELECT t.* , u.x FROM t, u",
    "SELECT count(*) FROM checks WHERE ok",
    "SELECT key, rows, filter FROM t",
    "SELECT q FROM [left]",
    "SELECT q FROM left",
    "SELECT id FROM 't'",
    'SELECT "a" FROM "T"',
    "SELECT a FROM t WHERE id IN (SELECT id FROM u WHERE u.x = t.b)",
    "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM w WHERE z = t.a)",
    "SELECT (SELECT max(x) FROM u), a FROM t",
    "SELECT a FROM t WHERE (id, b) IN w",
    "SELECT a FROM t UNION SELECT x FROM u ORDER BY a",
    "SELECT a FROM t EXCEPT SELECT x FROM u INTERSECT SELECT z FROM w",
    "SELECT z FROM (SELECT z FROM (SELECT z, id FROM w))",
    "VALUES ((SELECT a FROM t))",
    "WITH q AS (SELECT a FROM t) SELECT * FROM q",
    "WITH u AS (SELECT a FROM t) SELECT * FROM u",
    "WITH q AS (SELECT z FROM w), r AS (SELECT z FROM q) SELECT z FROM r",
    "WITH q AS (SELECT z FROM r), r AS (SELECT z FROM w) SELECT z FROM q",
    "WITH w AS (SELECT a FROM t) SELECT a FROM w UNION SELECT z FROM main.w",
    "WITH RECURSIVE n(i) AS (SELECT min(id) FROM t UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT i FROM n",
    "SELECT a FROM t WHERE id IN (WITH u AS (SELECT z FROM w) SELECT z FROM u)",
    "SELECT sum(a) OVER (PARTITION BY b ORDER BY c) FROM t",
    "SELECT sum(a) OVER v FROM t WINDOW v AS (ORDER BY d)",
    "SELECT a FROM t GROUP BY b HAVING max(c) > 1 LIMIT (SELECT count(z) FROM w)",
    "INSERT INTO t (a) VALUES (1)",
    "INSERT INTO 'checks' (id) VALUES (1)",
    "INSERT INTO checks SELECT id, x, y FROM u",
    "WITH w AS (SELECT x FROM u) INSERT INTO w (z) SELECT x FROM w",
    "INSERT INTO t (a) VALUES ((SELECT z FROM w))",
    "INSERT OR IGNORE INTO w VALUES (1, 2)",
    "UPDATE t SET a = b WHERE c = 1",
    "UPDATE t SET a = (SELECT max(x) FROM u WHERE u.id = t.id)",
    "UPDATE t SET a = u.x FROM u WHERE u.id = t.id",
    "UPDATE t AS k SET (a, b) = (SELECT x, y FROM u) WHERE k.c",
    "WITH w AS (SELECT x FROM u) UPDATE t SET a = (SELECT x FROM w)",
    "DELETE FROM t WHERE a = 1",
    "DELETE FROM checks WHERE id IN (SELECT id FROM u)",
    "WITH w AS (SELECT x FROM u) DELETE FROM w WHERE z IN (SELECT x FROM w)",
    "EXPLAIN QUERY PLAN SELECT a FROM t, w",
]


@pytest.mark.parametrize("sql", ASKED)
def test_sqlite_itself_names_the_same_tables(sql):
    """The authorizer is told each table and column at the time a statement is prepared."""
    connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
    connection.executescript(SCHEMA)
    asked: list[tuple[int, str, str]] = []

    def authorize(action, first, second, database, trigger):
        if action in VERBS:
            asked.append((action, first.lower(), (second or "").lower()))
        return sqlite3.SQLITE_OK

    connection.set_authorizer(authorize)
    connection.execute(sql if sql.startswith("EXPLAIN") else f"EXPLAIN {sql}")
    connection.set_authorizer(None)
    connection.close()
    (found,) = understand_sql(sql, "sqlite").statements
    assert not found.unknown
    tables = {"t", "u", "w", "checks", "left"}
    changed = {(VERBS[action], name) for action, name, _ in asked if action != READS}
    assert {(use.verb, use.table) for use in found.uses if use.verb != "select"} == changed
    read = {name for action, name, column in asked if action == READS and column} & tables
    named = {name for action, name, _ in asked if action == READS} & tables  # of some it names no column
    targets = {name for _, name in changed}
    assert read <= {use.table for use in found.uses}
    if sql not in QUIET:
        assert {use.table for use in found.uses if use.verb == "select"} - targets <= named
    for action, name, column in asked:
        if action == READS and column and column != "rowid" and name in tables:
            columns = [use.columns for use in found.uses if use.table == name]
            assert any(each is None or column in each for each in columns), (name, column)


@pytest.mark.parametrize(
    "text", ["SET", "RESET", "SET SESSION", "SELECT t.('a', 1)", "SELECT t.(a) FROM t", "PREPARE", "COPY"]
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_half_a_statement_is_no_crash(text, dialect):
    found = understand_sql(text, dialect)
    assert found.problem or len(found.statements) == 1
