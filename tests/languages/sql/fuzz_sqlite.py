"""SQLite as the oracle: `python -m tests.languages.sql.fuzz_sqlite --count 20000 --seed 1`."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Iterator

from tests.languages.sql.fuzz import Touch, Truth, main
from tests.languages.sql.generator_words import RELATIONS, SQLITE_SCHEMA, VIEWS

_EMPTY = re.compile(r"(?>[ \t\n\f\r\ufeff]|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+;?", re.DOTALL)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/|\ufeff|'(?:[^']|'')*'", re.DOTALL)
_BASES = {"names": "people", "totals": "orders"}
_TRIGGERS = frozenset(("noted", "gone"))
_KNOWN = frozenset(name.rpartition(".")[2].lower() for name in RELATIONS) | {"sqlite_master", "sqlite_temp_master"}
_CATALOG = frozenset(
    ("sqlite_schema", "sqlite_master", "sqlite_temp_master", "sqlite_sequence", "sqlite_stat1", "sqlite_stat4")
)
_CHANGES = {sqlite3.SQLITE_INSERT: "insert", sqlite3.SQLITE_UPDATE: "update", sqlite3.SQLITE_DELETE: "delete"}
_OPERATORS = frozenset(
    ("like", "glob", "->", "->>", "match", "regexp", "current_timestamp", "current_date", "current_time")
)
_SCHEMA_CODES = frozenset(
    value for name, value in vars(sqlite3).items() if name.startswith(("SQLITE_CREATE_", "SQLITE_DROP_"))
)
_DENIED = {
    sqlite3.SQLITE_PRAGMA: "pragma",
    sqlite3.SQLITE_ATTACH: "attach",
    sqlite3.SQLITE_DETACH: "detach",
    sqlite3.SQLITE_TRANSACTION: "transaction",
    sqlite3.SQLITE_SAVEPOINT: "transaction",
}
Asked = tuple[int, str | None, str | None, str | None, str | None]


class Sqlite:
    """An empty database with the schema of the fuzz; statements are explained, not run."""

    dialect = "sqlite"

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None, cached_statements=0)
        self._connection.executescript(SQLITE_SCHEMA)
        self._connection.executescript("ATTACH ':memory:' AS aux; CREATE TABLE aux.extra (id INTEGER, body TEXT);")

    def close(self) -> None:
        self._connection.close()

    def look(self, text: str) -> Truth:
        pieces: list[frozenset[Touch]] = []
        for piece in split(text):
            asked, error = self._explain(piece)
            if error:
                return Truth(tuple(pieces), error=error)
            pieces.append(frozenset(touches(piece, asked)))
        return Truth(tuple(pieces), valid=True, statements=len(pieces))

    def _explain(self, piece: str) -> tuple[list[Asked], str]:
        error = ""
        for _ in range(2):  # table functions declare themselves at first use
            asked, error = self._ask(f"EXPLAIN {piece}")
            if 'near "explain": syntax error' in error.lower():
                asked, error = self._ask(piece)
        return asked, error

    def _ask(self, text: str) -> tuple[list[Asked], str]:
        asked: list[Asked] = []

        def ask(*action: object) -> int:
            asked.append(action)  # type: ignore[arg-type]
            return sqlite3.SQLITE_DENY if action[0] in _DENIED else sqlite3.SQLITE_OK

        error = ""
        self._connection.set_authorizer(ask)
        try:
            self._connection.execute(text).close()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as problem:
            error = str(problem)
            if "bindings supplied" in error or any(action[0] in _DENIED for action in asked):
                error = ""
        finally:
            self._connection.set_authorizer(None)
        return asked, error


def split(text: str) -> Iterator[str]:
    """The statements, empty ones left out, as sqlite3_complete ends them."""
    start = 0
    for spot, char in enumerate(text):
        if char == ";" and "\0" not in text and sqlite3.complete_statement(text[start : spot + 1]):
            if not _EMPTY.fullmatch(text[start : spot + 1]):
                yield text[start : spot + 1]
            start = spot + 1
    if not _EMPTY.fullmatch(text[start:]):
        yield text[start:]


def touches(piece: str, asked: list[Asked]) -> Iterator[Touch]:
    """What the statement itself does; not what views and triggers do for it."""
    changes_schema = any(code in _SCHEMA_CODES or code == sqlite3.SQLITE_ALTER_TABLE for code, *_ in asked)
    upkeep = changes_schema or any(code in (sqlite3.SQLITE_ANALYZE, sqlite3.SQLITE_REINDEX) for code, *_ in asked)
    altered = any(code == sqlite3.SQLITE_ALTER_TABLE for code, *_ in asked)
    for code, first, second, database, within in asked:
        inside = (within or "").lower()
        if inside in _TRIGGERS or (inside in VIEWS and _may_be_view(piece, inside)):
            continue
        table = (first or "").lower()
        table = (
            "sqlite_schema" if table == "sqlite_master" and "sqlite_schema" in piece.lower() and not upkeep else table
        )
        name = table if database in (None, "main") else f"{database.lower()}.{table}"
        if code in (sqlite3.SQLITE_READ, *_CHANGES):
            if (upkeep and table in _CATALOG) or (altered and table.startswith("pragma_")):
                continue
            if not second and code == sqlite3.SQLITE_READ:
                yield from _bare(piece, table)
                continue
            yield Touch(_CHANGES.get(code, "select"), name, _column(piece, table, (second or "").lower()))
        elif code == sqlite3.SQLITE_FUNCTION and not altered and second not in _OPERATORS:
            yield Touch("call", (second or "").lower())
        elif code in _DENIED:
            yield Touch("pragma", table) if code == sqlite3.SQLITE_PRAGMA else Touch("verb", _DENIED[code])
        elif changes_schema:
            yield Touch("verb", "ddl")


def _column(piece: str, table: str, column: str) -> str:
    """The column, where the text must have named it: not a rowid, nor the FROM of an UPDATE, where SQLite reads all."""
    plain = _COMMENT.sub(" ", piece).lower()
    if column in ("rowid", "id") and re.search(r"\b(rowid|oid|_rowid_)\b", plain):
        return ""
    if table in VIEWS or (re.search(r"\bupdate\b", plain) and re.search(r"\bfrom\b", plain)):
        return ""
    return column


def _bare(piece: str, table: str) -> Iterator[Touch]:
    """A read of no column: of a table, a CTE, or a table that a view was flattened into."""
    plain = _COMMENT.sub(" ", piece).lower()
    through = any(_BASES[view] == table for view in VIEWS if view in plain)
    if table in _KNOWN and table in plain and not through and not _is_cte(piece, table):
        yield Touch("select", "aux.extra" if table == "extra" else table)


def _may_be_view(piece: str, name: str) -> bool:
    """What stands within that name may be the view's, not a CTE's."""
    qualified = re.search(rf"""\.\s*["`\[']?{name}\b""", _COMMENT.sub(" ", piece), re.IGNORECASE)
    return qualified is not None or not _is_cte(piece, name)


def _is_cte(piece: str, name: str) -> bool:
    """The statement may define a CTE of that name."""
    plain = _COMMENT.sub(" ", piece)
    before = rf"""(?<![\w$.]){re.escape(name)}["`\]']?\s*(?:\([^()]*\)\s*)?"""
    return re.search(rf"{before}AS\s*(?:NOT\s+)?(?:MATERIALIZED\s*)?\(", plain, re.IGNORECASE) is not None


if __name__ == "__main__":
    sys.exit(main(Sqlite()))
