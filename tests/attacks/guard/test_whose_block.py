"""Blocks in generators, tasks, threads and callbacks, in any order: the innermost one around a call acts, or nobody."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.enforce.acting import Acting, acting_for
from remit.enforce.errors import GuardError
from remit.enforce.guard import Guard
from remit.model.call import NO_CONTEXT

AGENTS = ("admin", "lead", "worker")


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guard]:
    folder = tmp_path_factory.mktemp("blocks")
    agents = {name: {"may": ["who"], "delegates_to": [*AGENTS]} for name in AGENTS}
    guard = Guard({"remit": 1, "agents": agents}, root=folder, state=folder / ".state")
    guard.tool("who", does="nothing")(_nothing)
    with guard:
        yield guard


def _nothing() -> None: ...


def who(guard: Guard) -> str:
    """Who acts here, as a call would be judged; `nobody` if it is refused."""
    try:
        return guard._called("who", {}).agent
    except GuardError as error:
        if error.code not in ("no-agent", "agent-unclear"):
            raise
        return "nobody"


def stream(guard: Guard, name: str, seen: list[str]) -> Generator[None, None, None]:
    with guard.agent(name):
        while True:
            seen.append(who(guard))
            yield


def test_a_block_is_of_no_later_guard(guard: Guard):
    """Also if that one lies where the first one lay in memory: a block keeps what stands for its guard."""

    class Alike:
        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 1

    first = Alike()
    for own, found in ((first, "admin"), (Alike(), None)):
        acting = Acting(first, "admin", NO_CONTEXT)
        acting.enter(sys._getframe())
        inside = contextvars.copy_context()
        with ThreadPoolExecutor(1) as pool:
            who_acts = pool.submit(inside.run, acting_for, own).result()
        acting.leave()
        assert (who_acts.agent if who_acts is not None else None) == found
    with guard.agent("admin") as block:
        assert block.guard is guard.blocks


def test_interleaved_generators_leave_nobody_behind(guard: Guard):
    seen: list[str] = []
    one, two = stream(guard, "admin", seen), stream(guard, "worker", seen)
    next(one), next(two), next(one)
    assert who(guard) == "nobody"
    one.close()
    next(two)
    two.close()
    assert (seen, who(guard)) == (["admin", "worker", "admin", "worker"], "nobody")
    with guard.agent("lead"):
        assert who(guard) == "lead"


def test_while_a_stream_is_open_the_lead_is_the_lead(guard: Guard):
    seen: list[str] = []
    with guard.agent("lead"):
        worker = stream(guard, "worker", seen)
        next(worker)
        assert who(guard) == "lead"
        with guard.agent("admin"):
            next(worker)
            assert who(guard) == "admin"
        assert contextvars.copy_context().run(who, guard) == "lead"
        with ThreadPoolExecutor(1) as pool:
            # A copy that was made meanwhile has the worker's mark: nobody can tell, so nobody acts.
            assert pool.submit(contextvars.copy_context().run, who, guard).result() == "nobody"
            worker.close()
            assert pool.submit(contextvars.copy_context().run, who, guard).result() == "lead"
    assert seen == ["worker", "worker"]


def test_a_generator_closed_in_another_thread(guard: Guard):
    one = stream(guard, "admin", [])
    next(one)
    thread = threading.Thread(target=one.close)
    thread.start()
    thread.join()
    assert who(guard) == "nobody"
    with guard.agent("lead"):
        assert who(guard) == "lead"


def test_a_generator_resumed_by_somebody_else(guard: Guard):
    seen: list[str] = []
    one = stream(guard, "worker", seen)
    next(one)

    def resume() -> str:
        with guard.agent("admin"):
            next(one)
            return who(guard)

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(resume).result() == "admin"
    one.close()
    assert seen == ["worker", "worker"]


def test_a_stream_that_is_broken_off(guard: Guard):
    async def numbers() -> AsyncIterator[int]:
        with guard.agent("worker"):
            for number in range(9):
                assert who(guard) == "worker"
                yield number

    async def main() -> list[str]:
        found = []
        with guard.agent("lead"):
            async for _ in numbers():
                found.append(who(guard))
                break
            found.append(who(guard))
        found.append(who(guard))
        await asyncio.sleep(0)
        return [*found, who(guard)]

    assert asyncio.run(main()) == ["lead", "lead", "nobody", "nobody"]


def test_helpers_that_enter_a_block(guard: Guard):
    @contextmanager
    def as_worker() -> Iterator[None]:
        with guard.agent("worker"):
            yield

    @asynccontextmanager
    async def as_admin() -> AsyncIterator[None]:
        with as_worker(), guard.agent("admin"):
            yield

    class Session:
        def __enter__(self) -> None:
            self.block = guard.agent("lead")
            self.block.__enter__()

        def __exit__(self, *error: object) -> None:
            self.block.__exit__(None, None, None)

    async def main() -> str:
        async with as_admin():
            return who(guard)

    with as_worker():
        assert who(guard) == "worker"
    with Session():
        assert who(guard) == "lead"
    with ExitStack() as stack:
        stack.enter_context(guard.agent("admin"))
        stack.enter_context(as_worker())
        assert who(guard) == "worker"
    assert asyncio.run(main()) == "admin"
    assert who(guard) == "nobody"


def test_tasks_threads_and_callbacks(guard: Guard):
    async def main() -> dict[str, str]:
        found: dict[str, str] = {}
        loop = asyncio.get_running_loop()

        async def told(name: str) -> None:
            await asyncio.sleep(0)
            found[name] = who(guard)

        with guard.agent("lead"):
            await asyncio.gather(told("gathered"), told("too"))
            found["to_thread"] = await asyncio.to_thread(who, guard)
            found["executor"] = await loop.run_in_executor(None, who, guard)
            loop.call_soon(lambda: found.__setitem__("callback", who(guard)))
            await asyncio.sleep(0)
            with guard.agent("worker"):
                late = asyncio.create_task(told("late"))
            loop.call_soon(lambda: found.__setitem__("own", who(guard)))
            await late
        return found

    assert asyncio.run(main()) == {
        "gathered": "lead",
        "too": "lead",
        "to_thread": "lead",
        "executor": "nobody",
        "callback": "lead",
        "late": "worker",  # whose block it was started in
        "own": "lead",
    }


def test_a_coroutine_driven_by_hand(guard: Guard):
    class Pause:
        def __await__(self) -> Generator[None, None, None]:
            yield

    async def body() -> None:
        with guard.agent("admin"):
            assert who(guard) == "admin"
            await Pause()
            assert who(guard) == "admin"

    one, two = body(), body()
    one.send(None), two.send(None)
    assert who(guard) == "nobody"
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(contextvars.copy_context().run, who, guard).result() == "nobody"
    one.close()
    with pytest.raises(StopIteration):
        two.send(None)
    assert who(guard) == "nobody"


def test_a_block_that_was_left_elsewhere(guard: Guard):
    """What is started in a context that still has it may be of anybody."""
    stack = ExitStack()
    stack.enter_context(guard.agent("admin"))
    in_thread(stack.close)
    assert who(guard) == "nobody"
    assert in_thread(contextvars.copy_context().run, who, guard) == "nobody"


Program = list[tuple[str, Any]]
STEPS = st.recursive(
    st.sampled_from([[("call", None)], [("thread", None)], [("copy", None)]]),
    lambda inner: st.lists(
        st.one_of(
            inner.map(lambda body: ("same", body)),
            st.tuples(st.just("block"), st.tuples(st.sampled_from(AGENTS), inner)),
            st.tuples(st.just("resume"), st.integers(0, 2)),
            st.tuples(st.just("close"), st.integers(0, 2)),
            st.tuples(st.just("elsewhere"), st.integers(0, 2)),
            st.just(("call", None)),
            st.just(("thread", None)),
            st.just(("copy", None)),
        ),
        max_size=5,
    ),
    max_leaves=12,
)


def in_thread(act: Callable[..., Any], *args: Any) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(act, *args).result()


class Machine:
    """Runs a program of blocks and streams; each step knows by its own arguments which block is around it."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.streams: list[Generator[None, None, None]] = []
        self.busy: set[int] = set()

    def check(self, around: str, *, exact: bool = True, run: Callable[..., str] | None = None) -> None:
        found = who(self.guard) if run is None else run(who, self.guard)
        assert found == around or (not exact and found == "nobody"), (found, around)

    def run(self, program: Program, around: str) -> None:
        for step, value in program:
            self.step(step, value, around)

    def step(self, step: str, value: Any, around: str) -> None:
        if step == "call":
            self.check(around)
        elif step == "thread":
            self.check("nobody", run=lambda *a: in_thread(*a))
        elif step == "copy":
            context = contextvars.copy_context()
            self.check(around, exact=False, run=lambda *a: in_thread(context.run, *a))
        elif step == "same":
            self.run(value, around)
        elif step == "block":
            with self.guard.agent(value[0]):
                self.run(value[1], value[0])
        else:
            self.with_stream(step, value, around)
        self.check(around)

    def with_stream(self, step: str, number: int, around: str) -> None:
        if number in self.busy or number >= len(self.streams):
            return
        self.busy.add(number)
        stream = self.streams[number]
        try:
            if step == "close":
                stream.close()
            elif step == "elsewhere":
                in_thread(next, stream, None)
            else:
                next(stream, None)
        finally:
            self.busy.discard(number)

    def stream(self, program: Program, agent: str) -> Generator[None, None, None]:
        """Suspended between the steps, within its block."""
        with self.guard.agent(agent):
            for step, value in program:
                if step not in ("resume", "close", "elsewhere"):
                    self.step(step, value, agent)
                self.check(agent)
                yield
                self.check(agent)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, st.lists(st.tuples(STEPS, st.sampled_from(AGENTS)), max_size=3))
