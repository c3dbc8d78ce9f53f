"""What statements do that use no table, as a prohibition by effect sees it."""

import pytest

from remit.languages.sql.understand import understand_sql


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("PRAGMA user_version", set()),
        ("PRAGMA user_version = 5", {"write"}),
        ("PRAGMA writable_schema(1)", {"write"}),
        ("PRAGMA optimize", {"write"}),
        ("PRAGMA wal_checkpoint", {"write"}),
        ("PRAGMA table_info(checks)", set()),
        ("PRAGMA busy_timeout = 5000", set()),
        ("VACUUM", {"write"}),
        ("REINDEX", {"write"}),
        ("ANALYZE", {"write"}),
        ("DETACH x", {"write"}),
        ("BEGIN", set()),
        ("SELECT abs(1) = 1", {"read"}),
        ("EXPLAIN VACUUM", {"write"}),
    ],
)
def test_what_uses_no_table(text: str, effects: set[str]) -> None:
    (statement,) = understand_sql(text, "sqlite").statements
    assert statement.effects == effects


@pytest.mark.parametrize(("text", "effects"), [("SHOW search_path", set()), ("SET search_path = x", {"write"})])
def test_other_kinds_of_postgres(text: str, effects: set[str]) -> None:
    (statement,) = understand_sql(text, "postgres").statements
    assert statement.effects == effects


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("CREATE INDEX i ON t(a) WHERE load_extension(a)", {"load_extension"}),
        ("CREATE INDEX i ON t(lower(a)) WHERE b IN (1, 2)", {"lower"}),
        ("CREATE INDEX i ON t(a) WHERE (1 = readfile('x'))", {"readfile"}),
    ],
)
def test_functions_in_the_condition_of_an_index(text: str, called: set[str]) -> None:
    (statement,) = understand_sql(text, "sqlite").statements
    assert statement.functions == called


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("INSERT INTO t VALUES (1, -2, 'x')", "values"),
        ("INSERT INTO t AS u (a) VALUES (1)", "values"),
        ("INSERT INTO t DEFAULT VALUES", "select"),
        ("WITH x AS (SELECT 1) INSERT INTO t VALUES (1)", "select"),
        ("INSERT INTO t VALUES ((1, 2))", "select"),
    ],
)
def test_rows_of_literals(text: str, source: str) -> None:
    (statement,) = understand_sql(text, "sqlite").statements
    assert (statement.source, statement.unknown) == (source, ())


@pytest.mark.parametrize("text", ["SELECT", "SELECT FROM t", "SELECT * FROM x, lateral fsdir('/')"])
def test_what_sqlite_can_not_read_is_not_understood(text: str) -> None:
    (statement,) = understand_sql(text, "sqlite").statements
    assert statement.unknown
