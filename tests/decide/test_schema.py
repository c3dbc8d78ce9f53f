"""The schema as a fact: SQLite itself is asked what a statement touches, in a query tool and in a terminal."""

from __future__ import annotations

import pytest

from remit.decide import decide
from remit.model import Call, Facts
from tests.decide.kit import book

SCHEMA = """
CREATE TABLE orders (id INTEGER, total INTEGER);
CREATE TABLE customers (id INTEGER, email TEXT);
CREATE VIEW mails AS SELECT email FROM customers;
CREATE TRIGGER noted AFTER INSERT ON orders BEGIN DELETE FROM customers; END;
"""
RULES = {
    "may": ["query", "run"],
    "data_tiers": [0, 1],
}
LABELS = {"data": {3: {"table": ["customers"]}}}


def outcome(tool: str, text: str, known: bool) -> str:
    rulebook = book(agents={"a": RULES}, labels=LABELS)
    args = {"sql": text} if tool == "query" else {"command": f'sqlite3 shop.db "{text}"'}
    schema = {"query": SCHEMA, "shop.db": SCHEMA} if known else None
    decision = decide(rulebook, Call("a", tool, args), Facts(schema=schema))
    return f"{decision.verdict.word} {decision.code}"


@pytest.mark.parametrize("tool", ["query", "run"])
@pytest.mark.parametrize(
    ("text", "without", "with_schema"),
    [
        ("SELECT total FROM orders", "allow allowed", "allow allowed"),
        ("SELECT email FROM customers", "deny data-tier", "deny data-tier"),
        ("SELECT * FROM mails", "allow allowed", "deny data-tier"),
        ("INSERT INTO orders VALUES (1, 2)", "allow allowed", "deny data-tier"),
        ("SELECT absent FROM orders", "allow allowed", "deny not-understood"),
    ],
)
def test_what_lies_behind_views_and_triggers(tool: str, text: str, without: str, with_schema: str) -> None:
    assert outcome(tool, text, known=False) == without
    assert outcome(tool, text, known=True) == with_schema


@pytest.mark.parametrize("schema", ["CREATE TABLE (", "ATTACH 'x' AS y", "DROP TABLE t", "x" * 300_000])
def test_a_schema_that_can_not_be_used_denies(schema: str) -> None:
    rulebook = book(agents={"a": RULES}, labels=LABELS)
    decision = decide(rulebook, Call("a", "query", {"sql": "SELECT 1 FROM orders"}), Facts(schema={"query": schema}))
    assert (decision.verdict.word, decision.code) == ("deny", "not-understood")
