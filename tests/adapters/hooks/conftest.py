"""One project for each test, and each question asked both ways: of a daemon, and of a hook that is alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.adapters.hooks.project import Project
from tests.adapters.hooks.speech import SPEECHES


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


@pytest.fixture(params=SPEECHES, ids=lambda host: host.name)
def hosted(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """The same for each host, where nothing depends on which it is."""
    return Project(tmp_path, host=request.param)


@pytest.fixture(
    scope="module",
    params=[(host, way) for host in SPEECHES for way in ("alone", "daemon")],
    ids=lambda found: f"{found[0].name}, {found[1]}",
)
def shared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Each host, without a daemon and with one. Shared by a module."""
    host, way = request.param
    found = Project(tmp_path_factory.mktemp("shared"), host=host)
    if way == "alone":
        yield found
        return
    with found.serving():
        yield found
    found.verify()


@pytest.fixture(scope="module", params=SPEECHES, ids=lambda host: host.name)
def quiet(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project of each host that nothing here damages."""
    return Project(tmp_path_factory.mktemp("quiet"), host=request.param)
