"""Tables and columns that the tool's schema does not have."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.model.errors import PolicyError

SCHEMA = "CREATE TABLE orders (id int, total int); CREATE VIEW recent AS SELECT id FROM orders;"


def load(verb: str, scope: dict[str, Any], dialect: str = "postgres") -> tuple[str, ...]:
    tools = {"db": {"args": {"sql": "sql"}, "dialect": dialect, "schema": SCHEMA}}
    rules = {"may": ["db"] if verb != "may" else [], verb: [{"db": {"sql": scope}}]}
    return build_rulebook({"remit": 1, "tools": tools, "agents": {"a": rules}}).book.notices


@pytest.mark.parametrize("verb", ["may", "may_not", "must_ask"])
@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
@pytest.mark.parametrize(
    "scope",
    [
        {"select": ["ordres"]},
        {"select": {"tables": ["orders"], "columns": {"orders": ["id", "totla"]}}},
        {"insert": {"tables": ["ordes"], "from": "values"}},
        {"update": {"tables": "any", "columns": {"order": ["id"]}}},
        {"delete": ["recnet"]},
        {"select": "any", "rows": {"odrers": {"id": 1}}},
        {"select": "any", "rows": {"orders": {"totl": 1}}},
    ],
)
def test_a_slip_is_an_error(verb: str, dialect: str, scope: dict[str, Any]):
    with pytest.raises(PolicyError) as error:
        load(verb, scope, dialect)
    assert [problem.code for problem in error.value.problems] == ["unknown-name"]


@pytest.mark.parametrize("dialect", ["postgres", "sqlite"])
@pytest.mark.parametrize(
    "scope",
    [
        {"select": ["orders", "recent"]},
        {"select": "any"},
        {"select": ["ord*", "Orders"]},
        {"select": {"tables": ["ORDERS"], "columns": {"orders": ["ID", "total"]}}},
        {"ddl": {"kinds": ["table"], "tables": ["ordres"]}},
        {"select": "any", "rows": {"orders": {"total": 1}}},
    ],
)
def test_what_the_schema_has_is_none(dialect: str, scope: dict[str, Any]):
    assert load("may", scope, dialect) == ()


def test_the_default_schema_and_the_catalog_of_the_database_are_known():
    assert load("may", {"select": ["public.orders", "pg_class"]}) == ()
    assert load("may", {"select": ["main.orders", "sqlite_master"]}, "sqlite") == ()


@pytest.mark.parametrize(
    ("verb", "said"), [("may", "this part of the `may` permits nothing"), ("may_not", "concerns nothing that is known")]
)
def test_a_table_like_no_other_is_a_notice(verb: str, said: str):
    (notice,) = load(verb, {"select": ["payments"]})
    assert "the schema has no table `payments`" in notice
    assert said in notice


def test_rows_alone_name_no_statement():
    with pytest.raises(PolicyError) as error:
        load("may_not", {"rows": {"orders": {"id": 1}}})
    assert [problem.code for problem in error.value.problems] == ["matches-nothing"]


def test_a_function_that_is_nearly_known_is_a_notice():
    (notice,) = load("may", {"select": "any", "functions": ["array_lenght"]})
    assert "the one that is known is `array_length`" in notice
