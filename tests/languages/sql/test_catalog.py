"""What a PostgreSQL schema adds: views are what they show, and `t.name` is a call where it is no column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from remit import Call, build_rulebook, decide_call
from remit.languages.sql.catalog import Catalog, catalog_of
from remit.languages.sql.statement import SqlStatement
from remit.languages.sql.understand import understand_sql
from tests.postgres import Postgres

SCHEMA = """
-- as pg_dump writes it
SET statement_timeout = 0;
SELECT pg_catalog.set_config('search_path', '', false);
CREATE FUNCTION public.leak(o public.orders) RETURNS text LANGUAGE sql AS $$ SELECT 'x; y' $$;
CREATE TABLE public.users (
    id integer NOT NULL,
    name character varying(32) DEFAULT 'a,b'::text,
    password text,
    CONSTRAINT short CHECK ((length(name) < 32)),
    PRIMARY KEY (id)
);
CREATE TABLE public.orders (id integer, customer integer, total numeric(10,2));
CREATE TABLE hr.salaries (id integer, amount integer);
CREATE VIEW public.people AS SELECT users.id, users.name FROM public.users;
CREATE VIEW public.logins (who, secret) AS SELECT name, password FROM public.users;
CREATE VIEW public.again AS SELECT secret FROM public.logins WHERE (who IS NOT NULL);
CREATE MATERIALIZED VIEW public.pay AS SELECT amount FROM hr.salaries WITH DATA;
CREATE INDEX by_total ON public.orders USING btree (total);
"""


def statement(text: str) -> SqlStatement:
    found = catalog_of(SCHEMA)
    assert isinstance(found, Catalog), found
    (only,) = understand_sql(text, "postgres").statements
    return found.check(only)


def verdict(text: str, *, may: Any = None, may_not: Any = None, schema: str | None = SCHEMA) -> str:
    agent: dict[str, Any] = {"may": [{"db": {"sql": may or {"select": "any", "update": "any", "delete": "any"}}}]}
    if may_not is not None:
        agent["may_not"] = [{"db": {"sql": may_not}}]
    tool = {"args": {"sql": "sql"}, "dialect": "postgres", "tier": 1, **({"schema": schema} if schema else {})}
    book = build_rulebook({"remit": 1, "tools": {"db": tool}, "agents": {"a": agent}})
    return decide_call(book, Call("a", "db", {"sql": text})).verdict.word


def test_what_the_schema_says() -> None:
    found = catalog_of(SCHEMA)
    assert isinstance(found, Catalog)
    assert found.columns == {
        "users": frozenset(("id", "name", "password")),
        "orders": frozenset(("id", "customer", "total")),
        "hr.salaries": frozenset(("id", "amount")),
        "people": None,
        "logins": frozenset(("who", "secret")),
        "again": None,
        "pay": None,
    }
    assert {name: {use.table for use in uses} for name, uses in found.views.items()} == {
        "people": {"users"},
        "logins": {"users"},
        "again": {"logins"},
        "pay": {"hr.salaries"},
    }


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("SELECT * FROM logins", {("select", "users")}),
        ("SELECT secret FROM public.again", {("select", "logins"), ("select", "users")}),
        ("TABLE pay", {("select", "hr.salaries")}),
        ("UPDATE people SET name = 'x'", {("select", "users"), ("update", "users")}),
        (
            "DELETE FROM people WHERE id IN (SELECT 1 FROM pay)",
            {("select", "users"), ("delete", "users"), ("select", "hr.salaries")},
        ),
        ("WITH a AS (SELECT * FROM again) SELECT 1 FROM a", {("select", "logins"), ("select", "users")}),
        ("COPY (SELECT * FROM logins) TO STDOUT", {("select", "users")}),
        ("DECLARE c CURSOR FOR SELECT * FROM pay", {("select", "hr.salaries")}),
        ("SELECT * FROM users", set()),
    ],
)
def test_views_are_what_they_show(text: str, behind: set[tuple[str, str]]) -> None:
    assert {(use.verb, use.table) for use in statement(text).uses if use.via} == behind


def test_prohibitions_and_limits_look_behind_views() -> None:
    secret = {"select": ["users"]}
    for text in ("SELECT * FROM logins", "SELECT secret FROM again", "SELECT (SELECT max(secret) FROM again)"):
        assert verdict(text, may_not=secret) == "deny"
        assert verdict(text, may_not=secret, schema=None) == "allow"
        assert verdict(text, may={"select": {"tables": "any", "columns": {"users": ["id", "name"]}}}) == "deny"
        assert verdict(text, may={"select": "any", "rows": {"users": {"id": 1}}}) == "deny"
        assert verdict(text, may={"select": ["logins", "again"], "rows": {"users": {"id": 1}}}) == "allow"
    assert verdict("UPDATE people SET name = 'x'", may_not={"update": ["users"]}) == "deny"
    change = "UPDATE people SET name = 'x' WHERE id = 3"
    for may in (
        {"update": "any", "rows": {"users": {"id": 1}}},
        {"update": {"tables": "any", "columns": {"users": ["id"]}}},
    ):
        assert verdict(change, may=may) == "deny"
        assert verdict(change, may={**may, "update": ["people"]}) == "allow"
    assert verdict("DELETE FROM people WHERE id = 3", may={"delete": "any", "rows": {"users": {"id": 1}}}) == "deny"
    assert verdict("DELETE FROM people WHERE id = 3", may={"delete": "any"}) == "allow"
    assert verdict("SELECT total FROM orders", may_not=secret) == "allow"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT o.total FROM orders o", "allow"),
        ("SELECT o.ctid, o.xmin FROM orders o", "allow"),
        ("SELECT o.* FROM orders o", "allow"),
        ("SELECT o.leak FROM orders o", "deny"),  # leak(o)
        ("SELECT 1 FROM orders o ORDER BY o.leak", "deny"),
        ("SELECT 1 FROM orders WHERE orders.leak = 'x'", "deny"),
        ("SELECT (SELECT o.leak FROM users LIMIT 1) FROM orders o", "deny"),
        ("UPDATE orders o SET total = 1 WHERE o.leak IS NULL", "deny"),
        ("DELETE FROM orders RETURNING orders.leak", "deny"),
        ("SELECT c.leak FROM (SELECT 1 AS leak) AS c", "allow"),  # no table's alias
        ("SELECT l.who FROM logins l", "allow"),
        ("SELECT l.name FROM logins l", "deny"),  # a column of what it shows, and none of its own
        ("SELECT o.x FROM orders AS o (x, y, z)", "deny"),  # named anew: what these are the schema can't tell
        ("SELECT total FROM nowhere", "deny"),
        ("SELECT relname FROM pg_class", "allow"),
    ],
)
def test_a_name_that_is_no_column_is_a_call(text: str, expected: str) -> None:
    assert verdict(text) == expected
    if expected == "deny" and "leak" in text:
        functions = {"select": "any", "update": "any", "delete": "any", "functions": ["leak"]}
        assert verdict(text, may=functions) == "ask"  # a person, since nobody knows what it does
        limited = {**functions, "select": {"tables": "any", "columns": {"orders": ["id", "total", "leak"]}}}
        assert verdict(text, may=limited) == "deny"  # the function gets the whole row


@pytest.mark.parametrize(
    "schema", ["", "SELECT 1", "CREATE TABLE t (a", "CREATE TABLE 'x' (a)", "x" * (1024 * 1024 + 1)]
)
def test_what_is_no_schema(schema: str) -> None:
    assert isinstance(catalog_of(schema), str | Catalog)
    if schema != "CREATE TABLE t (a":
        assert isinstance(catalog_of(schema), str)


@pytest.fixture(scope="module")
def server(postgres: Postgres) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    with postgres.connect(postgres.new_database(), autocommit=True) as connection:
        connection.execute("CREATE SCHEMA hr")
        tables, functions = SCHEMA.split("CREATE TABLE", 1)[1], SCHEMA.split("CREATE FUNCTION", 1)[1].split(";\n", 1)[0]
        connection.execute(f"CREATE TABLE{tables}".encode())
        connection.execute(f"CREATE FUNCTION{functions}".encode())
        connection.execute("CREATE ROLE looker")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker")
        yield connection


def test_the_server_agrees(server: psycopg.Connection[tuple[Any, ...]]) -> None:
    """What is a call here is one there: a role that may not call the function can't run the statement."""
    server.execute("REVOKE EXECUTE ON FUNCTION leak FROM PUBLIC")
    texts = [
        "SELECT o.leak FROM orders o",
        "SELECT o.total FROM orders o",
        "SELECT c.leak FROM (SELECT 1 AS leak) AS c",
    ]
    texts += ["SELECT 1 FROM orders WHERE orders.leak = 'x'", "SELECT 1 FROM orders o ORDER BY o.leak"]
    for text in texts:
        denied = False
        server.execute("SET ROLE looker")
        try:
            server.execute(text.encode())
        except psycopg.errors.InsufficientPrivilege:
            denied = True
        finally:
            server.execute("RESET ROLE")
        assert ("leak" in statement(text).strange) == denied, text


def test_the_schema_of_a_server_is_read_as_its_dump_is(server: psycopg.Connection[tuple[Any, ...]]) -> None:
    from remit.enforce.schemas import Schemas

    text = Schemas({"db": server}).of("db")
    live, dumped = catalog_of(text), catalog_of(SCHEMA)
    assert isinstance(live, Catalog)
    assert isinstance(dumped, Catalog)
    assert live.columns.keys() == dumped.columns.keys()
    assert all(names is None or names == live.columns[table] for table, names in dumped.columns.items())
    assert {view: {use.table for use in uses} for view, uses in live.views.items()} == {
        view: {use.table for use in uses} for view, uses in dumped.views.items()
    }
