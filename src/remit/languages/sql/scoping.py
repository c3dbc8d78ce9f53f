"""Tables in scope, and which of them a column may belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.languages.sql.statement import Use


class Source:
    """A table that a query uses, and the columns of it that are known to be read or set."""

    __slots__ = ("columns", "inserted", "own", "pins", "renamed", "table", "verb")

    def __init__(self, verb: str, table: str, columns: set[str] | None = None, *, own: bool = False) -> None:
        self.verb = verb
        self.table = table
        self.columns = columns
        self.own = own
        """A read of the table that the statement changes, only to choose the rows and to compute their values."""
        self.pins: dict[str, frozenset[int | str]] = {}
        """Columns that a condition joined by AND holds to some values."""
        self.inserted: list[dict[str, frozenset[int | str]]] | None = None
        """The same for each row of an INSERT of values."""
        self.renamed = False
        """The text gives its columns other names, so that no name in it tells a column."""

    def add(self, column: str) -> None:
        if self.columns is not None:
            self.columns.add(column)


class QueryScope:
    """One query: its tables by alias, the CTEs that it sees, and the columns that it names."""

    __slots__ = (
        "called",
        "columns",
        "ctes",
        "everything",
        "outputs",
        "parent",
        "renamed",
        "returned",
        "sources",
        "target",
        "where",
    )

    def __init__(self, parent: QueryScope | None, ctes: frozenset[str]) -> None:
        self.parent = parent
        self.ctes = ctes
        self.sources: list[tuple[str, Source | None]] = []
        """None: a subquery, a CTE or a function, whose columns are seen to elsewhere."""
        self.columns: list[tuple[str, str]] = []
        """Qualifier, or nothing, and name; the name `*` is all of them."""
        self.everything = False
        self.where: Any = None
        """Its condition."""
        self.outputs: frozenset[str] = frozenset()
        """The names that it gives its own columns."""
        self.called: dict[str, frozenset[str]] = {}
        """Functions in the place of tables, by alias: the names that the text gives their columns."""
        self.target: Source | None = None
        """What the statement changes."""
        self.returned: Source | None = None
        """What RETURNING reads of it: unlike what is its own, that is handed back."""
        self.renamed = False
        """An alias stands for several of its tables, and may hide another: whose column a name is can't be told."""

    def returning(self) -> QueryScope:
        """The scope of the statement's RETURNING: the same tables, but its target is read for good."""
        inner = QueryScope(self.parent, self.ctes)
        inner.sources = self.sources
        if self.target is not None:
            inner.returned = Source("select", self.target.table, set())
        return inner

    def pin(self, qualifier: str, name: str, values: frozenset[int | str]) -> None:
        """Notes that a condition holds a column to some values, if it is certain whose column that is."""
        found = [source for alias, source in self.sources if not qualifier or alias == qualifier]
        if self.renamed or len(found) != 1 or found[0] is None or found[0].renamed:
            return
        if qualifier or name not in self.outputs:
            found[0].pins[name] = values

    def pinned(self) -> None:
        """What holds for the rows that a statement chooses holds for those that it changes and hands back."""
        for _, source in self.sources:
            if source is not None and source.own:
                for other in (self.target, self.returned):
                    if other is not None and other.inserted is None:
                        other.pins = source.pins

    def tables(self) -> Iterator[tuple[str, Source | None]]:
        """Its tables by alias, each as a read of it counts here."""
        for alias, source in self.sources:
            yield alias, self.returned if source is not None and source.own and self.returned else source

    def resolve(self) -> None:
        """Gives each column that was named to every table that may have it."""
        if self.everything or self.renamed:
            for _, source in self.tables():
                if source is not None:
                    source.columns = None
        for qualifier, name in self.columns:
            if qualifier:
                self._qualified(qualifier, name)
            else:
                self._bare(name)

    def calls(self) -> Iterator[str]:
        """`alias.name` where the alias is that of a function: for postgres a call of `name`, unless a column has it."""
        for qualifier, name in self.columns:
            scope: QueryScope | None = self
            while scope is not None:
                columns = scope.called.get(qualifier)
                if columns is not None and name != "*" and name not in columns:
                    yield name
                scope = scope.parent

    def attributes(self) -> Iterator[tuple[str, str]]:
        """`alias.name` where the alias is that of a table: the table and the name."""
        for qualifier, name in self.columns:
            scope: QueryScope | None = self if qualifier else None
            while scope is not None:
                for alias, source in scope.sources:
                    if alias == qualifier and source is not None:
                        yield source.table, name
                scope = scope.parent

    def _bare(self, name: str) -> None:
        scope: QueryScope | None = self
        while scope is not None:
            for alias, source in scope.tables():
                if source is None:
                    continue
                if alias == name:
                    source.columns = None  # the whole row as one value
                else:
                    source.add(name)
            scope = scope.parent

    def _qualified(self, qualifier: str, name: str) -> None:
        """SQLite takes the next table outside whose alias fits if the nearest has no such column: so each may be it."""
        scope: QueryScope | None = self
        found = False
        while scope is not None:
            for alias, source in scope.tables():
                if alias == qualifier:
                    found = True
                    if source is not None and name == "*":
                        source.columns = None
                    elif source is not None:
                        source.add(name)
            scope = scope.parent
        scope = None if found else self
        while scope is not None:
            for _, source in scope.tables():
                if source is not None:
                    source.columns = None
            scope = scope.parent


def merged(sources: list[Source]) -> tuple[Use, ...]:
    """One use for each verb and table, in the order in which they came."""
    found: dict[tuple[str, str, bool], tuple[set[str] | None, dict[Any, None]]] = {}
    for source in sources:
        if source.own and source.columns == set():
            continue  # nothing of it is read
        key = (source.verb, source.table, source.own)
        known, rows = found.get(key, (set(), {}))
        for pins in [source.pins] if source.inserted is None else source.inserted:
            rows[frozenset(pins.items())] = None
        found[key] = None if known is None or source.columns is None else known | source.columns, rows
    return tuple(
        Use(verb, table, None if columns is None else frozenset(columns), own=own, rows=tuple(rows))
        for (verb, table, own), (columns, rows) in found.items()
    )
