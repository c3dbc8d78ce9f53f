"""SQLite's own word on a statement: what it would do on an empty database with the same schema."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from remit.languages.sql.expansion import fold
from remit.languages.sql.replica import Action, Replica, Seen, replica_of
from remit.languages.sql.statement import SqlStatement, Use
from remit.model.pattern import compile_later

_GAP = r"(?:[ \t\n\f\r\ufeff]|--[^\n]*(?:\n|\Z)|/\*.*?\*/)"
_EXPLAINED = compile_later(
    rf"{_GAP}*explain(?![\w$])(?:{_GAP}+query(?![\w$]){_GAP}+plan(?![\w$]))?", re.DOTALL | re.IGNORECASE
)
_JOINED_BY_NAME = compile_later(r"(?<![\w$])(?:natural|using)(?![\w$])", re.IGNORECASE)
"""The columns by which such a join compares are not told to an authorizer."""
_CATALOGS = {"sqlite_schema": "sqlite_master", "sqlite_temp_schema": "sqlite_temp_master"}
_OWN_TABLES = frozenset(("sqlite_master", "sqlite_temp_master", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4"))
_OPERATORS = frozenset(("like", "glob", "match", "regexp", "->", "->>"))
"""Functions that an operator calls; a text names no function by them."""
_CLOCKS = frozenset(("current_timestamp", "current_date", "current_time"))
_ROWID = frozenset(("rowid", "oid", "_rowid_"))
_CHANGES = {sqlite3.SQLITE_INSERT: "insert", sqlite3.SQLITE_UPDATE: "update", sqlite3.SQLITE_DELETE: "delete"}
_VERBS = {
    sqlite3.SQLITE_PRAGMA: "pragma",
    sqlite3.SQLITE_ATTACH: "attach",
    sqlite3.SQLITE_DETACH: "detach",
    sqlite3.SQLITE_TRANSACTION: "transaction",
    sqlite3.SQLITE_SAVEPOINT: "transaction",
    sqlite3.SQLITE_ANALYZE: "analyze",
}
_KINDS = {
    sqlite3.SQLITE_CREATE_TABLE: "table",
    sqlite3.SQLITE_CREATE_TEMP_TABLE: "table",
    sqlite3.SQLITE_CREATE_VTABLE: "table",
    sqlite3.SQLITE_CREATE_INDEX: "index",
    sqlite3.SQLITE_CREATE_TEMP_INDEX: "index",
    sqlite3.SQLITE_CREATE_VIEW: "view",
    sqlite3.SQLITE_CREATE_TEMP_VIEW: "view",
    sqlite3.SQLITE_CREATE_TRIGGER: "trigger",
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER: "trigger",
    sqlite3.SQLITE_DROP_TABLE: "table",
    sqlite3.SQLITE_DROP_TEMP_TABLE: "table",
    sqlite3.SQLITE_DROP_VTABLE: "table",
    sqlite3.SQLITE_DROP_INDEX: "index",
    sqlite3.SQLITE_DROP_TEMP_INDEX: "index",
    sqlite3.SQLITE_DROP_VIEW: "view",
    sqlite3.SQLITE_DROP_TEMP_VIEW: "view",
    sqlite3.SQLITE_DROP_TRIGGER: "trigger",
    sqlite3.SQLITE_DROP_TEMP_TRIGGER: "trigger",
    sqlite3.SQLITE_ALTER_TABLE: "table",
}
_FOREIGN_KEY = "foreign key"


def cross_check(statement: SqlStatement, schema: str, *, current: bool = True) -> SqlStatement:
    """The statement with what views, triggers and foreign keys of the schema add to it; not understood if SQLite sees
    more in it than we do, or can't prepare it. The columns of `*` are told only by a schema that is `current`."""
    if statement.unknown:
        return statement
    replica = replica_of(schema)
    if isinstance(replica, str):
        return _unknown(statement, f"the schema can't be used: {replica}")
    text = _EXPLAINED.sub("", statement.text, count=1) if _EXPLAINED.match(statement.text) else statement.text
    with replica.lock:
        seen = replica.prepare(text)
        extra = replica.prepare(text, cascades=True) if _writes(seen) else seen
    denied = [action for action in seen.actions if action.code in _VERBS and action.code != sqlite3.SQLITE_ANALYZE]
    if seen.error and not denied:
        return _unknown(statement, _in_words(seen.error))
    if extra.error and not denied:
        return _unknown(statement, _in_words(extra.error))
    comparison = Comparison(statement, replica, seen, current=current)
    missing = comparison.missing()
    if missing:
        return _unknown(statement, f"SQLite itself also sees {missing[0]}")
    cascades = _cascades(extra.actions - seen.actions)
    return comparison.completed()._replace(uses=comparison.uses() + cascades + _shown_by_virtual(statement, replica))


