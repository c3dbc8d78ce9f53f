"""A SQL text as units: one for each statement, and one for each table and file that it touches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from remit.languages.sql.statement import EFFECTS, SqlStatement, Use
from remit.model.errors import NotUnderstood
from remit.model.terms import UNKNOWN
from remit.scopes.glob import Glob
from remit.scopes.interface import Unit
from remit.scopes.path import normalise


def sql_units(name: str, text: str, dialect: str, root: str | None, schema: str | None = None) -> list[Unit]:
    """The units of a text; never empty. A text that can't be read is one statement that is not understood."""
    from remit.languages.sql.understand import understand_sql  # here: it brings sqlglot along

    found = understand_sql(text, dialect)
    if found.problem is not None:
        lost = SqlStatement(text, "", unknown=(found.problem,))
        return [Unit("sql", name, lost, text=text, grade=UNKNOWN)]
    units: list[Unit] = []
    current = True
    for statement in found.statements:
        checked = checked_statement(statement, dialect, schema, current=current)
        current = current and not may_change_schema(statement)
        runs = any(reach.kind == "program" for reach in checked.reaches)
        grade = UNKNOWN if runs or checked.unknown or checked.strange else "understood"
        units.append(Unit("sql", name, checked, checked.effects, text=checked.text, grade=grade))
        units.extend(table_units(name, checked))
        units.extend(_reached(name, checked, root))
    return units or [Unit("call", "", "", text=text)]


def table_units(name: str, statement: SqlStatement) -> Iterator[Unit]:
    """The tables of a statement, for labels and data tiers; what views and triggers reach included."""
    for use in statement.uses:
        if use.own:
            continue
        effects = _use_effects(use, statement)
        whole = use.table in statement.whole and use.verb in ("update", "delete") and not use.via
        wide = use.table == "*"
        yield Unit("table", name, use.table, effects, wide=wide, text=use.table, derived=True, whole=whole)


def _use_effects(use: Use, statement: SqlStatement) -> frozenset[str]:
    effects = {EFFECTS[use.verb]}
    if use.verb == "insert" and statement.conflict == "replace":
        effects.add("delete")
    if use.verb == "ddl" and statement.drops:
        effects.add("delete")
    return frozenset(effects)


def _reached(name: str, statement: SqlStatement, root: str | None) -> Iterator[Unit]:
    """Files that a statement reads or writes; one that the text doesn't tell could be any."""
    for reach in statement.reaches:
        if reach.kind != "path":
            continue
        effects = frozenset({reach.effect})
        try:
            value: str | Glob = normalise(reach.value, None, root)
        except NotUnderstood:
            value = Glob.below(".")
        wide = not isinstance(value, str)
        yield Unit("path", name, value, effects, wide=wide, text=reach.value or reach.by, derived=True)


def schema_problem(schema: str, dialect: str | None) -> str | None:
    """Why a text can't serve as the schema of a database; None if it can."""
    if dialect == "sqlite":
        from remit.languages.sql.replica import replica_of

        found: object = replica_of(schema)
    elif dialect == "postgres":
        from remit.languages.sql.catalog import catalog_of

        found = catalog_of(schema)
    else:
        return "a schema is read of `dialect: sqlite` and `dialect: postgres` alone"
    return found if isinstance(found, str) else None


def schema_columns(schema: str, dialect: str) -> Mapping[str, frozenset[str] | None] | None:
    """By table and view, its columns, as far as the schema tells; None where no schema is read."""
    found: object = None
    if dialect == "sqlite":
        from remit.languages.sql.replica import replica_of

        found = replica_of(schema)
    elif dialect == "postgres":
        from remit.languages.sql.catalog import catalog_of

        found = catalog_of(schema)
    return getattr(found, "columns", None)


def may_change_schema(statement: SqlStatement) -> bool:
    """After it, a name may stand for something else than before."""
    return bool(statement.ddl or statement.unknown) or statement.verb in ("attach", "detach", "set", "reset", "pragma")


def checked_statement(
    statement: SqlStatement, dialect: str, schema: str | None, *, current: bool = True
) -> SqlStatement:
    """The statement with what the schema adds to it, in dialects for which one is read.

    One that is not `current` any more can only add: it doesn't tell which columns `*` has.
    """
    if schema is None:
        return statement
    if dialect == "sqlite":
        from remit.languages.sql.authorizer import cross_check

        return cross_check(statement, schema, current=current)
    if dialect == "postgres":
        from remit.languages.sql.catalog import catalog_of

        found = catalog_of(schema)
        if isinstance(found, str):
            return statement._replace(unknown=(*statement.unknown, f"the schema can't be used: {found}"))
        return found.check(statement)
    return statement
