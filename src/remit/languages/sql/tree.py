"""A parsed query → the tables, columns and functions that it uses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from remit.languages.sql.lexer import refuse
from remit.languages.sql.scoping import Scope, Source, merged
from remit.languages.sql.statement import Use
from remit.languages.sql.steps import Steps

if TYPE_CHECKING:
    from collections.abc import Iterable


class Walker(Steps):
    """Walks one tree without recursion: each step takes a node and the scope that it stands in."""

    def walk(self, root: exp.Expr) -> None:
        """Fills the fields. Raises NotUnderstood."""
        top = self._scope(None, frozenset())
        self.stack.append((root, top))
        while self.stack:
            node, scope = self.stack.pop()
            visit = _VISITS.get(type(node))
            if visit is not None:
                visit(self, node, scope)
            elif isinstance(node, exp.SetOperation):
                self._compound(node, scope)
            elif isinstance(node, _REFUSED):
                raise refuse("a statement that the parser doesn't know")
            else:
                self._children(node, scope)
        for each in self.scopes:
            each.resolve()
        self._check()

    @property
    def uses(self) -> tuple[Use, ...]:
        """The tables used."""
        return merged(self.sources)

    def _select(self, node: exp.Select, scope: Scope) -> None:
        self.counts["select"] += 1
        self.verbs.add("select")
        inner = self._scope(scope, self._with(node, scope))
        into = node.args.get("into")
        if into is not None:
            self._created(into)
        self._ordered(node, inner)
        if not node.expressions and self.dialect != "postgres":
            raise refuse("a SELECT of nothing")
        for item in node.expressions:
            if isinstance(item, exp.Star):
                inner.everything = True
        self._rest(node, inner, "into", "locks", "order")
        if node.args.get("locks"):
            self.verbs.add("update")
            tables = [item for item in node.find_all(exp.Table) if isinstance(item.parent, exp.From | exp.Join)]
            for table in tables:
                self.stack.append((exp.Update(this=table.copy()), inner))
                self.counts["update"] -= 1

    def _created(self, into: exp.Expr) -> None:
        table = into.this
        if not isinstance(table, exp.Table):
            raise refuse("SELECT INTO something that is no table")
        self._seen(table)
        name = self._table_name(table)
        if into.args.get("temporary"):
            name = f"pg_temp.{name}"
        self.sources.append(Source("ddl", name))
        self.sources[-1].columns = None
        self.verbs.add("ddl")
        self.ddl.add("table")

    def _ordered(self, node: exp.Expr, scope: Scope) -> None:
        """ORDER BY: a bare name that is an output of the query is that and no column of a table."""
        order = node.args.get("order")
        if order is None:
            return
        compound = isinstance(node, exp.SetOperation)
        outputs = set() if compound else {item.alias for item in node.expressions if isinstance(item, exp.Alias)}
        for item in order.expressions:
            column = item.this
            bare = isinstance(column, exp.Column) and not column.args.get("table")
            if not (bare and (compound or column.name in outputs)):
                self._push(item, scope)

    def _compound(self, node: exp.Expr, scope: Scope) -> None:
        self.verbs.add("select")
        inner = self._scope(scope, self._with(node, scope))
        self._ordered(node, inner)
        self._rest(node, inner, "order")

    def _subquery(self, node: exp.Subquery, scope: Scope) -> None:
        inner = self._scope(scope, self._with(node, scope))
        self._ordered(node, inner)
        self._rest(node, inner, "order", "alias")

    def _values(self, node: exp.Values, scope: Scope) -> None:
        self.verbs.add("select")
        self._rest(node, scope, "alias")

    def _from(self, node: exp.Expr, scope: Scope) -> None:
        self._item(node.this, scope)
        self._rest(node, scope, "this")

    def _join(self, node: exp.Join, scope: Scope) -> None:
        self._item(node.this, scope)
        if node.args.get("method") == "NATURAL":
            scope.everything = True
        for column in node.args.get("using") or ():
            name = self._name(column if isinstance(column, exp.Identifier) else column.this)
            scope.columns.append(("", name or "?"))
        self._rest(node, scope, "this", "using")

    def _bare_table(self, node: exp.Table, scope: Scope) -> None:
        self._table(node, scope, "select")

    def _insert(self, node: exp.Insert, scope: Scope) -> None:
        self.counts["insert"] += 1
        self.verbs.add("insert")
        ctes = self._with(node, scope)
        target = node.this
        listed: Iterable[Any] = ()
        if isinstance(target, exp.Schema):
            listed, target = target.expressions, target.this
            if isinstance(target, exp.Table):
                renamed = target.args.get("alias")
                self._counts_as_called(renamed.this if renamed is not None else target.this)
        if not isinstance(target, exp.Table) or node.args.get("overwrite"):
            raise refuse("an INSERT into something that is no table")
        inner = self._scope(scope, ctes)
        source = self._table(target, inner, "insert")
        inner.sources.append(("excluded", None))
        if source is not None:
            source.columns = {self._name(item) or "?" for item in listed} or None
        rows = node.args.get("expression")
        literal = rows is not None and not node.args.get("with_") and self._is_literal(rows)
        self.source = "values" if literal and self.source != "select" else "select"
        if isinstance(rows, exp.Values):
            self._rest(rows, self._scope(scope, ctes), "alias")
        else:
            self._push(rows, self._scope(scope, ctes))
        self._rest(node, inner, "this", "expression")

    def _is_literal(self, rows: exp.Expr) -> bool:
        if not isinstance(rows, exp.Values):
            return False
        items: list[Any] = []
        for row in rows.expressions:
            items.extend(row.expressions if isinstance(row, exp.Tuple) else [row])
        while items:
            item = items.pop()
            if isinstance(item, exp.Tuple) and self.dialect == "postgres":
                items.extend(item.expressions)  # an array
            elif isinstance(item, exp.Neg | exp.Paren):
                items.append(item.this)
            elif isinstance(item, exp.Column | exp.Var):
                if item.args.get("table") or item.name != "DEFAULT":
                    return False
            elif isinstance(item, exp.CurrentTimestamp | exp.CurrentDate | exp.CurrentTime):
                if self.dialect != "sqlite":
                    return False
            elif not isinstance(item, exp.Literal | exp.Null | exp.Boolean):
                return False
        return True

    def _update(self, node: exp.Update, scope: Scope) -> None:
        self.counts["update"] += 1
        self.verbs.add("update")
        inner = self._scope(scope, self._with(node, scope))
        if not isinstance(node.this, exp.Table):
            raise refuse("an UPDATE of something that is no table")
        source = self._table(node.this, inner, "update")
        if source is not None and self.normal.replaces_rows:
            self.sources.append(Source("delete", source.table))
            self.sources[-1].columns = None
        for item in node.expressions if source is not None else ():
            left = item.this if isinstance(item, exp.EQ) else None
            for name in left.expressions if isinstance(left, exp.Tuple) else (left,):
                if isinstance(name, exp.Literal) and source is not None:
                    source.add(self._name(name) or "?")  # `SET 'a' = 1` of sqlite
        self._rest(node, inner, "this")

    def _delete(self, node: exp.Delete, scope: Scope) -> None:
        self.counts["delete"] += 1
        self.verbs.add("delete")
        inner = self._scope(scope, self._with(node, scope))
        if not isinstance(node.this, exp.Table) or node.args.get("tables"):
            raise refuse("a DELETE from something that is no table")
        source = self._table(node.this, inner, "delete")
        if source is not None:
            source.columns = None
        self._rest(node, inner, "this", "using")
        for item in node.args.get("using") or ():
            self._item(item, inner)

    def _merge(self, node: exp.Merge, scope: Scope) -> None:
        self.counts["merge"] += 1
        self.verbs.add("merge")
        inner = self._scope(scope, self._with(node, scope))
        if not isinstance(node.this, exp.Table):
            raise refuse("a MERGE into something that is no table")
        source = self._table(node.this, inner, "merge")
        if source is not None:
            source.columns = None
            if self.normal.counts["delete"]:
                self.sources.append(Source("delete", source.table))
                self.sources[-1].columns = None
        self._item(node.args["using"], inner)
        self._rest(node, inner, "this", "using")

    def _when(self, node: exp.When, scope: Scope) -> None:
        self._rest(node, scope, "then")
        then = node.args.get("then")
        if isinstance(then, exp.Insert):
            for value in (then.this, then.args.get("expression")):
                items = value.expressions if isinstance(value, exp.Tuple) else ()
                self._push(list(items), scope)
            self._rest(then, scope, "this", "expression")
        elif isinstance(then, exp.Update):
            self._rest(then, scope)

    def _returning(self, node: exp.Returning, scope: Scope) -> None:
        self.returning = True
        if any(isinstance(item, exp.Star) for item in node.expressions):
            scope.everything = True
        self._rest(node, scope)

    def _column(self, node: exp.Column, scope: Scope) -> None:
        qualifier = node.args.get("table")
        if isinstance(node.this, exp.Star):
            name: str | None = "*"
        else:
            name = self._name(node.this)
        if name is None:
            if node.name == "DEFAULT":
                return
            name = node.name.lower()  # a keyword in the place of a column
        scope.columns.append(((self._name(qualifier) or "?") if qualifier else "", name))

    def _in(self, node: exp.In, scope: Scope) -> None:
        """`x IN t` reads the table t."""
        field = node.args.get("field")
        if isinstance(field, exp.Column):
            if field.args.get("db"):
                raise refuse("IN something that isn't followed")
            table = exp.Table(this=field.this, db=field.args.get("table"))
            source = self._table(table, self._scope(scope, scope.ctes), "select")
            if source is not None:
                source.columns = None
        elif isinstance(field, exp.Literal):
            raise refuse("IN something that isn't followed")
        else:
            self._push(field, scope)
        self._rest(node, scope, "field")

    def _anonymous(self, node: exp.Anonymous, scope: Scope) -> None:
        self._function(node, scope, None)

    def _dot(self, node: exp.Dot, scope: Scope) -> None:
        if isinstance(node.expression, exp.Func):
            if not isinstance(node.this, exp.Identifier):
                raise refuse("a function with a name that isn't followed")
            self._function(node.expression, scope, node.this)
        elif isinstance(node.this, exp.Literal):
            raise refuse("a string in the place of a name")
        else:
            self._rest(node, scope)


_REFUSED = (exp.Command, exp.Block, exp.Pivot, exp.Use, exp.DDL, exp.Unnest)
_VISITS: dict[type, Any] = {
    exp.Select: Walker._select,
    exp.Subquery: Walker._subquery,
    exp.Values: Walker._values,
    exp.From: Walker._from,
    exp.Join: Walker._join,
    exp.Table: Walker._bare_table,
    exp.Insert: Walker._insert,
    exp.Update: Walker._update,
    exp.Delete: Walker._delete,
    exp.Merge: Walker._merge,
    exp.When: Walker._when,
    exp.Returning: Walker._returning,
    exp.Column: Walker._column,
    exp.In: Walker._in,
    exp.Anonymous: Walker._anonymous,
    exp.Dot: Walker._dot,
}
