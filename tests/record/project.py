"""A project with a ledger of its own, below a temporary directory, and ways to do it harm."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.terms import ALLOW, DENY
from remit.record.batch import Receipt
from remit.record.open import Opened, OpenLog, open_ledger, open_log

TRIGGERS = ("leaf_update", "leaf_delete", "checkpoint_update", "checkpoint_delete")


class Project:
    """A folder with a policy, whose state lies beside it."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        patch.delenv("REMIT_STORE", raising=False)
        self.folder = folder
        self.root = folder / "project"
        self.root.mkdir()
        (self.root / "remit.yaml").write_text("remit: 1\n")

    def open(self, **more: Any) -> Opened:
        return open_ledger(self.root, point="test", **more)

    def log(self) -> OpenLog:
        return open_log(self.root)

    def fill(self, count: int, *, sign: bool = True, agent: str = "writer") -> None:
        """Writes that many decisions, and signs the head."""
        with self.open() as opened:
            for number in range(count):
                deny(opened, agent=agent, args={"file": f"docs/{number}.md"})
            if sign:
                opened.checkpoint()

    @property
    def state(self) -> Path:
        [found] = (one for one in (self.folder / "state" / "remit").iterdir() if one.name != "hosts")
        return found

    def harm(self, *statements: str | tuple[Any, ...]) -> None:
        """What somebody does who has the database file."""
        connection = sqlite3.connect(self.state / "remit.db", isolation_level=None)
        for name in TRIGGERS:
            connection.execute(f"DROP TRIGGER IF EXISTS {name}")
        for statement in statements:
            sql, *values = (statement,) if isinstance(statement, str) else statement
            connection.execute(sql, values)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()

    def copy(self, name: str) -> Path:
        """A backup of the whole state."""
        place = self.folder / name
        shutil.copytree(self.state, place)
        return place

    def restore(self, copy: Path, *, keys: bool) -> None:
        """Puts a backup back: all of it, or only the database."""
        for name in ("remit.db", "remit.db-wal", "remit.db-shm"):
            (self.state / name).unlink(missing_ok=True)
            if (copy / name).exists():
                shutil.copy(copy / name, self.state / name)
        if keys:
            shutil.rmtree(self.state / "keys")
            shutil.copytree(copy / "keys", self.state / "keys")

    def forget(self) -> None:
        """Makes this machine remember the log as it is now, as somebody can who has the state directory."""
        from remit.record.memory import Memory
        from remit.record.tree import CompactRange

        memory = Memory(self.state / "keys")
        with self.log() as opened, opened.store.read() as view:
            [(size, data)] = view.rows("SELECT size, range FROM head")
        memory.keep_signed(CompactRange.from_bytes(size, bytes(data)))
        for name in ("seen", "anchored"):
            (memory.folder / name).unlink(missing_ok=True)

    def cut(self, size: int) -> None:
        """Takes the end of the log away, so that what is left is consistent in itself."""
        from remit.record.tree import CompactRange

        with self.log() as opened, opened.store.read() as view:
            tree = CompactRange()
            tree.extend(bytes(row[0]) for row in view.rows("SELECT hash FROM leaf WHERE seq < ? ORDER BY seq", size))
        self.harm(
            ("DELETE FROM leaf WHERE seq >= ?", size),
            ("DELETE FROM secret WHERE seq >= ?", size),
            ("DELETE FROM checkpoint WHERE size > ?", size),
            ("UPDATE head SET size = ?, range = ?", size, tree.to_bytes()),
        )


def deny(opened: Opened, *, agent: str = "writer", args: dict[str, Any] | None = None, **more: Any) -> Receipt:
    """One refused call."""
    call = Call(agent, more.pop("tool", "write"), args or {}, more.pop("context", Context()))
    decision = Decision(DENY, agent, call.tool, more.pop("code", "out-of-scope"), "no", **more)
    return opened.ledger.intent(call, decision)


def allow(opened: Opened, *, agent: str = "writer", args: dict[str, Any] | None = None, **more: Any) -> Receipt:
    """One call that may run."""
    call = Call(agent, more.pop("tool", "read"), args or {}, more.pop("context", Context()))
    decision = Decision(ALLOW, agent, call.tool, "allowed", "fine", **{"tier": 1, **more})
    return opened.ledger.intent(call, decision)
