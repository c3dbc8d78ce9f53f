"""Everyday SQL of each dialect is understood, and where the parser gives up is said."""

from __future__ import annotations

import pytest

from remit.languages.sql.understand import understand_sql
from tests.languages.sql.coverage import reasons

EVERYWHERE = [
    "SELECT COUNT(*), Sum(a) FROM Orders o WHERE o.d < current_date - interval '1' month AND o.x = 1",
    "SELECT date '1998-12-01' - interval '90' day (3), extract(year FROM d) FROM t",
    "SELECT CAST(a AS decimal(7,2)), substring(b FROM 1 FOR 2) FROM t",
]
OWN = [
    ("mysql", "SELECT `a`, IF(b, 1, 2), json_extract(c, '$.x'), a->>'$.b' FROM T WHERE x = \"y\" # last"),
    (
        "mysql",
        "SELECT DATE_ADD(d, INTERVAL 1 DAY), DATE_ADD(d, INTERVAL (n + 1) DAY), DATE_SUB(d, INTERVAL n DAY) FROM t",
    ),
    ("mysql", "SELECT GROUP_CONCAT(a ORDER BY b SEPARATOR ',') FROM t WHERE a RLIKE 'x' LIMIT 5, 10"),
    ("mysql", "CREATE TABLE t (a int) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4"),
    ("duckdb", "SELECT a // 2, list_transform([1, 2], x -> x + 1) FROM t QUALIFY row_number() OVER (ORDER BY a) = 1"),
    ("snowflake", "SELECT iff(a, 1, 2), nvl(b, 0), date_trunc('day', c), a AS \"Order Count\" FROM t"),
    *[(dialect, "ALTER TABLE t ADD COLUMN c varchar(32)") for dialect in ("sqlite", "postgres", "mysql", "duckdb")],
]


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "duckdb", "snowflake"])
@pytest.mark.parametrize("text", EVERYWHERE)
def test_everyday_sql_of_all(dialect: str, text: str) -> None:
    assert reasons(text, dialect) == []


@pytest.mark.parametrize(("dialect", "text"), OWN)
def test_everyday_sql_of_one(dialect: str, text: str) -> None:
    assert reasons(text, dialect) == []


def test_a_type_hides_no_call() -> None:
    assert reasons("ALTER TABLE t ADD c varchar(32) DEFAULT evil(3)", "sqlite") == ["the function evil"]


def test_double_quotes_of_mysql_could_be_a_column() -> None:
    (statement,) = understand_sql('SELECT "password" FROM users', "mysql").statements
    assert statement.uses[0].columns == frozenset({"password"})


def test_where_the_parser_gives_up_is_said() -> None:
    assert reasons("SELECT a\n  b c FROM t", "postgres") == [
        "the parser doesn't follow it at line 2, column 5: `c FROM t`"
    ]
