"""Reads that a SQL text doesn't show as such: calls in the shape of columns, tables that it also changes, cursors,
aliases that hide a table, signs, files in the place of tables, and administration in the shape of an UPDATE."""

from __future__ import annotations

from typing import Any

import pytest

from remit import Call, build_rulebook, decide_call

COLUMNS = {"tables": ["orders", "users"], "columns": {"users": ["id", "name"]}}


def verdict(text: str, *, dialect: str = "postgres", **rules: Any) -> str:
    policy = {
        "remit": 1,
        "tools": {"db": {"args": {"sql": "sql"}, "dialect": dialect, "tier": 1}},
        "agents": {"a": rules},
    }
    return decide_call(build_rulebook(policy), Call("a", "db", {"sql": text})).verdict.word


def under(text: str, scope: dict[str, Any], dialect: str = "postgres") -> str:
    return verdict(text, dialect=dialect, may=[{"db": {"sql": scope}}])


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ('/etc/passwd'::text).pg_read_file",
        "SELECT (1).delete_user",
        "SELECT ((1)).delete_user FROM orders",
        "SELECT (SELECT '/etc/passwd'::text).pg_read_file",
        "SELECT ('select password from secret'::text).ts_stat",
        "SELECT ('x'::text) . \"pg_read_file\"",
        "SELECT (lower('/ETC/PASSWD')).pg_read_file",
        "SELECT id FROM orders WHERE (('/etc/passwd'::text).pg_read_file) LIKE 'r%'",
        "SELECT id FROM orders ORDER BY (1).delete_user",
        "SELECT (array['/etc/passwd'])[1].pg_read_file",
        "SELECT $1.pg_read_file",
        "SELECT x.pg_read_file FROM unnest(ARRAY['/etc/passwd']) AS x",
        "SELECT x.pg_read_file FROM lower('/etc/passwd') x",
        "SELECT lower.pg_read_file FROM lower('/etc/passwd')",
        "SELECT x.pg_read_file FROM ROWS FROM (lower('/etc/passwd')) AS x",
        "SELECT y.delete_user FROM orders, LATERAL abs(id) AS y",
        "SELECT (SELECT g.delete_user) FROM generate_series(1, 1) g",
        "INSERT INTO orders VALUES ((1).delete_user)",
        "UPDATE orders SET id = (1).delete_user",
        "DELETE FROM orders WHERE (1).delete_user = 2",
    ],
)
def test_attributes_that_are_calls(text: str) -> None:
    scope = {verb: ["orders"] for verb in ("select", "insert", "update", "delete")}
    assert under(text, scope) == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT o.id, o.total FROM orders o",
        "SELECT (o.id) FROM orders o",
        "SELECT e.key, e.value FROM orders, json_each(orders.data) AS e",
        "SELECT g.n FROM generate_series(1, 3) AS g(n)",
        "SELECT g.g FROM generate_series(1, 3) AS g",
        "SELECT (o.name).length FROM orders o",
    ],
)
def test_attributes_that_are_none(text: str) -> None:
    assert under(text, {"select": ["orders"]}) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT u.to_json FROM users u",
        "SELECT u.row_to_json FROM users AS u",
        "SELECT users.json_agg FROM users",
        "SELECT (u).to_jsonb FROM users u",
        "SELECT (u).password FROM users u",
        "SELECT quote_literal(u) FROM users u",
        "SELECT password FROM users",
        "SELECT id FROM users ORDER BY +password",
        "SELECT id AS password FROM users ORDER BY +password",
        "SELECT id AS password FROM users ORDER BY + + password",
        "SELECT id, (SELECT users.password FROM orders AS users LIMIT 1) FROM users",
        "SELECT id FROM users WHERE EXISTS (SELECT 1 FROM orders users WHERE users.password = 'x')",
        "SELECT name FROM users FOR UPDATE OF users",
        "WITH users AS (SELECT 1 AS id) SELECT password FROM public.users",
        "SELECT id FROM users NATURAL JOIN orders",
        "SELECT id FROM orders JOIN users USING (password)",
    ],
)
def test_columns_that_are_read_in_disguise(text: str) -> None:
    assert under(text, {"select": COLUMNS}) == "deny"
    if "(u)" not in text and "FOR UPDATE" not in text and "public" not in text:
        assert under(text, {"select": COLUMNS}, "sqlite") == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT password FROM users FOR UPDATE",
        "SELECT password FROM users FOR NO KEY UPDATE",
        "SELECT password FROM users FOR SHARE",
        "WITH a AS (UPDATE users SET name = 'x' WHERE false) SELECT password FROM users",
        "WITH a AS (DELETE FROM users WHERE false) SELECT password FROM users",
        "UPDATE users SET name = u.password FROM users u",
        "UPDATE users AS t SET name = users.password FROM users",
        "UPDATE users SET name = (SELECT max(u.password) FROM users u)",
        "UPDATE users SET name = 'x' WHERE id IN (SELECT id FROM users)",
        "DELETE FROM users USING users u WHERE u.password = 'x'",
        "UPDATE users SET name = 'x' RETURNING password",
        "UPDATE users SET name = 'x' RETURNING *",
        "DELETE FROM users RETURNING (users).password",
        "UPDATE users u SET name = 'x' RETURNING u",
        "INSERT INTO users (id) VALUES (1) RETURNING password",
    ],
)
@pytest.mark.parametrize("select", [["orders"], {"tables": ["orders", "users"], "columns": {"users": ["id", "name"]}}])
def test_reads_of_a_table_that_is_also_changed(text: str, select: Any) -> None:
    if "(SELECT id FROM users)" in text and isinstance(select, dict):
        pytest.skip("these columns may be read")
    scope = {"select": select, "insert": ["users"], "update": ["users"], "delete": ["users"]}
    assert under(text, scope) == "deny"


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql", "duckdb"])
def test_everyday_conditions_on_what_is_changed_need_no_select(dialect: str) -> None:
    scope = {"update": ["t"], "delete": ["t"]}
    for text in (
        "UPDATE t SET a = 1 WHERE id = 3",
        "UPDATE t SET a = a - 1 WHERE id = 3",
        "DELETE FROM t WHERE id = 3",
    ):
        assert under(text, scope, dialect) == "allow"


