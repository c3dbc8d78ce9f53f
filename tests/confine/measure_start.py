"""How long a confined command takes to start, beside `bash -c true`: `python -m tests.confine.measure_start`."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.backends.overlay import Overlay
from tests.confine.places import NOBODY, Site, as_user, profile

ROUNDS = 40
COMMAND = ("/bin/bash", "-c", "true")


def ratio(site: Site) -> list[float]:
    """Medians: of `bash -c true`, of the same confined (both in milliseconds), and one by the other."""
    chosen = profile()
    launch = site.prepare(chosen)
    try:
        pairs = [
            (took(COMMAND, launch.environment), took((*launch.words, *COMMAND), launch.environment))
            for _ in range(ROUNDS)
        ]
    finally:
        site.backend.finish(chosen, site.place(), launch)
    plain, confined = (statistics.median(times) for times in zip(*pairs, strict=True))
    return [plain, confined, confined / plain]


def took(words: Sequence[str], environment: Mapping[str, str]) -> float:
    """Milliseconds until it has ended; started without anything of Python's own."""
    start = time.perf_counter()
    child = os.posix_spawn(words[0], list(words), dict(environment))
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        raise RuntimeError(f"{words[0]} failed")
    return (time.perf_counter() - start) * 1000


def main() -> None:
    """For this user and, if that is root, for an ordinary one."""
    for backend in (Bubblewrap, Overlay):
        with tempfile.TemporaryDirectory() as folder:
            found = {"this user": ratio(Site(Path(folder), backend))}
        if os.geteuid() == 0:
            with as_user(NOBODY, backend) as call:
                found["nobody"] = call(ratio)
        for who, (plain, confined, times) in found.items():
            print(f"{backend.name}, {who}: {plain:.2f} ms plain, {confined:.2f} ms confined, {times:.1f} times")


if __name__ == "__main__":
    main()
