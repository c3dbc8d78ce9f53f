"""Somebody who can write the database, and has no passphrase; with or without the keys folder."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from remit.record import people, state
from remit.record.append import tree_of
from remit.record.canonical import encode
from remit.record.listed import STATES
from remit.record.stamp import Stamps, keep_stamps, make_stamps, read_stamps
from remit.record.state_memory import StateMemory
from remit.record.tree import CompactRange, leaf_hash
from remit.record.upgrade import stamp_all
from remit.store import Store
from remit.store.interface import Transaction
from tests.grant.world import open_world


class Forger:
    """The database without its triggers, which come back in the end: nobody sees anything in between."""

    def __init__(self, link: sqlite3.Connection, stamps: Stamps | None) -> None:
        self._link, self._stamps = link, stamps

    def run(self, sql: str, *values: Any) -> int:
        """How many rows it changed: at least one."""
        changed = self._link.execute(sql, values).rowcount
        assert changed != 0, sql
        return changed

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return self._link.execute(sql).fetchall()

    def places(self, *subject: Any) -> list[int]:
        """Where the entries about it are."""
        query = "SELECT seq FROM leaf WHERE subject = ? ORDER BY seq"
        return [seq for (seq,) in self._link.execute(query, (_column(subject),))]

    def entry(self, place: int) -> dict[str, Any]:
        [(body,)] = self._link.execute("SELECT body FROM leaf WHERE seq = ?", (place,)).fetchall()
        found: dict[str, Any] = json.loads(bytes(body))
        return found

    def said(self, *subject: Any) -> list[dict[str, Any]]:
        """The entries about it, the newest last."""
        return [self.entry(place) for place in self.places(*subject)]

    def append(self, entry: dict[str, Any]) -> int:
        """An entry at the end, with a head that has it, as every writer does it."""
        return self.append_bytes(encode(entry), _column(entry["state"]["of"]))

    def append_bytes(self, body: bytes, subject: str | None = None) -> int:
        [(size, data)] = self._link.execute("SELECT size, range FROM head").fetchall()
        tree = CompactRange.from_bytes(size, bytes(data))
        tree.extend([leaf_hash(body)])
        row = (size, leaf_hash(body), body, subject, self._stamp(size, body))
        self.run("INSERT INTO leaf (seq, hash, body, subject, stamp) VALUES (?, ?, ?, ?, ?)", *row)
        self.run("UPDATE head SET size = ?, range = ?", tree.size, tree.to_bytes())
        return int(size)

    def follow(self, entry: dict[str, Any], **row: Any) -> int:
        """An unsigned entry after the newest one about its subject, with these columns changed."""
        said = entry["state"]
        after = max(self.places(*said["of"]), default=None)
        new = {name: value for name, value in entry.items() if name != "signed"}
        return self.append({**new, "state": {**said, "after": after, "row": {**said["row"], **row}}})

    def rewrite(self, place: int, entry: dict[str, Any]) -> None:
        """An entry becomes another, with its hash."""
        body = encode(entry)
        values = (body, leaf_hash(body), self._stamp(place, body), place)
        self.run("UPDATE leaf SET body = ?, hash = ?, stamp = coalesce(?, stamp) WHERE seq = ?", *values)

    def _stamp(self, place: int, body: bytes) -> bytes | None:
        return self._stamps.make(place, leaf_hash(body)) if self._stamps is not None else None

    def hide(self, *places: int) -> None:
        """Entries are no longer found by what they are about."""
        for place in places:
            self.run("UPDATE leaf SET subject = NULL WHERE seq = ?", place)


def _column(subject: Any) -> str:
    return json.dumps(list(subject), separators=(",", ":"))


@contextmanager
def forging(folder: Path, *, has_keys: bool = True) -> Iterator[Forger]:
    link = sqlite3.connect(folder / "remit.db", isolation_level=None, timeout=60)
    link.execute("BEGIN IMMEDIATE")
    triggers = link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in triggers:
        link.execute(f"DROP TRIGGER {name}")
    yield Forger(link, read_stamps(folder / "keys") if has_keys else None)
    for _, text in triggers:
        link.execute(text)
    link.execute("COMMIT")
    link.close()


def _stamp_all(change: Transaction, stamps: Stamps) -> None:
    """The world of these tests signs nothing: the log as it is counts as signed."""
    stamp_all(change, stamps, tree_of(change))


@contextmanager
def new_process(folder: Path) -> Iterator[Store]:
    """The store as a process finds it that has seen nothing yet, and has the keys folder."""
    for known in (people._known, people._verified, state._compared):
        known.clear()
    state.read_state.cache_clear()
    store = open_world(None, folder)
    keep_stamps(store, make_stamps(store, folder / "keys", _stamp_all))
    store.keep_notes(STATES, StateMemory(folder / "keys"))
    try:
        yield store
    finally:
        store.close()
