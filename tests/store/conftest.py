"""Places for stores: a private directory, or a new database on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Postgres
from tests.store.place import Place


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state directory as it must be."""
    path = tmp_path / "state"
    path.mkdir(mode=0o700)
    return path


@pytest.fixture
def sqlite_place(state: Path) -> Iterator[Place]:
    place = Place(f"sqlite://{state}/remit.db", state)
    yield place
    place.clear()


@pytest.fixture
def postgres_place(postgres: Postgres, state: Path) -> Iterator[Place]:
    """A database without the schema of Remit. Not a new database each time: the server would write it to the disk."""
    place = Place(postgres.uri, state)
    yield place
    place.clear()
    with postgres.connect(autocommit=True) as connection:
        connection.execute("SET lock_timeout = '10s'")
        connection.execute("DROP SCHEMA IF EXISTS remit CASCADE")
