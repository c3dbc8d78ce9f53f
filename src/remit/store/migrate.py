"""Migrations: numbered scripts that bring the tables of a store to where this version needs them. Only forward.

`0001-ledger.sqlite.sql`: number, name, kind of store. Each runs in one transaction and is recorded with its hash, so a
script that was changed after it ran is noticed. `0000` makes the record itself.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from remit.model.digest import sha256
from remit.model.moments import moment
from remit.model.pattern import compile_later
from remit.model.shipped import HOME
from remit.store.errors import StoreCorrupt, StoreMisconfigured, StoreTooNew
from remit.store.interface import Migratable, Transaction

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

_NAME = compile_later(r"([0-9]{4})-([a-z0-9-]+)\.(sqlite|postgres)\.sql")

# Whether there is a record of migrations, and what else the store says of its version.
_RECORDED = {
    "sqlite": "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migration'",
    "postgres": "SELECT 1 FROM pg_tables WHERE schemaname = 'remit' AND tablename = 'migration'",
}


class Step(NamedTuple):
    """One migration for one kind of store."""

    number: int
    name: str
    text: str

    @property
    def hash(self) -> str:
        return sha256(self.text.encode()).hexdigest()


def shipped() -> Traversable:
    """The migrations of this version."""
    return Path(HOME, "store", "migrations")


def steps(kind: str, folder: Traversable) -> list[Step]:
    """In order; raises StoreMisconfigured if a number is missing or there twice."""
    found = []
    for file in folder.iterdir():
        name = _NAME.fullmatch(file.name)
        if name and name[3] == kind:
            text = file.read_text("utf-8").replace("\r\n", "\n")
            found.append(Step(int(name[1]), name[2], text))
    found.sort()
    if not found or [step.number for step in found] != list(range(len(found))):
        raise StoreMisconfigured(f"the migrations for {kind} are not numbered one after the other")
    return found


def migrate(store: Migratable, folder: Traversable | None = None) -> int:
    """Brings a store to the newest version and returns its number. Does nothing, and locks nothing, if it is there."""
    known = steps(store.kind, folder or shipped())
    with store.read() as transaction:
        done = _done(transaction, store.kind, known)
    while done < len(known):
        with store.migration() as transaction:
            done = _done(transaction, store.kind, known)  # another process may have been quicker
            if done < len(known):
                step = known[done]
                transaction.script(step.text)
                transaction.run(
                    "INSERT INTO migration (number, name, sha256, applied) VALUES (?, ?, ?, ?)",
                    *(step.number, step.name, step.hash, moment(time.time())),
                )
                if store.kind == "sqlite":
                    transaction.script(f"PRAGMA user_version = {len(known[: done + 1])};")
                done += 1
    return done - 1


def _done(transaction: Transaction, kind: str, known: list[Step]) -> int:
    """How many of the known migrations have run; raises StoreError if others have."""
    if transaction.row(_RECORDED[kind]) is None:
        return 0
    ran = transaction.rows("SELECT number, name, sha256 FROM migration ORDER BY number")
    if len(ran) > len(known):
        raise StoreTooNew(
            f"the store is of version {len(ran) - 1}, and this is a Remit for version {len(known) - 1}",
            help="use the newer Remit; a store can't go back",
        )
    for (number, name, digest), step in zip(ran, known, strict=False):
        if number != step.number:
            raise StoreCorrupt(f"the store has no record of migration {step.number:04d}")
        if digest != step.hash:
            raise StoreCorrupt(f"migration {number:04d}-{name} ran with another text than this version has")
    return len(ran)
