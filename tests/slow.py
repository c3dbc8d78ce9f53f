"""Which tests take long: `make test` leaves those of `slow.txt` to `make test-more`.

    python -m tests.slow            # runs both, and writes the list anew

A test is slow if it took more than MOST seconds of CPU, or waited for four times as long: on a busy machine the clock
tells little. What proves most stays, however long it takes; so does the quickest test of a file that would have none,
if it takes less than QUICK.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIST = HERE / "slow.txt"
MOST = 0.25
WAITS = 4
QUICK = 1.0
STAY = (
    *("tests/oracle/", "tests/properties/", "tests/test_docs", "tests/test_demo.py", "tests/test_architecture.py"),
    *(
        "tests/test_cases.py",
        "tests/decide/test_whole.py",
        "tests/grant/test_machine.py",
        "tests/faults/test_killed.py",
    ),
)
_FOLDER = "REMIT_SLOW_FOLDER"
_took: dict[str, float] = {}


@cache
def slow_tests() -> frozenset[str]:
    """The ids of tests that `make test` leaves out."""
    return frozenset(line for line in LIST.read_text("utf-8").splitlines() if line and not line.startswith("#"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Measures a test that `make test` could run, and the processes that it waits for."""
    if item.get_closest_marker("more") is not None and item.nodeid not in slow_tests():
        return (yield)
    before, start = sum(os.times()[:4]), time.monotonic()
    result = yield
    _took[item.nodeid] = max(sum(os.times()[:4]) - before, (time.monotonic() - start) / WAITS)
    return result


def pytest_sessionfinish() -> None:
    """Leaves what this process has measured."""
    if _took and _FOLDER in os.environ:
        (Path(os.environ[_FOLDER]) / f"{os.getpid()}.json").write_text(json.dumps(_took))


def main() -> None:
    """Runs the tests, and writes the list."""
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "tests.slow", "-m", "not long and not hosts"]
        subprocess.run([*words, "tests"], env={**os.environ, _FOLDER: folder}, check=False)
        took = {k: v for path in Path(folder).glob("*.json") for k, v in json.loads(path.read_text()).items()}
    write(took)


def write(took: dict[str, float]) -> None:
    """Writes the list of what took long."""
    quickest: dict[str, str] = {}
    for name in sorted(took, key=lambda name: (took[name], name)):
        quickest.setdefault(name.partition("::")[0], name)
    kept = {name for name in quickest.values() if took[name] <= QUICK}
    slow = sorted(name for name, s in took.items() if s > MOST and name not in kept and not name.startswith(STAY))
    head = "# Tests that `make test` leaves to `make test-more`. Made by `python -m tests.slow`; not edited by hand.\n"
    LIST.write_text(head + "".join(f"{name}\n" for name in slow), "utf-8")


if __name__ == "__main__":
    main()
