"""Guards for tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.enforce.team import Team


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    found = Team(tmp_path)
    with found.guard:
        yield found
