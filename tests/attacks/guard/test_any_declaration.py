"""Whatever loads, in Python or in YAML: no call of it writes out of bounds. Generated, and run for real."""

from __future__ import annotations

import tempfile
import types
from collections.abc import Mapping, Sequence
from dataclasses import make_dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, NamedTuple, NewType, Optional, TypedDict

import hypothesis.strategies as st
import msgspec
import pydantic
from hypothesis import given, settings

from remit.compile import build_rulebook
from remit.enforce.errors import GuardError
from remit.enforce.guard import Guard
from remit.model.errors import PolicyError
from remit.scopes.kinds import names
from tests.attacks.guard.world import AGENT, OUT_OF_BOUNDS, World

Name = NewType("Name", str)
LINKS = ("src/link/x", "src/hooks/x")
TARGETS = (*OUT_OF_BOUNDS[:8], *LINKS, "/etc/remit-test", "src/ok/fine")
LEAVES: list[Any] = [str, Path, PurePosixPath, Any, Name, str | Path, Optional[str], int | str]  # noqa: UP045
LEAVES += [Annotated[str, kind] for kind in ("path", "text", "url", "skill", "glob")]
LEAVES += [Literal["src/ok/fine", "docs/a", ".git/hooks/pre-commit"], int, bytes]


TYPED: Any = TypedDict
NAMED: Any = NamedTuple
MAYBE: Any = Optional
LIST: Any = list
SEQUENCE: Any = Sequence
TUPLE: Any = tuple
SET: Any = set
DICT: Any = dict
MAPPING: Any = Mapping
WRAPPED: dict[str, Any] = {
    "list": lambda kind: LIST[kind],
    "sequence": lambda kind: SEQUENCE[kind],
    "pair": lambda kind: TUPLE[kind, kind],
    "tuple": lambda kind: TUPLE[kind, ...],
    "set": lambda kind: SET[kind],
    "values": lambda kind: DICT[str, kind],
    "keys": lambda kind: DICT[kind, str],
    "mapping": lambda kind: MAPPING[str, kind],
    "maybe": lambda kind: MAYBE[kind],
    "mixed": lambda kind: TUPLE[int, kind],
}


def _record(kind: Any, style: str) -> Any:
    if style == "dataclass":
        return make_dataclass("Edit", [("note", str), ("path", kind)])
    if style == "typed":
        return TYPED("Edit", {"note": str, "path": kind})
    if style == "named":
        return NAMED("Edit", [("note", str), ("path", kind)])
    if style == "struct":
        return msgspec.defstruct("Edit", [("note", str), ("path", kind)])
    return pydantic.create_model("Edit", note=(str, ...), path=(kind, ...))


@st.composite
def kinds_of_values(draw: st.DrawFn) -> Any:
    """A type, nested up to three times."""
    kind = draw(st.sampled_from(LEAVES))
    for _ in range(draw(st.integers(0, 3))):
        wrap = draw(st.sampled_from((*WRAPPED, "dataclass", "typed", "named", "struct", "model")))
        try:
            kind = WRAPPED[wrap](kind) if wrap in WRAPPED else _record(kind, wrap)
        except (TypeError, pydantic.PydanticUserError, pydantic.errors.PydanticSchemaGenerationError):
            break
    return kind


