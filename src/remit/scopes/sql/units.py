"""A SQL text as units: one for each statement, and one for each table and file that it touches."""

from __future__ import annotations

from collections.abc import Iterator

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
    for statement in found.statements:
        checked = _checked(statement, dialect, schema)
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
        yield Unit("table", name, use.table, effects, wide=use.table == "*", text=use.table, derived=True)


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


def _checked(statement: SqlStatement, dialect: str, schema: str | None) -> SqlStatement:
    if dialect != "sqlite" or schema is None:
        return statement
    from remit.languages.sql.authorizer import cross_check

    return cross_check(statement, schema)
