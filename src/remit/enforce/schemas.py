"""Where a guard gets the schemas of its tools' databases from: connections, database files, or dumps.

guard = Guard("remit.yaml", schemas={"query": sqlite3.connect("app.db"), "report": "dump.sql"})
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from remit.enforce.database_look import schema_of, schema_of_file
from remit.enforce.errors import GuardError
from remit.model.rulebook import Rulebook
from remit.scopes.sql.units import schema_problem

MAX_DUMP = 1024 * 1024
_IDLE = 0
"""The status of a PostgreSQL connection without a transaction."""
_HEADER = b"SQLite format 3\0"
_COLUMNS = """
SELECT n.nspname, c.relname, c.relkind::text, CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
       (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped)
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
  AND n.nspname NOT LIKE 'pg\\_t%' ORDER BY 1, 2 LIMIT 5000
"""


class Schemas:
    """The schemas of a guard's tools, by tool. Raises GuardError for a source that is none."""

    def __init__(self, sources: Mapping[str, Any]) -> None:
        self._readers: dict[str, Callable[[], str | None]] = {}
        for tool, source in sources.items():
            self._readers[tool] = _reader(tool, source)

    def __bool__(self) -> bool:
        return bool(self._readers)

    def check(self, rulebook: Rulebook) -> None:
        """Raises GuardError for a tool that the policy doesn't know, or a schema that can't be used."""
        for name in self._readers:
            tool = rulebook.book.tools.get(name)
            if tool is None:
                raise GuardError(f"`schemas` names the tool `{name}`, which nobody declares", code="undeclared-tool")
            problem = schema_problem(self.of(name), tool.dialect)
            if problem is not None:
                raise GuardError(f"the schema of `{name}` can't be used: {problem}", code="bad-schema")

    def facts(self, tool: str) -> dict[str, str] | None:
        """As the facts of a call have it; None for a tool without one. Raises GuardError."""
        return {tool: self.of(tool)} if tool in self._readers else None

    def of(self, tool: str) -> str:
        """The schema as it is now. Raises GuardError if nobody can tell."""
        found = self._readers[tool]()
        if found is None:
            what = f"the schema of `{tool}` can't be read"
            help = "the database is locked, gone, or has too much in it; nothing runs unchecked"
            raise GuardError(what, code="schema-unavailable", help=help)
        return found


def _reader(tool: str, source: Any) -> Callable[[], str | None]:
    """What reads the schema from a source, each time that it is called."""
    if isinstance(source, sqlite3.Connection):
        return _of_sqlite(source)
    if isinstance(source, str) and "(" in source:
        return lambda: source
    if isinstance(source, str | os.PathLike):
        return _of_file(tool, Path(source).absolute())
    if hasattr(source, "cursor") and hasattr(getattr(source, "info", None), "transaction_status"):
        text = _of_postgres(source)
        return lambda: text
    what = f"the schema of `{tool}` is neither a connection of sqlite3 or psycopg, nor a path, nor CREATE statements"
    raise GuardError(what, code="bad-schema")


def _of_sqlite(connection: sqlite3.Connection) -> Callable[[], str | None]:
    """Of a database in a file: as the file has it, whichever thread asks. In memory: as the connection tells it, or
    told it last in its own thread. What is temporary on the connection would come before what the database has: if
    there is any of it, nobody can tell."""
    cursor = connection.cursor()
    cursor.row_factory = None
    places = [row[2] for row in cursor.execute("PRAGMA database_list") if row[1] == "main"]
    cursor.close()
    last: list[str | None] = [None]
    temporary = [False]

    def read() -> str | None:
        with suppress(sqlite3.ProgrammingError):  # of another thread
            temporary[0] = _has_temporary(connection)
        if temporary[0]:
            return None
        if places and places[0]:
            return schema_of_file(str(places[0]))
        last[0] = schema_of(connection) or last[0]
        return last[0]

    if not (places and places[0]):
        read()
    return read


def _has_temporary(connection: sqlite3.Connection) -> bool:
    """True if the connection has views, tables or triggers of its own that stand before those of its database.

    Raises sqlite3.ProgrammingError in another thread.
    """
    cursor = connection.cursor()
    cursor.row_factory = None
    try:
        found = cursor.execute(
            "SELECT 1 FROM temp.sqlite_master WHERE type = 'trigger' OR lower(name) IN "
            "(SELECT lower(name) FROM main.sqlite_master) LIMIT 1"
        ).fetchone()
    except sqlite3.ProgrammingError:
        raise
    except sqlite3.Error:
        return True
    finally:
        cursor.close()
    return found is not None


def _of_file(tool: str, place: Path) -> Callable[[], str | None]:
    """Of a database: as it is at each call. Of a dump: as it is now. Raises GuardError."""
    try:
        with place.open("rb") as file:
            data = file.read(MAX_DUMP + 1)
    except OSError as error:
        raise GuardError(f"the schema of `{tool}` can't be read: {error.strerror}", code="bad-schema") from None
    if data.startswith(_HEADER):
        return lambda: schema_of_file(str(place))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    if not text or len(data) > MAX_DUMP:
        raise GuardError(
            f"the schema of `{tool}` is neither a database nor a dump of CREATE statements", code="bad-schema"
        )
    return lambda: text


def _of_postgres(connection: Any) -> str:
    """The tables and views that a PostgreSQL server has, as DDL; no transaction is left open."""
    idle = connection.info.transaction_status == _IDLE
    try:
        cursor = connection.cursor()
        try:
            cursor.execute(_COLUMNS)
            rows = [tuple(row) for row in cursor.fetchall()]
        finally:
            cursor.close()
    finally:
        if idle and not connection.autocommit:
            connection.rollback()
    return "".join(_ddl(*row) for row in rows)


def _ddl(schema: str, name: str, kind: str, query: str | None, columns: list[str] | None) -> str:
    whole = f"{_quoted(schema)}.{_quoted(name)}"
    names = ", ".join(map(_quoted, columns or ()))
    if query is not None:
        return f"CREATE VIEW {whole} ({names}) AS {query.rstrip().rstrip(';')};\n"
    return f"CREATE TABLE {whole} ({', '.join(f'{_quoted(column)} x' for column in columns or ())});\n"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
