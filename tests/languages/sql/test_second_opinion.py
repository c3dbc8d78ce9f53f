"""PostgreSQL's own parser as a second opinion: every table that it sees, we see. `requirements/long.txt` has it.

It is libpg_query under the BSD licence; pglast, its best-known binding, is under the GPL.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from remit.languages.sql.understand import understand_sql
from tests.languages.sql.fuzz import problems, texts

pgparse: Any = pytest.importorskip("pgparse")
pytestmark = pytest.mark.long


def nodes(tree: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Every node of a kind, anywhere below."""
    left = [tree]
    while left:
        item = left.pop()
        if isinstance(item, dict):
            if isinstance(item.get(kind), dict):
                yield item[kind]
            left.extend(value for key, value in item.items() if key != "lockedRels")  # aliases: `FOR SHARE OF a`
        elif isinstance(item, list):
            left.extend(item)


def tables(tree: Any) -> set[str]:
    ctes = {node["ctename"] for node in nodes(tree, "CommonTableExpr")}
    found = {(node.get("schemaname", ""), node["relname"]) for node in nodes(tree, "RangeVar")}
    found |= {(node.get("schemaname", ""), node["relname"]) for node in nodes(tree, "relation") if "relname" in node}
    return {
        name if schema in ("", "public", "pg_temp") else f"{schema}.{name}"
        for schema, name in found
        if schema or name not in ctes
    }


@pytest.mark.parametrize("seed", [31, 32])
def test_every_table_that_postgres_sees(seed: int) -> None:
    compared = 0
    for text in texts(seed, 3000, "postgres"):
        found = understand_sql(text, "postgres")
        if problems(found):
            continue
        try:
            tree = pgparse.parse(text)
        except pgparse.PGQueryError:
            continue
        compared += 1
        ours = {use.table.removeprefix("pg_temp.") for statement in found.statements for use in statement.uses}
        missing = tables(tree) - ours
        assert "*" in ours or not missing, (text, missing)
        assert len(tree) == len(found.statements), text
    assert compared > 500
