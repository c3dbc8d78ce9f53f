"""A `sql:` scope: which statements it admits, and why it does not admit another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from fnmatch import fnmatchcase
from typing import Any

from remit.languages.sql.statement import VERBS, SqlStatement, Use
from remit.scopes.interface import Given, Matcher, Unit

_WORDS = {"select": "read", "insert": "insert into", "delete": "delete from", "ddl": "change the schema of"}
_ROWID = frozenset(("rowid", "oid", "_rowid_"))
"""Other names of a key in sqlite."""
_CONFLICTS = {"none": "none", "ignore": "OR IGNORE", "replace": "OR REPLACE", "update": "DO UPDATE"}


class Tables:
    """Names of tables as a policy writes them: `reviews`, `aux.t`, `tmp_*`; `any` is all."""

    def __init__(self, names: Any) -> None:
        self.all = names is None or names == "any"
        texts = [] if self.all else [names] if isinstance(names, str) else list(names)
        self.names = tuple(_one(str(text)) for text in texts)
        self._forms = tuple(dict.fromkeys(form for name in self.names for form in (name, name.lower())))

    def covers(self, table: str) -> bool:
        """The table is certainly one of these: a name without a schema means the default schema."""
        if self.all:
            return True
        return table != "*" and any(_matches(_one(table), form) for form in self._forms)

    def meets(self, table: str) -> bool:
        """The table might be one of these, in whatever schema and spelling."""
        if self.all or table == "*":
            return True
        name = _one(table.casefold())
        last = name.rpartition(".")[2]
        for text in self.names:
            pattern = text.casefold()
            if fnmatchcase(name, pattern) or fnmatchcase(last, pattern):
                return True
            if "." not in name and fnmatchcase(last, pattern.rpartition(".")[2]):
                return True
        return False

    def describe(self) -> str:
        return "any table" if self.all else ", ".join(self.names) or "no table"


class Clause:
    """What a scope says about one verb: `any`, a list of tables, or the long form."""

    def __init__(self, verb: str, value: Any) -> None:
        self.verb = verb
        data = value if isinstance(value, dict) else {}
        plain = data.get("kinds" if verb == "ddl" else "tables") if isinstance(value, dict) else value
        self.tables = Tables(data.get("tables") if verb == "ddl" else plain)
        self.kinds: frozenset[str] | None = None
        if verb == "ddl" and plain is not None and plain != "any":
            self.kinds = frozenset([plain] if isinstance(plain, str) else plain)
        self.columns = {str(table).lower(): frozenset(c.lower() for c in _list(names)) for table, names in _items(data)}
        self.source = data.get("from")
        conflict = data.get("conflict", "none")
        self.conflicts = None if conflict == "any" else frozenset(("none", *_list(conflict)))

    def refuses(self, use: Use, word: str = "") -> str | None:
        """Why the use of a table is not admitted; None if it is."""
        word = word or _WORDS.get(self.verb, self.verb)
        if not self.tables.covers(use.table):
            return f"it would {word} {use.table}; it may {word} only {self.tables.describe()}"
        allowed = self.columns.get(use.table.lower())
        if allowed is None:
            return None
        names = ", ".join(sorted(allowed))
        if use.columns is None:
            return f"it would {word} columns of {use.table} that the text doesn't name; name them: {names}"
        beyond = sorted(use.columns - allowed)
        return f"it would {word} {use.table}.{beyond[0]}; of {use.table} only {names}" if beyond else None

    def describe(self) -> str:
        if self.verb == "ddl":
            kinds = ", ".join(sorted(self.kinds)) if self.kinds is not None else "any"
            return f"ddl {kinds}" + ("" if self.tables.all else f" of {self.tables.describe()}")
        more = [f"from {self.source}"] if self.source else []
        if self.verb == "insert" and self.conflicts is None:
            more.append("on any conflict")
        elif self.verb == "insert" and self.conflicts is not None and self.conflicts != {"none"}:
            more.append(f"on conflict {' or '.join(sorted(self.conflicts - {'none'}))}")
        more += [f"(of {table} only {', '.join(sorted(columns))})" for table, columns in self.columns.items()]
        return " ".join([self.verb, self.tables.describe(), *more])


class Rows:
    """The only rows of a table that a scope reaches: those whose columns have these values."""

    def __init__(self, table: str, conditions: dict[str, Any]) -> None:
        self.table = table
        self.tables = Tables([table])
        self.conditions: dict[str, frozenset[int | str]] = {}
        self.told_by: dict[str, tuple[str, str]] = {}
        """By column: the task or the context, and the name under which that has its value."""
        for column, value in conditions.items():
            if isinstance(value, Mapping):
                self.told_by[column.lower()] = next(iter(value.items()))
                self.conditions[column.lower()] = frozenset()  # no value that anybody can have
            else:
                self.conditions[column.lower()] = frozenset(value if isinstance(value, list | tuple) else [value])

    def given(self, given: Given) -> Rows:
        """The same with the values that the call's task and context have."""
        found = copy(self)
        found.conditions = dict(self.conditions)
        for column, (whose, name) in self.told_by.items():
            value = given.value(whose, name)
            if isinstance(value, int | str) and not isinstance(value, bool):  # as a statement can have one
                found.conditions[column] = frozenset((value,))
        return found

    def refuses(self, use: Use, statement: SqlStatement) -> str | None:
        """Why the use could reach other rows; None if it can't."""
        if use.own or not self.tables.meets(use.table):
            return None
        if use.verb == "update" and use.columns == frozenset():
            return None  # it locks what it reads
        if use.verb not in ("select", "insert", "update", "delete"):
            word = _WORDS.get(use.verb, use.verb)
            return f"it would {word} {use.table}, of which it may touch only rows with {self.describe()}"
        if use.verb == "insert" and statement.conflict not in ("none", "ignore"):
            return f"on a conflict it could change other rows of {use.table} than those with {self.describe()}"
        if use.verb in ("insert", "update") and not _ROWID.isdisjoint(use.columns or ()):
            return f"it would set the rowid of {use.table}, which may be a column by which rows are told apart"
        for column, allowed in self.conditions.items():
            if not allowed:
                whose, name = self.told_by[column]
                return f"the {whose} has no {name}, which says whose rows of {use.table} it may reach"
            if use.verb == "update" and (use.columns is None or column in use.columns):
                return f"it would update {use.table}.{column}, by which rows are told apart"
            if not use.rows or not all(_holds(pins, column, allowed) for pins in use.rows):
                what = (
                    "each row to be inserted" if use.verb == "insert" else f"each WHERE for {use.table}, joined by AND"
                )
                return f"it could reach other rows of {use.table}; {what} must say {self.describe(column)}"
        return None

    def describe(self, only: str = "") -> str:
        texts = []
        for column, allowed in self.conditions.items():
            values = [_literal(value) for value in sorted(allowed, key=str)]
            if only and column != only:
                continue
            if not values:
                whose, name = self.told_by[column]
                texts.append(f"{column} = the {name} of the {whose}")
            else:
                texts.append(f"{column} = {values[0]}" if len(values) == 1 else f"{column} IN ({', '.join(values)})")
        return " AND ".join(texts)


