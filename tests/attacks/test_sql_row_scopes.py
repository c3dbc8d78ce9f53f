"""A scope on rows: everyday statements about the one row pass, and no statement reaches another."""

from __future__ import annotations

import random
import sqlite3
from typing import Any

import pytest

from remit import Call, build_rulebook, decide_call
from remit.languages.sql.understand import understand_sql
from remit.scopes.sql.scope import SqlMatcher

ROWS: dict[str, Any] = {
    "select": ["orders", "items"],
    "insert": {"tables": ["orders"], "conflict": "any"},
    "update": ["orders"],
    "delete": ["orders"],
    "merge": ["orders"],
    "rows": {"orders": {"customer": 42}},
}


def verdict(text: str, scope: dict[str, Any], dialect: str) -> str:
    policy = {
        "remit": 1,
        "tools": {"db": {"args": {"sql": "sql"}, "dialect": dialect, "tier": 1}},
        "agents": {"a": {"may": [{"db": {"sql": scope}}]}},
    }
    return decide_call(build_rulebook(policy), Call("a", "db", {"sql": text})).verdict.word


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM orders WHERE customer = 42",
        "SELECT total FROM orders WHERE (customer = 42) AND total > 3 ORDER BY total",
        "SELECT total FROM orders AS o WHERE 42 = o.customer AND (o.total > 3 OR o.total < 1)",
        "SELECT o.total FROM orders o JOIN items i ON i.id = o.id WHERE o.customer = 42",
        "SELECT count(*) FROM orders WHERE customer IN (42)",
        "SELECT * FROM items",
        "SELECT * FROM items WHERE id IN (SELECT id FROM orders WHERE customer = 42)",
        "SELECT a FROM items UNION SELECT total FROM orders WHERE customer = 42",
        "UPDATE orders SET total = 1 WHERE customer = 42 AND id = 3",
        "DELETE FROM orders WHERE id = 3 AND customer = 42",
        "INSERT INTO orders (id, customer) VALUES (1, 42), (2, 42)",
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", "snowflake"])
def test_everyday_statements_about_the_row_pass(text: str, dialect: str) -> None:
    assert verdict(text, ROWS, dialect) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM orders",
        "SELECT * FROM orders WHERE customer = 43",
        "SELECT * FROM orders WHERE customer = 42 OR 1 = 1",
        "SELECT * FROM orders WHERE (customer = 42 OR total > 0) AND id = 1",
        "SELECT * FROM orders WHERE NOT customer = 42",
        "SELECT * FROM orders WHERE NOT (customer = 42 AND id = 1)",
        "SELECT * FROM orders WHERE customer <> 42",
        "SELECT * FROM orders WHERE customer >= 42",
        "SELECT * FROM orders WHERE customer = 42 = 0",
        "SELECT * FROM orders WHERE (customer = 42) IS NULL",
        "SELECT * FROM orders WHERE customer = -42",
        "SELECT * FROM orders WHERE customer = 42.5",
        "SELECT * FROM orders WHERE customer = '42'",
        "SELECT * FROM orders WHERE customer = customer",
        "SELECT * FROM orders WHERE customer = 42 + 1",
        "SELECT * FROM orders WHERE -customer = 42",
        "SELECT * FROM orders WHERE abs(customer) = 42",
        "SELECT * FROM orders WHERE customer IN (42, 43)",
        "SELECT * FROM orders WHERE customer NOT IN (42)",
        "SELECT * FROM orders WHERE customer IN (SELECT 42)",
        "SELECT * FROM orders WHERE customer LIKE 42",
        "SELECT * FROM orders HAVING customer = 42",
        "SELECT * FROM orders ORDER BY customer = 42",
        "SELECT customer = 42 FROM orders",
        "SELECT * FROM orders o, orders p WHERE o.customer = 42",
        "SELECT * FROM orders JOIN items ON orders.customer = 42",
        "SELECT * FROM orders LEFT JOIN items ON orders.customer = 42",
        "SELECT o.* FROM orders o, items WHERE items.customer = 42",
        "SELECT o.* FROM orders o, items WHERE customer = 42",
        "SELECT o.* FROM orders o JOIN items AS orders ON 1 = 1 WHERE orders.customer = 42",
        "SELECT 42 AS customer, total FROM orders WHERE customer = 42",
        "SELECT * FROM orders WHERE EXISTS (SELECT 1 FROM items WHERE customer = 42)",
        "SELECT * FROM orders WHERE customer = 42 UNION SELECT * FROM orders",
        "SELECT (SELECT max(total) FROM orders) FROM items",
        "SELECT (SELECT max(p.total) FROM orders p) FROM orders WHERE customer = 42",
        "WITH x AS (SELECT * FROM orders) SELECT * FROM x WHERE customer = 42",
        "SELECT * FROM (SELECT * FROM orders) AS orders WHERE orders.customer = 42",
        "SELECT * FROM orders WHERE customer = 42 AND id IN (SELECT id FROM orders)",
        "UPDATE orders SET total = 1",
        "UPDATE orders SET customer = 43 WHERE customer = 42",
        "UPDATE orders SET customer = 42 WHERE id = 3",
        "UPDATE orders SET total = (SELECT max(total) FROM orders) WHERE customer = 42",
        "DELETE FROM orders",
        "DELETE FROM orders WHERE customer = 42 OR id = 3",
        "INSERT INTO orders (id, customer) VALUES (1, 43)",
        "INSERT INTO orders (id, customer) VALUES (1, 42), (2, 43)",
        "INSERT INTO orders (id) VALUES (1)",
        "INSERT INTO orders VALUES (1, 42)",
        "INSERT INTO orders (customer, id) VALUES (1, 42)",
        "INSERT INTO orders (id, customer) SELECT 1, 42",
        "INSERT INTO orders (id, customer) VALUES (1, 42) ON CONFLICT (id) DO UPDATE SET total = 1",
        "REPLACE INTO orders (id, customer) VALUES (1, 42)",
        "MERGE INTO orders USING items ON orders.customer = 42 WHEN MATCHED THEN DELETE",
        "TRUNCATE orders",
    ],
)
@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb", "snowflake"])
def test_nothing_reaches_another_row(text: str, dialect: str) -> None:
    assert verdict(text, ROWS, dialect) == "deny"


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("SELECT * FROM orders WHERE customer = 42 || 1 = 1", "mysql"),
        ("SELECT * FROM orders WHERE customer = 42 XOR total > 0", "mysql"),
        ("SELECT * FROM orders WHERE !customer = 42", "mysql"),
        ('SELECT * FROM orders WHERE region = "north"', "mysql"),
        ("SELECT * FROM orders WHERE region = citext 'north'", "postgres"),
        ("SELECT * FROM orders WHERE region = 'north'::citext", "postgres"),
        ("SELECT * FROM orders WHERE region = 'north' COLLATE nocase", "sqlite"),
        ("SELECT * FROM orders WHERE region COLLATE nocase = 'north'", "sqlite"),
        ("SELECT * FROM orders WHERE region = E'n\\x6frth'", "postgres"),
        ("SELECT * FROM orders WHERE region = 'NORTH'", "postgres"),
        ("SELECT * FROM orders WHERE region = $1", "postgres"),
        ("SELECT * FROM orders WHERE region = ?", "sqlite"),
        ("COPY orders TO STDOUT", "postgres"),
    ],
)
def test_what_only_looks_like_the_condition(text: str, dialect: str) -> None:
    scope = {"select": "any", "rows": {"orders": {"region": ["north", "south"], "customer": 42}}}
    both = {"select": "any", "rows": {"orders": {"region": ["north", "south"]}}}
    assert verdict(text, scope, dialect) == "deny"
    assert verdict(text, both, dialect) == "deny"
    assert verdict("SELECT * FROM orders WHERE region = 'north'", both, dialect) == "allow"
    assert verdict("SELECT * FROM orders WHERE region IN ('north', 'south')", both, dialect) == "allow"
    assert verdict("SELECT * FROM orders WHERE region IN ('north', 'east')", both, dialect) == "deny"


