"""Stores of both kinds for tests of authority."""

from __future__ import annotations

import pytest

from tests.postgres import Postgres


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    """A store that nobody has used; None: SQLite."""
    if request.param == "sqlite":
        return None
    server: Postgres = request.getfixturevalue("postgres")
    return server.uri_of(server.new_database())
