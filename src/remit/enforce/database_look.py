"""Looking at the schema of a SQLite database, for a second opinion on statements before they run.

`sqlite3 app.db "SELECT * FROM v"` doesn't tell that v is a view; the file does. It is read by SQLite itself, read-only,
and nothing is created beside it. A file that is odd, locked, too large or slow is no answer: then statements are judged
by their text alone, as they are without a schema.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from contextlib import suppress
from urllib.parse import quote

MAX_SCHEMA = 256 * 1024
MAX_OBJECTS = 2_000
SECONDS = 0.5
"""For the whole look."""
_STEPS = 1000
"""How often SQLite asks whether it should go on."""
_ORDER = {"table": 0, "view": 1, "index": 2, "trigger": 3}
_ENDS = ("config", "content", "data", "docsize", "idx", "node", "parent", "rowid", "segdir", "segments", "stat")
"""Endings of tables that a virtual table keeps for itself, and makes anew."""


def schema_below(path: str, root: str) -> str | None:
    """The DDL of a database below the root; None where nobody can tell, or where a link leads to it."""
    place = os.path.normpath(os.path.join(root, path))
    try:
        inside = place.startswith(f"{root.rstrip('/')}/") and os.path.realpath(place) == place
    except (OSError, ValueError):
        return None
    return schema_of_file(place) if inside and not path.startswith("/") else None


def schema_of_file(place: str) -> str | None:
    """The DDL of the database in a file; None where nobody can tell."""
    try:
        how = _way_to_open(place)
    except (OSError, ValueError):
        return None
    return _read(place, how) if how else None


def _way_to_open(place: str) -> str:
    """How SQLite can open a file without making another one beside it; empty where it can't. Raises OSError.

    Closing a file drops all locks that the process has on it, unless SQLite does it, which knows its other connections:
    what this process has open is left to SQLite.
    """
    about = os.lstat(place)
    if not stat.S_ISREG(about.st_mode):
        return ""
    if (about.st_dev, about.st_ino) in _open_here():
        return "mode=ro&readonly_shm=1"
    with open(place, "rb", buffering=0) as file:
        header = file.read(20)
    if header[:16] != b"SQLite format 3\0":
        return ""
    if 2 not in header[18:20]:
        return "mode=ro"
    if not os.path.exists(f"{place}-wal") or not os.path.getsize(f"{place}-wal"):
        return "mode=ro&immutable=1"  # there is a write-ahead log, and nothing in it
    return "mode=ro&readonly_shm=1" if os.path.exists(f"{place}-shm") else ""


def _open_here() -> set[tuple[int, int]]:
    """The files that this process has open, by device and number. Raises OSError."""
    found = set()
    for name in os.listdir("/dev/fd"):
        with suppress(OSError):
            about = os.fstat(int(name))
            found.add((about.st_dev, about.st_ino))
    return found


def _read(place: str, how: str) -> str | None:
    until = time.monotonic() + SECONDS
    try:
        connection = sqlite3.connect(f"file:{quote(place)}?{how}", uri=True, timeout=SECONDS / 5, cached_statements=0)
    except (sqlite3.Error, ValueError):
        return None
    try:
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * MAX_SCHEMA)
        return schema_of(connection)
    finally:
        connection.close()


def schema_of(connection: sqlite3.Connection) -> str | None:
    """The DDL of an open database; None if there is too much of it or it can't be read."""
    cursor = None
    try:
        cursor = connection.cursor()
        cursor.row_factory = None
        rows = cursor.execute(
            "SELECT type, name, sql FROM main.sqlite_master WHERE sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        ).fetchmany(MAX_OBJECTS + 1)
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError):
        return None
    finally:
        if cursor is not None:
            cursor.close()
    if not all(isinstance(text, str) for row in rows for text in row) or len(rows) > MAX_OBJECTS:
        return None
    virtual = [name for _, name, sql in rows if sql[:14].upper() == "CREATE VIRTUAL"]
    shadows = {f"{name}_{end}" for name in virtual for end in _ENDS}
    kept = sorted((row for row in rows if row[1] not in shadows), key=lambda row: _ORDER.get(row[0], 4))
    text = "".join(f"{sql}\n;\n" for _, _, sql in kept)
    return text if len(text) <= MAX_SCHEMA else None
