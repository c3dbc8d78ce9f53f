"""The pack `claude-code` against what the program itself offers to its model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from remit.declare.load import read_pack
from tests.hosts.claude import Claude
from tests.hosts.terminal import in_terminal

pytestmark = pytest.mark.hosts

PACK = read_pack("claude-code")
# What the pack leaves out on purpose; it says why there.
LEFT_OUT = {"AskUserQuestion": {"answers", "annotations"}, "ExitPlanMode": {"allowedPrompts"}}
# What the host adds before a hook sees the call, or offers only in some set-ups.
ADDED = {
    "Agent": {"name", "team_name", "mode", "run_in_background"},
    "ExitPlanMode": {"plan", "planFilePath"},
    "SendMessage": {"type", "recipient", "recipient_kind", "content"},
}
# Of whose values the pack takes only some.
NARROWED = {"Agent": {"isolation", "mode"}}
SETUPS: dict[str, tuple[dict[str, str], tuple[str, ...]]] = {
    "plain": ({}, ()),
    "another model": ({}, ("--model", "claude-sonnet-4-5")),
    "lists": ({"CLAUDE_CODE_ENABLE_TASKS": "0"}, ("--model", "claude-sonnet-4-5")),
    "search": ({}, ("--tools", "Glob,Grep")),
    "powershell": ({"CLAUDE_CODE_USE_POWERSHELL_TOOL": "1"}, ()),
    "held back": ({"ENABLE_TOOL_SEARCH": "true"}, ()),
}


def leaves(schema: Mapping[str, Any], name: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The arguments of a schema as the pack names them: `a`, `a.b`, `a[]`, `a[].b`."""
    if schema.get("type") == "array":
        yield from leaves(schema["items"], name + "[]")
    elif schema.get("properties"):
        for key, value in schema["properties"].items():
            yield from leaves(value, f"{name}.{key}" if name else key)
    elif name:
        yield name, schema


def compare(tools: Mapping[str, Mapping[str, Any]]) -> None:
    """Each tool has in the pack the arguments of its schema, and none beside them."""
    for name, offered in tools.items():
        if name != "DeferredToolPlaceholder":
            assert name in PACK, f"`{name}` is not in the pack"
            compare_tool(name, offered["input_schema"])


def compare_tool(name: str, schema: Mapping[str, Any]) -> None:
    declared = PACK[name].args
    whole = {key for key, argument in declared.items() if argument.kind == "json"}
    asked = {
        key: one for key, one in leaves(schema) if re.split(r"[.[]", key)[0] not in whole | LEFT_OUT.get(name, set())
    }
    extra = ADDED.get(name, set()) - set(schema["properties"])
    assert set(asked) == set(declared) - whole - extra
    assert whole <= set(schema["properties"])
    for key, argument in declared.items():
        if argument.one_of and "enum" in asked.get(key, {}):
            assert set(argument.one_of) <= set(asked[key]["enum"])
            assert set(argument.one_of) == set(asked[key]["enum"]) or key in NARROWED.get(name, set())
    # What the schema lets the model leave out, the pack must too; the other way round the host itself refuses.
    needed = {re.split(r"[.[]", key)[0] for key, argument in declared.items() if not argument.optional}
    assert needed <= set(schema.get("required", []))


@pytest.mark.parametrize("setup", SETUPS)
def test_every_tool_on_offer_is_declared_with_exactly_its_arguments(claude: Claude, setup: str):
    env, options = SETUPS[setup]
    claude.env.update({"ENABLE_TOOL_SEARCH": "false", **env})
    run = claude.run({"main": ["done"]}, *options)
    compare(run.model.of("main")[0].tools)


def test_every_tool_on_offer_in_a_terminal_is_declared(claude: Claude):
    claude.env["ENABLE_TOOL_SEARCH"] = "false"
    session = in_terminal(claude, {"main": ["done"]}, [(lambda model: bool(model.of("main")), [])])
    tools = session.model.of("main")[0].tools
    assert {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"} <= set(tools)
    compare(tools)
