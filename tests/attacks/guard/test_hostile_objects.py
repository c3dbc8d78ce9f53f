"""Objects whose methods lie: the value is read once, and what was read is what runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PosixPath
from typing import Any

import pytest

from tests.attacks.guard.world import World

BAD = ".git/hooks/pre-commit"


class LyingText(str):
    """Says to be something else whenever it is asked."""

    def __str__(self) -> str:
        return BAD

    def __fspath__(self) -> str:
        return BAD

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("src/ok/a")

    def __format__(self, how: str) -> str:
        return BAD

    def split(self, *how: Any) -> list[str]:
        return ["src", "ok"]

    def isascii(self) -> bool:
        return True

    def startswith(self, *what: Any) -> bool:
        return True


class Fickle:
    """A path that is harmless when first looked at."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), 0

    def __fspath__(self) -> str:
        self.asked += 1
        return self.answers[min(self.asked, len(self.answers)) - 1]

    __str__ = __fspath__


class LyingPath(PosixPath):
    def __str__(self) -> str:
        count = getattr(self, "count", 0)
        self.count = count + 1
        return "src/ok/a" if count == 0 else BAD

    def __fspath__(self) -> str:
        return str(self)

    @property
    def parts(self) -> tuple[str, ...]:
        return ("src", "ok", "a")


class LyingList(list[Any]):
    """Other values each time it is gone through."""

    turn = 0

    def __iter__(self) -> Iterator[Any]:
        self.turn += 1
        return iter(["src/ok/a"] if self.turn == 1 else [BAD])

    def __len__(self) -> int:
        return 1


class LyingDict(dict[str, Any]):
    turn = 0

    def items(self) -> Any:
        self.turn += 1
        return {"k": "src/ok/a" if self.turn == 1 else BAD}.items()

    def __getitem__(self, key: str) -> Any:
        return BAD

    def values(self) -> Any:
        return [BAD]


@dataclass
class Edit:
    path: str


@dataclass
class Evil(Edit):
    """A subclass with a path of its own."""

    def __getattribute__(self, name: str) -> Any:
        return BAD if name == "path" else super().__getattribute__(name)


def test_a_text_that_lies_about_itself(tmp_path: Path):
    world = World(tmp_path)

    @world.guard.tool(does={"write": "path"}, tier=1)
    def tool(path: str) -> None:
        assert type(path) is str
        world.write(path)

    with world.guard:
        assert world.attempt(lambda: tool(LyingText("src/ok/a"))) == "ran"
        assert world.attempt(lambda: tool(LyingText(BAD))) == "protected"
        assert world.attempt(lambda: world.guard.call("tool", {"path": LyingText("src/ok/a")})) == "mistyped-argument"
    assert world.harm() == []
    assert world.written() == ["root/src/ok/a"]


@pytest.mark.parametrize("value", [Fickle("src/ok/a", BAD), LyingPath("src/ok/a"), LyingPath(BAD)])
def test_a_path_that_changes_between_looks(tmp_path: Path, value: Any):
    world = World(tmp_path)

    @world.guard.tool(does={"write": "path"}, tier=1)
    def tool(path: Path) -> None:
        assert type(path) is PosixPath
        world.write(path)

    with world.guard:
        world.attempt(lambda: tool(value))
    assert world.harm() == []


def test_a_list_that_changes_between_looks(tmp_path: Path):
    world = World(tmp_path)

    @world.guard.tool(does={"write": "paths"}, tier=1)
    def tool(paths: list[str]) -> None:
        assert type(paths) is list
        world.write(*paths)

    with world.guard:
        assert world.attempt(lambda: tool(LyingList([BAD]))) == "ran"
    assert world.written() == ["root/src/ok/a"]


def test_a_dict_that_says_something_else(tmp_path: Path):
    world = World(tmp_path)

    @world.guard.tool(does={"write": "files[].value"}, tier=1)
    def tool(files: dict[str, str]) -> None:
        assert type(files) is dict
        world.write(*files.values())

    with world.guard:
        assert world.attempt(lambda: tool(LyingDict(k="src/ok/a"))) == "ran"
        assert world.attempt(lambda: tool(LyingDict(k=BAD))) == "protected"
    assert world.written() == ["root/src/ok/a"]


def test_a_subclass_of_a_dataclass(tmp_path: Path):
    world = World(tmp_path)

    @world.guard.tool(does={"write": "edit.path"}, tier=1)
    def tool(edit: Edit) -> None:
        world.write(edit.path)

    with world.guard:
        assert world.attempt(lambda: tool(Evil("src/ok/a"))) == "mistyped-argument"
        edit = Edit("src/ok/a")
        edit.__class__ = Evil
        assert world.attempt(lambda: tool(edit)) == "mistyped-argument"
    assert world.written() == []


def test_a_dataclass_that_makes_something_else_of_its_fields(tmp_path: Path):
    world = World(tmp_path)

    @dataclass
    class Moving:
        path: str

        def __post_init__(self) -> None:
            self.path = BAD if self.path == "src/ok/a" else self.path

    @world.guard.tool(does={"write": "edit.path"}, tier=1)
    def tool(edit: Moving) -> None:
        world.write(edit.path)

    with world.guard:
        given = Moving("src/ok/b")
        given.path = "src/ok/a"
        assert world.attempt(lambda: tool(given)) == "mistyped-argument"
        assert world.attempt(lambda: world.guard.call("tool", {"edit": {"path": "src/ok/a"}})) == "protected"
    assert world.written() == []


def test_what_the_caller_changes_while_somebody_answers(tmp_path: Path):
    """The approved arguments are those that run, whoever still holds the objects."""
    world = World(tmp_path, {"remit": 1, "agents": {"a": {"may": ["tool"]}}}, answer=lambda asked, args: change())
    given = {"amount": 5, "to": ["ann"]}

    def change() -> Any:
        given["amount"] = 999
        given["to"] = ["eve"]
        return "approve"

    @world.guard.tool(does={"deploy": "https://prod.example/**"})
    def tool(order: dict[str, Any], items: list[dict[str, Any]]) -> None:
        world.ran.append((order, items))

    with world.guard:
        assert world.attempt(lambda: tool(given, [given])) == "ran"
    assert world.ran == [({"amount": 5, "to": ["ann"]}, [{"amount": 5, "to": ["ann"]}])]
