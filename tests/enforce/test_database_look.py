"""The schema of the database that a command names: looked up read-only, and used for a second opinion."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from remit import Call, Decision, build_rulebook, decide_call
from remit.enforce import database_look
from remit.enforce.database_look import schema_below, schema_of, schema_of_file
from remit.enforce.paths import look_up, open_root
from remit.languages.sql.replica import Replica
from remit.model.call import Context
from remit.model.facts import NO_FACTS, Facts

SCHEMA = """
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, password TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, customer REFERENCES users(id) ON DELETE CASCADE, total);
CREATE TABLE log (line);
CREATE VIEW people AS SELECT id, name FROM users; -- harmless
CREATE VIEW logins AS SELECT name, password FROM users;
CREATE INDEX by_customer ON orders (customer);
CREATE TRIGGER noted AFTER DELETE ON orders BEGIN DELETE FROM log; END;
"""
BOOK = build_rulebook(
    {
        "remit": 1,
        "use": ["claude-code"],
        "labels": {"data": {"3": {"table": ["users"]}}},
        "agents": {
            "reader": {"may": [{"Bash": {"shell": {"run": [{"sqlite3": {"sql": {"select": "any"}}}]}}}]},
            "columns": {
                "may": [
                    {
                        "Bash": {
                            "shell": {
                                "run": [
                                    "mv",
                                    {
                                        "sqlite3": {
                                            "sql": {
                                                "select": {"tables": "any", "columns": {"users": ["id", "name"]}},
                                                "ddl": "any",
                                            }
                                        }
                                    },
                                ]
                            }
                        }
                    }
                ]
            },
            "fenced": {"may": ["Bash"], "may_not": [{"Bash": {"sql": {"select": ["users"]}}}]},
            "tiered": {"may": ["Bash"], "data_tiers": [0, 1, 2]},
        },
    }
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    place.mkdir()
    made = sqlite3.connect(place / "app.db")
    made.executescript(SCHEMA)
    made.close()
    return place


def facts_of(root: Path, command: str, agent: str = "fenced", cwd: str | None = None) -> Facts:
    call = Call(agent, "Bash", {"command": command}, Context(cwd=cwd))
    return look_up(BOOK, call, open_root(root, root, NO_FACTS)[1])


def decided(root: Path, command: str, agent: str) -> Decision:
    return decide_call(BOOK, Call(agent, "Bash", {"command": command}), facts_of(root, command, agent))


def test_the_schema_is_that_of_the_file(root: Path) -> None:
    found = facts_of(root, "sqlite3 app.db 'SELECT 1'").schema
    assert found is not None
    assert found.keys() == {"app.db"}
    replica = Replica(found["app.db"])
    assert set(replica.views) == {"people", "logins"}
    assert replica.triggers == {"noted"}
    below = root / "src"
    below.mkdir()
    assert (facts_of(root, "sqlite3 ../app.db 'SELECT 1'", cwd="src").schema or {}).keys() == {"app.db"}
    assert (facts_of(root, "cd src && echo 'SELECT 1' | sqlite3 ../app.db").schema or {}).keys() == {"app.db"}


def test_what_views_show_is_seen(root: Path) -> None:
    """Without the file nobody could tell that `logins` is a view; with it, it is as if its table were named."""
    command = "sqlite3 app.db 'SELECT * FROM logins'"
    for agent, code in (("fenced", "may-not"), ("tiered", "data-tier")):
        assert decided(root, command, agent).code == code
        assert decide_call(BOOK, Call(agent, "Bash", {"command": command})).verdict.word == "allow"
    assert decided(root, "sqlite3 app.db 'SELECT * FROM orders'", "fenced").verdict.word == "allow"
    assert decided(root, "sqlite3 app.db 'SELECT name FROM people'", "columns").verdict.word == "allow"
    assert decided(root, command, "columns").verdict.word == "deny"
    assert decided(root, "sqlite3 app.db 'SELECT * FROM users'", "columns").verdict.word == "deny"


def test_what_does_not_fit_the_schema_is_not_understood(root: Path) -> None:
    found = decided(root, "sqlite3 app.db 'SELECT * FROM nobody'", "reader")
    assert found.verdict.word == "deny"
    assert "no such table: nobody" in found.reason


@pytest.mark.parametrize(
    "command",
    [
        # by the time that it runs, the database may be another one, with other columns
        "mv other.db app.db; sqlite3 app.db 'SELECT * FROM users'",
        "sqlite3 app.db 'ALTER TABLE users DROP COLUMN password; SELECT * FROM users'",
        "sqlite3 app.db 'ALTER TABLE users DROP COLUMN password' && sqlite3 app.db 'SELECT * FROM users'",
    ],
)
def test_a_schema_that_may_have_changed_tells_no_columns(root: Path, command: str) -> None:
    narrow = sqlite3.connect(root / "app.db")
    narrow.executescript("DROP VIEW logins; ALTER TABLE users DROP COLUMN password; ALTER TABLE users ADD COLUMN x")
    narrow.executescript("ALTER TABLE users DROP COLUMN x")
    narrow.close()
    assert decided(root, "sqlite3 app.db 'SELECT * FROM users'", "columns").verdict.word == "allow"
    assert decided(root, command, "columns").verdict.word == "deny"


def test_nothing_is_made_or_changed_beside_it(root: Path) -> None:
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in root.iterdir()}
    assert facts_of(root, "sqlite3 app.db 'DELETE FROM users'").schema
    assert {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in root.iterdir()} == before
    facts_of(root, "sqlite3 new.db 'CREATE TABLE t (a)'")
    assert not (root / "new.db").exists()


def test_with_a_write_ahead_log(root: Path) -> None:
    place = str(root / "app.db")
    live = sqlite3.connect(place, isolation_level=None)
    assert live.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    live.execute("CREATE VIEW fresh AS SELECT password FROM users")
    names = sorted(os.listdir(root))
    assert "CREATE VIEW fresh" in (schema_of_file(place) or "")
    assert sorted(os.listdir(root)) == names
    look = "import sys; from remit.enforce.database_look import schema_of_file; print(schema_of_file(sys.argv[1]))"
    other = subprocess.run([sys.executable, "-c", look, place], capture_output=True, text=True, check=True)
    assert "CREATE VIEW fresh" in other.stdout
    assert sorted(os.listdir(root)) == names
    live.execute("INSERT INTO log VALUES (1)")  # its locks are as they were
    live.close()
    names = sorted(os.listdir(root))
    assert "CREATE VIEW fresh" in (schema_of_file(place) or "")
    assert sorted(os.listdir(root)) == names


def test_the_locks_of_the_same_process_stay(root: Path) -> None:
    """Closing a file drops the process's locks on it, unless SQLite itself does so."""
    mine = sqlite3.connect(root / "app.db", isolation_level=None)
    mine.execute("BEGIN IMMEDIATE")
    assert schema_of_file(str(root / "app.db"))
    code = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1], timeout=0.05); c.execute('BEGIN IMMEDIATE')"
    other = subprocess.run([sys.executable, "-c", code, root / "app.db"], capture_output=True, check=False)
    assert b"locked" in other.stderr
    mine.execute("ROLLBACK")
    mine.close()


