"""Stores of both kinds for tests of authority."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgres import Postgres, running


@pytest.fixture(scope="session")
def server() -> Iterator[Postgres]:
    """A PostgreSQL that waits for its disk, as stores demand."""
    with running(durable=True) as found:
        yield found


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    """A store that nobody has used; None: SQLite."""
    if request.param == "sqlite":
        return None
    server: Postgres = request.getfixturevalue("server")
    return server.uri_of(server.new_database())
