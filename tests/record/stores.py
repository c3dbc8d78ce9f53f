"""A ledger's store for tests: a real one, and one around it that fails as disks and servers do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.terms import ALLOW, DENY
from remit.record.append import head_of
from remit.record.reader import entries
from remit.record.tree import CompactRange, leaf_hash
from remit.store import Store, StoreFull, open_store
from remit.store.interface import Transaction


def new_store(folder: Path, **more: Any) -> Store:
    """A store in a folder of its own."""
    state = folder / "state"
    state.mkdir(mode=0o700, exist_ok=True)
    return open_store(None, state, **more)


class FaultyStore:
    """A store whose writes fail in the way that `fault` names, from the next one on.

    begin: nothing can be written; end: rolled back; lost: rolled back, and it says that it isn't certain;
    kept: committed, and it says that it isn't certain; hang: waits until `release`.
    """

    def __init__(self, inner: Store) -> None:
        self.inner, self.kind = inner, inner.kind
        self.fault: str | None = None
        self.once = False
        self.failed = 0
        self.release = threading.Event()

    def version(self) -> int:
        return -1

    @contextmanager
    def write(self, look: str | None = None) -> Iterator[Transaction]:
        fault = self.fault
        if self.once:
            self.fault = None
        if fault == "hang":
            self.release.wait(60)
        if fault == "begin":
            self._fail(uncertain=False)
        with self.inner.write(look) as change:
            yield change
            if fault in ("end", "lost"):
                self._fail(uncertain=fault == "lost")
        if fault == "kept":
            self._fail(uncertain=True)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        with self.inner.read() as view:
            yield view

    def keep_notes(self, name: str, notes: dict[str, Any]) -> None:
        self.inner.keep_notes(name, notes)

    def forget(self) -> None:
        self.inner.forget()

    def size(self) -> int | None:
        return self.inner.size()

    def settle(self, *, shrink: bool = False) -> list[str]:
        return self.inner.settle(shrink=shrink)

    def close(self) -> None:
        self.inner.close()

    def describe(self) -> str:
        return self.inner.describe()

    def _fail(self, *, uncertain: bool) -> None:
        self.failed += 1
        error = StoreFull("no space left")
        error.uncertain = uncertain
        raise error


def said(store: Store) -> list[dict[str, Any]]:
    """What the log says, after looking that places, hashes and head fit."""
    with store.read() as view:
        found = list(entries(view))
        tree = CompactRange()
        tree.extend(leaf_hash(entry.body) for entry in found)
        assert [entry.seq for entry in found] == list(range(len(found)))
        assert [entry.hash for entry in found] == [leaf_hash(entry.body) for entry in found]
        assert head_of(view) == (tree.size, tree.root())
        return [entry.data for entry in found]


def call(args: dict[str, Any] | None = None, **more: Any) -> Call:
    return Call("writer", "read", {} if args is None else args, Context(**more))


def allowed(**more: Any) -> Decision:
    """An allowed read; batched unless something else is said."""
    return Decision(ALLOW, "writer", "read", "allowed", "fine", **more)


def denied(**more: Any) -> Decision:
    return Decision(DENY, "writer", "read", "out-of-scope", "no", **more)