def _link(place: Path) -> None:
    (place / "x.db").symlink_to(place / "app.db")


def _link_out(place: Path) -> None:
    outside = place.parent / "outside.db"
    sqlite3.connect(outside).executescript("CREATE TABLE t (a)").close()
    (place / "x.db").symlink_to(outside)


def _linked_folder(place: Path) -> None:
    (place / "folder").mkdir()
    sqlite3.connect(place / "folder" / "x.db").executescript("CREATE TABLE t (a)").close()
    (place / "x.db").symlink_to(place / "folder" / "x.db")


def _fifo(place: Path) -> None:
    os.mkfifo(place / "x.db")


def _folder(place: Path) -> None:
    (place / "x.db").mkdir()


def _text(place: Path) -> None:
    (place / "x.db").write_text("CREATE TABLE t (a);")


def _broken(place: Path) -> None:
    data = bytearray((place / "app.db").read_bytes())
    data[100:900] = os.urandom(800)
    (place / "x.db").write_bytes(bytes(data))


def _cut(place: Path) -> None:
    (place / "x.db").write_bytes((place / "app.db").read_bytes()[:700])


def _lying(place: Path) -> None:
    made = sqlite3.connect(place / "x.db")
    made.execute("CREATE TABLE t (a)")
    made.execute("PRAGMA writable_schema = 1")
    made.execute("UPDATE sqlite_master SET sql = 'DROP TABLE t'")
    made.commit()
    made.close()


