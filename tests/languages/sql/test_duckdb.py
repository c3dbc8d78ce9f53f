"""DuckDB itself on our list of its functions, and on what reads and writes files. `requirements/long.txt` has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remit.languages.sql.functions import functions_of
from remit.languages.sql.understand import understand_sql
from remit.scopes.sql.scope import SqlMatcher

duckdb: Any = pytest.importorskip("duckdb")
pytestmark = pytest.mark.long

OF_VALUES = frozenset(
    [
        "generate_series",
        "histogram",
        "json_each",
        "json_tree",
        "pg_timezone_names",
        "range",
        "repeat",
        "unnest",
        "version",
    ]
)
"""Harmless functions that also stand in the place of tables, or of a PRAGMA: they only compute."""
CHANGING = frozenset(("VOLATILE",))
RANDOM = frozenset(["currval", "error", "gen_random_uuid", "random", "uuid", "uuidv4", "uuidv7", "vector_type"])
"""Harmless functions whose results differ from call to call, and that change nothing."""


def test_no_harmless_function_reads_files_or_changes_anything() -> None:
    query = (
        "SELECT function_name, list(DISTINCT function_type), list(DISTINCT stability), bool_or(has_side_effects) "
        "FROM duckdb_functions() GROUP BY 1"
    )
    known = {
        name: (set(kinds), set(stability), changes) for name, kinds, stability, changes in duckdb.sql(query).fetchall()
    }
    ours = functions_of("duckdb").harmless & known.keys()
    assert len(ours) > 400
    tables = {name for name in ours if not known[name][0] <= {"scalar", "aggregate", "macro", "window"}}
    assert tables <= OF_VALUES
    volatile = {name for name in ours if known[name][1] & CHANGING or known[name][2]}
    assert volatile <= RANDOM


TEXTS = [
    "SELECT * FROM 'x.csv'",
    'SELECT * FROM "x.csv"',
    "SELECT * FROM x.csv",
    "SELECT * FROM read_csv('x.csv')",
    "SELECT * FROM read_csv_auto('x.csv')",
    "SELECT * FROM read_text('x.csv')",
    "SELECT * FROM read_blob('x.csv')",
    "SELECT * FROM sniff_csv('x.csv')",
    "SELECT * FROM glob('*.csv')",
    "FROM 'x.csv'",
    "FROM read_csv('x.csv')",
    "SELECT (SELECT count(*) FROM 'x.csv')",
    "WITH c AS (FROM 'x.csv') SELECT * FROM c",
    "DESCRIBE FROM 'x.csv'",
    "SUMMARIZE 'x.csv'",
    "PIVOT 'x.csv' ON a",
    "COPY t FROM 'x.csv'",
    "COPY t TO 'y.csv'",
    "COPY (SELECT 1) TO 'y.csv'",
    "EXPORT DATABASE 'out'",
    "ATTACH 'other.db' AS other",
    "CREATE TABLE n AS FROM 'x.csv'",
    "INSERT INTO t FROM 'x.csv'",
    "CREATE VIEW v AS SELECT * FROM 'x.csv'",
    "PRAGMA database_list",
    "SET threads = 1",
    "SET GLOBAL home_directory = '/tmp'",
    "PRAGMA enable_profiling",
    "CALL pragma_version()",
    "INSTALL httpfs",
    "LOAD httpfs",
    "CHECKPOINT",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "SELECT getenv('HOME')",
    "SELECT nextval('s')",
]


@pytest.mark.parametrize("text", TEXTS)
def test_what_reaches_beyond_tables_is_admitted_by_no_scope(text: str) -> None:
    everything = dict.fromkeys(("select", "insert", "update", "delete", "merge", "ddl", "pragma"), "any")
    matcher = SqlMatcher({**everything, "transaction": True, "explain": True})
    found = understand_sql(text, "duckdb")
    assert found.problem or any(matcher.refuses_statement(each) for each in found.statements)


def test_what_is_admitted_touches_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without access to files, the real one refuses some of these, and none of what a scope admits."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("a\n1\n")
    connection = duckdb.connect(config={"enable_external_access": "false"})
    connection.execute("CREATE TABLE t (a integer)")
    plain = [
        "SELECT a FROM t",
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 2 WHERE a = 1",
        "DELETE FROM t WHERE a = 2",
    ]
    plain += [
        "SELECT list_transform([1, 2], lambda x: x + 1)",
        "SELECT * FROM range(3)",
        "SELECT a FROM t AS x, unnest([1])",
    ]
    matcher = SqlMatcher(dict.fromkeys(("select", "insert", "update", "delete"), "any"))
    admitted, refused = 0, 0
    for text in (*TEXTS, *plain):
        found = understand_sql(text, "duckdb")
        ours = not found.problem and not any(matcher.refuses_statement(each) for each in found.statements)
        admitted += ours
        try:
            connection.execute(text).fetchall()
        except duckdb.PermissionException:
            refused += 1
            assert not ours, text
        except duckdb.Error:
            pass
    connection.close()
    assert admitted >= 4
    assert refused >= 8


@pytest.mark.parametrize(
    "text",
    [
        "WITH RECURSIVE a AS (SELECT * FROM t), t AS (SELECT 1) SELECT * FROM a",
        "WITH RECURSIVE t AS (SELECT * FROM t) SELECT * FROM t",
        "WITH RECURSIVE t AS (SELECT * FROM t UNION ALL SELECT * FROM t WHERE false) SELECT * FROM t",
        "WITH RECURSIVE t AS (SELECT 'x' AS a UNION ALL SELECT a FROM t WHERE false) SELECT * FROM t",
        "WITH t AS (SELECT * FROM t) SELECT * FROM t",
    ],
)
def test_which_names_are_those_of_ctes(text: str) -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (a VARCHAR); INSERT INTO t VALUES ('of the table')")
        reads = connection.execute(text).fetchall() == [("of the table",)]
    [statement] = understand_sql(text, "duckdb").statements
    assert not statement.unknown
    assert any(use.table == "t" for use in statement.uses) is reads
