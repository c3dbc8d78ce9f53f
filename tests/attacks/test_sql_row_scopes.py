"""A scope on rows: everyday statements about the one row pass, and no statement reaches another."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from remit import Call, Decision, Facts, PolicyError, build_rulebook, decide_call
from remit.languages.sql.understand import understand_sql
from remit.model.call import Context
from remit.model.facts import Capsule
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


@pytest.mark.sample(90)
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


OF_TASK = {"orders": {"customer": {"task": "customer"}}}
BOUND: dict[str, Any] = {
    "remit": 1,
    "use": ["claude-code"],
    "tools": {"db": {"args": {"sql": "sql"}, "dialect": "sqlite", "tier": 1}},
    "agents": {
        "desk": {
            "may": [
                {"db": {"sql": {"select": ["orders"], "rows": OF_TASK}}},
                {
                    "Bash": {
                        "shell": {
                            "run": [
                                {
                                    "sqlite3": {
                                        "db": ["app.db"],
                                        "sql": {"select": ["orders"], "rows": OF_TASK},
                                    }
                                }
                            ]
                        }
                    }
                },
            ]
        },
        "logs": {
            "may": [{"db": {"sql": {"select": ["log"], "rows": {"log": {"session": {"context": "session"}}}}}}],
        },
        "fenced": {
            "may": [{"db": {"sql": {"select": "any"}}}],
            "may_not": [
                {
                    "db": {
                        "sql": {"select": ["orders"]},
                        "except": {
                            "sql": {"select": ["orders"], "rows": {"orders": {"customer": {"task": "customer"}}}}
                        },
                    }
                }
            ],
        },
    },
}


def bound(agent: str, text: str, parameters: dict[str, Any] | None, tool: str = "db", **context: Any) -> Decision:
    """The decision on a text, in a task with these parameters or outside of any."""
    capsules = {"T": Capsule("T", agent, parameters=parameters)} if parameters is not None else {}
    told = Context(capsule="T" if capsules else None, **context)
    args = {"sql": text} if tool == "db" else {"command": text}
    return decide_call(build_rulebook(BOUND), Call(agent, tool, args, told), Facts(capsules=capsules))


@pytest.mark.parametrize(
    ("text", "parameters", "expected"),
    [
        ("SELECT total FROM orders WHERE customer = 42", {"customer": 42}, "allow"),
        ("SELECT total FROM orders WHERE customer = 'C-17'", {"customer": "C-17"}, "allow"),
        ("SELECT total FROM orders WHERE customer = 'O''Neill'", {"customer": "O'Neill"}, "allow"),
        ("SELECT total FROM orders WHERE customer = 43", {"customer": 42}, "deny"),
        ("SELECT total FROM orders WHERE customer = '42'", {"customer": 42}, "deny"),
        ("SELECT total FROM orders WHERE customer = 42", {"customer": "42"}, "deny"),
        ("SELECT total FROM orders", {"customer": 42}, "deny"),
        ("SELECT total FROM orders WHERE customer = 42 OR 1 = 1", {"customer": 42}, "deny"),
        ("SELECT total FROM orders WHERE customer = customer", {"customer": 42}, "deny"),
        # a task that doesn't say whose, or says it as no statement could
        ("SELECT total FROM orders WHERE customer = 42", {}, "deny"),
        ("SELECT total FROM orders WHERE customer = 42", {"client": 42}, "deny"),
        ("SELECT total FROM orders WHERE customer = 42", None, "deny"),
        ("SELECT total FROM orders WHERE customer = 1", {"customer": True}, "deny"),
        ("SELECT total FROM orders WHERE customer = 42", {"customer": 42.0}, "deny"),
    ],
)
def test_rows_of_the_task(text: str, parameters: dict[str, Any] | None, expected: str) -> None:
    assert bound("desk", text, parameters).verdict.word == expected
    command = f'sqlite3 app.db "{text}"'
    assert bound("desk", command, parameters, tool="Bash").verdict.word == expected


def test_rows_of_the_context() -> None:
    text = "SELECT line FROM log WHERE session = 's1'"
    assert bound("logs", text, None, session="s1").verdict.word == "allow"
    assert bound("logs", text, None, session="s2").verdict.word == "deny"
    assert bound("logs", text, None).verdict.word == "deny"
    assert bound("logs", text, {"session": "s1"}).verdict.word == "deny"  # the task is not asked


def test_the_same_text_in_another_task_is_decided_anew() -> None:
    text = "SELECT total FROM orders WHERE customer = 42"
    rulebook = build_rulebook(BOUND)
    told = Context(capsule="T")
    for customer, expected in ((42, "allow"), (43, "deny"), (42, "allow")):
        facts = Facts(capsules={"T": Capsule("T", "desk", parameters={"customer": customer})})
        assert decide_call(rulebook, Call("desk", "db", {"sql": text}, told), facts).verdict.word == expected


def test_an_exception_for_the_rows_of_the_task() -> None:
    text = "SELECT total FROM orders WHERE customer = 42"
    assert bound("fenced", text, {"customer": 42}).verdict.word == "allow"
    assert bound("fenced", text, {"customer": 43}).verdict.word == "deny"
    assert bound("fenced", text, None).verdict.word == "deny"


def test_what_a_bound_scope_says() -> None:
    said = bound("desk", "SELECT total FROM orders", {"customer": 42}).reason
    assert "must say customer = 42" in said
    said = bound("desk", "SELECT total FROM orders WHERE customer = 42", None).reason
    assert "the task has no customer, which says whose rows of orders it may reach" in said
    matcher = SqlMatcher({"select": ["orders"], "rows": {"orders": {"customer": {"task": "customer"}}}})
    assert matcher.describe() == "select orders; of orders only rows with customer = the customer of the task"


@pytest.mark.parametrize(
    "value", [{}, {"task": "a", "context": "session"}, {"context": "nobody"}, {"what": "a"}, [{"task": "a"}]]
)
def test_what_is_no_bound_value(value: Any) -> None:
    scope = {"select": ["orders"], "rows": {"orders": {"customer": value}}}
    with pytest.raises(PolicyError):
        verdict("SELECT 1", scope, "sqlite")


SHOWN = """
CREATE TABLE orders (id, customer, total);
CREATE TABLE users (id, name, password);
CREATE TABLE log (line);
CREATE VIEW every AS SELECT * FROM orders;
CREATE VIEW again AS SELECT total FROM every;
CREATE VIEW people AS SELECT id, name FROM users;
CREATE VIEW logins AS SELECT name, password FROM users;
CREATE TRIGGER noted AFTER UPDATE ON orders BEGIN INSERT INTO log SELECT count(*) FROM orders; END;
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT total FROM every", "deny"),
        ("SELECT total FROM again", "deny"),
        ("SELECT total FROM again WHERE total = 42", "deny"),
        ("SELECT (SELECT max(total) FROM again)", "deny"),
        ("WITH orders AS (SELECT * FROM every) SELECT * FROM orders WHERE customer = 42", "deny"),
        ("INSERT INTO log SELECT total FROM again", "deny"),
        ("SELECT name FROM people", "allow"),
        ("SELECT name FROM logins", "deny"),
        ("SELECT total FROM orders WHERE customer = 42", "allow"),
        ("UPDATE orders SET total = 1 WHERE customer = 42", "allow"),  # the trigger is the schema's own affair
    ],
)
def test_a_view_shows_no_more_than_its_table(text: str, expected: str) -> None:
    columns = {"tables": "any", "columns": {"users": ["id", "name"]}}
    scope = {"select": columns, "insert": ["log"], "update": ["orders"], "rows": {"orders": {"customer": 42}}}
    assert with_schema(text, scope) == expected
    # a scope that names the view means what it shows
    named = {"select": {**columns, "tables": ["every", "again", "logins", "orders", "people"]}, "insert": ["log"]}
    named = {**named, "update": ["orders"], "rows": {"orders": {"customer": 42}}}
    assert with_schema(text, named) == "allow"