def _literal(value: int | str) -> str:
    """As a statement says it."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


def _holds(pins: frozenset[tuple[str, frozenset[int | str]]], column: str, allowed: frozenset[Any]) -> bool:
    return any(name == column and values and all(value in allowed for value in values) for name, values in pins)


class SqlMatcher(Matcher):
    """What a `sql:` scope says about the statements of a text."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.clauses = {verb: Clause(verb, scope[verb]) for verb in VERBS if verb in scope and verb not in _FLAGS}
        self.pragmas = Tables(scope["pragma"]) if "pragma" in scope else None
        self.transaction = bool(scope.get("transaction", False))
        self.explain = bool(scope.get("explain", False))
        self.functions = frozenset(name.lower() for name in _list(scope.get("functions")))
        self.rows = [Rows(table, conditions) for table, conditions in (scope.get("rows") or {}).items()]
        self.open = any(rows.told_by for rows in self.rows)

    def given(self, given: Given) -> SqlMatcher:
        found = copy(self)
        found.rows = [rows.given(given) for rows in self.rows]
        return found

    def covers(self, unit: Unit) -> bool:
        """True only if the statement is certainly within."""
        return self.refuses_statement(unit.value) is None

    def touches(self, unit: Unit) -> bool:
        """For prohibitions: the statement is named, or could be anything."""
        return self.meets(unit.value)

    def refuses(self, unit: Unit) -> str | None:
        """Why the statement is not covered; None if it is."""
        return self.refuses_statement(unit.value)

    def refuses_statement(self, statement: SqlStatement) -> str | None:
        """The same for a statement that a command has in it."""
        if statement.unknown:
            return statement.unknown[0]
        strange = [name for name in statement.strange if name not in self.functions]
        if strange:
            return f"the function {strange[0]} is not known to be harmless; a scope can name it under `functions`"
        for reach in statement.reaches:
            if reach.by.lower() not in self.functions:
                return f"{reach.by} would {reach.effect} {reach.value or reach.kind}"
        return self._verbs(statement) or self._uses(statement) or self._details(statement)

    def _verbs(self, statement: SqlStatement) -> str | None:
        if statement.explains and not self.explain:
            return f"EXPLAIN is not among what it may do: {self.describe()}"
        needed = {statement.verb, *statement.verbs} - {"select"}
        if statement.verb == "select":
            needed.add("select")
        for verb in sorted(needed):
            if verb == "pragma" and self.pragmas is not None:
                continue
            if verb == "transaction" and self.transaction:
                continue
            if verb not in self.clauses:
                return f"{verb.upper()} is not among what it may do: {self.describe()}"
        return None

    def _uses(self, statement: SqlStatement) -> str | None:
        for use in statement.uses:
            if use.via:
                refused = self._behind_view(use, statement)
            elif use.own:
                refused = self._own(use, statement)
            elif use.verb in self.clauses:
                refused = self.clauses[use.verb].refuses(use)
            else:
                word = _WORDS.get(use.verb, use.verb)
                refused = f"it would also {word} {use.table}; it may only {self.describe()}"
            if not use.via:
                refused = refused or next((why for rows in self.rows if (why := rows.refuses(use, statement))), None)
            if refused is not None:
                return refused
        return None

    def limits(self, statement: SqlStatement) -> bool:
        """A limit on tables, columns or rows is in the way of what the statement does, apart from verbs not named."""
        for use in statement.uses:
            if use.via:
                refused = self._behind_view(use, statement)
            elif use.own:
                refused = self._own(use, statement)
            else:
                refused = self.clauses[use.verb].refuses(use) if use.verb in self.clauses else None
                refused = refused or next((why for rows in self.rows if (why := rows.refuses(use, statement))), None)
            if refused is not None:
                return True
        return False

    def _behind_view(self, use: Use, statement: SqlStatement) -> str | None:
        """Why a view may not show a table; None if it may: the scope names the view, or sets no limit to the table."""
        clause = self.clauses.get(use.verb)
        if not use.shown or clause is None:
            return None
        named = [other.table for other in statement.uses if other.verb == use.verb and not other.via]
        if not clause.tables.all and all(_one(table) in clause.tables.names for table in named):
            return None
        if any(rows.tables.meets(use.table) for rows in self.rows):
            shown = "other tables, one" if use.table == "*" else use.table
            return f"{use.via} shows {shown}, of which it may reach only some rows; a scope can name the view"
        word = _WORDS.get(use.verb, use.verb)
        if use.table == "*" and clause.columns:
            limited = ", ".join(sorted(clause.columns))
            return f"{use.via} shows other tables, and of {limited} it may {word} only some columns"
        allowed = clause.columns.get(use.table.lower())
        if allowed is None or (use.columns is not None and use.columns <= allowed):
            return None
        names = ", ".join(sorted(allowed))
        return f"{use.via} shows {use.table}, of which it may {word} only {names}; a scope can name the view"

    def _own(self, use: Use, statement: SqlStatement) -> str | None:
        """Why the columns by which it chooses and computes what it changes may not be read; None if they may.

        What may be changed may be looked at for that, unless the scope says which columns of the table may be read.
        """
        select = self.clauses.get("select")
        if select is not None:
            refused = select.refuses(use)
            if refused is None or use.table.lower() in select.columns:
                return refused
        verbs = {other.verb for other in statement.uses if other.table == use.table and other.verb != "select"}
        refusals = [self.clauses[verb].refuses(use, "read") for verb in sorted(verbs) if verb in self.clauses]
        return next((refused for refused in refusals if refused is not None), None)

    def _details(self, statement: SqlStatement) -> str | None:
        if "insert" in self.clauses and "insert" in {statement.verb, *statement.verbs}:
            insert = self.clauses["insert"]
            if insert.conflicts is not None and statement.conflict not in insert.conflicts:
                what = _CONFLICTS.get(statement.conflict, f"OR {statement.conflict.upper()}")
                return f"a plain INSERT only, not {what}"
            if insert.source == "values" and statement.source != "values":
                return "an INSERT of literal values only: no query, function or column in it"
        kinds = self.clauses["ddl"].kinds if "ddl" in self.clauses else None
        if kinds is not None and not statement.ddl <= kinds:
            return f"it would change a {min(statement.ddl - kinds)}; {self.clauses['ddl'].describe()} only"
        if self.pragmas is not None:
            beyond = [name for name in statement.pragmas if not self.pragmas.covers(name)]
            if beyond:
                return f"the pragma {beyond[0]} is not among {self.pragmas.describe()}"
        elif statement.pragmas:
            return f"the pragma {statement.pragmas[0]} is not among what it may do: {self.describe()}"
        return None

    def meets(self, statement: SqlStatement) -> bool:
        """The statement does, or might do, something that the scope names."""
        if statement.unknown or statement.strange or not self.functions.isdisjoint(statement.functions):
            return True
        if self.pragmas is not None and any(self.pragmas.meets(name) for name in statement.pragmas):
            return True
        verbs = {statement.verb, *statement.verbs}
        if (self.transaction and "transaction" in verbs) or (self.explain and statement.explains):
            return True
        for verb, clause in self.clauses.items():
            uses = [use for use in statement.uses if _is_for(use, clause) or _upserts(use, verb, statement)]
            if verb not in verbs and not uses:
                continue
            if verb == "insert" and not _inserts(clause, statement):
                continue
            if clause.kinds is not None and clause.kinds.isdisjoint(statement.ddl):
                continue
            if any(clause.tables.meets(use.table) and _concerns(clause, use) for use in uses):
                return True
            if not uses and clause.tables.all:
                return True
        return False

    def concerns(self, unit: Unit) -> bool:
        return unit.value.verb in self.clauses

    def samples(self) -> list[Any]:
        from remit.scopes.sql.samples import sample_statements  # here, as below: only explanations need samples

        return list(sample_statements(self))

    def effects(self) -> tuple[frozenset[str], bool]:
        from remit.scopes.sql.samples import possible_sql_effects

        return possible_sql_effects(self)

    def describe(self) -> str:
        words = [clause.describe() for clause in self.clauses.values()]
        if self.pragmas is not None:
            words.append(f"pragma {self.pragmas.describe().replace('any table', 'any')}")
        words += ["transactions"] if self.transaction else []
        words += ["explain"] if self.explain else []
        words += [f"functions {', '.join(sorted(self.functions))}"] if self.functions else []
        words += [f"of {rows.table} only rows with {rows.describe()}" for rows in self.rows]
        return "; ".join(words) or "no statement"