def test_what_a_scope_says_is_shown() -> None:
    assert SqlMatcher(ROWS).describe().endswith("of orders only rows with customer = 42")


def condition(draw: random.Random, depth: int) -> str:
    """A random condition on a row."""
    kind = draw.random()
    if depth and kind < 0.6:
        left, right = condition(draw, depth - 1), condition(draw, depth - 1)
        text = f"{left} {draw.choice(('AND', 'AND', 'OR', '=', 'IS', 'LIKE', '||', '-', '+'))} {right}"
        return draw.choice((text, f"({text})", f"NOT {text}", f"NOT ({text})"))
    column = draw.choice(("customer", "o.customer", "total", "o.id"))
    value = draw.choice(("42", "42", "1", "-42", "'42'", "+42", "customer"))
    tests = [f"{column} = {value}", f"{column} = 42", f"{value} = {column}", f"{column} IN ({value})"]
    tests += [f"{column} <> {value}", f"{column} IS NULL", f"{column} BETWEEN 1 AND {value}", f"+{column} = {value}"]
    test = draw.choice(tests)
    return draw.choice((test, test, f"({test})"))


def test_random_conditions_on_a_real_database() -> None:
    """Whatever condition is admitted, SQLite gives only rows of that customer for it."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE orders (id INTEGER, customer INTEGER, total INTEGER)")
    rows = [(1, 42, 1), (2, 42, 0), (42, 1, 42), (0, 0, 0), (3, None, 1), (4, -42, None)]
    connection.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    draw = random.Random(14)  # noqa: S311
    matcher = SqlMatcher({"select": "any", "rows": {"orders": {"customer": 42}}})
    admitted = 0
    for _ in range(4000):
        text = f"SELECT o.customer FROM orders o WHERE {condition(draw, 3)}"  # noqa: S608
        found = understand_sql(text, "sqlite")
        if found.problem or any(matcher.refuses_statement(each) for each in found.statements):
            continue
        admitted += 1
        assert {row[0] for row in connection.execute(text)} <= {42}, text
    assert admitted > 200
