"""Functions of every shape that people write, each with a call: what it is judged as, and what a model would send."""

from __future__ import annotations

import enum
import functools
import typing
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict, Union

import attrs
import msgspec
import pydantic

from remit.enforce.declared import FilePath, Shell, Url

UserId = NewType("UserId", int)
PATHS = list[Path]


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Size(enum.Enum):
    SMALL = (1, 2)
    LARGE = (3, 4)


@dataclass
class Edit:
    file: Path
    text: str
    line: int = 1
    note: str | None = None


@dataclass(frozen=True)
class Batch:
    edits: list[Edit]
    tags: tuple[str, ...] = ()
    when: datetime | None = None


class Model(pydantic.BaseModel):
    file: Path
    count: int = pydantic.Field(default=1, gt=0)
    color: Color = Color.RED


class Typed(TypedDict):
    file: Path
    note: NotRequired[str]


class Named(NamedTuple):
    file: Path
    line: int = 0


class Struct(msgspec.Struct):
    file: Path
    tags: list[str] = []


@attrs.define
class Attrs:
    file: Path
    line: int = 3


class Shape(NamedTuple):
    """A function, a call of it, and what comes of it."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    declared: dict[str, Any]
    """The arguments that it is judged as."""
    judged: dict[str, Any]
    """The JSON that is judged, which a model may send too."""
    does: Any = "nothing"
    named: Mapping[str, Any] = {}


SHAPES: dict[str, Shape] = {}
Back = tuple[Any, ...]


def shape(
    args: tuple[Any, ...],
    declared: dict[str, Any],
    judged: dict[str, Any],
    does: Any = "nothing",
    named: Mapping[str, Any] | None = None,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        SHAPES[function.__name__] = Shape(function, args, declared, judged, does, named or {})
        return function

    return add


EDIT = {"edit.file": "path", "edit.text": "text", "edit.line": "number", "edit.note": "text"}


@shape(("x",), {"a": "text"}, {"a": "x"})
def text(a: str) -> Back:
    return (a,)


@shape((3, 2.5, True), {"a": "number", "b": "number", "c": "flag"}, {"a": 3, "b": 2.5, "c": True})
def numbers(a: int, b: float, c: bool) -> Back:
    return (a, b, c)


@shape((Path("a/b"),), {"a": "path"}, {"a": "a/b"}, {"write": "a"})
def path(a: Path) -> Back:
    return (a,)


@shape((PurePosixPath("a/b"),), {"a": "path"}, {"a": "a/b"}, {"write": "a"})
def pure_path(a: PurePosixPath) -> Back:
    return (a,)


@shape(("a/b",), {"a": "path"}, {"a": "a/b"}, {"write": "a"})
def text_that_is_a_path(a: str) -> Back:
    return (a,)


@shape((Path("a/b"),), {"a": "path"}, {"a": "a/b"}, {"write": "a"})
def text_or_path(a: str | Path) -> Back:
    return (a,)


@shape(([Path("a"), Path("b")],), {"a[]": "path"}, {"a": ["a", "b"]}, {"write": "a"})
def list_of_paths(a: list[Path]) -> Back:
    return (a,)


@shape((["a", "b"],), {"a[]": "path"}, {"a": ["a", "b"]}, {"write": "a[]"})
def list_of_texts_that_are_paths(a: list[str]) -> Back:
    return (a,)


@shape((["x", "y"],), {"a[]": "text"}, {"a": ["x", "y"]})
def list_of_texts(a: list[str]) -> Back:
    return (a,)


@shape((["x"],), {"a[]": "text"}, {"a": ["x"]})
def sequence(a: Sequence[str]) -> Back:
    return (a,)


@shape((("a", "b"),), {"a[]": "path"}, {"a": ["a", "b"]}, {"read": "a"})
def tuple_of_any_length(a: tuple[str, ...]) -> Back:
    return (a,)


@shape(((Path("a"), Path("b")),), {"a[]": "path"}, {"a": ["a", "b"]}, {"read": "a"})
def pair_of_paths(a: tuple[Path, Path]) -> Back:
    return (a,)


@shape((("x", 1),), {"a": "json"}, {"a": ["x", 1]})
def mixed_tuple(a: tuple[str, int]) -> Back:
    return (a,)


@shape(({"y", "x"},), {"a[]": "text"}, {"a": ["x", "y"]})
def set_of_texts(a: set[str]) -> Back:
    return (a,)


@shape((frozenset({Path("b"), Path("a")}),), {"a[]": "path"}, {"a": ["a", "b"]}, {"delete": "a"})
def frozenset_of_paths(a: frozenset[Path]) -> Back:
    return (a,)


@shape(({"k": [1, None]},), {"a": "json"}, {"a": {"k": [1, None]}})
def bare_dict(a: dict) -> Back:
    return (a,)


@shape(([1, {"k": "v"}],), {"a": "json"}, {"a": [1, {"k": "v"}]})
def bare_list(a: list) -> Back:
    return (a,)


@shape(({"k": "v"},), {"a": "json"}, {"a": {"k": "v"}})
def dict_of_texts(a: dict[str, str]) -> Back:
    return (a,)


@shape(({"k": 1},), {"a": "json"}, {"a": {"k": 1}})
def mapping(a: Mapping[str, int]) -> Back:
    return (a,)


@shape(
    ({"k": Path("f")},),
    {"a[].key": "text", "a[].value": "path"},
    {"a": [{"key": "k", "value": "f"}]},
    {"write": "a"},
)
def dict_of_paths(a: dict[str, Path]) -> Back:
    return (a,)


@shape(
    ({"f": "content"},),
    {"a[].key": "path", "a[].value": "text"},
    {"a": [{"key": "f", "value": "content"}]},
    {"write": "a[].key"},
)
def contents_by_path(a: dict[str, str]) -> Back:
    return (a,)


@shape(
    ({1: "x", 2: "y"},),
    {"a[].key": "number", "a[].value": "text"},
    {"a": [{"key": 1, "value": "x"}, {"key": 2, "value": "y"}]},
)
def dict_by_number(a: dict[int, str]) -> Back:
    return (a,)


@shape((Edit(Path("f"), "t"),), EDIT, {"edit": {"file": "f", "text": "t", "line": 1}}, {"write": "edit.file"})
def dataclass_(edit: Edit) -> Back:
    return (edit,)


@shape(
    ([Edit(Path("f"), "t", 2, "n")],),
    {name.replace("edit", "edit[]"): kind for name, kind in EDIT.items()},
    {"edit": [{"file": "f", "text": "t", "line": 2, "note": "n"}]},
    {"write": "edit"},
)
def list_of_dataclasses(edit: list[Edit]) -> Back:
    return (edit,)


@shape(
    (Batch([Edit(Path("f"), "t")], ("x",)),),
    {
        "b.edits[].file": "path",
        "b.edits[].text": "text",
        "b.edits[].line": "number",
        "b.edits[].note": "text",
        "b.tags[]": "text",
        "b.when": "text",
    },
    {"b": {"edits": [{"file": "f", "text": "t", "line": 1}], "tags": ["x"]}},
    {"write": "b.edits"},
)
def nested_dataclass(b: Batch) -> Back:
    return (b,)


@shape(
    (Model(file=Path("f")),),
    {"m.file": "path", "m.count": "number", "m.color": {"one_of": ["red", "blue"]}},
    {"m": {"file": "f", "count": 1, "color": "red"}},
    {"write": "m.file"},
)
def pydantic_model(m: Model) -> Back:
    return (m,)


@shape(({"file": Path("f")},), {"t.file": "path", "t.note": "text"}, {"t": {"file": "f"}}, {"write": "t"})
def typed_dict(t: Typed) -> Back:
    return (t,)


@shape((Named(Path("f")),), {"n.file": "path", "n.line": "number"}, {"n": {"file": "f", "line": 0}}, {"read": "n"})
def named_tuple(n: Named) -> Back:
    return (n,)


@shape((Struct(Path("f")),), {"s.file": "path", "s.tags[]": "text"}, {"s": {"file": "f", "tags": []}}, {"read": "s"})
def msgspec_struct(s: Struct) -> Back:
    return (s,)


@shape((Attrs(Path("f")),), {"s.file": "path", "s.line": "number"}, {"s": {"file": "f", "line": 3}}, {"read": "s"})
def attrs_class(s: Attrs) -> Back:
    return (s,)


@shape(("w",), {"a": {"one_of": ["r", "w"]}}, {"a": "w"})
def literal(a: Literal["r", "w"]) -> Back:
    return (a,)


@shape((Color.BLUE, Level.HIGH), {"a": {"one_of": ["red", "blue"]}, "b": {"one_of": [1, 2]}}, {"a": "blue", "b": 2})
def enums(a: Color, b: Level) -> Back:
    return (a, b)


@shape((Size.LARGE,), {"a": {"one_of": ["SMALL", "LARGE"]}}, {"a": "LARGE"})
def enum_by_name(a: Size) -> Back:
    return (a,)


@shape((1,), {"a": "json"}, {"a": 1})
def union(a: int | str) -> Back:
    return (a,)


@shape((["x"],), {"a": "json"}, {"a": ["x"]})
def text_or_list(a: Union[str, list[str]]) -> Back:  # noqa: UP007 (the older form)
    return (a,)


@shape((None,), {"a": "text"}, {})
def optional(a: Optional[str]) -> Back:  # noqa: UP045 (the older form)
    return (a,)


@shape((), {"a": "number", "b": "path"}, {"a": 3})
def defaults(a: int = 3, b: Path | None = None) -> Back:
    return (a, b)


@shape((None,), {"a": "json"}, {"a": None})
def null_beside_a_default(a: int | None = 3) -> Back:
    return (a,)


@shape(
    ("ls", "https://x.example/", "f"),
    {"a": "shell", "b": "url", "c": "path"},
    {"a": "ls", "b": "https://x.example/", "c": "f"},
)
def annotated(a: Shell, b: Url, c: FilePath) -> Back:
    return (a, b, c)


@shape((["f"],), {"a[]": "path"}, {"a": ["f"]}, {"read": "a"})
def annotated_in_a_list(a: list[Annotated[str, "path"]]) -> Back:
    return (a,)


@shape((UserId(7), [Path("f")]), {"a": "number", "b[]": "path"}, {"a": 7, "b": ["f"]}, {"read": "b"})
def new_type_and_alias(a: UserId, b: PATHS) -> Back:
    return (a, b)


MOMENT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@shape(
    (date(2026, 1, 2), MOMENT, time(3, 4), timedelta(days=1, seconds=2)),
    dict.fromkeys("abcd", "text"),
    {"a": "2026-01-02", "b": "2026-01-02T03:04:05+00:00", "c": "03:04:00", "d": "P1DT2S"},
)
def moments(a: date, b: datetime, c: time, d: timedelta) -> Back:
    return (a, b, c, d)


UUID = uuid.UUID("12345678-1234-5678-1234-567812345678")


@shape(
    (UUID, Decimal("12.5"), b"\x00\xff"),
    {"a": "text", "b": "number", "c": "text"},
    {"a": str(UUID), "b": 12.5, "c": "AP8="},
)
def written_as_text(a: uuid.UUID, b: Decimal, c: bytes) -> Back:
    return (a, b, c)


@shape(({"x": [1, 2.5, None, True]},), {"a": "json"}, {"a": {"x": [1, 2.5, None, True]}})
def anything(a: Any) -> Back:
    return (a,)


@shape((Path("a"), Path("b")), {"paths[]": "path"}, {"paths": ["a", "b"]}, {"read": "paths"})
def starred(*paths: Path) -> Back:
    return paths


@shape((), {"more": "json"}, {"more": {"x": 1}}, named={"x": 1})
def keywords(**more: int) -> Back:
    return (more,)


@shape(
    (),
    {"more[].key": "text", "more[].value": "path"},
    {"more": [{"key": "x", "value": "f"}]},
    {"read": "more"},
    named={"x": Path("f")},
)
def keyword_paths(**more: Path) -> Back:
    return (more,)


@shape((1, 2), {"a": "number", "b": "number", "c": "number"}, {"a": 1, "b": 2, "c": 3}, named={"c": 3})
def by_place_and_keyword(a: int, /, b: int, *, c: int) -> Back:
    return (a, b, c)


@shape((["x"],), {"a[]": "text"}, {"a": ["x"]})
def forward_reference(a: "list[str]") -> Back:  # noqa: UP037 (the older form)
    return (a,)


@shape(([["x"], []],), {"a": "json"}, {"a": [["x"], []]})
def list_of_lists(a: list[list[str]]) -> Back:
    return (a,)


@shape(([1, None],), {"a": "json"}, {"a": [1, None]})
def list_with_none(a: list[int | None]) -> Back:
    return (a,)


@dataclass
class Holder:
    """Its methods are tools too."""

    name: str = "h"
    seen: list[Any] = field(default_factory=list)

    def method(self, a: Path) -> Back:
        return (a,)

    @staticmethod
    def static(a: Path) -> Back:
        return (a,)

    @classmethod
    def of_class(cls, a: Path) -> Back:
        return (a,)

    def __call__(self, a: Path) -> Back:
        return (a,)


def with_mode(mode: str, a: Path) -> Back:
    return (a,)


_ONE = ((Path("f"),), {"a": "path"}, {"a": "f"}, {"read": "a"})
SHAPES["bound_method"] = Shape(Holder().method, *_ONE)
SHAPES["static_method"] = Shape(Holder.static, *_ONE)
SHAPES["class_method"] = Shape(Holder.of_class, *_ONE)
SHAPES["callable_object"] = Shape(Holder(), *_ONE)
SHAPES["partial"] = Shape(functools.partial(with_mode, "w"), *_ONE)


class Letter(pydantic.BaseModel):
    to: list[pydantic.EmailStr]


def email(a: pydantic.EmailStr) -> Back:
    return (a,)


def letter(a: Letter) -> Back:
    return (a,)


SHAPES["email"] = Shape(email, ("Ann@Mail.example",), {"a": "email"}, {"a": "Ann@Mail.example"})
SHAPES["letter"] = Shape(
    letter, (Letter(to=["ann@Mail.example"]),), {"a.to[]": "email"}, {"a": {"to": ["ann@mail.example"]}}
)


# What can't be judged, and a word of what the message advises


class Tree:
    children: list[Tree]


@dataclass
class Node:
    below: list[Node]


class Open(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="allow")


@dataclass
class Computed:
    a: int
    b: int = field(init=False, default=0)


def r_untyped(a): ...
def r_class(a: Tree) -> None: ...
def r_recursive(a: Node) -> None: ...
def r_open_model(a: Open) -> None: ...
def r_computed(a: Computed) -> None: ...
def r_callable(a: Callable[[], int]) -> None: ...
def r_two_texts(a: date | str) -> None: ...
def r_mixed_paths(a: tuple[Path, int]) -> None: ...
def r_list_of_lists(a: list[list[Path]]) -> None: ...
def r_path_or_list(a: Path | list[Path]) -> None: ...
def r_complex(a: complex) -> None: ...
def r_bytes_path(a: bytes) -> None: ...
def r_any_path(a: Any) -> None: ...
def r_dict_path(a: dict[str, str]) -> None: ...
def r_number_path(a: int) -> None: ...
def r_bare_dict(a: dict) -> None: ...
def r_secret(a: pydantic.SecretStr) -> None: ...
def r_io(a: typing.IO[str]) -> None: ...
def r_windows(a: "PureWindowsPath") -> None: ...  # type: ignore[name-defined]  # noqa: F821, UP037


REFUSED: dict[str, tuple[Callable[..., Any], Any, str]] = {
    "untyped": (r_untyped, "nothing", "annotate"),
    "class": (r_class, "nothing", "plain JSON"),
    "recursive": (r_recursive, "nothing", "plain JSON"),
    "open model": (r_open_model, "nothing", "forbid"),
    "computed field": (r_computed, "nothing", "leave it out"),
    "function": (r_callable, "nothing", "take a name"),
    "two types of text": (r_two_texts, "nothing", "take one of them"),
    "paths in a mixed tuple": (r_mixed_paths, {"write": "a"}, "a list, or a dataclass"),
    "paths in lists of lists": (r_list_of_lists, {"write": "a"}, "a list, or a dataclass"),
    "a path or paths": (r_path_or_list, {"write": "a"}, "a list, or a dataclass"),
    "complex": (r_complex, "nothing", "two floats"),
    "a path in bytes": (r_bytes_path, {"write": "a"}, "annotate it Path"),
    "a path in anything": (r_any_path, {"write": "a"}, "annotate it Path"),
    "a path somewhere in a dict": (r_dict_path, {"write": "a"}, "say which"),
    "a path in a number": (r_number_path, {"write": "a"}, "records"),
    "a path in a bare dict": (r_bare_dict, {"write": "a"}, "annotate it Path"),
    "secret": (r_secret, "nothing", "recorded"),
    "file object": (r_io, "nothing", "SafePath"),
    "unknown name": (r_windows, "nothing", "import it"),
}
