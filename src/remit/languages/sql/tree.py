"""A parsed query → the tables, columns and functions that it uses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from remit.languages.sql.draft import DEFAULT_SCHEMA
from remit.languages.sql.functions import functions_of, is_harmless, reaches
from remit.languages.sql.lexer import ascii_lower, plain, refuse
from remit.languages.sql.normal import Normal
from remit.languages.sql.scoping import QueryScope, Source, merged
from remit.languages.sql.statement import Reach, Use

if TYPE_CHECKING:
    from collections.abc import Iterable


_ODD_TABLE = ("catalog", "pivots", "version", "hints", "laterals", "when", "changes", "format", "pattern", "partition")
_SKIPPED = frozenset(("with_", "alias"))
_KEYWORDS = frozenset(("ROW", "GROUPING", "VALUES"))
_FILE_ENDINGS = frozenset(
    [
        "arrow",
        "avro",
        "csv",
        "db",
        "duckdb",
        "geojson",
        "gz",
        "ipc",
        "json",
        "jsonl",
        "ndjson",
        "parquet",
        "shp",
        "sqlite",
        "tsv",
        "txt",
        "xlsx",
        "zst",
    ]
)


class Walker:
    """Walks one tree without recursion: each step takes a node and the scope that it stands in."""

    def __init__(self, normal: Normal, dialect: str) -> None:
        self.normal = normal
        self.dialect = dialect
        self.stack: list[tuple[Any, QueryScope]] = []
        self.scopes: list[QueryScope] = []
        self.sources: list[Source] = []
        self.verbs: set[str] = set()
        self.ddl: set[str] = set()
        self.functions: set[str] = set(normal.calls)
        self.strange: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.whole: set[str] = set()
        self.reaches: list[Reach] = []
        self.pragmas: list[str] = []
        self.source = ""
        self.returning = False
        self.counts: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.tables: set[str] = set()
        self.recursive: dict[int, str] = {}
        """UNIONs that are the whole of a recursive CTE: its name."""
        self.catalog = functions_of(dialect)

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
            self._pin(each)
            each.resolve()
            if self.dialect == "postgres":
                for name in each.calls():
                    if name not in self.catalog.columns:
                        self._call(name, "")
                self.attributes.update(each.attributes())
        self._check()

    @property
    def uses(self) -> tuple[Use, ...]:
        """The tables used."""
        return merged(self.sources)

    def _select(self, node: exp.Select, scope: QueryScope) -> None:
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
        inner.where = node.args.get("where")
        inner.outputs = frozenset(
            self._column_name(item.args["alias"]) or "?" for item in node.expressions if isinstance(item, exp.Alias)
        )
        self._rest(node, inner, "into", "locks", "order")
        if node.args.get("locks"):
            self.verbs.add("update")
            for table in node.find_all(exp.Table):
                if isinstance(table.parent, exp.From | exp.Join) and isinstance(table.this, exp.Identifier):
                    self.sources.append(Source("update", self._table_name(table), set()))

    def _pin(self, scope: QueryScope) -> None:
        """Conditions `column = literal` and `column IN (literals)` that are joined by AND, and by nothing else."""
        parts = [scope.where.this] if scope.where is not None else []
        while parts:
            part = parts.pop()
            if isinstance(part, exp.And):
                parts += [part.this, part.expression]
            elif isinstance(part, exp.Paren):
                parts.append(part.this)
            elif isinstance(part, exp.EQ):
                self._pin_one(part.this, [part.expression], scope)
                self._pin_one(part.expression, [part.this], scope)
            elif isinstance(part, exp.In) and set(_given(part)) == {"this", "expressions"}:
                self._pin_one(part.this, part.expressions, scope)
        scope.pinned()

    def _pin_one(self, column: exp.Expr, values: list[Any], scope: QueryScope) -> None:
        name = self._column_name(column.this) if isinstance(column, exp.Column) else None
        if name is None or set(_given(column)) - {"this", "table"}:
            return
        qualifier = column.args.get("table")
        found = [self._constant(value) for value in values]
        whose = self._column_name(qualifier) if qualifier else ""
        if found and None not in found and whose is not None:
            scope.pin(whose, name, frozenset(value for value in found if value is not None))

    def _constant(self, node: Any) -> int | str | None:
        """The whole number or text that stands there as it is: without a type, a sign, an escape or a fraction."""
        if not isinstance(node, exp.Literal):
            return None
        if node.is_string:
            index = int(node.this[1:])
            text = self.normal.strings[index]
            return None if index in self.normal.typed | self.normal.quoted or "\\" in text else text
        numeral = self.normal.numerals[int(node.this[1:])] if len(node.this) > 1 else ""
        return int(numeral) if numeral.isascii() and numeral.isdigit() and len(numeral) < 19 else None

    def _created(self, into: exp.Expr) -> None:
        table = into.this
        if not isinstance(table, exp.Table):
            raise refuse("SELECT INTO something that is not a table")
        self._seen(table)
        name = self._table_name(table)
        if into.args.get("temporary"):
            name = f"pg_temp.{name}"
        self.sources.append(Source("ddl", name))
        self.verbs.add("ddl")
        self.ddl.add("table")

    def _ordered(self, node: exp.Expr, scope: QueryScope) -> None:
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

    def _compound(self, node: exp.Expr, scope: QueryScope) -> None:
        self.verbs.add("select")
        inner = self._scope(scope, self._with(node, scope))
        self._ordered(node, inner)
        self._rest(node, inner, "order", "expression")
        name = self.recursive.get(id(node))
        right = inner if name is None else self._scope(inner, inner.ctes | {name})
        self._push(node.args.get("expression"), right)

    def _subquery(self, node: exp.Subquery, scope: QueryScope) -> None:
        inner = self._scope(scope, self._with(node, scope))
        self._ordered(node, inner)
        self._rest(node, inner, "order", "alias")

    def _values(self, node: exp.Values, scope: QueryScope) -> None:
        self.verbs.add("select")
        self._rest(node, scope, "alias")

    def _from(self, node: exp.Expr, scope: QueryScope) -> None:
        self._item(node.this, scope)
        self._rest(node, scope, "this")

    def _join(self, node: exp.Join, scope: QueryScope) -> None:
        self._item(node.this, scope)
        if node.args.get("method") == "NATURAL":
            scope.everything = True
        for column in node.args.get("using") or ():
            name = self._column_name(column if isinstance(column, exp.Identifier) else column.this)
            scope.columns.append(("", name or "?"))
        self._rest(node, scope, "this", "using")

    def _bare_table(self, node: exp.Table, scope: QueryScope) -> None:
        self._table(node, scope, "select")

    def _insert(self, node: exp.Insert, scope: QueryScope) -> None:
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
            raise refuse("an INSERT into something that is not a table")
        inner = self._scope(scope, ctes)
        source = self._table(target, inner, "insert")
        inner.sources.append(("excluded", None))
        if source is not None:
            names = [self._column_name(item) or "?" for item in listed]
            source.columns = set(names) or None
            source.inserted = self._inserted(names, node.args.get("expression"))
        rows = node.args.get("expression")
        literal = rows is not None and not node.args.get("with_") and self._is_literal(rows)
        self.source = "values" if literal and self.source != "select" else "select"
        if isinstance(rows, exp.Values):
            self._rest(rows, self._scope(scope, ctes), "alias")
        else:
            self._push(rows, self._scope(scope, ctes))
        self._rest(node, inner, "this", "expression")

    def _inserted(self, names: list[str], rows: Any) -> list[dict[str, frozenset[int | str]]]:
        """For each row the columns that the text gives a plain value."""
        if not isinstance(rows, exp.Values) or len(set(names)) != len(names):
            return [{}]
        found = []
        for row in rows.expressions:
            items = row.expressions if isinstance(row, exp.Tuple) else [row]
            values = [self._constant(item) for item in items]
            pairs = zip(names, values, strict=True) if len(items) == len(names) else ()
            found.append({name: frozenset((value,)) for name, value in pairs if value is not None})
        return found or [{}]

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

    def _update(self, node: exp.Update, scope: QueryScope) -> None:
        self.counts["update"] += 1
        self.verbs.add("update")
        inner = self._scope(scope, self._with(node, scope))
        if not isinstance(node.this, exp.Table):
            raise refuse("an UPDATE of something that is not a table")
        source = self._table(node.this, inner, "update")
        if source is not None and self.normal.replaces_rows:
            self.sources.append(Source("delete", source.table))
        inner.where = node.args.get("where")
        self._whole(node, source)
        self._set(node.expressions, inner)
        self._rest(node, inner, "this", "expressions")

    def _set(self, items: Iterable[exp.Expr], scope: QueryScope) -> None:
        """`SET a = b, (c, d) = …`: what stands on the left is changed, and what stands on the right is read."""
        for item in items:
            if not isinstance(item, exp.EQ):
                raise refuse("a SET that isn't followed")
            left = item.this
            for name in left.expressions if isinstance(left, exp.Tuple) else (left,):
                self._changed(name, scope)
            self._push(item.expression, scope)

    def _changed(self, left: exp.Expr, scope: QueryScope) -> None:
        """A column that is set: `a`, `t.a`, `'a'` of sqlite; `a.field` and `a[1]` of postgres."""
        target = scope.target
        if isinstance(left, exp.Literal):
            names = [self._column_name(left)]
        else:
            columns = list(left.find_all(exp.Column))
            names = [self._column_name(column.this) for column in columns]
            aliases = [alias for alias, source in scope.sources if source is not None and source.own]
            for column in columns:
                qualifier = self._column_name(column.args.get("table"))
                if qualifier is not None and qualifier not in aliases:
                    names.append(qualifier)
            if not isinstance(left, exp.Column):
                self._push(left, scope)
        if target is not None:
            for name in names or (None,):
                target.add(name or "?")

    def _delete(self, node: exp.Delete, scope: QueryScope) -> None:
        self.counts["delete"] += 1
        self.verbs.add("delete")
        inner = self._scope(scope, self._with(node, scope))
        if not isinstance(node.this, exp.Table) or node.args.get("tables"):
            raise refuse("a DELETE from something that is not a table")
        source = self._table(node.this, inner, "delete")
        if source is not None:
            source.columns = None
        inner.where = node.args.get("where")
        self._whole(node, source)
        self._rest(node, inner, "this", "using")
        for item in node.args.get("using") or ():
            self._item(item, inner)

    def _whole(self, node: exp.Expr, source: Source | None) -> None:
        """Notes a table of which no row is left out."""
        where = node.args.get("where")
        if source is not None and not node.args.get("limit") and (where is None or not _chooses(where.this)):
            self.whole.add(source.table)

    def _merge(self, node: exp.Merge, scope: QueryScope) -> None:
        self.counts["merge"] += 1
        self.verbs.add("merge")
        inner = self._scope(scope, self._with(node, scope))
        if not isinstance(node.this, exp.Table):
            raise refuse("a MERGE into something that is not a table")
        source = self._table(node.this, inner, "merge")
        if source is not None:
            source.columns = None
            if self.normal.counts["delete"]:
                self.sources.append(Source("delete", source.table))
        self._item(node.args["using"], inner)
        self._rest(node, inner, "this", "using")

    def _when(self, node: exp.When, scope: QueryScope) -> None:
        self._rest(node, scope, "then")
        then = node.args.get("then")
        if isinstance(then, exp.Insert):
            for value in (then.this, then.args.get("expression")):
                items = value.expressions if isinstance(value, exp.Tuple) else ()
                self._push(list(items), scope)
            self._rest(then, scope, "this", "expression")
        elif isinstance(then, exp.Update):
            self._set(then.expressions, scope)
            self._rest(then, scope, "expressions")

    def _conflict(self, node: exp.OnConflict, scope: QueryScope) -> None:
        """ON CONFLICT reads the columns that it compares; which those of a constraint are, the text doesn't tell."""
        self._set(node.expressions, scope)
        if node.args.get("constraint"):
            scope.everything = True
        self._rest(node, scope, "expressions", "constraint")

    def _returning(self, node: exp.Returning, scope: QueryScope) -> None:
        self.returning = True
        inner = scope.returning()
        self.scopes.append(inner)
        if inner.returned is not None:
            self.sources.append(inner.returned)
        if any(isinstance(item, exp.Star) for item in node.expressions):
            inner.everything = True
        self._rest(node, inner)

    def _column(self, node: exp.Column, scope: QueryScope) -> None:
        qualifier = node.args.get("table")
        if isinstance(node.this, exp.Star):
            name: str | None = "*"
        else:
            name = self._column_name(node.this)
        if name is None:
            if node.name == "DEFAULT":
                return
            name = node.name.lower()  # a keyword in the place of a column
            if not name:
                raise refuse("a column with a name that isn't followed")
        of = (self._column_name(qualifier) or "?") if qualifier else ""
        scope.columns.append((of, name))
        if name[0] == '"' and self.dialect == "snowflake":
            scope.columns.append((of, name[1:-1].lower()))  # a prohibition means it, however it is written
        if of and name in self.catalog.of_rows:  # `t.to_json`: a call with the row
            scope.columns.append((of, "*"))
            self._call(name, "")

    def _in(self, node: exp.In, scope: QueryScope) -> None:
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

    def _anonymous(self, node: exp.Anonymous, scope: QueryScope) -> None:
        self._function(node, scope, None)

    def _dot(self, node: exp.Dot, scope: QueryScope) -> None:
        if isinstance(node.expression, exp.Func):
            if not isinstance(node.this, exp.Identifier):
                raise refuse("a function with a name that isn't followed")
            self._function(node.expression, scope, node.this)
            return
        if isinstance(node.this, exp.Literal):
            raise refuse("a string in the place of a name")
        name = self._name(node.expression)
        if name is None and not isinstance(node.expression, exp.Star):
            raise refuse("a field with a name that isn't followed")
        if name is not None and self.dialect == "postgres":
            self._call(plain(name), _text_of(node.this, self.normal))  # `(x).f` is f(x), unless x has such a field
        self._push([node.this] if name is None else [node.this, node.expression], scope)

    def _check(self) -> None:
        """The tree and the tokens must tell the same."""
        tokens = self.normal.counts
        if tokens["select"] > self.counts["select"] or tokens["merge"] != self.counts["merge"]:
            raise refuse("the tree doesn't agree with the text")
        if not tokens["merge"] and any(tokens[verb] != self.counts[verb] for verb in ("insert", "update", "delete")):
            raise refuse("the tree doesn't agree with the text")
        if not self.normal.tables <= self.tables or Counter(self.normal.called) != self.called:
            raise refuse("the tree doesn't agree with the text")

    def _scope(self, parent: QueryScope | None, ctes: frozenset[str]) -> QueryScope:
        scope = QueryScope(parent, ctes)
        self.scopes.append(scope)
        return scope

    def _children(self, node: exp.Expr, scope: QueryScope) -> None:
        for key, value in node.args.items():
            if key not in _SKIPPED:
                self._push(value, scope)

    def _push(self, value: Any, scope: QueryScope) -> None:
        if isinstance(value, exp.Expr):
            self.stack.append((value, scope))
        elif isinstance(value, list):
            self.stack.extend((item, scope) for item in value if isinstance(item, exp.Expr))

    def _rest(self, node: exp.Expr, scope: QueryScope, *done: str) -> None:
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

    def _column_name(self, node: Any) -> str | None:
        """The same for a column or an alias, which has no case in mysql."""
        name = self._name(node)
        return name.lower() if name is not None and self.dialect == "mysql" else name

    def _literal(self, node: exp.Literal, scope: QueryScope) -> None:
        """A string in double quotes is a column, if the server was told so."""
        if node.is_string and int(node.this[1:]) in self.normal.quoted:
            scope.columns.append(("", self.normal.strings[int(node.this[1:])].lower()))

    def _with(self, node: exp.Expr, scope: QueryScope) -> frozenset[str]:
        """Walks the CTEs of a statement; the names that its main part sees.

        All of them see each other in sqlite, and with RECURSIVE in postgres. Elsewhere a CTE sees those before it, and
        itself in the second part of its UNION alone: in any other place its name is that of a table.
        """
        clause = node.args.get("with_")
        if clause is None:
            return scope.ctes
        items = clause.expressions
        names = [self._name(item.args["alias"].this) or "" for item in items]
        everything = scope.ctes.union(names)
        recursive = bool(clause.args.get("recursive"))
        mutual = self.dialect == "sqlite" or (self.dialect == "postgres" and recursive)
        seen = everything if mutual else scope.ctes
        for item, name in zip(items, names, strict=True):
            self._alias(item)
            if recursive and not mutual:
                self.recursive[id(item.this)] = name
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
        return self._column_name(this) or ""

    def _counts_as_called(self, node: Any) -> None:
        text = node.this if isinstance(node, exp.Identifier) else node
        if isinstance(text, str) and text[:1] == "n":
            self.called[text] += 1

    def _item(self, item: Any, scope: QueryScope) -> None:
        """What stands in FROM."""
        if isinstance(item, exp.Table):
            self._table(item, scope, "select")
        elif isinstance(item, exp.Subquery) and isinstance(item.this, exp.Table | exp.Subquery):
            if item.args.get("with_"):
                raise refuse("something in FROM that isn't followed")
            if self._alias(item):
                scope.renamed = True
            self._item(item.this, scope)
            self._rest(item, scope, "this", "alias")
        elif isinstance(item, exp.Subquery | exp.Values | exp.Select):
            scope.sources.append((self._alias(item), None))
            if isinstance(item, exp.Subquery) and item.args.get("joins"):
                self._push(item.args["joins"], scope)  # `((SELECT …) JOIN t)`: beside the subquery, not in it
                item.set("joins", None)
            beside = scope if self.dialect == "duckdb" else scope.parent  # duckdb takes each as LATERAL
            self.stack.append((item, self._scope(beside, scope.ctes)))
        elif isinstance(item, exp.Lateral):
            alias = self._alias(item)
            if not isinstance(item.this, exp.Subquery):
                self._called(item, alias, scope)
            scope.sources.append((alias, None))
            self._rest(item, self._scope(scope, scope.ctes), "alias")
        else:
            raise refuse("something in FROM that isn't followed")

    def _called(self, node: exp.Expr, alias: str, scope: QueryScope) -> None:
        """A function in the place of a table: its one value has the name of its alias, or of the list behind that."""
        renamed = node.args.get("alias")
        listed = renamed.args.get("columns") or () if isinstance(renamed, exp.TableAlias) else ()
        names = (self._name(item if isinstance(item, exp.Identifier) else item.this) for item in listed)
        scope.called[alias] = frozenset((alias, *(name for name in names if name is not None)))

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
        if name[0] == '"' and self.dialect == "snowflake":
            raise refuse("a quoted table name with small letters")
        if not schema:
            return name
        qualifier = self._name(schema)
        if qualifier is None:
            raise refuse("a schema without a name")
        plain(qualifier)
        return name if qualifier == DEFAULT_SCHEMA.get(self.dialect) else f"{qualifier}.{name}"

    def _table(self, node: exp.Table, scope: QueryScope, verb: str) -> Source | None:
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
            self._called(node, alias, scope)
            scope.sources.append((alias, None))
            return None
        if isinstance(node.this, exp.Func):
            self._called(node, alias or self._name(node.this.this) or "", scope)
            scope.sources.append((alias or self._name(node.this.this) or "", None))
            self._function(node.this, scope, node.args.get("db"))
            return None
        if self.dialect == "duckdb" and self._file(node, alias, scope, verb):
            return None
        name = self._table_name(node)
        bare = name.rpartition(".")[2]
        scope_alias = alias or (bare.lower() if self.dialect == "mysql" else bare)
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
        source = read = Source(verb, name, set())
        self.sources.append(source)
        if verb != "select":
            scope.target = source
            read = Source("select", name, set(), own=True)
            self.sources.append(read)
        renamed = node.args.get("alias")
        if renamed is not None and renamed.args.get("columns"):
            if self.dialect == "sqlite":
                raise refuse("a list of columns behind an alias")
            source.columns = read.columns = None
            source.renamed = read.renamed = True
        scope.sources.append((scope_alias, read))
        return source

    def _file(self, node: exp.Table, alias: str, scope: QueryScope, verb: str) -> bool:
        """duckdb reads `FROM 'x.csv'`, `"x.csv"` and `x.csv` from a file, if there is no such table; noted as that."""
        name = self._name(node.this) if isinstance(node.this, exp.Identifier | exp.Literal) else None
        if name is None:
            return False
        outer = self._name(node.args.get("db"))
        quoted = isinstance(node.this, exp.Literal) or node.this.this[:1] == "s" or not name.isidentifier()
        whole = f"{outer}.{name}" if outer else name
        if not quoted and not (outer and name.lower() in _FILE_ENDINGS):
            return False
        if verb != "select":
            raise refuse("a change of a file in the place of a table")
        if "://" in whole:
            self.reaches.append(Reach("network", "url", whole, "FROM a URL"))
        told = "" if any(char in whole for char in "*?[{") or "://" in whole else whole
        self.reaches.append(Reach("read", "path", told, "FROM a file"))
        if not quoted or whole.isidentifier():
            self.sources.append(Source("select", whole))  # a table of that name comes first
        scope.sources.append((alias or name, None))
        return True

    def _function(self, node: exp.Func, scope: QueryScope, schema: Any) -> None:
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
            name = plain(name.lower() if self.dialect == "mysql" else name)
            if schema:
                name = f"{self._name(schema) or '?'}.{name}"
            first = node.expressions[0] if node.expressions else None
            literal = isinstance(first, exp.Literal) and first.is_string
            index = int(first.this[1:]) if literal and first is not None else -1
            self._call(name, self.normal.strings[index] if index >= 0 else "")
        plain_items = [item for item in node.expressions if not isinstance(item, exp.Star)]
        if len(plain_items) < len(node.expressions) and name != "count":
            scope.everything = True  # `hash(*)`: each column is an argument
        self._push(plain_items, scope)

    def _star(self, node: exp.Star, scope: QueryScope) -> None:
        """Part of an expression, as `* LIKE 'a%'` of DuckDB: any column."""
        scope.everything = True
        self._rest(node, scope)

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