class Comparison:
    """Our reading of one statement beside SQLite's."""

    def __init__(self, statement: SqlStatement, replica: Replica, seen: Seen, *, current: bool) -> None:
        self.current = current
        self.statement = statement
        self.replica = replica
        self.actions = sorted(seen.actions)
        self.touched = {action.first for action in self.actions if action.first}
        self.ours: dict[str, list[Use]] = {}
        for use in statement.uses:
            if use.via:
                continue
            self.ours.setdefault(_plain(use.table), []).append(use)
        self.touched |= self.ours.keys()
        self.through: dict[tuple[str, str, str, bool], set[str]] = {}
        """(verb, table, view or trigger, shown by a view) → columns, of what the schema adds."""
        self.functions: set[str] = set()

    def missing(self) -> list[str]:
        """What SQLite sees, we don't, and nothing in the schema explains; in words."""
        found = []
        for action in self.actions:
            words = self._unseen(action)
            if words and not self._explained(action):
                found.append(words)
        return found

    def completed(self) -> SqlStatement:
        return self.statement._replace(functions=self.statement.functions | self.functions)

    def uses(self) -> tuple[Use, ...]:
        """Our uses, with the columns that we couldn't tell; then those of views and triggers."""
        own = tuple(self._with_columns(use) for use in self.statement.uses)
        added = tuple(
            Use(verb, table, frozenset(columns) if verb in ("select", "update") else None, via, shown)
            for (verb, table, via, shown), columns in sorted(self.through.items())
        )
        return own + added

    def _with_columns(self, use: Use) -> Use:
        if use.verb not in ("select", "update"):
            return use
        code = sqlite3.SQLITE_READ if use.verb == "select" else sqlite3.SQLITE_UPDATE
        name = _plain(use.table)
        seen = frozenset(action.second for action in self.actions if action.code == code and _table(action) == name)
        if use.columns is not None:
            return use._replace(columns=use.columns | seen) if self._is_widened(use.verb, name) else use
        if not self.current or not seen or (use.verb == "select" and _JOINED_BY_NAME.search(self.statement.text)):
            return use
        return use._replace(columns=seen - {""})

    def _is_widened(self, verb: str, table: str) -> bool:
        """The FROM of an UPDATE is a subquery to SQLite, which reads all columns of what is joined in it."""
        if verb != "select" or self.statement.verb != "update":
            return False
        seen = {a.second for a in self.actions if a.code == sqlite3.SQLITE_READ and _table(a) == table}
        return self.replica.columns.get(table, frozenset("*")) <= seen

    def _unseen(self, action: Action) -> str:
        """What our reading lacks of the action, in words; empty if nothing."""
        code, table = action.code, _table(action)
        if code in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return ""
        if code in _VERBS:
            return self._unseen_verb(action)
        if self._is_housekeeping(action):
            return ""
        if code == sqlite3.SQLITE_READ:
            return self._unseen_read(action)
        if code in _CHANGES:
            return self._unseen_change(_CHANGES[code], table, action.second)
        if code == sqlite3.SQLITE_FUNCTION:
            known = action.second in self.statement.functions | _OPERATORS | _CLOCKS
            return "" if known else f"a call of {action.second}"
        if code in _KINDS:
            return self._unseen_ddl(action)
        return "" if self.statement.verb == "reindex" else f"an action {code} on {action.first}"

    def _unseen_verb(self, action: Action) -> str:
        verb = _VERBS[action.code]
        if verb == "pragma":
            return "" if action.first in self.statement.pragmas else f"the pragma {action.first}"
        verbs = {self.statement.verb, *self.statement.verbs}
        return "" if verb in verbs else verb.upper()

    def _is_housekeeping(self, action: Action) -> bool:
        """What SQLite does to its own catalog for a statement that changes the schema."""
        statement = self.statement
        if not statement.ddl and statement.verb not in ("analyze", "reindex"):
            return False
        if action.code in (*_CHANGES, sqlite3.SQLITE_READ) and action.first in _OWN_TABLES:
            return True
        if action.first.startswith("sqlite_autoindex_"):
            return True  # of UNIQUE and PRIMARY KEY
        if action.code == sqlite3.SQLITE_REINDEX:
            return "index" in statement.ddl or statement.verb == "reindex"
        if statement.verb == "analyze":
            return action.first in _OWN_TABLES
        dropped = action.code in (sqlite3.SQLITE_DELETE, sqlite3.SQLITE_DROP_TRIGGER, sqlite3.SQLITE_DROP_TEMP_TRIGGER)
        if dropped and statement.drops:
            return self._has(("ddl",), action.first) or self._has(("ddl",), action.second)
        altered = any(other.code == sqlite3.SQLITE_ALTER_TABLE for other in self.actions)
        return altered and (action.code == sqlite3.SQLITE_FUNCTION or action.first.startswith("pragma_"))

    def _unseen_read(self, action: Action) -> str:
        table, column = _table(action), action.second
        uses = [use for use in self._of(table) if self._may_read(use, action)]
        if not uses:
            if table in self.statement.functions or table.removeprefix("pragma_") in self.statement.pragmas:
                return ""
            if not column and self._is_cte(table):
                return ""
            return f"a read of {table}.{column}" if column else f"a read of {table}"
        if not column or any(use.columns is None or use.verb != "select" for use in uses):
            return ""
        known = set().union(*(use.columns or () for use in uses))
        if known & _ROWID and column in _ROWID | self.replica.keys.get(table, frozenset()):
            return ""
        if column in known or self._is_widened("select", table):
            return ""
        return f"a read of {table}.{column}"

    def _may_read(self, use: Use, action: Action) -> bool:
        """The use accounts for reads: what is only inserted is read by triggers, RETURNING and DO UPDATE alone."""
        if use.verb != "insert":
            return True
        statement = self.statement
        return statement.returning or statement.conflict == "update" or action.within in self.replica.triggers

    def _unseen_change(self, verb: str, table: str, column: str) -> str:
        uses = [use for use in self._of(table) if use.verb in (verb, "merge")]
        if not uses and verb == "update" and self.statement.conflict == "update":
            uses = [use._replace(columns=None) for use in self._of(table) if use.verb == "insert"]
        if not uses:
            return f"{verb.upper()} of {table}"
        if verb != "update" or any(use.columns is None or column in use.columns for use in uses):
            return ""
        known = set().union(*(use.columns or () for use in uses))
        return "" if column in _ROWID and known & _ROWID else f"an UPDATE of {table}.{column}"

    def _unseen_ddl(self, action: Action) -> str:
        kind = _KINDS[action.code]
        names = (action.first, action.second)
        if kind in self.statement.ddl and any(self._has(("ddl",), name) for name in names if name):
            return ""
        return f"a change of the {kind} {action.second if action.code == sqlite3.SQLITE_ALTER_TABLE else action.first}"

    def _has(self, verbs: Iterable[str], table: str) -> bool:
        return any(use.verb in verbs for use in self._of(table))

    def _of(self, table: str) -> list[Use]:
        """Our uses of the table; one of `*` is of every table."""
        return [*self.ours.get(_plain(table), ()), *self.ours.get("*", ())]

    def _is_cte(self, name: str) -> bool:
        known = self.replica
        if name in known.tables or name in known.views or name in _OWN_TABLES:
            return False
        return name not in known.modules and not name.startswith("pragma_")

    def _explained(self, action: Action) -> bool:
        """It comes from a view or trigger that the statement uses; then it is noted as such."""
        owners = self._owners(action)
        if owners.isdisjoint(self.touched):
            return False
        via = action.within if action.within in self.replica.views or action.within in self.replica.triggers else ""
        via = via or min(owners & self.touched)
        verb = "select" if action.code == sqlite3.SQLITE_READ else _CHANGES.get(action.code, "")
        if verb:
            shown = verb == "select" and not owners.isdisjoint(self.touched & self.replica.views.keys())
            columns = self.through.setdefault((verb, _shown(action), via, shown), set())
            columns.update({action.second} - {""})
        elif action.code == sqlite3.SQLITE_FUNCTION:
            self.functions.add(action.second)
        return True

    def _owners(self, action: Action) -> frozenset[str]:
        """The views and tables that do it by themselves."""
        found = self.replica.inherent.get(action, frozenset())
        if found or action.code != sqlite3.SQLITE_READ or action.second:
            return found
        same = [who for other, who in self.replica.inherent.items() if other[:2] == action[:2]]
        return frozenset().union(*same)  # a view that was flattened: its table is read in the place of the view


