"""A tool as JSON Schema, ready for a model's list of tools."""

from __future__ import annotations

from typing import Any

from remit.enforce.declared import Declared
from remit.model.policy import Argument, Tool
from remit.scopes.kinds import kind_of


def tool_schema(tool: Tool, declared: Declared | None = None) -> dict[str, Any]:
    """`{"name", "description", "input_schema"}`; the list of arguments is closed, as it is for decisions.

    What the function says about its types is kept where the policy says no more about that argument.
    """
    root: dict[str, Any] = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for name, argument in tool.args.items():
        _add(root, name.split("."), argument)
    if declared is not None:
        _refine(root, tool, declared)
    return {"name": tool.name, "description": tool.about or tool.name, "input_schema": _tidy(root)}


def _refine(root: dict[str, Any], tool: Tool, declared: Declared) -> None:
    types = declared.schema()
    declared_args = declared.declaration["args"]
    for name, schema in types["properties"].items():
        here = {n: a for n, a in tool.args.items() if n == name or n.startswith((f"{name}.", f"{name}["))}
        same = here.keys() <= declared_args.keys() or name in here
        narrower = any(list(a.one_of) != _choices(declared_args.get(n)) for n, a in here.items() if a.one_of)
        if same and not narrower and name in root["properties"]:
            root["properties"][name] = schema
            if name in root["required"] and name not in types.get("required", ()):
                root["required"].remove(name)


def _choices(kind: Any) -> list[Any]:
    return kind["one_of"] if isinstance(kind, dict) else []


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
