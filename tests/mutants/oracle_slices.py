"""The engine against the oracle in small parts, for `make mutants`: a mutant dies in the first part that it fails."""

from __future__ import annotations

import pytest

from tests.oracle.compare import compare


@pytest.mark.parametrize("start", range(0, 64, 8))
def test_the_engine_decides_as_the_page_says(start: int) -> None:
    assert compare(range(start, start + 8)).differences == []
