"""What every test shares: Hypothesis profiles, and a list of what was skipped and why."""

from __future__ import annotations

import signal
from collections import defaultdict
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from remit.enforce import find_look, format_look, git_look, paths
from tests.postgres import Postgres, running
from tests.slow import slow_tests

# The same examples on every run and machine, so that a failure is never a matter of luck or load.
settings.register_profile(
    "default",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
)
# For `make test-long`: other examples each time, and many more of them.
settings.register_profile(
    "long", settings.get_profile("default"), derandomize=False, max_examples=20_000, database=None
)
settings.load_profile("default")

# In the background of a script ctrl-c is ignored, also by whatever the tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def homeless(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No test installs anything for whoever runs the tests: `remit install` writes to the user's own settings."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CLAUDE_CONFIG_DIR", "COPILOT_HOME", "CODEX_HOME", "GEMINI_CLI_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp("nobody")))
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            patch.setenv(name, str(tmp_path_factory.mktemp("nobody")))
        patch.setenv("REMIT_DAEMON", "0")  # nor leaves daemons behind
        yield


@pytest.fixture(autouse=True, scope="session")
def patient() -> Iterator[None]:
    """A look at the disk or at git that a busy machine delays still ends: what it finds is tested, not when."""
    with pytest.MonkeyPatch.context() as patch:
        for look in (find_look, format_look, git_look, paths):
            patch.setattr(look, "SECONDS", 60.0)
        yield


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """`@pytest.mark.sample(n)`: all cases of that test but n, evenly spread, are marked `more`; so is what is slow."""
    slow = slow_tests()
    for item in items:
        if item.nodeid in slow:
            item.add_marker("more")
    sampled: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("sample") is not None:
            sampled[item.nodeid.partition("[")[0]].append(item)
    for cases in sampled.values():
        marker = cases[0].get_closest_marker("sample")
        count = marker.args[0] if marker is not None else 0
        step = max(1, len(cases) // max(1, count))
        # Each a place further within its stretch, so that of two hosts with two ways each, both hosts and ways are met.
        kept = {min(number * len(cases) // count + number % step, len(cases) - 1) for number in range(count)}
        for number, item in enumerate(cases):
            if number not in kept:
                item.add_marker("more")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real server that waits for its disk, as stores demand; one for each test process, started at first use."""
    with running(durable=True) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest) -> str | None:
    """A store that nobody has used, of each kind; None: SQLite."""
    if request.param == "sqlite":
        return None
    server: Postgres = request.getfixturevalue("postgres")
    return server.uri_of(server.new_database())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Every skipped test is named with its reason: what is not run must not look like what passed."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        by_reason[reason.removeprefix("Skipped: ")].append(report.nodeid)
    if not by_reason:
        return
    terminalreporter.section("skipped")
    for reason, tests in sorted(by_reason.items()):
        terminalreporter.line(f"{len(tests)} × {reason}")
        for test in sorted(tests):
            terminalreporter.line(f"    {test}")
