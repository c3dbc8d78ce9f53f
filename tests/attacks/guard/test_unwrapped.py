"""Frameworks that take a tool apart before they call it: they find its signature, and no way around the guard."""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from remit.enforce.errors import CallDenied
from tests.attacks.guard.world import AGENT, World

BAD = ".git/hooks/pre-commit"
ran: list[Path] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> None:
    ran.clear()


def noisy(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator as people write them: its result knows what it wraps."""

    @functools.wraps(function)
    def inner(*args: Any, **named: Any) -> Any:
        return function(*args, **named)

    return inner


def plain(path: Path, text: str = "x") -> int:
    """Writes."""
    ran.append(path)
    return 1


async def later(path: Path, text: str = "x") -> int:
    """Writes."""
    ran.append(path)
    return 1


def stream(path: Path, text: str = "x") -> Iterator[int]:
    """Writes."""
    ran.append(path)
    yield 1


async def later_stream(path: Path, text: str = "x") -> AsyncIterator[int]:
    """Writes."""
    ran.append(path)
    yield 1


def into(mode: str, path: Path, text: str = "x") -> int:
    """Writes."""
    return plain(path)


class Files:
    """Tools as methods."""

    def bound(self, path: Path, text: str = "x") -> int:
        """Writes."""
        return plain(path)

    def __call__(self, path: Path, text: str = "x") -> int:
        """Writes."""
        return plain(path)


def wrapped_by_hand(path: Path, text: str = "x") -> int:
    """Writes."""
    return plain(path)


wrapped_by_hand.__wrapped__ = plain  # type: ignore[attr-defined]
wrapped_by_hand.raw = plain  # type: ignore[attr-defined]

TOOLS: dict[str, Callable[..., Any]] = {
    "plain": plain,
    "async": later,
    "generator": stream,
    "async generator": later_stream,
    "partial": functools.partial(into, "w"),
    "bound": Files().bound,
    "callable": Files(),
    "decorated": noisy(plain),
    "cached": functools.lru_cache(plain),
    "by hand": wrapped_by_hand,
}


def run(result: Any) -> Any:
    """What a framework does with a result."""

    async def awaited() -> Any:
        return await result

    async def drained() -> Any:
        return [one async for one in result]

    if inspect.isawaitable(result):
        return asyncio.run(awaited())
    if hasattr(result, "__aiter__"):
        return asyncio.run(drained())
    return list(result) if hasattr(result, "__next__") else result


def ways_in(tool: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """All that can be called and that stands in an attribute of the tool, however deep."""
    left, seen = [tool, inspect.unwrap(tool), copy.copy(tool), functools.partial(tool)], list[Any]()
    while left:
        one = left.pop()
        if any(one is known for known in seen):
            continue
        seen.append(one)
        yield one
        names = ("__wrapped__", "__func__", "func", "raw", "__call__", *getattr(one, "__dict__", ()))
        left += [found for name in names if callable(found := getattr(one, name, None)) and not inspect.isclass(found)]
        if len(seen) > 50:
            return


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_leads_only_through_the_guard(tmp_path: Path, name: str):
    world = World(tmp_path)
    tool = world.guard.tool("tool", does={"write": "path"})(TOOLS[name])
    with world.guard, world.guard.agent("a"):
        for way in ways_in(tool):
            if getattr(way, "__name__", "") == "__call__" and not inspect.isfunction(getattr(way, "__self__", None)):
                continue  # a slot of functools.partial, which is the same
            with pytest.raises(CallDenied):
                run(way(Path(BAD)))
        assert ran == []
        run(tool(Path("src/ok/a")))
    assert ran == [world.root.resolve() / "src/ok/a"]


@pytest.mark.parametrize("name", TOOLS)
def test_it_looks_like_the_function(tmp_path: Path, name: str):
    """Annotations are texts in this file; a framework could not look them up in the guard's."""
    tool = World(tmp_path).guard.tool("tool", does={"write": "path"})(TOOLS[name])
    assert not hasattr(tool, "__wrapped__")
    assert tool.__doc__ == "Writes."
    assert tool.__module__ == __name__
    assert tool.__name__ == tool.__qualname__.rpartition(".")[2] == getattr(TOOLS[name], "__name__", tool.__name__)
    hints, signature = get_type_hints(tool), inspect.signature(tool)
    assert {key: hints[key] for key in ("path", "text")} == {"path": Path, "text": str}
    assert hints["return"] in (int, Iterator[int], AsyncIterator[int])
    assert [(one.name, one.annotation, one.default) for one in signature.parameters.values()] == [
        ("path", Path, inspect.Parameter.empty),
        ("text", str, "x"),
    ]
    assert inspect.iscoroutinefunction(tool) == (name == "async")


def test_methods_in_a_class(tmp_path: Path):
    world = World(tmp_path, {"remit": 1, "agents": {"a": {**AGENT, "may": ["*"]}}})

    class Tools:
        @world.guard.tool(does={"write": "path"})
        def method(self, path: Path) -> None:
            """Writes."""
            ran.append(path)

        @world.guard.tool(does={"write": "path"})
        @staticmethod
        def static(path: Path) -> None:
            """Writes."""
            ran.append(path)

        @world.guard.tool(does={"write": "path"})
        @classmethod
        def of_class(cls, path: Path) -> None:
            """Writes."""
            ran.append(path)

    tools = Tools()
    with world.guard, world.guard.agent("a"):
        for bound in (tools.method, tools.static, tools.of_class, Tools.static, Tools.of_class):
            assert list(inspect.signature(bound).parameters) == ["path"]
            with pytest.raises(CallDenied):
                inspect.unwrap(bound)(Path(BAD))
        with pytest.raises(CallDenied):
            inspect.unwrap(Tools.method)(tools, Path(BAD))
        for raw in (vars(Tools)["static"], vars(Tools)["method"]):
            with pytest.raises(CallDenied):
                inspect.unwrap(raw)(*((tools,) if inspect.isfunction(raw) else ()), Path(BAD))
    assert ran == []


def test_a_function_that_is_no_more_under_its_name_is_not_pickled(tmp_path: Path):
    """Pickle would bring back the bare function, which is what its name stands for."""
    tool = World(tmp_path).guard.tool("tool", does={"write": "path"})(plain)
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(tool)
