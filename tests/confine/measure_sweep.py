"""What a look before and after a run costs, beside bubblewrap's start: `python -m tests.confine.measure_sweep`."""

from __future__ import annotations

import functools
import os
import statistics
import tempfile
import time
from pathlib import Path

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.sweep import Before
from tests.confine.measure_start import COMMAND, took
from tests.confine.places import NOBODY, Site, as_user, profile

FILES, IN_EACH = 12_000, 20
ROUNDS = 15


def fill(root: Path) -> None:
    """Many files in folders of usual size, all of them older than a moment."""
    for number in range(FILES // IN_EACH):
        folder = root / f"packages/p{number // 25}/m{number}"
        folder.mkdir(parents=True)
        for name in range(IN_EACH):
            (folder / f"file{name}.py").touch()


def costs(site: Site, mode: int) -> dict[str, float]:
    """Medians in milliseconds, but for the first run, which knows nothing yet."""
    os.chmod(site.folder, mode)
    chosen, place = profile(), site.place()
    fill(site.root)
    found: dict[str, list[float]] = {name: [] for name in ("start", "before", "prepare", "after", "plain")}
    time.sleep(3)
    for _ in range(ROUNDS):
        times = [time.perf_counter()]
        before = Before.take(chosen, place, modes=not site.backend.refuses_setuid())
        times.append(time.perf_counter())
        launch = site.prepare(chosen)
        times.append(time.perf_counter())
        found["start"].append(took((*launch.words, *COMMAND), launch.environment))
        found["plain"].append(took(COMMAND, launch.environment))
        changes = site.backend.finish(chosen, place, launch)
        again = time.perf_counter()
        swept = before.sweep(changes)
        found["after"].append((time.perf_counter() - again) * 1000)
        if swept.findings:
            raise RuntimeError(swept.findings[0].message)
        found["before"].append((times[1] - times[0]) * 1000)
        found["prepare"].append((times[2] - times[1]) * 1000)
    first = {f"first {name}": found[name][0] for name in ("before", "prepare", "after")}
    return {**first, **{name: statistics.median(each[1:]) for name, each in found.items()}}


def main() -> None:
    """For a project that only its owner can enter and one that is open to others; for root and for an ordinary user."""
    for mode in (0o700, 0o755):
        for who in ("this user", *(("nobody",) if os.geteuid() == 0 else ())):
            if who == "nobody":
                with as_user(NOBODY, Bubblewrap) as call:
                    found = call(functools.partial(costs, mode=mode))
            else:
                with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
                    found = costs(Site(Path(folder), Bubblewrap), mode)
            sweep = found["before"] + found["after"]
            print(f"{mode:o}, {who}: before and after {sweep / found['start']:.1f} starts of bubblewrap;", end=" ")
            print(", ".join(f"{name} {value:.1f} ms" for name, value in found.items()))


if __name__ == "__main__":
    main()
