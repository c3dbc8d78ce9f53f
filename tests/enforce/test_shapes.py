"""Every shape of function: judged field by field and rebuilt from that, or refused with what to write instead."""

from __future__ import annotations

import asyncio
import functools
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallDenied, GuardError
from remit.enforce.guard import Guard
from tests.enforce.shapes import REFUSED, SHAPES, Shape


def guarded(folder: Path, shape: Shape, *, later: bool = False) -> tuple[Guard, Any]:
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["tool"]}}}, root=folder, state=folder / ".state")
    function = shape.function
    if later:

        @functools.wraps(function)
        async def wrapped(*args: Any, **named: Any) -> Any:
            return shape.function(*args, **named)

        function = wrapped
    return guard, guard.tool("tool", does=shape.does)(function)


def shown(values: Any, folder: Path) -> list[str]:
    """What a function got, with its absolute paths as the caller wrote them."""
    texts = [sorted(map(repr, one)) if isinstance(one, set | frozenset) else [repr(one)] for one in values]
    return [text.replace(f"{folder.resolve()}/", "") for found in texts for text in found]


@pytest.mark.parametrize("name", SHAPES)
def test_it_is_judged_and_rebuilt(tmp_path: Path, name: str):
    shape = SHAPES[name]
    guard, tool = guarded(tmp_path, shape)
    declared = guard._functions["tool"]
    assert declared.declaration["args"] == shape.declared
    assert declared.taken(shape.args, shape.named)[1] == shape.judged
    expected = shape.function(*shape.args, **shape.named)
    with guard, guard.agent("a"):
        direct = tool(*shape.args, **shape.named)
        by_name = guard.call("tool", shape.judged)
        schema = guard.tools_for("a")[0]["input_schema"]
    assert shown(direct, tmp_path) == shown(expected, tmp_path) == shown(by_name, tmp_path)
    assert [type(one) for one in direct] == [type(one) for one in expected] == [type(one) for one in by_name]
    assert not any(one is given for one in direct for given in shape.args if isinstance(given, list | dict | set))
    check_schema(schema, shape.judged)


def check_schema(schema: dict[str, Any], judged: dict[str, Any]) -> None:
    """What is judged is what the schema tells a model; a dict by paths may be written as an object."""
    from jsonschema import Draft202012Validator

    Draft202012Validator.check_schema(schema)
    as_sent = {
        name: {entry["key"]: entry["value"] for entry in value}
        if isinstance(value, list)
        and value
        and isinstance(value[0], dict)
        and value[0].keys() == {"key", "value"}
        and isinstance(value[0]["key"], str)
        else value
        for name, value in judged.items()
    }
    Draft202012Validator(schema).validate(as_sent)
    with pytest.raises(Exception, match="Additional properties"):
        Draft202012Validator(schema).validate({**as_sent, "surely_not_declared": 1})


@pytest.mark.parametrize("name", ["list_of_paths", "dataclass_", "pydantic_model", "keyword_paths", "starred"])
def test_the_same_for_async(tmp_path: Path, name: str):
    shape = SHAPES[name]
    guard, tool = guarded(tmp_path, shape, later=True)

    async def main() -> Any:
        with guard.agent("a"):
            return await tool(*shape.args, **shape.named), await guard.acall("tool", shape.judged)

    with guard:
        direct, by_name = asyncio.run(main())
    expected = shape.function(*shape.args, **shape.named)
    assert shown(direct, tmp_path) == shown(by_name, tmp_path) == shown(expected, tmp_path)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_judged_says_what_to_write(name: str):
    function, does, advice = REFUSED[name]
    with pytest.raises(GuardError) as caught:
        Guard({"remit": 1, "agents": {}}).tool("tool", does=does)(function)
    assert caught.value.help is not None
    assert advice in caught.value.help


def test_methods_in_the_body_of_a_class(tmp_path: Path):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["*"]}}}, root=tmp_path, state=tmp_path / ".state")

    class Files:
        def __init__(self, name: str) -> None:
            self.name = name

        @guard.tool(does={"read": "path"})
        def look(self, path: Path) -> tuple[str, Path]:
            return self.name, path

        @guard.tool(does={"read": "path"})
        async def later(self, path: Path) -> tuple[str, Path]:
            return self.name, path

        @guard.tool(does={"read": "path"})
        @staticmethod
        def inside(path: Path) -> Path:
            return path

        @staticmethod
        @guard.tool(does={"read": "path"})
        def outside(path: Path) -> Path:
            return path

        @guard.tool(does={"read": "path"})
        @classmethod
        def made(cls, path: Path) -> tuple[str, Path]:
            return cls.__name__, path

    one, other, x = Files("one"), Files("other"), tmp_path.resolve() / "x"
    with guard, guard.agent("a"):
        assert one.look(Path("x")) == ("one", x)
        assert other.look(path=Path("x")) == ("other", x)
        assert asyncio.run(one.later(Path("x"))) == ("one", x)
        assert Files.inside(Path("x")) == one.inside(Path("x")) == x
        assert Files.outside(Path("x")) == one.outside(Path("x")) == x
        assert Files.made(Path("x")) == one.made(Path("x")) == ("Files", x)
        with pytest.raises(GuardError, match="is a method"):
            guard.call("look", {"path": "x"})
        with pytest.raises(CallDenied, match="outside the root"):
            one.look(Path("/etc/passwd"))


