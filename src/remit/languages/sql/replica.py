"""An empty copy of a SQLite database in memory, made from its schema: statements are prepared on it, never run."""

from __future__ import annotations

import re
import sqlite3
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from threading import Lock
from typing import NamedTuple

from remit.languages.sql.expansion import expansions, fold
from remit.model.pattern import compile_later

MAX_SCHEMA = 256 * 1024
MAX_STATEMENT = 256 * 1024
MAX_ACTIONS = 50_000
MAX_EXPANSIONS = 10_000
MAX_OBJECTS = 2_000
_REMEMBERED = 8
_STEPS = 2_000_000
_MODULES = frozenset(("fts3", "fts4", "fts5", "rtree", "rtree_i32"))
_ASKED_BY_MODULES = frozenset(("page_size", "data_version"))
_CATALOGS = frozenset(("sqlite_master", "sqlite_temp_master"))
_KEPT_BY_SQLITE = compile_later(r"^CREATE TABLE sqlite_(?:sequence|stat[14])\([\w,]*\);?\s*?$", re.MULTILINE)
_CONTENT = compile_later(
    r"""[(,]\s*content\s*=\s*(?:'((?:[^']|'')*)'|"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([^\s,)'"`\[]+))\s*(?=[,)])""",
    re.IGNORECASE,
)
"""The table whose columns an index of words shows as its own."""
_CREATES = frozenset(
    (
        sqlite3.SQLITE_CREATE_TABLE,
        sqlite3.SQLITE_CREATE_INDEX,
        sqlite3.SQLITE_CREATE_VIEW,
        sqlite3.SQLITE_CREATE_TRIGGER,
        sqlite3.SQLITE_REINDEX,  # of the index that was just created
        sqlite3.SQLITE_FUNCTION,  # in CHECK, DEFAULT, generated columns and indices
    )
)
_NEVER = frozenset(
    (
        sqlite3.SQLITE_PRAGMA,
        sqlite3.SQLITE_ATTACH,
        sqlite3.SQLITE_DETACH,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    )
)
"""Denied before SQLite does anything about them: some pragmas act while they are prepared."""


class Action(NamedTuple):
    """One thing that SQLite's authorizer was asked about."""

    code: int
    first: str
    second: str
    database: str
    within: str
    """The view, CTE or trigger that it stands in; empty for the statement itself."""


class Seen(NamedTuple):
    """What preparing a statement showed."""

    actions: frozenset[Action]
    error: str = ""


class NotBuilt(Exception):
    """A schema that no copy can be made of, and why."""