_FLAGS = frozenset(("pragma", "transaction"))


def _is_for(use: Use, clause: Clause) -> bool:
    """The use is one that the clause is about. A condition on what is changed anyway reads, where columns matter."""
    return use.verb == clause.verb and (not use.own or use.table.lower() in clause.columns)


def _upserts(use: Use, verb: str, statement: SqlStatement) -> bool:
    """An INSERT that changes or replaces the rows that are there updates or deletes as well."""
    if use.verb != "insert":
        return False
    return (verb, statement.conflict) in (("update", "update"), ("update", "replace"), ("delete", "replace"))


def _inserts(clause: Clause, statement: SqlStatement) -> bool:
    """As a prohibition: the INSERT is of the kind that the clause names, where it names one.

    Of several, in CTEs, a statement tells only the worst source and conflict: then one of them might be of that kind.
    """
    if statement.text.casefold().count("insert") > 1:
        return True
    if clause.source is not None and statement.source != clause.source:
        return False
    if clause.conflicts is None or clause.conflicts == {"none"}:
        return True
    return statement.conflict in clause.conflicts - {"none"}


def _concerns(clause: Clause, use: Use) -> bool:
    """The use reaches one of the columns that the clause names, where it names some for that table."""
    named = clause.columns.get(use.table.lower())
    return named is None or use.columns is None or not named.isdisjoint(use.columns)


def _one(name: str) -> str:
    """SQLite's catalog has two names."""
    return name.replace("sqlite_schema", "sqlite_master").replace("sqlite_temp_schema", "sqlite_temp_master")


def _matches(table: str, pattern: str) -> bool:
    """A `*` stays within the schema or the name that it stands in."""
    parts, wanted = table.split("."), pattern.split(".")
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))


def _items(data: dict[str, Any]) -> Iterable[tuple[str, Any]]:
    columns = data.get("columns") or {}
    return columns.items()


def _list(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]