def test_a_lambda_needs_a_name_and_kinds(tmp_path: Path):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["tool"]}}}, root=tmp_path, state=tmp_path / ".state")
    with pytest.raises(GuardError, match="not a valid name"):
        guard.tool(does="nothing")(lambda a: a)
    tool = guard.tool("tool", does={"read": "a"}, kinds={"a": "path"})(lambda a: a)
    with guard, guard.agent("a"):
        assert tool("x") == str(tmp_path.resolve() / "x")
        with pytest.raises(CallDenied):
            tool("../x")


LISTS = {"arguments[]": "text", "command": "text"}


def test_a_list_agrees_with_a_policy_that_declares_it(tmp_path: Path):
    """`"arguments[]": text` in the policy and `list[str]` at the function are the same."""
    tools = {
        "git": {"args": LISTS, "does": "nothing"},
        "look": {"args": {"paths[]": "path"}, "does": {"read": "paths[]"}},
    }
    policy = {"remit": 1, "tools": tools, "agents": {"a": {"may": ["git", "look"]}}}
    guard = Guard(policy, root=tmp_path, state=tmp_path / ".state")

    @guard.tool()
    def git(command: str, arguments: list[str]) -> list[str]:
        return arguments

    @guard.tool(kinds={"paths[]": "path"})
    def look(paths: list[str]) -> list[str]:
        return paths

    with guard, guard.agent("a"):
        assert git("add", ["x"]) == ["x"]
        assert look(["x"]) == [str(tmp_path.resolve() / "x")]
        with pytest.raises(CallDenied):
            look(["x", "../y"])


@pytest.mark.parametrize("kind", ["json", "refined"])
def test_a_policy_may_say_less_or_more_about_a_list(tmp_path: Path, kind: str):
    """json for a harmless list, or fields of a list that the function takes as plain JSON."""
    args: dict[str, Any] = (
        {"tags": "json", "edits": "json"} if kind == "json" else {"tags[]": "text", "edits[].file": "path"}
    )
    does: Any = "nothing" if kind == "json" else {"write": "edits[].file"}
    tools = {"save": {"args": args, "does": does, "tier": 1}}
    policy = {"remit": 1, "tools": tools, "agents": {"a": {"may": ["save"]}}}
    guard = Guard(policy, root=tmp_path, state=tmp_path / ".state")

    @guard.tool()
    def save(tags: list[str], edits: list[Any]) -> Any:
        return tags, edits

    with guard, guard.agent("a"):
        given = "f" if kind == "json" else str(tmp_path.resolve() / "f")
        assert save(["x"], [{"file": "f"}]) == (["x"], [{"file": given}])
        if kind == "refined":
            with pytest.raises(CallDenied):
                save(["x"], [{"file": ".git/hooks/x"}])


def test_paths_hidden_from_a_policy_that_says_json_contradict(tmp_path: Path):
    from remit.model.errors import PolicyError

    tools = {"save": {"args": {"paths": "json"}, "does": "nothing"}}
    guard = Guard({"remit": 1, "tools": tools, "agents": {"a": {"may": ["save"]}}}, root=tmp_path)

    @guard.tool()
    def save(paths: list[Path]) -> None: ...

    with pytest.raises(PolicyError, match="do not agree"):
        guard.start()


def test_null_from_a_model_is_absent(tmp_path: Path):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["tool"]}}}, root=tmp_path, state=tmp_path / ".state")

    @guard.tool(does={"read": "path"})
    def tool(path: Path = Path("here"), depth: int | None = None) -> Any:
        return path, depth

    with guard, guard.agent("a"):
        assert guard.call("tool", {"path": None, "depth": None}) == (tmp_path.resolve() / "here", None)


@pytest.mark.parametrize("name", ["shell", "path", "where", "email"])
def test_a_name_that_scopes_use_is_refused_where_it_is_declared(tmp_path: Path, name: str):
    guard = Guard({"remit": 1, "agents": {"a": {"may": [name]}}}, root=tmp_path)
    with pytest.raises(GuardError, match="word of scopes") as refused:
        guard.tool(name, does="nothing")(lambda: None)
    assert refused.value.help == f'give the tool another name: @guard.tool("run_{name}")'


@pytest.mark.parametrize("kind", [io.TextIOWrapper, io.BufferedReader, io.BufferedWriter])
def test_a_file_object_says_what_to_take_instead(tmp_path: Path, kind: Any):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["look"]}}}, root=tmp_path)

    def look(file: Any) -> None:
        """Never run."""

    look.__annotations__["file"] = kind
    with pytest.raises(GuardError) as refused:
        guard.tool(does={"read": "file"})(look)
    assert "take a TextIO or BinaryIO, or a SafePath" in str(refused.value.help)


def test_an_approval_that_was_requested_is_of_the_call(tmp_path: Path):
    """What an agent asks for by `remit_request` is the call that it makes then, with its defaults and dates."""
    may = ["tool", "remit_request"]
    guard = Guard(
        {"remit": 1, "use": ["remit"], "agents": {"a": {"may": may}}}, root=tmp_path, state=tmp_path / ".state"
    )

    @guard.tool(does={"deploy": "https://prod.example/**"})
    def tool(at: datetime, note: str | None = None, times: int = 2) -> tuple[Any, ...]:
        return at, note, times

    said = {"intent": "deploy", "because": "tested", "consequences": "users get it"}
    args = {"at": "2026-01-02T03:04:05Z", "note": None}
    with guard, guard.agent("a"):
        told = guard.call("remit_request", {"tool": "tool", "args": args, **said})
        guard.authority.answer(told["approval"], "approve", by="ann")
        assert guard.call("tool", args) == (datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), None, 2)
