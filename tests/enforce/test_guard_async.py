"""A guard in an event loop: tasks act for themselves, waiting blocks nobody, and what is cancelled is recorded."""

from __future__ import annotations

import asyncio
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallDenied, CallPending, GuardError
from tests.enforce.team import Team


def test_each_task_acts_for_itself(team: Team):
    async def work(agent: str, turns: int) -> None:
        with team.guard.agent(agent):
            for turn in range(turns):
                await asyncio.sleep(0)
                if agent == "worker":
                    await team.aread(Path(f"{agent}/{turn}"))
                else:
                    with pytest.raises(CallDenied):
                        await team.aread(Path(f"{agent}/{turn}"))

    async def main() -> None:
        await asyncio.gather(*(work(agent, 5) for agent in ("worker", "lead") * 4))
        with pytest.raises(GuardError):
            await team.aread(Path("a"))

    asyncio.run(main())
    assert {what[1].split("/")[0] for what in team.ran} == {"worker"}
    assert len(team.ran) == 20


def test_waiting_blocks_nobody(team: Team):
    """One task waits for an answer; another one ticks on, and gives it."""
    team.guard.wait = 20.0

    async def main() -> tuple[str, int]:
        with team.guard.agent("worker"):
            waiting = asyncio.create_task(team.guard.acall("adeploy", {"version": "1"}))
            ticks = 0
            while not waiting.done():
                await asyncio.sleep(0.01)
                ticks += 1
                if ticks % 10 == 0:
                    for asked in await asyncio.to_thread(team.guard.authority.waiting):
                        await asyncio.to_thread(team.guard.authority.answer, asked.id, "approve", by="ann")
            return await waiting, ticks

    result, ticks = asyncio.run(main())
    assert result == "deployed 1"
    assert ticks > 5
    assert team.ran == [("adeploy", "1")]


def test_the_ledger_does_not_hold_up_the_loop(team: Team, monkeypatch: pytest.MonkeyPatch):
    """Neither the intent nor the outcome is waited for in the loop's own thread."""
    seen: list[bool] = []
    ledger = team.guard.enforcer.ledger

    def spy(original: Any) -> Any:
        def called(*args: Any, **named: Any) -> Any:
            seen.append(threading.current_thread() is threading.main_thread())
            return original(*args, **named)

        return called

    monkeypatch.setattr(ledger, "intent", spy(ledger.intent))
    monkeypatch.setattr(ledger, "outcome", spy(ledger.outcome))

    async def main() -> None:
        with team.guard.agent("worker"):
            await team.aread(Path("a"))
            with pytest.raises(CallPending):
                await team.adeploy("1")

    asyncio.run(main())
    assert len(seen) >= 2  # an outcome that is only queued takes no thread
    assert not any(seen)


def test_a_call_that_is_cancelled_while_it_passes(team: Team, monkeypatch: pytest.MonkeyPatch):
    """It was just about to begin: it does not run, and the ledger says so."""
    began, go_on = threading.Event(), threading.Event()
    begin = team.guard.enforcer._begin

    def slowly(*args: Any, **named: Any) -> Any:
        found = begin(*args, **named)
        began.set()
        go_on.wait(20)
        return found

    monkeypatch.setattr(team.guard.enforcer, "_begin", slowly)

    async def main() -> None:
        with team.guard.agent("worker"):
            task = asyncio.create_task(team.aread(Path("a")))
        await asyncio.to_thread(began.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(main())
    end = time.monotonic() + 60
    while team.outcomes() != ["not-run"] and time.monotonic() < end:
        time.sleep(0.05)
    assert team.outcomes() == ["not-run"]
    assert team.ran == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_call_that_is_dropped_with_its_loop(team: Team, monkeypatch: pytest.MonkeyPatch):
    """Nobody cancels it: the loop is closed and forgotten while the call is just about to begin."""
    began, go_on = threading.Event(), threading.Event()
    begin = team.guard.enforcer._begin

    def slowly(*args: Any, **named: Any) -> Any:
        found = begin(*args, **named)
        began.set()
        go_on.wait(20)
        return found

    monkeypatch.setattr(team.guard.enforcer, "_begin", slowly)
    loop = asyncio.new_event_loop()

    async def main() -> None:
        with team.guard.agent("worker"):
            kept.append(loop.create_task(team.aread(Path("a"))))
        while not began.is_set():
            await asyncio.sleep(0.01)

    kept: list[asyncio.Task[Any]] = []
    loop.run_until_complete(main())
    kept[0]._log_destroy_pending = False  # type: ignore[attr-defined]
    coroutine = kept[0].get_coro()
    kept.clear()
    assert coroutine is not None
    coroutine.close()
    go_on.set()
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    assert team.outcomes() == ["not-run"]
    assert team.ran == []


def test_a_deadline_passes(team: Team):
    team.guard.wait = 0.3

    async def main() -> None:
        with team.guard.agent("worker"), pytest.raises(CallPending):
            await team.adeploy("1")

    began = time.monotonic()
    asyncio.run(main())
    assert time.monotonic() - began < 60
    assert team.ran == []


def test_an_async_tool_called_without_await(team: Team):
    with team.guard.agent("worker"), pytest.raises(GuardError, match="acall"):
        team.guard.call("adeploy", {"version": "1"})
    assert team.ran == []


def test_a_plain_tool_in_a_loop(team: Team):
    async def main() -> Any:
        with team.guard.agent("worker"):
            return await team.guard.acall("read", {"path": "a"})

    assert asyncio.run(main()) == "a"
    assert team.outcomes() == ["done"]
