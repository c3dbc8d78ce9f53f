"""Other threads that change what a call works on: its list of paths, a folder on the way, the pool it runs in."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import pytest

from remit.enforce.safe_path import SafePath
from tests.attacks.guard.world import World

BAD = ".git/hooks/pre-commit"


@contextmanager
def meanwhile(act: Callable[[], None]) -> Iterator[None]:
    """Another thread does it all the time."""
    stop = threading.Event()

    def go_on() -> None:
        while not stop.is_set():
            act()

    thread = threading.Thread(target=go_on)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_a_list_of_paths_that_another_thread_changes(tmp_path: Path):
    world = World(tmp_path)

    @world.guard.tool("tool", does={"write": "paths"}, tier=1)
    def tool(paths: list[str]) -> None:
        world.write(*paths)

    paths = ["src/ok/a"]

    def change() -> None:
        paths[0] = BAD if paths[0] != BAD else "src/ok/a"

    with world.guard, meanwhile(change):
        found = {world.attempt(lambda: tool(paths)) for _ in range(60)}
    assert found <= {"ran", "protected"}
    assert world.harm() == []


@pytest.mark.parametrize("takes", [SafePath, TextIO])
def test_a_folder_that_another_thread_replaces_by_a_link(tmp_path: Path, takes: Any):
    """Whatever comes between the decision and the opening, no link is followed."""
    world = World(tmp_path)
    place, spare = world.root / "src/ok/swap", world.root / "src/ok/spare"
    place.mkdir()
    (world.outside / "a").write_text("kept")

    def save(file: Any) -> None:
        if isinstance(file, SafePath):
            with file.open("w") as opened:
                opened.write("x")
        else:
            file.write("x")

    save.__annotations__["file"] = takes
    world.guard.tool("tool", does={"write": "file"}, tier=1)(save)

    def swap() -> None:
        os.rename(place, spare)
        place.symlink_to(world.outside)
        place.unlink()
        os.rename(spare, place)

    found: set[str] = set()
    with world.guard, meanwhile(swap):
        for _ in range(60):
            with suppress(OSError):
                found.add(world.attempt(lambda: world.guard.call("tool", {"file": "src/ok/swap/a"})))
    assert found <= {"ran", "path-changed", "outside-root", "bad-path", "locked"}
    assert (world.outside / "a").read_text() == "kept"
    assert os.listdir(world.outside) == ["a"]


def test_pools_of_threads(tmp_path: Path):
    """Nobody acts in a worker that was not told; what it is told ends with its block, also when workers are reused."""
    agents = {name: {"may": [{"tool": {"where": {"who": {"one_of": [name]}}}}]} for name in ("one", "two")}
    world = World(tmp_path, {"remit": 1, "agents": agents})

    @world.guard.tool("tool", does="nothing", tier=1)
    def tool(who: str) -> str:
        return who

    def told(who: str) -> str:
        with world.guard.agent(who):
            return tool(who)

    async def by_loop() -> list[str]:
        loop = asyncio.get_running_loop()
        with world.guard.agent("one"):
            return await asyncio.gather(*(loop.run_in_executor(pool, told, who) for who in ("one", "two") * 10))

    def untold() -> str:
        try:
            return tool("one")
        except Exception as error:
            return str(getattr(error, "code", error))

    with world.guard, ThreadPoolExecutor(3) as pool:
        with world.guard.agent("one"):
            assert list(pool.map(told, ["one", "two"] * 20)) == ["one", "two"] * 20
            assert {pool.submit(untold).result() for _ in range(9)} == {"no-agent"}
        assert asyncio.run(by_loop()) == ["one", "two"] * 10
        assert {pool.submit(untold).result() for _ in range(9)} == {"no-agent"}
