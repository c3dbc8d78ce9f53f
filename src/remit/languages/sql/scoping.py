"""Tables in scope, and which of them a column may belong to."""

from __future__ import annotations

from remit.languages.sql.statement import Use


class Source:
    """A table that a query uses, and the columns of it that are known to be read or set."""

    __slots__ = ("columns", "table", "verb")

    def __init__(self, verb: str, table: str) -> None:
        self.verb = verb
        self.table = table
        self.columns: set[str] | None = set()

    def add(self, column: str) -> None:
        if self.columns is not None:
            self.columns.add(column)


class Scope:
    """One query: its tables by alias, the CTEs that it sees, and the columns that it names."""

    __slots__ = ("columns", "ctes", "everything", "parent", "sources")

    def __init__(self, parent: Scope | None, ctes: frozenset[str]) -> None:
        self.parent = parent
        self.ctes = ctes
        self.sources: list[tuple[str, Source | None]] = []
        """None: a subquery, a CTE or a function, whose columns are seen to elsewhere."""
        self.columns: list[tuple[str, str]] = []
        """Qualifier, or nothing, and name; the name `*` is all of them."""
        self.everything = False

    def resolve(self) -> None:
        """Gives each column that was named to every table that may have it."""
        if self.everything:
            for _, source in self.sources:
                if source is not None:
                    source.columns = None
        for qualifier, name in self.columns:
            if qualifier:
                self._qualified(qualifier, name)
            else:
                self._bare(name)

    def _bare(self, name: str) -> None:
        scope: Scope | None = self
        while scope is not None:
            for alias, source in scope.sources:
                if source is None:
                    continue
                if alias == name:
                    source.columns = None  # the whole row as one value
                else:
                    source.add(name)
            scope = scope.parent

    def _qualified(self, qualifier: str, name: str) -> None:
        scope: Scope | None = self
        while scope is not None:
            found = False
            for alias, source in scope.sources:
                if alias == qualifier:
                    found = True
                    if source is not None and name == "*":
                        source.columns = None
                    elif source is not None:
                        source.add(name)
            if found:
                return
            scope = scope.parent
        scope = self
        while scope is not None:
            for _, source in scope.sources:
                if source is not None:
                    source.columns = None
            scope = scope.parent


def merged(sources: list[Source]) -> tuple[Use, ...]:
    """One use for each verb and table, in the order in which they came."""
    found: dict[tuple[str, str], set[str] | None] = {}
    for source in sources:
        key = (source.verb, source.table)
        known = found.get(key, set())
        found[key] = None if known is None or source.columns is None else known | source.columns
    return tuple(
        Use(verb, table, None if columns is None else frozenset(columns)) for (verb, table), columns in found.items()
    )
