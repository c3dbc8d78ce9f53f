"""A path as plain text, in whatever the function takes it: it is judged as the path that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import pytest

from tests.attacks.guard.world import OUT_OF_BOUNDS, World


@dataclass
class Edit:
    path: str
    text: str = ""


class Pair(NamedTuple):
    path: str
    text: str = ""


class Entry(TypedDict):
    path: str


def text(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "path"}, tier=1)
    def tool(path: str) -> None:
        world.write(path)

    return tool


def listed(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "paths"}, tier=1)
    def tool(paths: list[str]) -> None:
        world.write(*paths)

    return lambda path: tool(["src/ok/a", path])


def in_a_tuple(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "paths"}, tier=1)
    def tool(paths: tuple[str, str]) -> None:
        world.write(*paths)

    return lambda path: tool(("src/ok/a", path))


def in_a_set(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "paths"}, tier=1)
    def tool(paths: frozenset[str]) -> None:
        world.write(*paths)

    return lambda path: tool(frozenset({"src/ok/a", path}))


def in_values(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "files[].value"}, tier=1)
    def tool(files: dict[str, str]) -> None:
        world.write(*files.values())

    return lambda path: tool({"k": path})


def in_keys(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "files[].key"}, tier=1)
    def tool(files: dict[str, str]) -> None:
        world.write(*files)

    return lambda path: tool({"src/ok/a": "x", path: "src/ok/b"})


def in_a_field(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "edit.path"}, tier=1)
    def tool(edit: Edit) -> None:
        world.write(edit.path)

    return lambda path: tool(Edit(path))


def in_fields_of_a_list(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "edits[].path"}, tier=1)
    def tool(edits: list[Pair]) -> None:
        world.write(*(edit.path for edit in edits))

    return lambda path: tool([Pair("src/ok/a"), Pair(path)])


def in_a_typed_dict(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "entry"}, tier=1)
    def tool(entry: Entry) -> None:
        world.write(entry["path"])

    return lambda path: tool({"path": path})


def starred(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "paths"}, tier=1)
    def tool(*paths: str) -> None:
        world.write(*paths)

    return lambda path: tool("src/ok/a", path)


def by_keyword(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "files[].value"}, tier=1)
    def tool(**files: str) -> None:
        world.write(*files.values())

    return lambda path: tool(a="src/ok/a", b=path)


def optional(world: World) -> Callable[[str], Any]:
    @world.guard.tool("tool", does={"write": "path"}, tier=1)
    def tool(path: str | None = None, *, also: str = "src/ok/a") -> None:
        if path is not None:
            world.write(path)

    return tool


def by_name(world: World) -> Callable[[str], Any]:
    text(world)
    return lambda path: world.guard.call("tool", {"path": path})


WAYS = [
    text,
    listed,
    in_a_tuple,
    in_a_set,
    in_values,
    in_keys,
    in_a_field,
    in_fields_of_a_list,
    in_a_typed_dict,
    starred,
    by_keyword,
    optional,
    by_name,
]


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_out_of_bounds(tmp_path: Path, way: Callable[[World], Callable[[str], Any]]):
    world = World(tmp_path)
    tool = way(world)
    with world.guard:
        for path in (*OUT_OF_BOUNDS, str(world.outside / "x"), "/etc/cron.d/remit-test", "src/link/x", "src/hooks/x"):
            assert world.attempt(partial(tool, path)) != "ran", path
        assert world.ran == []
        assert world.attempt(lambda: tool("src/ok/b")) == "ran"
    assert world.harm() == []
    assert world.ran