def test_where_columns_may_be_read_they_bind_conditions_too() -> None:
    scope = {"select": COLUMNS, "update": ["users"]}
    assert under("UPDATE users SET name = 'x' WHERE id = 3", scope) == "allow"
    assert under("UPDATE users SET name = 'x' WHERE password LIKE 'a%'", scope) == "deny"
    assert under("UPDATE users SET name = password", scope) == "deny"
    assert under("UPDATE users SET password = 'x' WHERE id = 3", scope) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM secret",
        "BEGIN; DECLARE c CURSOR FOR SELECT * FROM secret; FETCH ALL FROM c; COMMIT",
        "DECLARE c BINARY INSENSITIVE NO SCROLL CURSOR WITH HOLD FOR SELECT * FROM secret",
        "DECLARE c CURSOR FOR TABLE secret",
        "DECLARE c CURSOR FOR WITH x AS (SELECT * FROM secret) SELECT * FROM x",
        "PREPARE p AS SELECT * FROM secret",
        "PREPARE p (int) AS SELECT * FROM secret WHERE id = $1",
        "EXPLAIN ANALYZE SELECT * FROM secret",
        "EXPLAIN (ANALYZE, VERBOSE) SELECT * FROM secret",
        "CREATE TABLE copied AS SELECT * FROM secret",
        "CREATE VIEW v AS SELECT * FROM secret",
        "CREATE MATERIALIZED VIEW v AS SELECT * FROM secret",
        "SELECT * INTO copied FROM secret",
        "COPY secret TO STDOUT",
        "COPY (SELECT * FROM secret) TO STDOUT",
        "DELETE FROM secret RETURNING *",
        "UPDATE secret SET a = 1 RETURNING b",
        "INSERT INTO secret VALUES (1) RETURNING *",
        "WITH x AS (DELETE FROM secret RETURNING *) SELECT * FROM x",
        "INSERT INTO orders SELECT id FROM secret",
        "UPDATE orders SET a = (SELECT max(b) FROM secret)",
        "MERGE INTO orders USING secret ON orders.id = secret.id WHEN MATCHED THEN DO NOTHING",
    ],
)
def test_a_prohibited_table_is_found_wherever_it_is_read(text: str) -> None:
    rules: dict[str, Any] = {"may": ["db"], "may_not": [{"db": {"sql": {"select": ["secret"]}}}]}
    assert verdict(text, **rules) == "deny"
    assert verdict(text.replace("secret", "orders"), **rules) != "deny" or "PREPARE" in text


