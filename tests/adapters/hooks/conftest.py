"""One project for each test, and each question asked both ways: of a daemon, and of a hook that is alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.hooks.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Nothing serves it: the hook decides by itself."""
    return Project(tmp_path)


@pytest.fixture(scope="module", params=["alone", "daemon"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project without a daemon, then one with: the same answers. Shared by a module."""
    found = Project(tmp_path_factory.mktemp("either"))
    if request.param == "alone":
        yield found
        return
    with found.serving():
        yield found
    found.verify()


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project that nothing here damages."""
    return Project(tmp_path_factory.mktemp("calm"))
