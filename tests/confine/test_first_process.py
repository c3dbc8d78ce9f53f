"""Nothing of a run is alive when the project is looked at and changes are committed."""

from __future__ import annotations

import errno
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.backends.overlay import Overlay
from remit.confine.first_process import FILE, StillRunning, wait_for_end
from remit.confine.interface import Backend
from remit.confine.process import Bounds
from remit.confine.run import run
from tests.attacks.confined.arena import alive
from tests.confine.places import Site, profile

BUSY = "for i in $(seq 12); do setsid bash -c 'while :; do :; done; : {mark}' > /dev/null 2>&1 & done; "
"""They would win a race against whoever looks for what they make."""


@pytest.fixture(params=[pytest.param(Bubblewrap, marks=pytest.mark.hosts), Overlay], ids=["bubblewrap", "overlay"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    backend: Callable[[Path], Backend] = request.param
    if not backend(tmp_path / "trial").holds():
        pytest.skip("this backend does not work here")
    return Site(tmp_path, backend)


@pytest.mark.parametrize(
    ("rest", "seconds"), [("sleep 0.1; exit 3", 60.0), ("sleep 60", 0.5)], ids=["ends", "is ended"]
)
def test_all_that_a_command_started_has_ended_before_anybody_looks(
    site: Site, rest: str, seconds: float, monkeypatch: pytest.MonkeyPatch
):
    mark = f"busy-{os.getpid()}-{os.urandom(4).hex()}"
    left: list[list[str]] = []
    finish = site.backend.finish

    def looking(*given: Any) -> Any:
        left.append(alive(mark))
        return finish(*given)

    monkeypatch.setattr(site.backend, "finish", looking)
    words = ("bash", "-c", BUSY.format(mark=mark) + rest)
    for _ in range(4):
        ran = run(
            words,
            profile(),
            site.place(),
            backend=site.backend,
            environment=site.environment(),
            bounds=Bounds(seconds=seconds),
        )
        assert (ran.code, ran.findings) == (3 if seconds > 1 else None, ())
    assert left == [[], [], [], []]


def test_a_run_that_goes_on_is_waited_for(site: Site):
    launch = site.prepare(profile())
    words = [*launch.words, "sleep", "60"]
    with subprocess.Popen(words, env=launch.environment, stdin=subprocess.PIPE, cwd=site.root) as process:
        told = launch.directory / FILE
        while process.poll() is None and not (told.exists() and told.stat().st_size):
            time.sleep(0.01)
        with pytest.raises(StillRunning):
            wait_for_end(launch.directory, 0.3)
        process.kill()
    wait_for_end(launch.directory)
    site.backend.finish(profile(), site.place(), launch)


def test_another_process_with_that_number_is_not_waited_for(tmp_path: Path):
    (tmp_path / FILE).write_text(f'{{"child-pid": {os.getpid()}}}')
    wait_for_end(tmp_path)


def test_a_process_that_can_t_be_looked_for_may_be_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(number: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    (tmp_path / FILE).write_text(f'{{"child-pid": {os.getpid()}}}')
    monkeypatch.setattr(os, "pidfd_open", refuse)
    with pytest.raises(StillRunning):
        wait_for_end(tmp_path)


@pytest.mark.parametrize("text", [None, "", "{}", '{"child-pid": 4194999}'])
def test_nothing_to_wait_for(tmp_path: Path, text: str | None):
    if text is not None:
        (tmp_path / FILE).write_text(text)
    wait_for_end(tmp_path)