def _chooses(condition: exp.Expr) -> bool:
    """False for a condition that certainly holds for every row or for none: `1 = 1`, `a = a`, `a = 3 OR true`."""
    while isinstance(condition, exp.Paren | exp.Not):
        condition = condition.this
    if isinstance(condition, exp.And):
        return _chooses(condition.this) or _chooses(condition.expression)
    if isinstance(condition, exp.Or):
        return _chooses(condition.this) and _chooses(condition.expression)
    if isinstance(condition, exp.Binary) and condition.this == condition.expression:
        return False
    return condition.find(exp.Column) is not None


def _given(node: exp.Expr) -> list[str]:
    """The parts that a node has."""
    return [key for key, value in node.args.items() if value]


def _text_of(node: exp.Expr, normal: Normal) -> str:
    """The string that a value is, with brackets and casts around it; empty for another."""
    while isinstance(node, exp.Paren | exp.Cast):
        node = node.this
    is_text = isinstance(node, exp.Literal) and node.is_string
    return normal.strings[int(node.this[1:])] if is_text else ""


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
    exp.OnConflict: Walker._conflict,
    exp.Returning: Walker._returning,
    exp.Column: Walker._column,
    exp.In: Walker._in,
    exp.Literal: Walker._literal,
    exp.Anonymous: Walker._anonymous,
    exp.Dot: Walker._dot,
    exp.Star: Walker._star,
}
