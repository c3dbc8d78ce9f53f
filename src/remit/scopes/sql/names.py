"""Names in a `sql:` scope that the tool's schema, or anybody's list of functions, does not have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from remit.languages.sql.draft import is_catalog
from remit.languages.sql.functions import functions_of
from remit.model.policy import Tool
from remit.model.text import near_miss, shown
from remit.scopes.interface import Misnamed
from remit.scopes.sql.units import schema_columns

_ON_ROWS = ("select", "insert", "update", "delete", "merge")
_DEFAULT = {"sqlite": "main.", "postgres": "public."}


def unknown_to(tool: Tool, scope: Mapping[str, Any]) -> Iterator[Misnamed]:
    """Tables and columns that the tool's schema does not have, and functions that are nearly known."""
    dialect = tool.dialect or ""
    for name in _several(scope.get("functions")):
        known = functions_of(dialect).harmless
        near = near_miss(name.lower(), known) if name.lower() not in known else None
        if near is not None:
            what = f"`{shown(name)}` is taken for a function of your own"
            yield Misnamed(what, None, f"the one that is known is `{near}`, and needs no entry", name=name)
    columns = schema_columns(tool.schema, dialect) if tool.schema is not None else None
    if columns is None:
        return
    by_table: list[tuple[str, Iterable[str]]] = []
    for verb in _ON_ROWS:
        value = scope.get(verb)
        tables = value.get("tables") if isinstance(value, Mapping) else value
        if tables != "any":
            by_table += [(name, ()) for name in _several(tables)]
        if isinstance(value, Mapping):
            by_table += [(name, _several(named)) for name, named in (value.get("columns") or {}).items()]
    by_table += [(name, conditions) for name, conditions in (scope.get("rows") or {}).items()]
    for table, named in by_table:
        yield from _unknown(table, named, columns, dialect)


def _unknown(
    written: str, named: Iterable[str], columns: Mapping[str, frozenset[str] | None], dialect: str
) -> Iterator[Misnamed]:
    table = written.lower().removeprefix(_DEFAULT.get(dialect, ""))
    found = [name for name in columns if fnmatchcase(name, table)]
    if not found:
        if not is_catalog(dialect, table) and not table.startswith("sqlite_"):
            near = near_miss(table, columns, least=3)
            yield Misnamed(f"the schema has no table `{shown(written)}`", near, name=written)
        return
    known = [columns[name] for name in found]
    if None in known:
        return
    every = sorted({column for some in known for column in some or ()})
    for column in named:
        if column.lower() not in every:
            what = f"the schema has no column `{shown(column)}` of `{shown(written)}`"
            yield Misnamed(what, near_miss(column.lower(), every, least=2), name=column)


def _several(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(map(str, value or ()))