def test_in_any_order(guard: Guard, program: Program, streams: list[tuple[Program, str]]):
    machine = Machine(guard)
    machine.streams = [machine.stream(body, agent) for body, agent in streams]
    machine.run(program, "nobody")
    for stream in machine.streams:
        stream.close()
        machine.check("nobody")
    assert contextvars.copy_context().run(who, guard) == "nobody"


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(st.sampled_from([*AGENTS, "pause", "out"]), max_size=8), min_size=2, max_size=4))
def test_tasks_in_any_order(guard: Guard, programs: list[list[str]]):
    """Tasks that enter and leave blocks as they like, next to each other."""

    async def runs(program: list[str], around: str) -> None:
        steps = iter(program)
        for step in steps:
            assert who(guard) == around
            if step == "pause":
                await asyncio.sleep(0)
            elif step == "out":
                return
            else:
                with guard.agent(step):
                    await asyncio.gather(runs(list(steps), step), asyncio.to_thread(who, guard))
        assert who(guard) == around

    async def main() -> None:
        await asyncio.gather(*(runs(program, "nobody") for program in programs))

    contextvars.Context().run(asyncio.run, main())  # another test may have left a block behind here


def test_the_module_level(tmp_path: Path):
    """A block at the top of a program counts for the functions that it calls."""
    guard = Guard({"remit": 1, "agents": {"a": {"may": []}}}, root=tmp_path, state=tmp_path / ".state")
    names: dict[str, Any] = {"guard": guard, "who": who}
    exec("with guard, guard.agent('a'):\n    found = [who(guard) for _ in range(2)]\n", names)  # noqa: S102
    assert names["found"] == ["a", "a"]
