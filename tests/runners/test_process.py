"""Programs that write without end, hang, leave children behind, or look around in their environment."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from ast import literal_eval
from pathlib import Path

import pytest

import remit.testing
from remit.confine.process import Bounds, Finished, NotStarted, run_process
from remit.enforce.errors import CallRefused
from remit.enforce.guard import Guard
from remit.runners.errors import RunnerError
from remit.runners.validation import ValidationRunner
from tests.runners.conftest import POLICY

ENV = {"PATH": "/usr/bin:/bin"}


def run(code: str, tmp_path: Path, seconds: float = 30.0, bytes: int = 1_000_000) -> Finished:
    words, bounds = ("python", "-c", code), Bounds(seconds, bytes)
    return run_process(words, program=sys.executable, directory=tmp_path, environment=ENV, bounds=bounds)


def is_gone(pid: int) -> bool:
    """Whether the process is gone, or waits only for its parent; it gets a while for that."""
    for _ in range(200):
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


def pids(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().split()]


def test_both_outputs_and_the_code(tmp_path: Path) -> None:
    found = run("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)", tmp_path)
    assert (found.code, found.out, found.err, found.ok, found.truncated) == (3, "out\n", "err\n", False, False)


def test_of_a_long_output_the_beginning_and_the_end_are_kept(tmp_path: Path) -> None:
    found = run("import sys; sys.stdout.write('a' * 10_000_000 + 'z' * 100)", tmp_path, bytes=1_000)
    assert found.ok
    assert found.truncated
    assert found.out == "a" * 500 + "\n… 9999100 bytes left out …\n" + "a" * 400 + "z" * 100


def test_output_of_exactly_the_bound_is_whole(tmp_path: Path) -> None:
    found = run("import sys; sys.stdout.write('ab' * 500)", tmp_path, bytes=1_000)
    assert (found.out, found.truncated) == ("ab" * 500, False)


def test_endless_output_ends_with_the_time(tmp_path: Path) -> None:
    found = run("while True: print('x' * 1000)", tmp_path, seconds=1.0, bytes=1_000)
    assert (found.code, found.timed_out, found.truncated) == (None, True, True)
    assert len(found.out) < 2_000


@pytest.mark.more
def test_a_program_that_ignores_the_end_is_ended(tmp_path: Path) -> None:
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    found = run(code, tmp_path, seconds=0.5)
    assert (found.code, found.timed_out) == (None, True)


GRANDCHILDREN = """
import os, subprocess, sys, time
held = open('pids', 'a')
def note(): held.write(f'{os.getpid()}\\n'); held.flush()
note()
if os.fork() == 0:                       # a child in the group
    note(); time.sleep(600)
if os.fork() == 0:                       # a session of its own, detached
    os.setsid()
    if os.fork() == 0:
        note(); time.sleep(600)
    os._exit(0)
if os.fork() == 0:                       # a session of its own without the environment, whose parent lives
    os.setsid(); note()
    os.execve('/bin/sleep', ['sleep', '600'], {})
while len(open('pids').read().split()) < 4: time.sleep(0.01)
time.sleep(2)                            # long enough to be seen
"""


@pytest.mark.parametrize("ending", ["sys.exit(0)", pytest.param("time.sleep(600)", marks=pytest.mark.more)])
def test_nothing_that_it_started_goes_on(tmp_path: Path, ending: str) -> None:
    if not Path("/proc/self/environ").exists():
        pytest.skip("there is no /proc: only the process group is known here")
    found = run(GRANDCHILDREN + ending, tmp_path, seconds=10.0)
    assert found.timed_out == (ending != "sys.exit(0)")
    started = pids(tmp_path / "pids")
    assert len(started) == 4
    left = [pid for pid in started if not is_gone(pid)]
    for pid in left:
        os.kill(pid, 9)
    assert left == []


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match="can't be started"):
        run_process(("x",), program="/nonexistent/x", directory=tmp_path, environment=ENV, bounds=Bounds())


# Behind a guard


def stages(guard: Guard, **codes: str) -> ValidationRunner:
    words = {name: ["python3", "-c", code] for name, code in codes.items()}
    return ValidationRunner(guard, words, path=[Path(sys.executable).parent], seconds=60)


def test_the_environment_is_clean(guard: Guard, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "GIT_DIR", "LD_PRELOAD", "PYTHONPATH", "BASH_ENV", "REMIT_STORE"):
        monkeypatch.setenv(name, "/nonexistent/secret")
    code = "import os; print(sorted(os.environ)); print(os.listdir(os.environ['HOME']))"
    found = stages(guard, look=code).stage("look")
    names, home = found.out.splitlines()
    assert "secret" not in found.out
    assert {"PATH", "HOME", "REMIT_RUN", "LANG"} <= set(literal_eval(names))
    assert not {"GH_TOKEN", "AWS_SECRET_ACCESS_KEY", "LD_PRELOAD", "PYTHONPATH", "BASH_ENV"} & set(literal_eval(names))
    assert home == "[]"


def test_stages_run_until_one_fails(guard: Guard) -> None:
    runner = stages(guard, first="pass", second="raise SystemExit(1)", third="pass")
    found = runner.validate()
    assert [(name, one.code) for name, one in found.stages.items()] == [("first", 0), ("second", 1)]
    assert (found.ok, list(found.failed)) == (False, ["second"])
    assert list(runner.validate("third", "second", "first", keep_going=True).stages) == ["third", "second", "first"]
    with pytest.raises(RunnerError, match="no stage `thrid`"):
        runner.stage("thrid")


def test_only_stages_are_run(guard: Guard) -> None:
    runner = stages(guard, first="pass")
    with pytest.raises(RunnerError, match="none of the stages"):
        runner.run("python3", "-c", "import os")
    with guard.agent("ValidationRunner"), pytest.raises(RunnerError, match="none of the stages"):
        guard.call("runner/validation", {"command": "python3 -c pass-"})


def test_a_cancelled_run_ends_its_program(repository: Path) -> None:
    with remit.testing.guard(POLICY, root=repository) as guard:
        code = "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(600)"
        runner = stages(guard, hang=code)

        async def main() -> None:
            task = asyncio.create_task(runner.call_async(runner.stage, "hang"))
            while not (repository / "pid").exists() or not (repository / "pid").read_text():
                await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        [pid] = pids(repository / "pid")
        assert is_gone(pid)


def test_the_projects_real_checks(guard: Guard, repository: Path) -> None:
    (repository / "test_a.py").write_text("def test_a() -> None:\n    assert len([1]) == 2\n")
    words = {"lint": ["ruff", "check", "--no-cache", "."], "test": ["pytest", "-q", "-p", "no:cacheprovider"]}
    runner = ValidationRunner(guard, words, path=[Path(sys.executable).parent])
    found = runner.validate()
    assert found.stages["lint"].out == "All checks passed!\n"
    assert (found.stages["lint"].code, found.stages["test"].code) == (0, 1)
    assert "assert 1 == 2" in found.stages["test"].out


def test_refusals_that_are_returned_are_errors_of_a_runner(repository: Path) -> None:
    nothing: list[str] = []
    policy = {**POLICY, "agents": {"coder": {"may": []}}, "runners": {"ValidationRunner": {"may": nothing}}}
    with remit.testing.guard(policy, root=repository, refusals="return") as guard:
        runner = stages(guard, first="pass")
        with pytest.raises(CallRefused, match="may not use"):
            runner.stage("first")