def _shown_by_virtual(statement: SqlStatement, replica: Replica) -> tuple[Use, ...]:
    """What a virtual table shows besides its own rows, and the tables in which it keeps what it shows."""
    found = []
    for use in statement.uses:
        name = _plain(use.table)
        for table, content in replica.virtual.items():
            kept = name.startswith(f"{table}_")
            if use.via or not (kept or name == table):
                continue
            shown = [*([table] if kept else ()), *([content] if content else ())]
            found += [Use("select", each, None, name, shown=True) for each in shown]
    return tuple(dict.fromkeys(found))


def _cascades(actions: Iterable[Action]) -> tuple[Use, ...]:
    """What changes besides where the database enforces foreign keys: ON DELETE CASCADE, ON UPDATE SET NULL …"""
    found: dict[tuple[str, str], set[str]] = {}
    for action in actions:
        if action.code in _CHANGES:
            found.setdefault((_CHANGES[action.code], _shown(action)), set()).add(action.second)
    return tuple(
        Use(verb, table, frozenset(columns) if verb == "update" else None, _FOREIGN_KEY)
        for (verb, table), columns in sorted(found.items())
    )


def _writes(seen: Seen) -> bool:
    return not seen.error and any(action.code in _CHANGES for action in seen.actions)


def _table(action: Action) -> str:
    return _CATALOGS.get(action.first, action.first)


def _shown(action: Action) -> str:
    """The table's name as a use has it."""
    return _table(action) if action.database in ("", "main") else f"{action.database}.{_table(action)}"


def _plain(table: str) -> str:
    """Without its schema, which a copy in memory has only one of, besides temp."""
    name = fold(table)
    for schema in ("main.", "temp."):
        name = name.removeprefix(schema)
    return _CATALOGS.get(name, name)


def _in_words(error: str) -> str:
    if error.startswith(("no such ", "table ", "no tables", "ambiguous column")):
        return f"it does not fit the schema: {error}"
    return f"SQLite can't read it: {error}"


def _unknown(statement: SqlStatement, reason: str) -> SqlStatement:
    return statement._replace(unknown=(reason,))