def test_a_prohibited_column_may_not_be_copied_into_another() -> None:
    secret = {"select": {"tables": ["users"], "columns": {"users": ["password"]}}}
    rules: dict[str, Any] = {"may": ["db"], "may_not": [{"db": {"sql": secret}}]}
    assert verdict("UPDATE users SET name = password", **rules) == "deny"
    assert verdict("UPDATE users SET name = 'x' WHERE password = 'y'", **rules) == "deny"
    assert verdict("UPDATE users SET name = 'x' WHERE id = 1", **rules) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM x.csv",
        "SELECT * FROM 'x.csv'",
        "SELECT * FROM 'data/*.parquet'",
        'SELECT * FROM "x.csv"',
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM 'https://example.com/x.parquet'",
        "SELECT * FROM 's3://bucket/x.parquet' AS t",
        "SELECT * FROM t JOIN x.json ON true",
        "SELECT * FROM read_csv('x.csv')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT (SELECT count(*) FROM 'x.csv')",
        "INSERT INTO t SELECT * FROM 'x.csv'",
    ],
)
def test_files_that_duckdb_takes_for_tables(text: str) -> None:
    assert under(text, {"select": "any", "insert": "any"}, "duckdb") == "deny"
    rules: dict[str, Any] = {"may": ["db"], "may_not": [{"effect": "read", "path": "**"}]}
    assert verdict(text, dialect="duckdb", **rules) == "deny" or "/etc/passwd" in text  # `**` is below the root


