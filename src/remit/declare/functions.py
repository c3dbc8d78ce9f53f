"""Tools that a program declares at its functions: they join the policy's own, and must not contradict them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from remit.declare import format as shape
from remit.declare.nodes import from_python
from remit.declare.rules import rule_keys
from remit.forms.shapes import BAD, Reader
from remit.model.policy import Argument, Tool
from remit.scopes.kinds import kind_of

SOURCE = "functions"
_FIELDS = {"args": "args", "optional": "args", "defaults": "args", "does": "does"}


def with_functions(
    tools: dict[str, Tool],
    functions: Mapping[str, Mapping[str, Any]],
    reader: Reader,
    published_by: Sequence[str] = (),
) -> dict[str, Tool]:
    """The tools with those of the functions; what contradicts is told to the reader.

    A published tool must be exactly what the function says. Where programs have published their tools, a function that
    isn't among them is a difference too; so is a tool without a function, if only one program has published.
    """
    if not functions:
        return tools
    silent: dict[str, Any] = {"does": "nothing"}  # for what the policy says; only what is told is compared
    own = {name for name, tool in tools.items() if not tool.published}
    data = {"remit": 1, "tools": {n: (silent if n in own else {}) | dict(told) for n, told in functions.items()}}
    found = shape.included.read(from_python(data, SOURCE), reader)
    if found is BAD:
        return tools
    joined = dict(tools)
    for name, tool in found["tools"].items():
        if name in rule_keys():
            message = f"`{name}` is a word of scopes and can't name a tool"
            reader.fail(SOURCE, "bad-name", message, f'give the tool another name: @guard.tool("run_{name}")')
        tool = msgspec.structs.replace(tool, name=name)
        known = tools.get(name)
        if known is None:
            joined[name] = tool
            if published_by:
                reader.fail(SOURCE, "not-published", f"tool `{name}` is not published", update(published_by))
        elif known.published:
            _match(known, tool, reader, published_by)
        else:
            _compare(known, tool, functions[name], reader)
    for name, tool in tools.items():
        if tool.published and name not in functions and len(published_by) == 1:
            message = f"tool `{name}` is published, but the program has no function for it"
            reader.fail(tool.at or SOURCE, "not-published", message, update(published_by))
    return joined


def update(published_by: Sequence[str]) -> str:
    """Words for how the published tools are brought up to date."""
    command = f"remit publish {' '.join(published_by) or 'app.py:guard'}"
    return f"run `{command}`; in an activated project, then `remit activate`"


def _match(known: Tool, tool: Tool, reader: Reader, published_by: Sequence[str]) -> None:
    """Everything counts, in both directions, except words for people."""
    for key in Tool.__struct_fields__:
        there, here = getattr(known, key), getattr(tool, key)
        if key in ("name", "about", "pack", "published", "at") or _same(there, here):
            continue
        differ = (
            [name for name in (*here, *there) if not _same(here.get(name), there.get(name))] if key == "args" else ()
        )
        what = f"its argument `{differ[0]}`" if differ else f"its `{key}`"
        message = f"the function for tool `{tool.name}` and what was published do not agree on {what}"
        reader.fail(known.at or SOURCE, "not-published", message, update(published_by))
        return


def _compare(known: Tool, tool: Tool, told: Mapping[str, Any], reader: Reader) -> None:
    """Only what the function says is compared: it may leave out what the policy knows."""
    for key in dict.fromkeys(_FIELDS.get(key, key) for key in told):
        there, here = getattr(known, key), getattr(tool, key)
        if key == "about" or (there, here) == (here, there):
            continue
        if key == "args":
            there, here = _comparable(there, here)
            names = sorted(set(there) ^ set(here)) or sorted(n for n in there if there[n] != here[n])
            if not any(_differ(there.get(n), here.get(n)) for n in names):
                continue
            what = f"its argument `{names[0]}`"
        else:
            what = f"its `{key}`"
        message = f"the function for tool `{tool.name}` and the policy do not agree on {what}"
        reader.fail(
            known.at or SOURCE, "tool-contradicts", message, "make them the same, or leave it out at the function"
        )


def _same(there: Any, here: Any) -> bool:
    """Also in type: to Python, 1 is True."""
    encode = msgspec.json.Encoder(order="deterministic").encode
    return encode(there) == encode(here)


def _comparable(there: dict[str, Argument], here: dict[str, Argument]) -> tuple[dict[str, Argument], ...]:
    """Without what one of them says in more detail: what is json to the other, and fields of it.

    The policy's word is what calls are judged by, so it may know more. It may know less only of what is harmless.
    """
    plain = [name for name, argument in here.items() if argument.kind == "json"]
    finer = {one for name in plain for one in _inside(name, there) | ({name} & there.keys())}
    coarser: set[str] = set()
    for name, argument in there.items():
        inside = _inside(name, here)
        if argument.kind == "json" and not any(kind_of(here[n].kind).unit for n in inside):
            coarser |= inside
    whole = {n.split(".")[0].removesuffix("[]") for n in (*finer, *coarser)}
    left = finer | coarser | whole
    return {n: a for n, a in there.items() if n not in left}, {n: a for n, a in here.items() if n not in left}


def _inside(name: str, args: dict[str, Argument]) -> set[str]:
    return {one for one in args if one.startswith((f"{name}.", f"{name}["))}


def _differ(there: Any, here: Any) -> bool:
    """A default of the policy's own is no contradiction."""
    if there is None or here is None:
        return True
    return bool(msgspec.structs.replace(there, default=None) != msgspec.structs.replace(here, default=None))