def with_schema(text: str, scope: dict[str, Any]) -> str:
    policy = {
        "remit": 1,
        "tools": {"db": {"args": {"sql": "sql"}, "dialect": "sqlite", "tier": 1, "schema": SHOWN}},
        "agents": {"a": {"may": [{"db": {"sql": scope}}]}},
    }
    return decide_call(build_rulebook(policy), Call("a", "db", {"sql": text})).verdict.word


ANYTHING = {
    "select": "any",
    "insert": {"tables": "any", "conflict": "any"},
    "update": "any",
    "delete": "any",
    "ddl": "any",
    "rows": {"orders": {"customer": 42}},
}


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("postgres", "SELECT * FROM orders AS o(x, customer) WHERE o.customer = 42"),
        ("postgres", "SELECT * FROM orders AS o(x, customer) WHERE customer = 42"),
        ("postgres", "UPDATE x SET a = o.a FROM orders AS o(a, customer) WHERE o.customer = 42"),
        ("postgres", "SELECT * FROM (orders o CROSS JOIN x) AS o(a, b, customer) WHERE o.customer = 42"),
        ("postgres", "SELECT * FROM (orders o CROSS JOIN x) AS o WHERE o.customer = 42"),
        ("duckdb", "SELECT * FROM orders AS o(x, customer) WHERE o.customer = 42"),
        ("snowflake", "SELECT * FROM orders o (x, customer) WHERE o.customer = 42"),
    ],
)
def test_columns_under_other_names(dialect: str, text: str) -> None:
    [statement] = understand_sql(text, dialect).statements
    assert "could reach other rows of orders" in (SqlMatcher(ANYTHING).refuses_statement(statement) or "")


@pytest.mark.parametrize(
    "text",
    [
        "ALTER TABLE orders RENAME TO elsewhere",
        "ALTER TABLE orders RENAME COLUMN customer TO old",
        "DROP TABLE orders",
        "DROP TABLE main.ORDERS",
    ],
)
def test_the_table_itself_stays_as_it_is(text: str) -> None:
    [statement] = understand_sql(text, "sqlite").statements
    reason = "it would change the schema of orders, of which it may touch only rows with customer = 42"
    assert SqlMatcher(ANYTHING).refuses_statement(statement) == reason
    assert SqlMatcher({**ANYTHING, "rows": {"other": {"customer": 42}}}).refuses_statement(statement) is None


def test_a_key_is_not_set_under_its_other_name() -> None:
    """SQLite calls an INTEGER PRIMARY KEY also rowid, oid and _rowid_."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript("CREATE TABLE orders (id INTEGER PRIMARY KEY, a); INSERT INTO orders VALUES (5, 1)")
        connection.execute("UPDATE orders SET _rowid_ = 7 WHERE id = 5").close()
        assert connection.execute("SELECT id FROM orders").fetchall() == [(7,)]
    matcher = SqlMatcher({**ANYTHING, "rows": {"orders": {"id": 5}}})
    for name in ("rowid", "OID", '"_rowid_"'):
        for form in ("UPDATE orders SET {} = 7 WHERE id = 5", "INSERT INTO orders (id, {}) VALUES (5, 7)"):
            text = form.format(name)
            [statement] = understand_sql(text, "sqlite").statements
            assert "would set the rowid of orders" in (matcher.refuses_statement(statement) or ""), text
    [statement] = understand_sql("UPDATE orders SET a = 7 WHERE id = 5", "sqlite").statements
    assert matcher.refuses_statement(statement) is None
