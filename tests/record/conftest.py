"""A ledger on a store that can be made to fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.record import writer as module
from remit.record.writer import Ledger
from tests.record.stores import FaultyStore, new_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[FaultyStore]:
    found = FaultyStore(new_store(tmp_path))
    yield found
    found.fault = None
    found.release.set()
    found.close()


@pytest.fixture
def ledger(store: FaultyStore) -> Iterator[Ledger]:
    found = Ledger(store, point="test", deadline=5)
    yield found
    store.fault = None
    store.release.set()
    found.close()


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches wait long for others: what is on disk earlier was made durable."""
    monkeypatch.setattr(module, "LINGER", 30.0)
