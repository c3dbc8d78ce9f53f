"""A user's program with tools of every shape: `mypy --strict` and pyright find nothing in it, and keep its types."""

from __future__ import annotations

import asyncio
import enum
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal, NamedTuple, NewType, NotRequired, TypedDict, assert_type

import msgspec
import pydantic

from remit import Guard
from remit.enforce.declared import FilePath, Shell, Url

guard = Guard({"remit": 1, "agents": {"a": {"may": ["*"]}}})
UserId = NewType("UserId", int)


class Color(enum.Enum):
    RED = "red"


@dataclass
class Edit:
    file: Path
    text: str
    line: int = 1


class Model(pydantic.BaseModel):
    file: Path
    count: int = 1


class Typed(TypedDict):
    file: Path
    note: NotRequired[str]


class Named(NamedTuple):
    file: Path


class Struct(msgspec.Struct):
    file: Path


@guard.tool(does={"write": "path"}, tier=1)
def save(path: str, content: str) -> int:
    return len(content)


@guard.tool(does={"write": ["files", "also[].value"]})
def save_all(files: list[Path], also: dict[str, Path], names: tuple[str, ...], tags: frozenset[str]) -> None: ...


@guard.tool(does={"write": ["edits[].file", "model.file", "typed.file", "named.file", "struct.file"]})
def edit(edits: list[Edit], model: Model, typed: Typed, named: Named, struct: Struct) -> list[Edit]:
    return edits


@guard.tool(does={"write": {"records": "tickets"}}, tier=1)
def close(
    id: uuid.UUID,
    user: UserId,
    color: Color,
    how: Literal["done", "wontfix"],
    amount: Decimal,
    due: date,
    at: datetime,
    took: timedelta,
    data: bytes,
    more: Any,
    maybe: int | None = None,
    either: int | str = 0,
) -> str:
    return how


@guard.tool(does={"read": "paths"})
def look(*paths: Path, **options: int) -> Mapping[str, int]:
    return options


@guard.tool(does={"network": "url", "read": "file"})
async def fetch(url: Url, /, file: FilePath, *, command: Shell = "ls") -> bytes:
    return b""


class Files:
    """Methods of every kind."""

    @guard.tool("method", does={"read": "path"})
    def method(self, path: Path) -> str:
        return str(path)

    @staticmethod
    @guard.tool("static", does={"read": "path"})
    def static(path: Path) -> str:
        return str(path)

    @classmethod
    @guard.tool("of_class", does={"read": "path"})
    def of_class(cls, path: Path) -> str:
        return str(path)


async def main() -> None:
    """Types of arguments and results are those of the functions."""
    with guard.agent("a"):
        assert_type(save("a", "b"), int)
        assert_type(
            edit([], Model(file=Path("a")), {"file": Path("a")}, Named(Path("a")), Struct(Path("a"))), list[Edit]
        )
        assert_type(look(Path("a"), depth=1), Mapping[str, int])
        assert_type(await fetch("https://x.example/", "a"), bytes)
        assert_type(Files().method(Path("a")), str)
        assert_type(Files.static(Path("a")), str)
        assert_type(Files.of_class(Path("a")), str)


if __name__ == "__main__":
    asyncio.run(main())
