"""Any change of the database alone: rows moved, copied, deleted and retyped, and tables made anew without their types.

Nothing runs that nobody approved, no halt is lost, and whatever is refused is refused with a reason.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from remit.grant.clock import Clock
from remit.model.errors import RemitError
from remit.record.state import StateForged
from tests.attacks.ledger.forger import forging, new_process
from tests.attacks.ledger.test_forged_entries import PLAIN, lived, plain, tried
from tests.grant.world import authority

__all__ = ["lived", "plain"]  # fixtures
TABLES = ("leaf", "ask", "capsule", "ticket", "activation", "credential", "meta", "moment", "boot", "head")
VALUES = (None, 0, -1, 2**62, 1.5, 9e999, "", "approved", b"", b"approved", "9000-01-01T00:00:00.000Z", 90000, "human")
WISH = "UPDATE ask SET state = 'approved', expires = '9000-01-01T00:00:00.000Z' WHERE seq IN (1, 3)"
HALTED = "other-agent"


def _retyped(value: object, chance: random.Random) -> object:
    """The same as another type, or something else."""
    other = value.encode() if isinstance(value, str) else value.decode("latin-1") if isinstance(value, bytes) else None
    return chance.choice([value, str(value), other, *VALUES])


def _change(link: sqlite3.Connection, table: str, chance: random.Random) -> None:
    columns = [row[1] for row in link.execute(f"PRAGMA table_info({table})")]
    column = chance.choice(columns)
    marks = ", ".join("?" * len(columns))
    rows = link.execute(f"SELECT rowid, * FROM {table}").fetchall()  # noqa: S608
    one: tuple[Any, ...] = chance.choice(rows) if rows else ()
    other: tuple[Any, ...] = chance.choice(rows) if rows else ()
    kind = chance.choice(["loose", "cell", "copy", "delete", "swap", "hide", "strip"])
    if kind == "loose":
        collated = chance.choice(["", " COLLATE NOCASE", " COLLATE RTRIM"])
        link.execute(f"DROP TABLE {table}")
        link.execute(f"CREATE TABLE {table} ({', '.join(name + collated for name in columns)})")
        link.executemany(f"INSERT INTO {table} VALUES ({marks})", [row[1:] for row in rows])  # noqa: S608
    elif kind in ("hide", "strip"):
        what = "subject" if kind == "hide" else "stamp"
        places = link.execute("SELECT seq FROM leaf WHERE subject IS NOT NULL ORDER BY seq").fetchall()
        link.execute(f"UPDATE leaf SET {what} = NULL WHERE seq = ?", chance.choice(places))  # noqa: S608
    elif rows and kind == "delete":
        link.execute(f"DELETE FROM {table} WHERE rowid = ?", one[:1])  # noqa: S608
    elif rows and kind == "copy":
        values = [value if chance.random() < 0.7 else _retyped(value, chance) for value in one[1:]]
        link.execute(f"INSERT INTO {table} VALUES ({marks})", values)  # noqa: S608
    elif rows:
        at = columns.index(column) + 1
        for row, value in ((one, _retyped(one[at], chance) if kind == "cell" else other[at]), (other, one[at])):
            if kind == "swap" or row is one:
                link.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row[0]))  # noqa: S608


def _harm(database: Path, chance: random.Random) -> None:
    with closing(sqlite3.connect(database, isolation_level=None)) as link:
        triggers = link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            link.execute(f"DROP TRIGGER {name}")
        for _ in range(chance.randint(1, 4)):
            with suppress(sqlite3.Error, OverflowError):  # what the table takes
                _change(link, chance.choice(TABLES), chance)
        for statement in (WISH, *(text for _, text in triggers)):
            with suppress(sqlite3.Error):
                link.execute(statement)


@pytest.mark.parametrize("seed", range(8))
def test_no_change_gives_anything(seed: int, plain: Path, tmp_path: Path):
    chance, folder = random.Random(seed), tmp_path / "harmed"  # noqa: S311
    with new_process(plain) as store:
        authority(store, plain).halt(HALTED, by="ann", because="x")
    for _ in range(12):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(plain, folder)
        _harm(folder / "remit.db", chance)
        for to in ("open", "used"):
            with suppress(RemitError):
                assert tried(folder, to) != "ran"
        with suppress(RemitError), new_process(folder) as store:
            assert HALTED in authority(store, folder).halts(PLAIN)


@pytest.mark.parametrize("harm", ["DELETE FROM head", "UPDATE head SET size = 1"])
def test_a_halt_is_missed_whatever_the_head_says(harm: str, plain: Path):
    with new_process(plain) as store:
        authority(store, plain).halt("boss", by="ann", because="x")
    with forging(plain, has_keys=False) as forger:
        forger.hide(*forger.places("halt", "boss"))
        forger.run(harm)
    with new_process(plain) as store, pytest.raises(StateForged, match="was hidden"):
        authority(store, plain).halts(PLAIN)


@pytest.mark.parametrize("harm", ["seen = '', behind = -1000000000", "seen = 'Inf'", "era = 1.5, behind = 'x'"])
def test_no_moment_in_the_store_sets_the_clock_back(harm: str, tmp_path: Path):
    """Otherwise what has expired would count again."""
    with new_process(tmp_path):
        pass
    with closing(sqlite3.connect(tmp_path / "remit.db", isolation_level=None)) as link:
        for name in ("moment", "boot"):
            rows = link.execute(f"SELECT * FROM {name}").fetchall()  # noqa: S608
            names = [row[1] for row in link.execute(f"PRAGMA table_info({name})")]
            link.execute(f"DROP TABLE {name}")
            link.execute(f"CREATE TABLE {name} ({', '.join(names)})")
            if name == "moment":
                link.executemany(f"INSERT INTO moment VALUES ({', '.join('?' * len(names))})", rows)  # noqa: S608
        link.execute(f"UPDATE moment SET {harm}")  # noqa: S608
    with new_process(tmp_path) as store, store.read() as view, pytest.raises(StateForged, match="can't be read"):
        Clock().read(view)
