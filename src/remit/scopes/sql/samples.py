"""What a `sql:` scope lets happen, texts that show it, and the smallest scope for a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from remit.languages.sql.statement import EFFECTS, VERBS, SqlStatement, Use

if TYPE_CHECKING:
    from remit.scopes.sql.scope import SqlMatcher, Tables

SAMPLES = (
    "SELECT * FROM x",
    "INSERT INTO x VALUES (1)",
    "UPDATE x SET a = 1",
    "DELETE FROM x",
    "CREATE TABLE x (a INTEGER)",
    "DROP TABLE x",
    "SELECT load_extension('x')",
)
"""A text for each effect, to try on a scope that takes any."""


def possible_sql_effects(matcher: SqlMatcher) -> tuple[frozenset[str], bool]:
    """The effects that covered statements can show, and whether they can call functions that could do anything."""
    effects = {EFFECTS[verb] for verb in matcher.clauses}
    insert = matcher.clauses.get("insert")
    if "ddl" in matcher.clauses or (insert is not None and (insert.conflicts is None or "replace" in insert.conflicts)):
        effects.add("delete")
    if matcher.pragmas is not None:
        effects.add("write")
    return frozenset(effects), bool(matcher.functions)


def sample_statements(matcher: SqlMatcher) -> list[str]:
    """Texts that the scope may cover."""
    found: list[str] = []
    texts = {
        "select": "SELECT * FROM {}",
        "insert": "INSERT INTO {} VALUES (1)",
        "update": "UPDATE {} SET a = 1",
        "delete": "DELETE FROM {}",
        "ddl": "CREATE TABLE {} (a INTEGER)",
    }
    for verb, clause in matcher.clauses.items():
        if verb in texts:
            found.extend(texts[verb].format(name) for name in _names(clause.tables))
    if "ddl" in matcher.clauses:
        names = _names(matcher.clauses["ddl"].tables)
        found.extend(f"DROP {kind.upper()} {name}" for kind in ("table", "view", "index") for name in names)
    if matcher.pragmas is not None:
        found.extend(f"PRAGMA {name}" for name in _names(matcher.pragmas))
    return found


def _names(tables: Tables) -> list[str]:
    return ["x"] if tables.all else [name.replace("*", "x").replace("?", "x") for name in tables.names]


def smallest_scope(statement: SqlStatement) -> dict[str, Any] | None:
    """The statement's verbs, tables, columns and functions as a scope; None for what no scope admits."""
    uses: dict[str, list[Use]] = {verb: [] for verb in (statement.verb,) if verb in ("select", "insert")}
    for use in statement.uses:
        if not use.via and not use.own:
            uses.setdefault(use.verb, []).append(use)
    if statement.ddl:
        uses.setdefault("ddl", [])
    scope: dict[str, Any] = {verb: _clause(verb, named, statement) for verb, named in uses.items()}
    if statement.pragmas:
        scope["pragma"] = list(statement.pragmas)
    if statement.strange:
        scope["functions"] = list(statement.strange)
    if statement.unknown or not scope or statement.reaches or statement.verb not in VERBS:
        return None
    return {**scope, "explain": True} if statement.explains else scope


def _clause(verb: str, uses: list[Use], statement: SqlStatement) -> Any:
    """What one verb may do: no more than the statement, as far as its text tells."""
    tables = list(dict.fromkeys(use.table for use in uses))
    if verb == "ddl":
        kinds = sorted(statement.ddl)
        return {"kinds": kinds, "tables": tables} if kinds and tables else kinds or "any"
    more: dict[str, Any] = {}
    columns = {table: _columns(verb, table, statement) for table in tables}
    if any(columns.values()):
        more["columns"] = {table: names for table, names in columns.items() if names}
    if verb == "insert" and statement.source == "values":
        more["from"] = "values"
    if verb == "insert" and statement.conflict not in ("", "none"):
        more["conflict"] = statement.conflict if statement.conflict in ("ignore", "update", "replace") else "any"
    if not tables:
        return {"tables": "any", **more} if more else "any"
    return {"tables": tables, **more} if more else tables


def _columns(verb: str, table: str, statement: SqlStatement) -> list[str]:
    """The columns of a table that the statement touches so, or by which it chooses what it touches; none: any."""
    found: set[str] = set()
    for use in statement.uses:
        if use.table == table and not use.via and (use.verb == verb or use.own):
            if use.columns is None:
                return []
            found |= use.columns
    return sorted(found)
