"""A tool as JSON Schema, ready for a model's list of tools."""

from __future__ import annotations

from typing import Any

from remit.model.policy import Argument, Tool
from remit.scopes.kinds import kind_of


def tool_schema(tool: Tool) -> dict[str, Any]:
    """`{"name", "description", "input_schema"}`; the list of arguments is closed, as it is for decisions."""
    root: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for name, argument in tool.args.items():
        _add(root, name.split("."), argument)
    return {"name": tool.name, "description": tool.about or tool.name, "input_schema": _tidy(root)}


def _add(into: dict[str, Any], parts: list[str], argument: Argument) -> None:
    key, many = parts[0].removesuffix("[]"), parts[0].endswith("[]")
    if len(parts) == 1:
        found = _leaf(argument)
        into["properties"][key] = {"type": "array", "items": found} if many else found
    else:
        fresh = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
        held = into["properties"].setdefault(key, {"type": "array", "items": fresh} if many else fresh)
        _add(held["items"] if many else held, parts[1:], argument)
    if not argument.optional and key not in into["required"]:
        into["required"].append(key)


def _leaf(argument: Argument) -> dict[str, Any]:
    if argument.one_of:
        return {"enum": list(argument.one_of)}
    kind = kind_of(argument.kind)
    return {**kind.schema, **({"description": kind.name} if kind.unit else {})}


def _tidy(value: Any) -> Any:
    """Without empty lists of required names."""
    if isinstance(value, dict):
        return {k: _tidy(v) for k, v in value.items() if not (k == "required" and v == [])}
    return value
