"""The steps of a walk over a parsed query: names, CTEs, tables and functions."""

from __future__ import annotations

from collections import Counter
from typing import Any

from sqlglot import exp

from remit.languages.sql.draft import DEFAULT_SCHEMA
from remit.languages.sql.functions import functions_of, is_harmless, reaches
from remit.languages.sql.lexer import ascii_lower, plain, refuse
from remit.languages.sql.normal import Normal
from remit.languages.sql.scoping import Scope, Source
from remit.languages.sql.statement import Reach

_ODD_TABLE = ("catalog", "pivots", "version", "hints", "laterals", "when", "changes", "format", "pattern", "partition")
_SKIPPED = frozenset(("with_", "alias"))
_KEYWORDS = frozenset(("ROW", "GROUPING"))


class Steps:
    """What has been found, and the steps that find it."""

    def __init__(self, normal: Normal, dialect: str) -> None:
        self.normal = normal
        self.dialect = dialect
        self.stack: list[tuple[Any, Scope]] = []
        self.scopes: list[Scope] = []
        self.sources: list[Source] = []
        self.verbs: set[str] = set()
        self.ddl: set[str] = set()
        self.functions: set[str] = set(normal.calls)
        self.strange: set[str] = set()
        self.reaches: list[Reach] = []
        self.pragmas: list[str] = []
        self.source = ""
        self.returning = False
        self.counts: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.tables: set[str] = set()
        self.catalog = functions_of(dialect)

    def _check(self) -> None:
        """The tree and the tokens must tell the same."""
        tokens = self.normal.counts
        if tokens["select"] > self.counts["select"] or tokens["merge"] != self.counts["merge"]:
            raise refuse("the tree doesn't agree with the text")
        if not tokens["merge"] and any(tokens[verb] != self.counts[verb] for verb in ("insert", "update", "delete")):
            raise refuse("the tree doesn't agree with the text")
        if not self.normal.tables <= self.tables or Counter(self.normal.called) != self.called:
            raise refuse("the tree doesn't agree with the text")

    def _scope(self, parent: Scope | None, ctes: frozenset[str]) -> Scope:
        scope = Scope(parent, ctes)
        self.scopes.append(scope)
        return scope

    def _children(self, node: exp.Expr, scope: Scope) -> None:
        for key, value in node.args.items():
            if key not in _SKIPPED:
                self._push(value, scope)

    def _push(self, value: Any, scope: Scope) -> None:
        if isinstance(value, exp.Expr):
            self.stack.append((value, scope))
        elif isinstance(value, list):
            self.stack.extend((item, scope) for item in value if isinstance(item, exp.Expr))

    def _rest(self, node: exp.Expr, scope: Scope, *done: str) -> None:
        for key, value in node.args.items():
            if key not in done and key != "with_":
                self._push(value, scope)

    def _name(self, node: Any) -> str | None:
        """What a placeholder stands for; None for what is none."""
        text = node.this if isinstance(node, exp.Identifier | exp.Var | exp.Literal) else node
        if not isinstance(text, str) or not text[1:].isdigit():
            return None
        if text[0] == "n":
            return self.normal.names[int(text[1:])]
        if text[0] == "s":
            value = self.normal.strings[int(text[1:])]
            return ascii_lower(value) if self.dialect == "sqlite" else value
        return None

    def _with(self, node: exp.Expr, scope: Scope) -> frozenset[str]:
        """Walks the CTEs of a statement; the names that its main part sees."""
        clause = node.args.get("with_")
        if clause is None:
            return scope.ctes
        items = clause.expressions
        names = [self._name(item.args["alias"].this) or "" for item in items]
        everything = scope.ctes.union(names)
        seen = everything if self.dialect == "sqlite" or clause.args.get("recursive") else scope.ctes
        for item, name in zip(items, names, strict=True):
            self._alias(item)
            self._rest(item, self._scope(scope, seen), "alias")
            seen = seen | {name}
        return everything

    def _alias(self, node: exp.Expr) -> str:
        """The alias of a table, a subquery or a CTE; empty if there is none."""
        alias = node.args.get("alias")
        if alias is None:
            return ""
        this = alias.this if isinstance(alias, exp.TableAlias) else alias
        if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
            self._counts_as_called(this)
        return self._name(this) or ""

    def _counts_as_called(self, node: Any) -> None:
        text = node.this if isinstance(node, exp.Identifier) else node
        if isinstance(text, str) and text[:1] == "n":
            self.called[text] += 1

    def _item(self, item: Any, scope: Scope) -> None:
        """What stands in FROM."""
        if isinstance(item, exp.Table):
            self._table(item, scope, "select")
        elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table | exp.Subquery):
            if item.args.get("with_"):
                raise refuse("something in FROM that isn't followed")
            self._alias(item)
            self._item(item.this, scope)
            self._rest(item, scope, "this", "alias")
        elif isinstance(item, exp.Subquery | exp.Values | exp.Select):
            scope.sources.append((self._alias(item), None))
            if isinstance(item, exp.Subquery) and item.args.get("joins"):
                self._push(item.args["joins"], scope)  # `((SELECT …) JOIN t)`: beside the subquery, not in it
                item.set("joins", None)
            self.stack.append((item, self._scope(scope.parent, scope.ctes)))
        elif isinstance(item, exp.Lateral):
            scope.sources.append((self._alias(item), None))
            self._rest(item, self._scope(scope, scope.ctes), "alias")
        else:
            raise refuse("something in FROM that isn't followed")

    def _seen(self, node: exp.Table) -> None:
        this = node.this
        if isinstance(this, exp.Identifier):
            self.tables.add(this.this)

    def _table_name(self, node: exp.Table) -> str:
        """The table's name with its schema, unless that is the default one. Raises NotUnderstood."""
        if any(node.args.get(key) for key in _ODD_TABLE):
            raise refuse("a table with something that isn't followed")
        name = self._name(node.this) if isinstance(node.this, exp.Identifier) else None
        if name is None:
            raise refuse("a table without a name")
        if node.this.this[0] == "s" and self.dialect != "sqlite":
            raise refuse("a string in the place of a table")
        return self._in_schema(node.args.get("db"), name)

    def _in_schema(self, schema: Any, name: str) -> str:
        plain(name)
        if self.dialect == "mysql" and name != name.lower():
            raise refuse("a table name with capital letters")
        if not schema:
            return name
        qualifier = self._name(schema)
        if qualifier is None:
            raise refuse("a schema without a name")
        plain(qualifier)
        return name if qualifier == DEFAULT_SCHEMA.get(self.dialect) else f"{qualifier}.{name}"

    def _table(self, node: exp.Table, scope: Scope, verb: str) -> Source | None:
        """A table, a CTE or a function in the place of a table."""
        self._seen(node)
        alias = self._alias(node)
        self._rest(node, scope, "this", "db", "alias", "indexed", "rows_from")
        if verb != "select" and node.args.get("joins"):
            raise refuse("several tables to change")
        rows = node.args.get("rows_from")
        if rows:
            for item in rows:
                self._table(item, scope, verb)
            scope.sources.append((alias, None))
            return None
        if isinstance(node.this, exp.Func):
            scope.sources.append((alias or self._name(node.this.this) or "", None))
            self._function(node.this, scope, node.args.get("db"))
            return None
        name = self._table_name(node)
        bare = name.rpartition(".")[2]
        scope_alias = alias or bare
        if verb == "select":
            if not node.args.get("db") and name in scope.ctes:
                scope.sources.append((scope_alias, None))
                return None
            if self.dialect == "sqlite" and bare.startswith("pragma_"):
                scope.sources.append((scope_alias, None))
                self._pragma(bare)
                return None
            if self.dialect == "sqlite" and bare in self.catalog.tables:
                scope.sources.append((scope_alias, None))
                self._call(bare, "")
                return None
        elif self.dialect == "sqlite" and bare.startswith("sqlite_"):
            raise refuse(f"a change of {bare}, which is SQLite's own")
        source = Source(verb, name)
        renamed = node.args.get("alias")
        if renamed is not None and renamed.args.get("columns"):
            if self.dialect == "sqlite":
                raise refuse("a list of columns behind an alias")
            source.columns = None
        self.sources.append(source)
        scope.sources.append((scope_alias, source))
        return source

    def _function(self, node: exp.Func, scope: Scope, schema: Any) -> None:
        if not isinstance(node, exp.Anonymous):
            if schema:
                raise refuse("a function with a name that isn't followed")
            self._children(node, scope)
            return
        name = self._name(node.this)
        if name is None:
            if node.this not in _KEYWORDS:
                raise refuse(f"the function {node.this} isn't followed")
        else:
            self.called[node.this] += 1
            plain(name)
            if schema:
                name = f"{self._name(schema) or '?'}.{name}"
            first = node.expressions[0] if node.expressions else None
            literal = isinstance(first, exp.Literal) and first.is_string
            index = int(first.this[1:]) if literal and first is not None else -1
            self._call(name, self.normal.strings[index] if index >= 0 else "")
        self._push([item for item in node.expressions if not isinstance(item, exp.Star)], scope)

    def _call(self, name: str, argument: str) -> None:
        if self.dialect == "sqlite" and name.startswith("pragma_"):
            self._pragma(name)
            return
        self.functions.add(name)
        if not is_harmless(self.dialect, name):
            self.strange.add(name)
        self.reaches.extend(reaches(self.dialect, name, argument))

    def _pragma(self, name: str) -> None:
        self.verbs.add("pragma")
        self.pragmas.append(name.removeprefix("pragma_"))
