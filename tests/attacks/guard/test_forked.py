"""Forks: a child opens what it needs itself, says anew who acts, and takes nothing from its parent."""

from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.compile.tasks import task_from
from remit.enforce.errors import GuardError
from remit.enforce.guard import Guard


def guarded(folder: Path) -> tuple[Guard, Callable[[str], str]]:
    agents = {name: {"may": ["*"], "delegates_to": ["worker"]} for name in ("lead", "worker")}
    guard = Guard({"remit": 1, "agents": agents}, root=folder, state=folder / ".state")

    @guard.tool(does="nothing", tier=1)
    def note(text: str) -> str:
        return text

    return guard, note


def in_child(act: Callable[[], None]) -> None:
    """Fails if the child does."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_opens_its_own(tmp_path: Path):
    guard, note = guarded(tmp_path)

    def child() -> None:
        with guard.agent("worker"):
            assert note("child") == "child"
        guard.close()

    with guard:
        with guard.agent("worker"):
            note("before")
            for _ in range(3):
                in_child(child)
            assert note("after") == "after"
        guard.flush()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_child_has_no_agent_and_ends_no_task(tmp_path: Path):
    guard, note = guarded(tmp_path)
    with guard:
        guard.authority.issue(guard.rulebook, task_from(guard.rulebook, {"id": "T-1", "agent": "lead", "goal": "g"}))
        with guard.agent("lead", capsule="T-1"):
            block = guard.agent("worker")
            block.__enter__()
            try:

                def child() -> None:
                    with pytest.raises(GuardError) as nobody:
                        note("x")
                    assert nobody.value.code == "no-agent"
                    block.__exit__(None, None, None)

                in_child(child)
            finally:
                block.__exit__(None, None, None)
            with guard.agent("worker"):
                assert note("still") == "still"


def _work(text: str) -> str:
    guard, note = _here[0]
    with guard.agent("worker"):
        return note(text)


_here: list[tuple[Guard, Callable[[str], str]]] = []


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_pool_of_processes(tmp_path: Path):
    _here[:] = [guarded(tmp_path)]
    guard, note = _here[0]
    with guard, guard.agent("worker"):
        note("before")
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert pool.map(_work, ["a", "b", "c"]) == ["a", "b", "c"]
        assert note("after") == "after"
    _here.clear()
