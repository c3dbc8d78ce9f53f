"""What a `sql:` scope lets happen, texts that show it, and the smallest scope for a statement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.languages.sql.statement import EFFECTS, VERBS, SqlStatement
from remit.scopes.interface import in_quotes

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


def smallest_scope(statement: SqlStatement) -> str | None:
    """The statement's verbs, tables and functions as a scope; None for what no scope admits."""
    clauses: dict[str, list[str]] = {verb: [] for verb in (statement.verb,) if verb in ("select", "insert")}
    for use in statement.uses:
        if not use.via and not use.own:
            clauses.setdefault(use.verb, []).append(use.table)
    kinds = sorted(statement.ddl)
    if "ddl" in clauses or kinds:
        clauses["ddl"] = kinds
    if statement.pragmas:
        clauses["pragma"] = list(statement.pragmas)
    if statement.strange:
        clauses["functions"] = list(statement.strange)
    if statement.unknown or not clauses or statement.reaches or statement.verb not in VERBS:
        return None
    entries = [
        f"{verb}: [{', '.join(map(in_quotes, dict.fromkeys(names)))}]" if names else f"{verb}: any"
        for verb, names in clauses.items()
    ]
    if "insert" in clauses and statement.conflict not in ("", "none"):
        conflict = statement.conflict if statement.conflict in ("ignore", "update", "replace") else "any"
        names = ", ".join(map(in_quotes, dict.fromkeys(clauses["insert"])))
        entries = [entry for entry in entries if not entry.startswith("insert:")]
        entries.append(f"insert: {{tables: [{names}], conflict: {conflict}}}")
    entries += ["explain: true"] if statement.explains else []
    return f"sql: {{{', '.join(entries)}}}"
