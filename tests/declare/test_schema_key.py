"""`schema:` of a tool: SQLite itself looks at each statement, at whatever point it is decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from remit import Call, build_rulebook, decide_call
from remit.compile import load_rulebook
from remit.model.errors import PolicyError

SCHEMA = """
CREATE TABLE users (id INTEGER, name TEXT, password TEXT);
CREATE TABLE orders (id INTEGER, total INTEGER);
CREATE VIEW names AS SELECT name, password FROM users;
"""


def policy(**tool: Any) -> dict[str, Any]:
    scope = {"select": {"tables": ["users", "orders"], "columns": {"users": ["id", "name"]}}}
    return {
        "remit": 1,
        "tools": {"db": {"args": {"sql": "sql"}, "dialect": "sqlite", **tool}},
        "agents": {"a": {"may": [{"db": {"sql": scope}}]}},
    }


def test_a_policy_with_its_schema_asks_sqlite() -> None:
    rulebook = build_rulebook(policy(schema=SCHEMA))
    assert decide_call(rulebook, Call("a", "db", {"sql": "SELECT id, name FROM users"})).allowed
    wrong = decide_call(rulebook, Call("a", "db", {"sql": "SELECT absent FROM orders"}))
    assert not wrong.allowed
    assert decide_call(build_rulebook(policy()), Call("a", "db", {"sql": "SELECT absent FROM orders"})).allowed


def test_a_file_beside_the_policy(tmp_path: Path) -> None:
    text = Path(tmp_path / "remit.yaml")
    text.write_text(
        "remit: 1\ntools: {db: {args: {sql: sql}, dialect: sqlite, schema: schema.sql}}\n"
        "agents: {a: {may: [{db: {sql: {select: any}}}]}}\n"
    )
    (tmp_path / "schema.sql").write_text(SCHEMA)
    first = load_rulebook(text)
    assert not decide_call(first, Call("a", "db", {"sql": "SELECT * FROM other"})).allowed
    assert decide_call(first, Call("a", "db", {"sql": "SELECT * FROM names"})).allowed
    (tmp_path / "schema.sql").write_text(SCHEMA + "CREATE TABLE other (a);")
    second = load_rulebook(text)
    assert decide_call(second, Call("a", "db", {"sql": "SELECT * FROM other"})).allowed
    assert first.hash != second.hash
    (tmp_path / "schema.sql").unlink()
    with pytest.raises(PolicyError, match="no such file"):
        load_rulebook(text)


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ({"schema": SCHEMA, "dialect": "mysql"}, "dialect: sqlite"),
        ({"schema": "schema.sql"}, "the schema itself"),
        ({"schema": "CREATE TABLE (("}, "can't be used"),
        ({"schema": "CREATE TABLE t (a); DROP TABLE t"}, "can't be used"),
    ],
)
def test_a_schema_that_is_none_does_not_load(tool: dict[str, Any], why: str) -> None:
    with pytest.raises(PolicyError, match=why):
        build_rulebook(policy(**tool))