def strings(value: Any) -> list[str]:
    """Every text anywhere in a value: what a careless tool could take for a path."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, PurePosixPath):
        return [str(value)]
    if isinstance(value, bytes):
        return [value.decode()]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for one in pair for text in strings(one)]
    if isinstance(value, list | tuple | set | frozenset):
        return [text for one in value for text in strings(one)]
    fields: Any = getattr(value, "__dict__", None) or getattr(value, "__struct_fields__", ())
    return [text for name in fields for text in strings(getattr(value, name))]


def sent(schema: Any, path: str) -> Any:
    """JSON for a schema, with the path wherever a text may be."""
    if "enum" in schema:
        return path if path in schema["enum"] else schema["enum"][0]
    if "anyOf" in schema:
        return sent(schema["anyOf"][0], path)
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        inner = {name: sent(one, path) for name, one in schema.get("properties", {}).items()}
        more = schema.get("additionalProperties")
        return inner | ({path: sent(more, path)} if isinstance(more, dict) else {})
    if kind == "array":
        places = schema.get("prefixItems") or [schema.get("items") or {}]
        return [sent(one, path) for one in places]
    if kind in ("number", "integer"):
        return 1
    return kind == "boolean" or path


def named(declared: dict[str, Any]) -> list[str]:
    heads = {name.split(".")[0].removesuffix("[]") for name in declared}
    return sorted({*declared, *heads})


@given(st.data())
@settings(max_examples=40)
def test_no_function_that_is_declared_writes_out_of_bounds(data: st.DataObject):
    """The tool writes to each text under the argument that it says it writes to, and to nothing else."""
    kind = data.draw(kinds_of_values())
    effect = data.draw(st.sampled_from(["write", "delete"]))
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder).resolve())
        probe = Guard({"remit": 1, "agents": {}})
        target = "value"

        def tool(value: Any) -> None:
            world.write(*_under(value, target))

        tool.__annotations__["value"] = kind
        try:
            probe.tool(does="nothing")(tool)
            target = data.draw(st.sampled_from(named(probe._functions["tool"].declaration["args"])))
            world.guard.tool("tool", does={effect: target}, tier=1)(tool)
        except GuardError as refused:
            if refused.help is None:
                raise
            return
        with world.guard:
            schema = world.guard._functions["tool"].schema()["properties"]["value"]
            for path in TARGETS:
                world.attempt(partial(world.guard.call, "tool", {"value": sent(schema, path)}))
        assert world.harm() == [], (kind, target)


def _under(value: Any, target: str) -> list[str]:
    """The texts at a name such as `value[].key`, as the tool's author means it; at `value`, what holds paths."""
    parts = target.replace("[]", ".[]").split(".")[1:]
    if not parts:
        return _paths(value)
    found = [value]
    for part in parts:
        found = [inner for one in found for inner in _step(one, part)]
    return [text for one in found for text in strings(one)]


def _paths(value: Any) -> list[str]:
    """Of an argument as a whole: its paths if it has any, else its only texts."""
    if isinstance(value, Mapping):
        paths = [one for pair in value.items() for one in pair if isinstance(one, PurePosixPath)]
        return strings(paths) if paths else [text for one in value.values() for text in _paths(one)]
    if isinstance(value, list | tuple | set | frozenset) and not hasattr(value, "_fields"):
        return [text for one in value for text in _paths(one)]
    if hasattr(value, "path") and not isinstance(value, PurePosixPath):
        return _paths(value.path)
    return strings(value)


def _step(value: Any, part: str) -> list[Any]:
    if value is None:
        return []
    if part == "[]":
        if isinstance(value, Mapping):
            return [types.SimpleNamespace(key=key, value=one) for key, one in value.items()]
        return list(value)
    if isinstance(value, Mapping):
        return [value[part]] if part in value else []
    return [getattr(value, part)]


@given(st.data())
@settings(max_examples=40)
def test_no_tool_of_a_policy_writes_out_of_bounds(data: st.DataObject):
    """The same for declarations in a policy: the function has no types of its own to say more."""
    name = data.draw(st.sampled_from(["p", "p[]", "p.q", "p[].q"]))
    kind = data.draw(st.sampled_from([*names(), {"one_of": list(TARGETS)}]))
    effect = data.draw(st.sampled_from(["write", "delete"]))
    does: Any = {effect: name} if data.draw(st.booleans()) else {effect: {"below": name}}
    declared = {"args": {name: kind}, "does": does, "tier": 1, "dialect": "sqlite"}
    policy = {"remit": 1, "tools": {"tool": declared}, "agents": {"a": AGENT}, "protect": ["src/kept/**"]}
    try:
        build_rulebook(policy)
    except PolicyError as refused:
        if not all(problem.code == "unjudged-effect" and problem.help for problem in refused.problems):
            raise
        return
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder).resolve(), policy)

        @world.guard.tool("tool")
        def tool(p: Any) -> None:
            world.write(*_under(p, name))

        with world.guard:
            for path in TARGETS:
                inner: Any = {"q": path} if name.endswith(".q") else path
                value = [inner] if "[]" in name else inner
                world.attempt(partial(world.guard.call, "tool", {"p": value}))
        assert world.harm() == [], (name, kind)
