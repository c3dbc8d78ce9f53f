"""What somebody can do to a log who has the state directory, or a part of it. Each is one function of a `Scene`."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remit.record.keys import Keys
from remit.record.memory import Memory
from remit.record.tree import CompactRange, leaf_hash

Harm = Callable[["Scene"], None]
HARMS: dict[str, Harm] = {}


class Scene:
    """A state directory, an older copy of it, and an anchor's file, which is there only in the second half of rows."""

    def __init__(self, state: Path, old: Path, anchor: Path) -> None:
        self.state, self.old, self.anchor = state, old, anchor

    @property
    def keys(self) -> Path:
        return self.state / "keys"

    def sql(self, *statements: str | tuple[Any, ...], triggers: bool = True, head: bool = False) -> None:
        """Statements on the database while its triggers are away; with `head` the head fits the leaves afterwards.

        The triggers come back, unless they are to stay away. Nobody sees anything in between.
        """
        link = sqlite3.connect(self.state / "remit.db", isolation_level=None, timeout=60)
        link.execute("BEGIN IMMEDIATE")
        dropped = link.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _, _ in dropped:
            link.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            text, *values = (statement,) if isinstance(statement, str) else statement
            link.execute(text, values)
        if head:
            tree = CompactRange()
            tree.extend(row[0] for row in link.execute("SELECT hash FROM leaf ORDER BY seq"))
            link.execute("UPDATE head SET size = ?, range = ?", (tree.size, tree.to_bytes()))
        tables = {row[0] for row in link.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for _, table, text in dropped:
            if triggers and table in tables:
                link.execute(text)
        link.execute("COMMIT")
        link.close()

    def size(self) -> int:
        link = sqlite3.connect(self.state / "remit.db")
        [(found,)] = link.execute("SELECT count(*) FROM leaf").fetchall()
        link.close()
        return int(found)

    def remember(self) -> None:
        """This machine remembers the log as it is now."""
        link = sqlite3.connect(self.state / "remit.db")
        [(size, data)] = link.execute("SELECT size, range FROM head").fetchall()
        link.close()
        Memory(self.keys).keep_signed(CompactRange.from_bytes(size, bytes(data)))
        for name in ("seen", "anchored"):
            (self.keys / name).unlink(missing_ok=True)

    def put_back(self, *names: str) -> None:
        for name in names:
            there = self.state / name
            if there.is_dir():
                shutil.rmtree(there)
            else:
                there.unlink(missing_ok=True)
            if (self.old / name).is_dir():
                shutil.copytree(self.old / name, there)
            elif (self.old / name).exists():
                shutil.copy(self.old / name, there)


def _add(name: str) -> Callable[[Harm], Harm]:
    def add(harm: Harm) -> Harm:
        HARMS[name] = harm
        return harm

    return add


def _edit(where: str) -> str:
    return f"""UPDATE leaf SET body = CAST(replace(body, '"v":1', '"v":2') AS BLOB) WHERE seq = {where}"""  # noqa: S608


def _statements(name: str, *statements: str, head: bool = False, remember: bool = False) -> None:
    def harm(scene: Scene) -> None:
        scene.sql(*statements, head=head)
        if remember:
            scene.remember()

    HARMS[name] = harm


_LAST = "(SELECT max(seq) FROM leaf)"
_CUT = "DELETE FROM leaf WHERE seq = (SELECT max(seq) FROM leaf)"
_FORGED = (
    "INSERT INTO leaf (seq, hash, body) SELECT (SELECT max(seq) + 1 FROM leaf), hash, body FROM leaf WHERE seq = 5"
)
"""A call that was made before, with values."""
_GONE = ("DELETE FROM secret WHERE seq >= (SELECT count(*) FROM leaf)",)
_NOTES = ("DELETE FROM checkpoint WHERE size > (SELECT count(*) FROM leaf)",)
_MIDDLE = ("DELETE FROM leaf WHERE seq = 5", "UPDATE leaf SET seq = seq - 1 WHERE seq > 5")

# The log as a whole
_statements("the last entry removed", _CUT)
_statements("the last entry removed, and the head set back", _CUT, *_GONE, head=True)
_statements(
    "the last ten entries, their checkpoints removed, and the head set back",
    "DELETE FROM leaf WHERE seq >= 10",
    *_GONE,
    *_NOTES,
    head=True,
)
_statements(
    "the same, and this machine's memory set back",
    "DELETE FROM leaf WHERE seq >= 10",
    *_GONE,
    *_NOTES,
    head=True,
    remember=True,
)
_statements("all entries removed, and the head set back", "DELETE FROM leaf", *_GONE, *_NOTES, head=True)
_statements("an entry in the middle removed", "DELETE FROM leaf WHERE seq = 5")
_statements("an entry in the middle removed, the others moved up, and the head recomputed", *_MIDDLE, head=True)
_statements(
    "two entries swapped",
    "UPDATE leaf SET seq = -1 WHERE seq = 5",
    "UPDATE leaf SET seq = 5 WHERE seq = 6",
    "UPDATE leaf SET seq = 6 WHERE seq = -1",
)
_statements(
    "two entries swapped, and the head recomputed",
    "UPDATE leaf SET seq = -1 WHERE seq = 5",
    "UPDATE leaf SET seq = 5 WHERE seq = 6",
    "UPDATE leaf SET seq = 6 WHERE seq = -1",
    head=True,
)
_statements(
    "an entry forged at the end, without the head",
    _FORGED,
)
_statements(
    "an entry forged at the end, with the head",
    _FORGED,
    head=True,
)


def rewritten(scene: Scene, seq: int) -> tuple[Any, ...]:
    link = sqlite3.connect(scene.state / "remit.db")
    [(body,)] = link.execute("SELECT body FROM leaf WHERE seq = ?", (seq,)).fetchall()
    link.close()
    changed = bytes(body).replace(b'"v":1', b'"v":2')
    assert changed != bytes(body)
    return ("UPDATE leaf SET body = ?, hash = ? WHERE seq = ?", changed, leaf_hash(changed), seq)


@_add("an old entry rewritten with its hash")
def _(scene: Scene) -> None:
    scene.sql(rewritten(scene, 5))


@_add("an old entry rewritten with its hash, and the head recomputed")
def _(scene: Scene) -> None:
    scene.sql(rewritten(scene, 5), head=True)


@_add("the same, and this machine's memory too")
def _(scene: Scene) -> None:
    scene.sql(rewritten(scene, 5), head=True)
    scene.remember()


@_add("the newest entry rewritten with its hash, and the head recomputed")
def _(scene: Scene) -> None:
    scene.sql(rewritten(scene, scene.size() - 1), head=True)


# Bodies and hashes
_statements("the body of an old entry edited", _edit("5"))
_statements("the body of the newest entry edited", _edit(_LAST))
_statements("the body of an entry emptied", "UPDATE leaf SET body = x'' WHERE seq = 5")
_statements("the body of an entry is no longer JSON", "UPDATE leaf SET body = x'00ff' WHERE seq = 5")
_statements("the hash of an old entry edited", "UPDATE leaf SET hash = zeroblob(32) WHERE seq = 5")
_statements(
    "the hash of the newest entry edited", "UPDATE leaf SET hash = zeroblob(32) WHERE seq = (SELECT max(seq) FROM leaf)"
)
_statements("a value edited", "UPDATE secret SET value = CAST('\"x\"' AS BLOB) WHERE seq = 5")
_statements("the salt of a value edited", "UPDATE secret SET salt = zeroblob(16) WHERE seq = 5")
_statements("a value moved to another entry", "UPDATE secret SET path = 'args.other' WHERE seq = 5")
_statements("a value added", "INSERT INTO secret (seq, path, salt, value) VALUES (5, 'args.x', x'00', x'00')")
_statements("a value of an entry that does not exist", "INSERT INTO secret VALUES (999, 'args.x', x'00', x'00')")
_statements("a value removed without an erasure", "DELETE FROM secret WHERE seq = 5")
_statements("a value set to NULL without an erasure", "UPDATE secret SET value = NULL WHERE seq = 5")

# The head
_statements("the head removed", "DELETE FROM head")
_statements("the head's size raised", "UPDATE head SET size = size + 1")
_statements("the head's size lowered", "UPDATE head SET size = size - 1")
_statements("the head's hashes zeroed", "UPDATE head SET range = zeroblob(length(range))")
_statements("the head's hashes cut", "UPDATE head SET range = x'00'")

# Checkpoints
_statements("all checkpoints removed", "DELETE FROM checkpoint")
_statements("the newest checkpoint removed", "DELETE FROM checkpoint WHERE size = (SELECT max(size) FROM checkpoint)")
_statements(
    "the newest checkpoint edited",
    "UPDATE checkpoint SET note = CAST(replace(note, char(10), char(10) || 'x') AS BLOB)"
    " WHERE size = (SELECT max(size) FROM checkpoint)",
)
_statements("a checkpoint is no longer a note", "UPDATE checkpoint SET note = x'00'")
_statements(
    "a checkpoint under another size", "UPDATE checkpoint SET size = 3 WHERE size = (SELECT max(size) FROM checkpoint)"
)
_statements(
    "a checkpoint of a size that the log does not have",
    "INSERT INTO checkpoint SELECT 999, note FROM checkpoint ORDER BY size LIMIT 1",
)

# This machine's memory
for _name in ("signed", "seen", "anchored"):

    def _forget(scene: Scene, name: str = _name) -> None:
        (scene.keys / name).unlink(missing_ok=True)

    def _spoil(scene: Scene, name: str = _name) -> None:
        (scene.keys / name).write_bytes(b"{")

    def _older(scene: Scene, name: str = _name) -> None:
        scene.put_back(f"keys/{name}")
        there = scene.keys / name
        if there.exists():  # the anchor of this scene, wherever the copy was made
            there.write_text(re.sub(r"/[^\"]*/kept", str(scene.anchor), there.read_text()))

    HARMS[f"the memory `{_name}` removed"] = _forget
    HARMS[f"the memory `{_name}` made unreadable"] = _spoil
    HARMS[f"the memory `{_name}` set back to an older one"] = _older


# Keys
@_add("the private key removed")
def _(scene: Scene) -> None:
    (scene.keys / "ledger-0001.key").unlink()


@_add("the public key removed")
def _(scene: Scene) -> None:
    (scene.keys / "ledger-0001.vkey").unlink()


@_add("both keys removed")
def _(scene: Scene) -> None:
    (scene.keys / "ledger-0001.key").unlink()
    (scene.keys / "ledger-0001.vkey").unlink()


@_add("the private key readable by others")
def _(scene: Scene) -> None:
    (scene.keys / "ledger-0001.key").chmod(0o644)


@_add("the private key corrupted")
def _(scene: Scene) -> None:
    (scene.keys / "ledger-0001.key").write_bytes(b"x")


@_add("the public key corrupted")
def _(scene: Scene) -> None:
    (scene.keys / "ledger-0001.vkey").write_bytes(b"x")


@_add("the keys swapped for others of the same name")
def _(scene: Scene) -> None:
    name = (scene.keys / "ledger-0001.vkey").read_text().split("+")[0]
    other = scene.state / "other"
    Keys(other, name).make()
    for path in other.iterdir():
        shutil.move(path, scene.keys / path.name)
    other.rmdir()


@_add("a key that no entry introduced")
def _(scene: Scene) -> None:
    name = (scene.keys / "ledger-0001.vkey").read_text().split("+")[0]
    other = scene.state / "other"
    Keys(other, name).make()
    for path in list(other.iterdir()):
        shutil.move(path, scene.keys / path.name.replace("0001", "0002"))
    other.rmdir()


@_add("the folder of the keys removed")
def _(scene: Scene) -> None:
    shutil.rmtree(scene.keys)


# Anchors
@_add("the anchor emptied")
def _(scene: Scene) -> None:
    scene.anchor.write_bytes(b"")


@_add("the anchor removed")
def _(scene: Scene) -> None:
    scene.anchor.unlink(missing_ok=True)


@_add("the anchor replaced by something else")
def _(scene: Scene) -> None:
    scene.anchor.write_bytes(b"something else\n")


@_add("the anchor set back to what it kept before")
def _(scene: Scene) -> None:
    scene.anchor.write_bytes((scene.old / "kept").read_bytes() if (scene.old / "kept").exists() else b"")


_statements("the list of anchors removed", "DELETE FROM meta WHERE name = 'anchors'")
_statements("the log renamed", "UPDATE meta SET value = CAST('other.example/log' AS BLOB) WHERE name = 'origin'")
_statements("the log's name removed", "DELETE FROM meta WHERE name = 'origin'")

# The store
HARMS["all triggers dropped"] = lambda scene: scene.sql(triggers=False)
_statements("a trigger added", "CREATE TRIGGER more AFTER INSERT ON leaf BEGIN SELECT 1; END")
for _table in ("leaf", "head", "checkpoint", "secret", "running", "meta", "writer_process"):
    _statements(f"the table `{_table}` dropped", f"DROP TABLE {_table}")


@_add("the database put back from an older copy")
def _(scene: Scene) -> None:
    (scene.state / "remit.db-wal").unlink(missing_ok=True)
    (scene.state / "remit.db-shm").unlink(missing_ok=True)
    scene.put_back("remit.db")


@_add("the whole state put back from an older copy")
def _(scene: Scene) -> None:
    (scene.state / "remit.db-wal").unlink(missing_ok=True)
    (scene.state / "remit.db-shm").unlink(missing_ok=True)
    scene.put_back("remit.db", "keys")


@_add("the database replaced by an empty file")
def _(scene: Scene) -> None:
    for path in scene.state.glob("remit.db*"):
        path.unlink()
    (scene.state / "remit.db").touch(0o600)


@_add("the database removed")
def _(scene: Scene) -> None:
    for path in scene.state.glob("remit.db*"):
        path.unlink()


@_add("bytes in the middle of the database overwritten")
def _(scene: Scene) -> None:
    path = scene.state / "remit.db"
    data = bytearray(path.read_bytes())
    data[4096:8192] = b"\xff" * 4096
    path.write_bytes(data)


@_add("the write-ahead log removed")
def _(scene: Scene) -> None:
    (scene.state / "remit.db-wal").unlink(missing_ok=True)


@_add("the write-ahead log cut to nothing")
def _(scene: Scene) -> None:
    if (scene.state / "remit.db-wal").exists():
        os.truncate(scene.state / "remit.db-wal", 0)


@_add("the database replaced by a symbolic link to it")
def _(scene: Scene) -> None:
    moved = scene.state.parent / "moved.db"
    shutil.move(scene.state / "remit.db", moved)
    (scene.state / "remit.db").symlink_to(moved)


@_add("the database is a hard link of another file")
def _(scene: Scene) -> None:
    other = scene.state.parent / "other.db"
    other.unlink(missing_ok=True)
    os.link(scene.state / "remit.db", other)


@_add("the database replaced by a copy of itself")
def _(scene: Scene) -> None:
    copy = scene.state.parent / "copy.db"
    shutil.copy(scene.state / "remit.db", copy)
    os.replace(copy, scene.state / "remit.db")


@_add("the state directory moved away, and a symbolic link in its place")
def _(scene: Scene) -> None:
    moved = scene.state.with_name("moved")
    shutil.move(scene.state, moved)
    scene.state.symlink_to(moved)


@_add("the state directory open to others")
def _(scene: Scene) -> None:
    scene.state.chmod(0o755)


@_add("the database open to others")
def _(scene: Scene) -> None:
    (scene.state / "remit.db").chmod(0o666)


@_add("the memory `states` removed")
def _(scene: Scene) -> None:
    (scene.keys / "states").unlink(missing_ok=True)


_statements("the latest moment set back", "UPDATE moment SET seen = ''")
_statements("the latest moment set to the year 9000", "UPDATE moment SET seen = '9000-01-01T00:00:00.000Z'")
_statements(
    "an entry indexed under a subject that it does not have", "UPDATE leaf SET subject = '[\"ask\",1]' WHERE seq = 5"
)
_statements("the index of subjects dropped", "DROP INDEX leaf_subject")
_statements(
    "a call added to those that are running", "INSERT INTO running (call, seq, writer) VALUES ('x', 5, 'elsewhere')"
)
