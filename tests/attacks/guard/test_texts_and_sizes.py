"""Unicode forms, NUL bytes, links, huge and deep arguments, and a working directory elsewhere."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.guard.world import World

SPELLINGS = (
    ".git/hooks/x\0",
    "src/ok\0/../../.git/x",
    ".\u0261it/hooks/../../.git/hooks/x",
    ".GIT/hooks/x",
    ".gi\u200ct/hooks/x",
    "\uff0egit/hooks/x",
    ".git./hooks/x",
    "REMIT.yaml",
    "remit.yaml\u200b",
    "src//../../up",
    "src/./../docs/a",
    "~/x",
    "$HOME/x",
    "src\\..\\x",
    "./.git/hooks/x",
    "src/link/../../up",
    " .git/hooks/x",
    "",
    ".",
    "/",
    "\ud800",
    "src/SECRET/key",
)


def writer(world: World) -> Any:
    @world.guard.tool(does={"write": "paths"}, tier=1)
    def tool(paths: list[str]) -> None:
        world.write(*paths)

    return tool


@pytest.mark.parametrize("text", SPELLINGS, ids=ascii)
def test_a_spelling_of_what_is_out_of_bounds(tmp_path: Path, text: str):
    world = World(tmp_path)
    tool = writer(world)
    with world.guard:
        assert world.attempt(lambda: tool(["src/ok/a", text])) != "ran"
        assert world.attempt(lambda: world.guard.call("tool", {"paths": [text]})) != "ran"
    assert world.written() == []


def test_a_link_inside_of_a_list(tmp_path: Path):
    """Where a link leads to something permitted, the function gets the place that was judged."""
    world = World(tmp_path)
    (world.root / "src/inner").symlink_to(world.root / "src/ok")
    tool = writer(world)
    with world.guard:
        assert world.attempt(lambda: tool(["src/inner/a", "src/ok/b"])) == "ran"
        assert world.attempt(lambda: tool(["src/ok/b", "src/link/a"])) != "ran"
        assert world.attempt(lambda: tool(["src/hooks/a"])) != "ran"
    assert world.written() == ["root/src/ok/a", "root/src/ok/b"]
    assert all(os.path.realpath(os.path.join(world.root, path)) == os.path.join(world.root, path) for path in world.ran)


@pytest.mark.parametrize("kind", ["deep", "cycle", "wide"])
def test_huge_and_deep_arguments_are_answered(tmp_path: Path, kind: str):
    world = World(tmp_path)

    @world.guard.tool(does="nothing")
    def tool(value: Any) -> None:
        world.ran.append(value)

    value: Any = []
    if kind == "deep":
        for _ in range(100_000):
            value = [value]
    elif kind == "cycle":
        value.append(value)
    else:
        value = [0] * 2_000_000
    with world.guard:
        assert world.attempt(lambda: tool(value)) == "mistyped-argument"
    assert world.ran == []


def test_a_very_deep_value_by_name(tmp_path: Path):
    world = World(tmp_path)
    tool = writer(world)
    assert tool is not None
    value: Any = "src/ok/a"
    for _ in range(5_000):
        value = [value]
    with world.guard:
        assert world.attempt(lambda: world.guard.call("tool", {"paths": value})) == "mistyped-argument"
        assert world.attempt(lambda: world.guard.call("tool", {"paths": ["src/ok/a"], "more": value})) != "ran"
    assert world.written() == []


def test_a_working_directory_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Absolute paths mean what they say, wherever the program runs; relative ones are judged below the root."""
    world = World(tmp_path)
    monkeypatch.chdir(world.outside)
    tool = writer(world)
    with world.guard:
        assert world.attempt(lambda: tool([str(world.outside / "x")])) != "ran"
        assert world.attempt(lambda: tool([str(world.root / ".git/x")])) != "ran"
        assert world.attempt(lambda: tool([str(world.root / "src/ok/a")])) == "ran"
    assert world.written() == ["root/src/ok/a"]
