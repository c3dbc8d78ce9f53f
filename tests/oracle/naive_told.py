"""What can be told of a call that step 1 refuses (semantics, Observing)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import msgspec

from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.policy import Tool
from tests.oracle.naive_calls import (
    Values,
    _spellings,
    serves_as_base,
    units_of,
    units_of_value,
    values_of,
    without_nulls,
)
from tests.oracle.naive_paths import Refused, Unit


def told(tool: Tool, call: Call, facts: Facts) -> tuple[Values, list[Unit]]:
    """The values that are as declared, and the units: of these, of what is fixed, and of every other text."""
    values: Values = {}
    aside: list[Any] = []
    for name, value in without_nulls(call.args, "", tool).items():
        mine = {n: a for n, a in tool.args.items() if n == name or n.startswith((name + "[]", name + "."))}
        found, wrong = values_of(msgspec.structs.replace(tool, args=mine), {name: value})
        if wrong or not mine:
            aside.append(value)
        else:
            values |= found
    for name, argument in tool.args.items():
        if name not in values and argument.default is not None and "[" not in name.rpartition(".")[0]:
            values[name] = [argument.default]
    units, _ = units_of(msgspec.structs.replace(tool, args={}, does=_fixed(tool)), {}, call, facts)
    for name in tool.args:
        for value in values.get(name, []):
            try:
                if serves_as_base(tool, name, values):
                    _spellings(tool, name, value, call, facts)
                else:
                    units += units_of_value(tool, name, values, value, call, facts)
            except Refused:
                aside.append(value)
    anything = frozenset({"read", "write"})
    units += [Unit("path", None, anything, (end,)) for text in texts(aside) for end in ends(text)]
    return values, units


def _fixed(tool: Tool) -> Any:
    return tuple(does for does in tool.does if does.arg is None and does.effect != "delegate")


def texts(values: list[Any]) -> Iterator[str]:
    """Every text in them."""
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from texts([*value.keys(), *value.values()])
        elif isinstance(value, list | tuple):
            yield from texts(list(value))


def ends(text: str) -> Iterator[str]:
    """The paths that it could be, wherever it starts."""
    kinds = {unicodedata.category(character) for character in text.replace(" ", "")}
    if not text or len(text) > 4096 or kinds & {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}:
        return
    segments: list[str] = []
    for part in text.replace('"', "").replace("'", "").split("/"):
        if part == "..":
            segments = segments[:-1]
        elif part not in ("", "."):
            segments.append(part)
    for start in range(max(1, len(segments))):
        yield "/".join(segments[start:]) or "."
