"""What a tool returns and runs only later: as the caller, until it is revoked, and recorded when it really ends."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.compile.tasks import task_from
from remit.enforce.errors import CallDenied
from remit.enforce.guard import Guard
from remit.record.reader import entries


class World:
    """Two agents; tools whose bodies run late and call another tool, which says who does."""

    def __init__(self, folder: Path, url: str | None) -> None:
        agents = {name: {"may": ["*"], "delegates_to": ["worker"]} for name in ("lead", "worker")}
        self.guard = Guard({"remit": 1, "agents": agents}, root=folder, state=folder / ".state", store=url)
        self.seen: list[str] = []
        guard = self.guard

        @guard.tool(does="nothing")
        def inner() -> str:
            return "ran"

        def who() -> str:
            inner()
            agent = guard._called("inner", {}).agent
            self.seen.append(agent)
            return agent

        @guard.tool(does="nothing", tier=1)
        def numbers(count: int) -> Iterator[str]:
            for _ in range(count):
                yield who()
            if count == 0:
                raise RuntimeError("none")

        @guard.tool(does="nothing", tier=1)
        async def anumbers(count: int) -> AsyncIterator[str]:
            try:
                for _ in range(count):
                    await asyncio.sleep(0)
                    yield who()
            finally:
                self.seen.append("closed")

        async def body(fails: bool) -> str:
            await asyncio.sleep(0)
            if fails:
                raise RuntimeError("late")
            return (await asyncio.gather(told()))[0]

        async def told() -> str:
            return who()

        @guard.tool(does="nothing", tier=1)
        def later(fails: bool) -> Awaitable[str]:
            return body(fails)

        class Own:
            def __init__(self) -> None:
                self.left = 2

            def __iter__(self) -> Iterator[str]:
                return self

            def __next__(self) -> str:
                if not self.left:
                    raise StopIteration
                self.left -= 1
                return who()

        @guard.tool(does="nothing", tier=1)
        def plain() -> Any:
            return Own()

        @guard.tool(does="nothing", tier=1, streams=True)
        def own() -> Any:
            return Own()

        self.numbers, self.anumbers, self.later, self.plain, self.own = numbers, anumbers, later, plain, own

    def outcomes(self, tool: str) -> list[tuple[str, str | None]]:
        self.guard.flush()
        with self.guard.authority.store.read() as view:
            said = [msgspec.json.decode(entry.body) for entry in entries(view)]
        calls = {one["call"] for one in said if one["type"] == "intent" and one.get("tool") == tool}
        return [(one["result"], one.get("error")) for one in said if one["type"] == "outcome" and one["call"] in calls]


@pytest.fixture
def world(tmp_path: Path, url: str | None) -> Iterator[World]:
    found = World(tmp_path, url)
    with found.guard:
        yield found


def test_a_generator_is_run_as_its_caller(world: World):
    with world.guard.agent("worker"):
        stream = world.numbers(3)
    assert world.outcomes("numbers") == []
    with world.guard.agent("lead"):
        assert list(stream) == ["worker"] * 3
    assert world.outcomes("numbers") == [("done", None)]


def test_how_a_generator_ends(world: World):
    with world.guard.agent("worker"):
        closed, dropped, unstarted, failing = (world.numbers(3), world.numbers(3), world.numbers(3), world.numbers(0))
        next(closed), next(dropped)
        closed.close()  # type: ignore[attr-defined]
        del dropped, unstarted
        gc.collect()
        with pytest.raises(RuntimeError):
            next(failing)
        with pytest.raises(StopIteration):
            next(failing)
    assert sorted(world.outcomes("numbers"), key=str) == [
        ("abandoned", None),
        ("abandoned", None),
        ("abandoned", None),
        ("failed", "RuntimeError"),
    ]


def task(world: World) -> None:
    data = {"id": "T-1", "agent": "worker", "goal": "count"}
    world.guard.authority.issue(world.guard.rulebook, task_from(world.guard.rulebook, data))


def test_after_the_end_of_the_task_nothing_goes_on(world: World):
    task(world)
    with world.guard.agent("worker", capsule="T-1"):
        stream, coroutine = world.numbers(3), world.later(False)
        assert next(stream) == "worker"
    world.guard.authority.end("T-1", by="ann")
    with pytest.raises(CallDenied) as denied:
        next(stream)
    assert denied.value.code == "capsule-ended"
    assert list(stream) == []

    async def main() -> None:
        await coroutine

    with pytest.raises(CallDenied):
        asyncio.run(main())
    assert world.seen == ["worker"]
    assert world.outcomes("numbers") == [("failed", "CallDenied")]
    assert world.outcomes("later") == [("failed", "CallDenied")]


def test_a_coroutine_of_a_plain_function(world: World):
    async def main() -> None:
        with world.guard.agent("worker"):
            good, bad, never = world.later(False), world.later(True), world.later(False)
        assert world.outcomes("later") == []
        with world.guard.agent("lead"):
            assert await good == "worker"
            with pytest.raises(RuntimeError):
                await asyncio.create_task(bad)  # type: ignore[arg-type]
        del never
        gc.collect()

    asyncio.run(main())
    assert sorted(world.outcomes("later")) == [("abandoned", None), ("done", None), ("failed", "RuntimeError")]


def test_an_async_generator(world: World):
    async def main() -> None:
        with world.guard.agent("worker"):
            whole, broken = world.anumbers(2), world.anumbers(3)
        with world.guard.agent("lead"):
            assert [one async for one in whole] == ["worker"] * 2
            async for one in broken:
                assert one == "worker"
                break
            await broken.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())
    assert world.outcomes("anumbers") == [("done", None), ("abandoned", None)]
    assert world.seen == ["worker", "worker", "closed", "worker", "closed"]


def test_an_async_generator_after_the_end_of_the_task(world: World):
    task(world)

    async def main() -> None:
        with world.guard.agent("worker", capsule="T-1"):
            stream = world.anumbers(5)
            assert await anext(stream) == "worker"
            world.guard.authority.end("T-1", by="ann")
            with pytest.raises(CallDenied):
                await anext(stream)

    asyncio.run(main())
    assert world.seen == ["worker", "closed"]


def test_other_objects_pass_unless_the_tool_says_so(world: World):
    with world.guard.agent("worker"):
        plain, own = world.plain(), world.own()
    assert type(plain).__name__ == "Own"
    assert world.outcomes("plain") == [("done", None)]
    assert world.outcomes("own") == []
    with world.guard.agent("lead"):
        assert list(plain) == ["lead"] * 2
        assert list(own)[:0] == []
    assert world.outcomes("own") == [("done", None)]


def test_a_guard_that_was_closed_meanwhile(world: World):
    with world.guard.agent("worker"):
        stream = world.numbers(3)
        next(stream)
    world.guard.close()
    with pytest.raises(CallDenied):
        next(stream)


def test_threads_that_close_one_result_at_once(world: World):
    """However many close it, or one closes it while another runs it: it ends once."""
    with world.guard.agent("worker"):
        for _ in range(20):
            stream: Any = world.numbers(50)
            next(stream)
            ready = threading.Barrier(4)

            def use(act: Any, ready: threading.Barrier = ready) -> None:
                ready.wait()
                with contextlib.suppress(ValueError, StopIteration):
                    act()

            acts = [stream.close, stream.close, stream.close, lambda stream=stream: list(stream)]
            threads = [threading.Thread(target=use, args=(act,)) for act in acts]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            stream.close()
    found = world.outcomes("numbers")
    assert len(found) == 20
    assert set(found) <= {("abandoned", None), ("done", None)}