class Replica:
    """The copy of one database."""

    def __init__(self, schema: str) -> None:
        if len(schema) > MAX_SCHEMA or len(schema.encode("utf-8", "surrogatepass")) > MAX_SCHEMA:
            raise NotBuilt(f"it is longer than {MAX_SCHEMA // 1024} KiB")
        self.lock = Lock()
        self._connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=0
        )
        weakref.finalize(self, self._connection.close)
        for limit, value in (
            (sqlite3.SQLITE_LIMIT_LENGTH, 8 * MAX_SCHEMA),
            (sqlite3.SQLITE_LIMIT_SQL_LENGTH, 2 * MAX_SCHEMA),
            (sqlite3.SQLITE_LIMIT_EXPR_DEPTH, 200),
            (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
        ):
            self._connection.setlimit(limit, value)
        self._connection.execute("PRAGMA temp_store = MEMORY").close()
        self._build(_KEPT_BY_SQLITE.sub("", schema))
        self.views: dict[str, int] = {}
        self.tables: frozenset[str] = frozenset()
        self.triggers: frozenset[str] = frozenset()
        self.virtual: dict[str, str] = {}
        """Virtual tables, and the table that each shows."""
        self._read_catalog()
        self.modules = frozenset(fold(row[0]) for row in self._connection.execute("PRAGMA module_list"))
        self.keys: dict[str, frozenset[str]] = {}
        """Of each table, the column that is the rowid under another name."""
        self.columns: dict[str, frozenset[str]] = {}
        for table in (*self.tables, *self.views):
            self._read_columns(table)
        self.inherent = self._inherent()

    def prepare(self, text: str, *, cascades: bool = False) -> Seen:
        """What SQLite says that the statement does. Call it with the lock held."""
        if len(text) > MAX_STATEMENT:
            return Seen(frozenset(), "it is too long to be checked")
        if expansions(text, self.views) > MAX_EXPANSIONS:
            return Seen(frozenset(), "its views and CTEs name each other too often")
        self._connection.execute(f"PRAGMA foreign_keys = {int(cascades)}").close()
        seen = self._explain(text)
        if any(action.first in _CATALOGS for action in seen.actions):
            seen = self._explain(text)  # a table function declares itself at first use, and is quiet afterwards
        return seen

    def _explain(self, text: str) -> Seen:
        actions: set[Action] = set()
        calls = 0

        def ask(code: int, first: str | None, second: str | None, database: str | None, within: str | None) -> int:
            nonlocal calls
            calls += 1
            actions.add(Action(code, fold(first or ""), fold(second or ""), fold(database or ""), fold(within or "")))
            if code in _NEVER or calls > MAX_ACTIONS:
                return sqlite3.SQLITE_DENY
            if code == sqlite3.SQLITE_FUNCTION and fold(second or "") == "load_extension":
                return sqlite3.SQLITE_DENY
            return sqlite3.SQLITE_OK

        error = ""
        self._connection.set_authorizer(ask)
        try:
            self._connection.execute(f"EXPLAIN {text}").close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as problem:
            error = str(problem) or type(problem).__name__
            if error.startswith("Incorrect number of bindings supplied"):
                error = ""  # it was prepared, which is all that is wanted
        finally:
            self._connection.set_authorizer(None)
        return Seen(frozenset(actions), "there is too much in it" if calls > MAX_ACTIONS else error)

    def _build(self, schema: str) -> None:
        refused: list[str] = []
        virtual: list[str] = []

        def ask(code: int, first: str | None, second: str | None, database: str | None, within: str | None) -> int:
            name = fold(first or "")
            if code in _CREATES and fold(second or "") != "load_extension":
                return sqlite3.SQLITE_OK
            if name in _CATALOGS or name == "sqlite_sequence":
                return sqlite3.SQLITE_OK
            if code == sqlite3.SQLITE_READ and (database or "main") == "main":
                return sqlite3.SQLITE_OK
            if code == sqlite3.SQLITE_CREATE_VTABLE and fold(second or "") in _MODULES:
                virtual.append(name)
                return sqlite3.SQLITE_OK
            if code in (sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE, sqlite3.SQLITE_SELECT):
                if virtual and (not name or name.startswith(tuple(f"{table}_" for table in virtual))):
                    return sqlite3.SQLITE_OK
            elif code == sqlite3.SQLITE_PRAGMA and virtual and name in _ASKED_BY_MODULES and not second:
                return sqlite3.SQLITE_OK
            refused.append(f"{fold(second or '')} {name}".strip())
            return sqlite3.SQLITE_DENY

        steps = iter(range(_STEPS // 1000))
        self._connection.set_progress_handler(lambda: next(steps, None) is None, 1000)
        self._connection.set_authorizer(ask)
        try:
            self._connection.executescript(schema).close()
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError, MemoryError) as problem:
            raise NotBuilt(self._reason(problem, refused)) from None
        finally:
            self._connection.set_authorizer(None)
            self._connection.set_progress_handler(None, 0)
        if refused:
            raise NotBuilt(self._reason(None, refused))

    @staticmethod
    def _reason(problem: BaseException | None, refused: list[str]) -> str:
        if refused:
            return f"it does more than create tables, indices, views and triggers: {refused[0]}"
        return str(problem)

    def _read_catalog(self) -> None:
        rows = self._connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM main.sqlite_master")
        kinds: dict[str, list[tuple[str, str, str]]] = {"table": [], "view": [], "trigger": [], "index": []}
        for kind, name, table, sql in rows.fetchall():
            kinds[kind].append((fold(name), fold(table), sql))
        if sum(map(len, kinds.values())) > MAX_OBJECTS:
            raise NotBuilt(f"it has more than {MAX_OBJECTS} tables, indices, views and triggers")
        self.tables = frozenset(name for name, _, _ in kinds["table"])
        self.virtual = {
            name: self._content(sql) for name, _, sql in kinds["table"] if sql[:14].upper() == "CREATE VIRTUAL"
        }
        self.triggers = frozenset(name for name, _, _ in kinds["trigger"])
        self._owners = frozenset(table for _, table, _ in kinds["trigger"])
        sources = {name: sql for name, _, sql in kinds["view"]}
        self.views = dict.fromkeys(sources, 1)
        for _ in range(len(sources) + 1):
            costs = {name: expansions(sql, {**self.views, name: 0}) for name, sql in sources.items()}
            if costs == self.views:
                return
            if max(costs.values()) > MAX_EXPANSIONS:
                break
            self.views = costs
        raise NotBuilt("its views name each other too often")

    def _content(self, sql: str) -> str:
        """The table that a virtual table shows; `*` where it isn't certain, empty where it has rows of its own."""
        if not re.search(r"content\s*=", sql, re.IGNORECASE):
            return ""
        found = _CONTENT.findall(sql)
        names = {fold("".join(parts)) for parts in found}
        if len(found) != 1 or not names <= self.tables | {""}:
            return "*"
        return names.pop()

    def _read_columns(self, table: str) -> None:
        rows = self._connection.execute(f"PRAGMA main.table_xinfo({_quoted(table)})").fetchall()
        self.columns[table] = frozenset(fold(row[1]) for row in rows)
        keys = [row for row in rows if row[5]]
        self.keys[table] = frozenset(fold(row[1]) for row in keys if len(keys) == 1 and fold(row[2]) == "integer")

    def _inherent(self) -> dict[Action, frozenset[str]]:
        """What each view, and the triggers of each table, do by themselves: action → the views and tables."""
        found: dict[Action, set[str]] = {}
        for view in self.views:
            for columns in ("*", "1"):
                for action in self._explain(f"SELECT {columns} FROM main.{_quoted(view)}").actions:  # noqa: S608
                    if action.first != view:
                        found.setdefault(action, set()).add(view)
        for table in self._owners:
            for change in self._changes(table):
                for action in self._explain(change).actions:
                    if action.within:
                        found.setdefault(action, set()).add(table)
        return {action: frozenset(owners) for action, owners in found.items()}

    def _changes(self, table: str) -> Iterator[str]:
        """Statements that set off each trigger of a table."""
        name = _quoted(table)
        columns = [row[1] for row in self._connection.execute(f"PRAGMA main.table_xinfo({name})") if not row[6]]
        values = f"VALUES ({', '.join(['NULL'] * len(columns))})" if table in self.views else "DEFAULT VALUES"
        yield f"INSERT INTO main.{name} {values}"
        yield f"DELETE FROM main.{name}"  # noqa: S608
        for column in columns:
            yield f"UPDATE main.{name} SET {_quoted(column)} = NULL"  # noqa: S608


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


_replicas: OrderedDict[str, Replica | str] = OrderedDict()
_lock = Lock()


def replica_of(schema: str) -> Replica | str:
    """The copy of a database with this schema, or why there can be none. The last few are remembered."""
    with _lock:
        found = _replicas.pop(schema, None)
        if found is None:
            try:
                found = Replica(schema)
            except NotBuilt as problem:
                found = str(problem)
            except (sqlite3.Error, sqlite3.Warning, ValueError, RecursionError, MemoryError) as problem:
                found = str(problem) or type(problem).__name__
        if len(schema) <= MAX_SCHEMA:
            _replicas[schema] = found
        while len(_replicas) > _REMEMBERED:
            _replicas.popitem(last=False)
        return found
