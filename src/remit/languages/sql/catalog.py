"""What a PostgreSQL schema tells beyond a statement's text: what views show, and which names are columns.

The schema is DDL, as `pg_dump --schema-only` writes it. Of it only tables with their columns and views with their
queries are read. Triggers, rules and foreign keys are not followed.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock

from remit.languages.sql.ddl import view_query
from remit.languages.sql.draft import Cursor, is_catalog
from remit.languages.sql.lexer import OP, WORD, Token
from remit.languages.sql.postgres_lexer import tokens
from remit.languages.sql.statement import SqlStatement, Use
from remit.languages.sql.understand import understand_sql
from remit.model.errors import NotUnderstood

MAX_SCHEMA = 1024 * 1024
_REMEMBERED = 8
_SYSTEM = frozenset(("cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"))
"""Columns that every table has."""
_NO_COLUMN = frozenset(("check", "constraint", "exclude", "foreign", "like", "period", "primary", "unique"))
"""How an entry between the brackets of CREATE TABLE begins that is no column."""


class Catalog:
    """The tables and views of one schema. Raises NotUnderstood for a text that is none."""

    def __init__(self, schema: str) -> None:
        self.columns: dict[str, frozenset[str] | None] = {}
        """By table or view; None where the text doesn't tell all of them."""
        self.views: dict[str, tuple[Use, ...]] = {}
        """What each view reads by itself; a use of `*` where that can't be told."""
        for statement in _split(tokens(schema)):
            cursor = Cursor(statement, schema, "postgres")
            if cursor.take("create"):
                self._create(cursor, schema)
        if not self.columns:
            raise NotUnderstood("sql", "it has no tables")

    def check(self, statement: SqlStatement) -> SqlStatement:
        """The statement with what its views reach; not understood if a name in it is no table of the schema."""
        if statement.unknown:
            return statement
        for use in statement.uses:
            missing = use.table not in self.columns and use.table != "*" and use.verb != "ddl"
            if missing and not is_catalog("postgres", use.table) and not use.table.startswith("pg_temp."):
                return statement._replace(unknown=(f"it does not fit the schema: no such table: {use.table}",))
        called = frozenset(name for table, name in statement.attributes if self._is_call(table, name))
        rows = {table for table, name in statement.attributes if self._is_call(table, name)}
        own = tuple(use._replace(columns=None) if use.table in rows else use for use in statement.uses)
        behind = tuple(dict.fromkeys(use for each in own for use in self._reached(each)))
        return statement._replace(
            uses=own + behind,
            functions=statement.functions | called,
            strange=tuple(sorted({*statement.strange, *called})),
        )

    def _is_call(self, table: str, name: str) -> bool:
        """`t.name` is a call of the function `name` with the row, if the table has no such column."""
        columns = self.columns.get(table)
        return columns is not None and name != "*" and name not in columns | _SYSTEM

    def _reached(self, use: Use) -> Iterator[Use]:
        """What a view reads, and changes where it is changed itself; views behind views included."""
        left, seen = [use.table], set[str]()
        while left:
            view = left.pop()
            if view in seen or view not in self.views:
                continue
            seen.add(view)
            for inner in self.views[view]:
                left.append(inner.table)
                verbs = {"select"} if use.verb == "ddl" else {"select", use.verb}
                for verb in sorted(verbs):
                    columns = inner.columns if verb == "select" else None
                    yield Use(verb, inner.table, columns, view, shown=True)

    def _create(self, cursor: Cursor, schema: str) -> None:
        while cursor.word() in ("or", "replace", "unlogged", "recursive", "foreign", "materialized", "global", "local"):
            cursor.at += 1
        kind = cursor.take_any("table", "view")
        if not kind:
            return
        cursor.take("if", "not", "exists")
        name = cursor.name()
        self.columns[name] = _columns(cursor, kind)
        if kind == "view":
            while not cursor.done and not cursor.take("as"):
                cursor.at += 1
            self.views[name] = _reads(cursor, schema)


def _split(found: list[Token]) -> Iterator[list[Token]]:
    current: list[Token] = []
    for token in found:
        if token.kind == OP and token.value == ";":
            if current:
                yield current
            current = []
        else:
            current.append(token)
    if current:
        yield current


def _columns(cursor: Cursor, kind: str) -> frozenset[str] | None:
    """The names between the brackets; None where there are none, or others come from elsewhere."""
    if not cursor.take("("):
        return None
    names: set[str] | None = set()
    depth, fresh = 1, True
    while depth and not cursor.done:
        word = cursor.word()
        if fresh and names is not None:
            if kind == "table" and cursor.kind() == WORD and word in _NO_COLUMN:
                names = None if word == "like" else names
            else:
                names.add(cursor.tokens[cursor.at].value)
        depth += (word == "(") - (word == ")")
        fresh = depth == 1 and word == ","
        cursor.at += 1
    if cursor.word() in ("inherits", "partition", "of"):
        return frozenset(names) if names is not None and cursor.word() == "partition" else None
    return frozenset(names) if names is not None else None


def _reads(cursor: Cursor, schema: str) -> tuple[Use, ...]:
    anything = (Use("select", "*"),)
    if cursor.done:
        return anything
    rest = view_query(cursor.tokens[cursor.at :])
    query = schema[rest[0].start : rest[-1].end] if rest else ""
    found = understand_sql(query, "postgres")
    if found.problem is not None or any(statement.unknown for statement in found.statements):
        return anything
    return tuple(use for statement in found.statements for use in statement.uses)


_catalogs: OrderedDict[str, Catalog | str] = OrderedDict()
_lock = Lock()


def catalog_of(schema: str) -> Catalog | str:
    """What a schema tells, or why it tells nothing. The last few are remembered."""
    with _lock:
        found = _catalogs.pop(schema, None)
        if found is None:
            try:
                if len(schema) > MAX_SCHEMA:
                    raise NotUnderstood("sql", f"it is longer than {MAX_SCHEMA // 1024} KiB")
                found = Catalog(schema)
            except NotUnderstood as problem:
                found = str(problem)
        _catalogs[schema] = found
        while len(_catalogs) > _REMEMBERED:
            _catalogs.popitem(last=False)
        return found
