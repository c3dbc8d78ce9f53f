"""Guards for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.enforce.team import Team


@pytest.fixture
def team(tmp_path: Path, url: str | None) -> Iterator[Team]:
    """On each kind of store."""
    found = Team(tmp_path, store=url)
    with found.guard:
        yield found