def _many(place: Path) -> None:
    made = sqlite3.connect(place / "x.db")
    made.executescript("".join(f"CREATE TABLE t{n} (a);" for n in range(2100)))
    made.close()


def _large(place: Path) -> None:
    made = sqlite3.connect(place / "x.db")
    made.executescript("".join(f"CREATE TABLE t{n} (a /*{'x' * 20000}*/);" for n in range(20)))
    made.close()


def _locked(place: Path) -> None:
    made = sqlite3.connect(place / "x.db", isolation_level=None)
    made.execute("CREATE TABLE t (a)")
    made.execute("BEGIN EXCLUSIVE")
    made.execute("INSERT INTO t VALUES (1)")
    _kept.append(made)


def _missing(place: Path) -> None:
    pass


_kept: list[Any] = []
_BAD = [
    _link,
    _link_out,
    _linked_folder,
    _fifo,
    _folder,
    _text,
    _broken,
    _cut,
    _lying,
    _many,
    _large,
    _locked,
    _missing,
]


@pytest.mark.parametrize("spoil", _BAD, ids=lambda spoil: spoil.__name__.strip("_"))
def test_what_is_no_answer(root: Path, spoil: Any) -> None:
    spoil(root)
    begun = time.monotonic()
    assert schema_below("x.db", str(root)) is None
    assert time.monotonic() - begun < 3
    assert facts_of(root, "sqlite3 x.db 'SELECT 1'").schema is None
    while _kept:
        _kept.pop().close()


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../outside.db", "..", ".", "", "a\0b", "x/../../outside.db", "/dev/zero"]
)
def test_nothing_outside_the_root_is_opened(root: Path, name: str) -> None:
    sqlite3.connect(root.parent / "outside.db").executescript("CREATE TABLE t (a)").close()
    assert schema_below(name, str(root)) is None


def test_a_look_that_takes_too_long_is_no_answer(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_look, "_STEPS", 1)
    assert schema_of_file(str(root / "app.db"))
    monkeypatch.setattr(database_look, "SECONDS", -1.0)
    assert schema_of_file(str(root / "app.db")) is None


def test_a_name_in_a_uri_is_a_name(root: Path) -> None:
    odd = root / "a?mode=memory&x#y%20z.db"
    odd.write_bytes((root / "app.db").read_bytes())
    assert "CREATE TABLE users" in (schema_of_file(str(odd)) or "")


def test_virtual_tables_come_back_once() -> None:
    made = sqlite3.connect(":memory:")
    made.executescript("CREATE VIRTUAL TABLE notes USING fts5(body); CREATE VIRTUAL TABLE box USING rtree(id, a, b);")
    made.executescript("CREATE TABLE notes_about (a); CREATE VIEW v AS SELECT body FROM notes;")
    text = schema_of(made)
    made.close()
    assert text is not None
    replica = Replica(text)
    assert {"notes", "box", "notes_about"} <= replica.tables
    assert set(replica.views) == {"v"}


def test_a_schema_that_was_given_counts_for_more(root: Path) -> None:
    call = Call("fenced", "Bash", {"command": "sqlite3 app.db 'SELECT * FROM logins'"})
    known = open_root(root, root, Facts(schema={"app.db": "CREATE TABLE logins (a);"}))[1]
    facts = look_up(BOOK, call, known)
    assert facts.schema == {"app.db": "CREATE TABLE logins (a);"}
