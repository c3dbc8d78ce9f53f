"""A policy from what an MCP server offers: the answer to `tools/list`, as JSON.

A server's own hints are claims. A tool that says it only reads is drafted as reading the server's records; every other
as changing them, at tier 2, and a person decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from remit.draft.model import Draft, quoted
from remit.model.errors import RemitError
from remit.model.text import shown
from remit.scan.vocabulary import mutates

MOST = 1_000
_SHARED = 4
"""So many tools with one question are named each by itself; of more, the first."""
_KINDS = {"string": "text", "number": "number", "integer": "number", "boolean": "flag"}
_NAME = re.compile(r"[A-Za-z_][\w./:-]{0,127}")
_ARGUMENT = re.compile(r"[A-Za-z_][\w-]{0,63}")


class ToolListError(RemitError):
    """A text that is no list of tools."""

    code = "bad-tool-list"


def read_tools(text: str) -> list[dict[str, Any]]:
    """The tools of an answer to `tools/list`, of its `result`, or of a bare list. Raises ToolListError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolListError(f"not JSON: {error}") from None
    for key in ("result", "tools"):
        if isinstance(data, dict) and key in data:
            data = data[key]
    if not isinstance(data, list) or not all(
        isinstance(one, dict) and isinstance(one.get("name"), str) for one in data
    ):
        raise ToolListError('expected the answer to `tools/list`: {"tools": [{"name": …, "inputSchema": …}]}')
    if len(data) > MOST:
        raise ToolListError(f"more than {MOST} tools")
    return data


class Served(msgspec.Struct, frozen=True):
    """A tool of a server: its name in a policy, whether the server says that it only reads, and its declaration."""

    name: str
    reads: bool
    lines: tuple[str, ...]


def served_tools(text: str, server: str) -> tuple[list[Served], list[str]]:
    """The tools of a server that can be declared, and what to decide about each. Raises ToolListError."""
    found: list[Served] = []
    decisions: list[str] = []
    for tool in read_tools(text):
        own = f"mcp__{server}__"  # a list that a host saved has it already; another server's name is no part of it
        name = f"{own}{tool['name'].removeprefix(own)}"
        if not _NAME.fullmatch(name):
            decisions.append(f"`{shown(name)}` left out: not a name that a policy can have")
            continue
        arguments, optional, problem = _arguments(tool.get("inputSchema"))
        if problem is not None:
            decisions.append(f"`{shown(name)}` left out: {problem}")
            continue
        if any(one.name == name for one in found):
            decisions.append(f"`{shown(name)}` is listed twice; the first is in the draft")
            continue
        hints: dict[str, Any] = given if isinstance(given := tool.get("annotations"), dict) else {}
        destroys = hints.get("destructiveHint") is True
        reads = hints.get("readOnlyHint") is True and not destroys and not mutates(tool["name"])
        lines = _declared(name, arguments, optional, server, reads=reads, destroys=destroys)
        found.append(Served(name, reads, tuple(lines)))
        if hints.get("readOnlyHint") is True and not reads:
            decisions.append(f"`{shown(name)}` says that it only reads, and its name or another hint that it changes")
    changing = [f"`{shown(one.name)}`" for one in found if not one.reads]
    drafted = f"(drafted as changing {shown(server)})"
    if len(changing) <= _SHARED:
        decisions += [f"{name}: which effect it has, and its tier {drafted}" for name in changing]
    else:
        more = f"{', '.join(changing[:_SHARED])} and {len(changing) - _SHARED} more"
        decisions.append(f"{more}: which effect each has, and its tier {drafted}")
    if not found:
        raise ToolListError("no tool of the list can be declared")
    return found, decisions


def names_served(written: str, name: str) -> bool:
    """Whether an entry of a list names a tool of a server, as `mcp__db__query` or `db/query`, or all that it has."""
    server, _, tool = name.removeprefix("mcp__").partition("__")
    mine, slash, own = written.partition("/")
    if not slash:
        mine, _, own = written.removeprefix("mcp__").partition("__")
        if not written.startswith("mcp__"):
            return False
    return mine == server and own in (tool, "*", "")


def draft_from_tools(served: Sequence[Served], decisions: Sequence[str], server: str) -> Draft:
    """A draft with every tool declared, a reader that may use those that only read, and a worker for the rest."""
    reading = [tool.name for tool in served if tool.reads]
    changing = [tool.name for tool in served if not tool.reads]
    lines = [
        f"# A draft by `remit init`, from the tools of the MCP server `{shown(server)}`.",
        "remit: 1",
        "",
        "tools:",
        *(line for tool in served for line in tool.lines),
        "",
        "agents:",
        "  reader:",
        f"    may: [{', '.join(map(quoted, reading))}]   # what the server says only reads",
    ]
    if changing:
        lines += ["  worker:", f"    may: [{', '.join(map(quoted, [*reading, *changing]))}]"]
        lines += [f"    must_ask: [{', '.join(map(quoted, changing))}]   # until somebody has looked at each"]
    names = "the agents' names: they must be those of your host or program"
    return Draft("\n".join(lines) + "\n", "", (*decisions, names), 2 if changing else 1)


def _declared(
    name: str, arguments: dict[str, str], optional: list[str], server: str, *, reads: bool, destroys: bool
) -> list[str]:
    given = ", ".join(f"{quoted(argument)}: {kind}" for argument, kind in arguments.items())
    effect = "read" if reads else "delete" if destroys else "write"
    lines = [f"  {quoted(name)}:", f"    args: {{{given}}}"]
    if optional:
        lines.append(f"    optional: [{', '.join(map(quoted, optional))}]")
    lines.append(f"    does: {{{effect}: {{records: {quoted(server)}}}}}")
    if not reads:
        lines.append(f"    tier: {3 if destroys else 2}")
    return lines


def _arguments(schema: Any) -> tuple[dict[str, str], list[str], str | None]:
    properties = schema.get("properties", {}) if isinstance(schema, dict) else {}
    if not isinstance(properties, dict):
        return {}, [], "its schema can't be read"
    required = schema.get("required", []) if isinstance(schema, dict) else []
    found: dict[str, str] = {}
    for name, value in properties.items():
        if not _ARGUMENT.fullmatch(name):
            return {}, [], f"its argument `{shown(name)}` has a name that a policy can't have"
        kind = value.get("type") if isinstance(value, dict) else None
        found[name] = _KINDS.get(kind, "json") if isinstance(kind, str) else "json"
    optional = [name for name in found if not isinstance(required, list) or name not in required]
    return found, optional, None