@pytest.mark.parametrize(
    "text",
    [
        "UPDATE pg_authid SET rolsuper = true",
        "UPDATE pg_catalog.pg_class SET relowner = 10",
        "DELETE FROM pg_catalog.pg_policy",
        "INSERT INTO pg_auth_members VALUES (1)",
        "WITH x AS (UPDATE pg_authid SET rolsuper = true) SELECT 1",
        "SET ROLE postgres",
        "SET LOCAL ROLE postgres",
        "SET SESSION ROLE postgres",
        "SET SESSION AUTHORIZATION postgres",
        "SET LOCAL SESSION AUTHORIZATION postgres",
        "RESET ROLE",
        "RESET SESSION AUTHORIZATION",
    ],
)
def test_administration_in_the_shape_of_everyday_statements(text: str) -> None:
    assert verdict(text, may=["db"], may_not=[{"effect": "system"}]) == "deny"
    assert under(text, {"select": "any", "insert": "any", "update": "any", "delete": "any"}) == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT x.p FROM users u, (SELECT u.password AS p) x",
        "SELECT x.p FROM users u JOIN (SELECT u.password AS p) x ON true",
        "SELECT * FROM 'users'",
        "SELECT * FROM (FROM 'users')",
    ],
)
def test_duckdb_takes_subqueries_as_lateral_and_strings_as_tables(text):
    limits = [{"pg": {"sql": {"select": {"tables": ["users"], "columns": {"users": ["id"]}}}}}]
    tools = {"pg": {"args": {"sql": "sql"}, "dialect": "duckdb", "tier": 1}}
    agents = {
        "limited": {"may": limits},
        "kept_out": {"may": ["pg"], "may_not": [{"pg": {"sql": {"select": ["users"]}}}]},
    }
    rulebook = build_rulebook({"remit": 1, "tools": tools, "agents": agents})
    for agent in agents:
        assert decide_call(rulebook, Call(agent, "pg", {"sql": text})).verdict.word == "deny"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "SET @a = (SELECT k FROM secret)"),
        ("mysql", "SET @a := (TABLE secret), @b = 1"),
        ("mysql", "SET @a = @b := (SELECT k FROM secret)"),
        ("mysql", "SET SESSION x = (WITH s AS (SELECT k FROM secret) SELECT k FROM s)"),
        ("mysql", "SET @a = LOAD_FILE('/etc/passwd')"),
        ("mysql", "SET STATEMENT max_statement_time=1 FOR SELECT * FROM secret"),
        ("mysql", "KILL (SELECT k FROM secret)"),
        ("mysql", "SHOW TABLES WHERE (SELECT k FROM secret)"),
        ("duckdb", "SET VARIABLE x = (SELECT k FROM secret)"),
        ("duckdb", "SET VARIABLE x = (FROM secret)"),
        ("duckdb", "DESCRIBE SELECT * FROM secret"),
        ("snowflake", "SET x = (SELECT k FROM secret)"),
    ],
)
def test_queries_within_statements_of_another_kind(dialect: str, text: str) -> None:
    assert verdict(text, dialect=dialect, may=["db"], may_not=[{"db": {"sql": {"select": ["secret"]}}}]) == "deny"


def test_renaming_is_altering() -> None:
    assert verdict("RENAME TABLE orders TO o2, secret TO s2", dialect="mysql", may=["db"]) == "ask"
    assert under("RENAME TABLE orders TO o2", {"ddl": {"kinds": ["table"], "tables": ["o*"]}}, "mysql") == "ask"
    assert under("RENAME TABLE secret TO s2", {"ddl": {"kinds": ["table"], "tables": ["o*"]}}, "mysql") == "deny"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("mysql", "SET @a = 1, @b = 'select (1)'"),
        ("mysql", "SET NAMES utf8mb4 COLLATE utf8mb4_bin"),
        ("mysql", "SHOW FULL PROCESSLIST"),
        ("mysql", "SHOW CREATE TABLE orders"),
        ("postgres", "SET search_path TO a, b"),
        ("postgres", "SET x = 'select'"),
        ("postgres", "ANALYZE orders(id)"),
        ("snowflake", "SHOW TABLES LIKE 'x'"),
    ],
)
def test_statements_of_another_kind_without_one(dialect: str, text: str) -> None:
    assert verdict(text, dialect=dialect, may=["db"], may_not=[{"db": {"sql": {"select": ["secret"]}}}]) == "allow"


@pytest.mark.parametrize("text", ["SELECT HASH(*) FROM users", "SELECT id, OBJECT_CONSTRUCT(*) FROM users"])
def test_a_star_that_is_an_argument(text: str) -> None:
    assert under(text, {"select": COLUMNS}, "snowflake") == "deny"
    assert under("SELECT COUNT(*) FROM users", {"select": COLUMNS}, "snowflake") == "allow"


@pytest.mark.parametrize("text", ["SELECT * LIKE 'pass%' FROM users", "SELECT id, * SIMILAR TO 'p.*' FROM users"])
def test_a_star_in_an_expression(text: str) -> None:
    assert under(text, {"select": COLUMNS}, "duckdb") == "deny"
    assert under("SELECT id, count(*), count() FROM users", {"select": COLUMNS}, "duckdb") == "allow"
