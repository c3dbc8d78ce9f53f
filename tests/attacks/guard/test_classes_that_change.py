"""Classes that make another path of the one they are given: when they are built, when they are validated, or later."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import attrs
import msgspec
import pydantic
import pytest

from tests.attacks.guard.world import AGENT, World

GOOD, BAD = "src/ok/a", ".git/hooks/pre-commit"


def moved(path: str) -> str:
    return BAD if path == GOOD else path


class InField(pydantic.BaseModel):
    path: str

    @pydantic.field_validator("path")
    @classmethod
    def move(cls, path: str) -> str:
        return moved(path)


class BeforeField(pydantic.BaseModel):
    path: Annotated[str, pydantic.BeforeValidator(moved)]


class BeforeModel(pydantic.BaseModel):
    path: str

    @pydantic.model_validator(mode="before")
    @classmethod
    def move(cls, data: Any) -> Any:
        return {"path": moved(data["path"])}


class AfterModel(pydantic.BaseModel):
    path: str

    @pydantic.model_validator(mode="after")
    def move(self) -> AfterModel:
        self.path = moved(self.path)
        return self


class PostInit(pydantic.BaseModel):
    path: str

    def model_post_init(self, context: Any) -> None:
        self.path = moved(self.path)


class Struct(msgspec.Struct):
    path: str

    def __post_init__(self) -> None:
        self.path = moved(self.path)


@attrs.define
class Converted:
    path: str = attrs.field(converter=moved)


@attrs.define
class AttrsPostInit:
    path: str

    def __attrs_post_init__(self) -> None:
        self.path = moved(self.path)


@dataclasses.dataclass
class Frozen:
    path: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", moved(self.path))


class Pair(NamedTuple):
    path: str
    text: str = ""


class MovingPair(Pair):
    def __new__(cls, path: str, text: str = "") -> MovingPair:
        return super().__new__(cls, moved(path), text)


@dataclasses.dataclass
class Third:
    """Changes only what is built for the third time."""

    path: str
    count = itertools.count()

    def __post_init__(self) -> None:
        if next(Third.count) % 3 == 2:
            self.path = moved(self.path)


CLASSES: list[type[Any]] = [
    InField,
    BeforeField,
    BeforeModel,
    AfterModel,
    PostInit,
    Struct,
    Converted,
    AttrsPostInit,
    Frozen,
    MovingPair,
    Third,
]


def given(kind: type[Any]) -> Any:
    """One that says the good path, and that would be moved if it was built again."""
    if kind is MovingPair:
        return tuple.__new__(MovingPair, (GOOD, ""))
    value = kind(path="src/ok/b")
    if kind is Struct:
        value.path = GOOD
    else:
        object.__setattr__(value, "path", GOOD)  # past what converts it
    return value


@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
@pytest.mark.parametrize("kind", CLASSES)
def test_what_is_built_is_what_was_judged(tmp_path: Path, kind: type[Any], many: bool):
    world = World(tmp_path)

    def one(edit: Any) -> None:
        world.write(edit.path)

    def several(edits: list[Any]) -> None:
        world.write(*(edit.path for edit in edits))

    one.__annotations__["edit"], several.__annotations__["edits"] = kind, list[kind]  # type: ignore[valid-type]
    function: Callable[..., Any] = several if many else one
    does = {"write": "edits[].path" if many else "edit.path"}
    tool = world.guard.tool("tool", does=does, tier=1)(function)
    data = {"edits": [{"path": GOOD}]} if many else {"edit": {"path": GOOD}}
    with world.guard:
        for _ in range(4):
            direct = world.attempt(lambda: tool([given(kind)] if many else given(kind)))
            by_name = world.attempt(lambda: world.guard.call("tool", data))
            expected = {"mistyped-argument", "changed-argument", "protected"} | ({"ran"} if kind is Third else set())
            assert {direct, by_name} <= expected
    assert world.harm() == []


# Numbers that lie


class LyingInt(int):
    def __int__(self) -> int:
        return 5

    __index__ = __trunc__ = __abs__ = __int__

    def __gt__(self, other: Any) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other == 5

    def __hash__(self) -> int:
        return hash(5)

    def __repr__(self) -> str:
        return "5"


class LyingFloat(float):
    def __float__(self) -> float:
        return 5.0

    def __gt__(self, other: Any) -> bool:
        return False

    def __repr__(self) -> str:
        return "5.0"


class LyingDecimal(Decimal):
    turn = 0

    def __float__(self) -> float:
        self.turn += 1
        return 5.5 if self.turn == 1 else 999.5

    def __int__(self) -> int:
        return 5

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [(int, LyingInt(999)), (float, LyingInt(999)), (float, LyingFloat(999.5)), (Decimal, LyingDecimal("999.5"))],
)
def test_a_number_that_lies_about_itself(tmp_path: Path, kind: Any, value: Any):
    may = [{"pay": {"where": {"amount": {"max": 10}}}}]
    world = World(tmp_path, {"remit": 1, "agents": {"a": {"may": may}}})

    def pay(amount: Any) -> None:
        world.ran.append(amount)

    pay.__annotations__["amount"] = kind
    tool = world.guard.tool(does="nothing", tier=1)(pay)
    with world.guard:
        for _ in range(3):
            assert world.attempt(lambda: tool(value)) in ("not-permitted", "mistyped-argument", "out-of-scope", "ran")
        assert world.attempt(lambda: world.guard.call("pay", {"amount": value})) != "ran"
    assert all(type(amount) is kind and amount <= 10 for amount in world.ran)
    assert kind is Decimal or world.ran == []


# Functions that bring a path of their own


def test_a_partial_that_has_its_path_already(tmp_path: Path):
    """What a partial has by keyword is judged like a default."""
    world = World(tmp_path)

    def save(path: str, text: str = "x") -> None:
        world.write(path)

    tool = world.guard.tool("tool", does={"write": "path"}, tier=1)(functools.partial(save, path=BAD))
    with world.guard:
        assert world.attempt(tool) == "protected"
        assert world.attempt(lambda: tool(path=GOOD)) == "ran"
        assert world.attempt(lambda: functools.partial(tool, path="docs/a")()) == "locked"
        assert world.attempt(lambda: world.guard.call("tool", {})) == "protected"
    assert world.written() == [f"root/{GOOD}"]


def test_keywords_that_are_no_names(tmp_path: Path):
    """`**files`: a key can be any text, also one that looks like a part of an argument's name."""
    world = World(tmp_path)

    @world.guard.tool("tool", does={"write": "files[].value"}, tier=1)
    def tool(**files: str) -> None:
        world.write(*files.values())

    keys: Iterator[str] = iter(["", "files", "files[]", "value", "a.b", "../x", "self", "path", "\x00"])
    with world.guard:
        for key in keys:
            for given in ({key: BAD}, {"a": GOOD, key: BAD}):
                assert world.attempt(functools.partial(tool, **given)) != "ran"
    assert world.harm() == []


def test_a_default_that_somebody_changes(tmp_path: Path):
    """A list as a default is one object for all calls of a plain function."""
    world = World(tmp_path, {"remit": 1, "agents": {"a": {**AGENT, "may": ["tool"]}}})
    kept = [GOOD]

    @world.guard.tool("tool", does={"write": "paths"}, tier=1)
    def tool(paths: list[str] = kept) -> None:
        world.write(*paths)
        paths.append(BAD)

    with world.guard:
        assert world.attempt(tool) == "ran"
        kept.append(BAD)
        assert world.attempt(tool) == "ran"
    assert world.harm() == []
