"""The engine against the oracle in small parts, for `make mutants`: a mutant dies in the first part that it fails."""

from __future__ import annotations

import pytest

from tests.oracle.compare import compare

PARTS = [range(start, start + 8) for start in range(0, 96, 8)]


@pytest.mark.parametrize("seeds", PARTS, ids=lambda seeds: f"{seeds.start}-{seeds.stop}")
def test_the_engine_decides_as_the_page_says(seeds: range) -> None:
    assert compare(seeds).differences == []
