"""Every kind of store, held to the same suite."""

from __future__ import annotations

import pytest

from tests.store.acceptance import Acceptance
from tests.store.place import Place


class TestSqlite(Acceptance):
    @pytest.fixture
    def place(self, sqlite_place: Place) -> Place:
        return sqlite_place


class TestPostgres(Acceptance):
    @pytest.fixture
    def place(self, postgres_place: Place) -> Place:
        return postgres_place
