"""Step 1: the arguments of a call against the tool's closed declaration, and the units they fall into."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from remit.model.call import Call
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.policy import Argument, Tool
from remit.scopes.glob import Glob
from remit.scopes.interface import Unit
from remit.scopes.path import glob_argument, normalise, relative_to
from remit.scopes.url import UrlError, UrlPattern, parse_url

_TEXTS = frozenset({"path", "glob", "shell", "sql", "url", "agent", "skill", "text"})
_UNITS = frozenset({"path", "glob", "url", "agent", "skill", "shell", "sql"})
_NONE: frozenset[str] = frozenset()
Reader = Callable[[str, str, Call, Facts], Iterable[Unit]]
_WORDS = {"number": "a number", "flag": "true or false", "list": "a list", "object": "an object"}


class BadArguments(Exception):
    """The call does not fit the declaration."""

    def __init__(self, code: str, reason: str, arg: str = "") -> None:
        super().__init__(reason)
        self.code, self.arg = code, arg


class _Shape:
    """The declared arguments as a tree: `a`, `b[]` and `b[].c` become nested objects and lists."""

    __slots__ = ("argument", "fields", "many", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.argument: Argument | None = None
        self.many = False
        self.fields: dict[str, _Shape] = {}

    def optional(self) -> bool:
        if self.argument is not None:
            return self.argument.optional
        return all(field.optional() for field in self.fields.values())


class Intake:
    """Reads the arguments of one tool."""

    __slots__ = ("bases", "effects", "fixed", "flat", "readers", "required", "shape", "tool", "units_from")

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.shape = _shape(tool)
        self.flat = {n: a for n, a in tool.args.items() if "[" not in n and "." not in n}
        if len(self.flat) != len(tool.args):
            self.flat = {}
        self.required = frozenset(n for n, a in tool.args.items() if not a.optional)
        self.effects = _effects(tool)
        self.units_from = [(n, a.kind) for n, a in tool.args.items() if a.kind in _UNITS]
        self.bases: dict[str, list[str]] = {}
        """Paths that only serve as the base of globs, with those globs."""
        for name, argument in tool.args.items():
            if argument.base is not None and argument.base not in self.effects:
                self.bases.setdefault(argument.base, []).append(name)
        self.fixed = _fixed_units(tool)
        self.readers = _readers(tool)

    def values(self, args: dict[str, Any]) -> dict[str, list[Any]]:
        """The values of each declared argument. Raises BadArguments for anything undeclared, missing or mistyped."""
        values: dict[str, list[Any]] = {}
        if self.flat or not self.tool.args:
            for name, value in args.items():
                argument = self.flat.get(name)
                if argument is None:
                    raise self._undeclared(name)
                _check(value, argument, name)
                values[name] = [value]
            if not self.required <= values.keys():
                missing = min(self.required - values.keys())
                raise BadArguments("missing-argument", f"the argument `{missing}` is missing", missing)
        else:
            self._object(self.shape, args, "", values)
        for name, argument in self.tool.args.items():
            if argument.default is not None and name not in values:
                values[name] = [argument.default]
        return values

    def _object(self, shape: _Shape, value: Any, path: str, values: dict[str, list[Any]]) -> None:
        if not isinstance(value, dict):
            raise BadArguments("mistyped-argument", f"`{path}` must be an object", path)
        for key in value:
            if key not in shape.fields:
                raise self._undeclared(f"{path}.{key}" if path else str(key))
        for key, field in shape.fields.items():
            name = f"{path}.{key}" if path else key
            if key not in value:
                if not field.optional():
                    raise BadArguments("missing-argument", f"the argument `{name}` is missing", name)
                continue
            self._field(field, value[key], name, values)

    def _field(self, field: _Shape, value: Any, name: str, values: dict[str, list[Any]]) -> None:
        if not field.many:
            self._item(field, value, name, values)
            return
        name = f"{name}[]"
        if not isinstance(value, (list, tuple)):
            raise BadArguments("mistyped-argument", f"`{name}` must be a list", name)
        for item in value:
            self._item(field, item, name, values)

    def _item(self, field: _Shape, value: Any, name: str, values: dict[str, list[Any]]) -> None:
        if field.argument is None:
            self._object(field, value, name, values)
        else:
            _check(value, field.argument, name)
            values.setdefault(name, []).append(value)

    def _undeclared(self, name: str) -> BadArguments:
        source = f" (pack {self.tool.pack})" if self.tool.pack else ""
        shown = ascii(name)[1:-1][:80]
        return BadArguments("undeclared-argument", f"{self.tool.name} has no argument `{shown}`{source}", shown)

    def units(self, values: dict[str, list[Any]], call: Call, facts: Facts) -> list[Unit]:
        """What the call falls into; never empty. Raises NotUnderstood for a text that can't be read."""
        units: list[Unit] = []
        for name, kind in self.units_from:
            texts = values.get(name)
            if texts is not None:
                effects, below = self.effects.get(name, (_NONE, _NONE))
                for text in texts:
                    if kind == "path":
                        found = path_units(name, text, effects, below, call.context.cwd, facts)
                        stood_for = any(glob in values for glob in self.bases.get(name, ()))
                        units.extend(msgspec.structs.replace(u, derived=True) if stood_for else u for u in found)
                    elif kind in self.readers:
                        units.extend(self.readers[kind](name, text, call, facts))
                    elif kind == "glob":
                        glob = self._glob(name, text, values, call, facts, below=bool(below))
                        units.append(Unit("path", name, glob, effects | below, wide=True, text=text))
                    else:
                        units.append(_unit(name, kind, text, effects | below))
        units.extend(self.fixed)
        if not units:
            units.append(Unit("call", "", "", self.effects.get("", (_NONE, _NONE))[0]))
        elif "" in self.effects:
            units.append(Unit("call", "", "", self.effects[""][0]))
        return units

    def _glob(
        self, name: str, text: str, values: dict[str, list[Any]], call: Call, facts: Facts, *, below: bool
    ) -> Glob:
        """A glob argument: relative to its base, or else to the root and to the working directory alike."""
        base = self.tool.args[name].base
        texts = values.get(base) if base is not None else None
        cwd = call.context.cwd
        if texts:
            where = str(path_units(name, texts[0], _NONE, _NONE, cwd, facts)[0].value)
            return glob_argument(text, facts.root, base=where, below=below)
        glob = glob_argument(text, facts.root, below=below)
        if cwd in (None, "", "."):
            return glob
        here = normalise(str(cwd), None, facts.root)
        return glob.or_else(glob_argument(text, facts.root, base=here, below=below))


def _readers(tool: Tool) -> dict[str, Reader]:
    """What takes texts in a language apart, for the languages among the tool's arguments; others aren't loaded."""
    found: dict[str, Reader] = {}
    if "shell" in tool.kinds:
        from remit.scopes.shell.units import shell_units

        def read_shell(name: str, text: str, call: Call, facts: Facts) -> Iterable[Unit]:
            return shell_units(name, text, call.context.cwd, facts.root, facts.schema, facts.links)

        found["shell"] = read_shell
    if "sql" in tool.kinds:
        from remit.scopes.sql.units import sql_units

        def read_sql(name: str, text: str, call: Call, facts: Facts) -> Iterable[Unit]:
            schema = facts.schema.get(tool.name) if facts.schema is not None else None
            return sql_units(name, text, tool.dialect or "", facts.root, schema)

        found["sql"] = read_sql
    return found


def path_units(
    name: str, text: str, effects: frozenset[str], below: frozenset[str], cwd: str | None, facts: Facts
) -> list[Unit]:
    """A path, and all below it where the tool goes there."""
    normal = normalise(text, cwd, facts.root)
    if text[-1] == "/" and not effects | below <= frozenset({"read"}):
        raise NotUnderstood("bad-path", "the path ends in `/`; name the file")
    also: tuple[str, ...] = ()
    if facts.resolved is not None:
        real = facts.resolved.get(text)
        if real is None:
            raise NotUnderstood("bad-path", "the path could not be resolved")
        where = relative_to(real, facts.root)
        if where != normal:
            also, normal = (normal,), where
    real_path = normal if also else ""
    units = []
    if effects or not below:
        units.append(Unit("path", name, normal, effects, also=also, text=text, real=real_path))
    if below:
        units.append(Unit("path", name, Glob.below(normal), below, wide=True, text=text, real=real_path))
        units.extend(Unit("path", name, Glob.below(other), below, wide=True, text=text, derived=True) for other in also)
    if facts.root is not None and normal[0] == "/" and facts.root.startswith(normal.rstrip("/") + "/"):
        units.extend(_root_units(name, effects, below, text))
    return units


def _root_units(name: str, effects: frozenset[str], below: frozenset[str], text: str) -> list[Unit]:
    """What a directory above the root means for the root."""
    units = [Unit("path", name, ".", effects, text=text)] if effects else []
    if below:
        units.append(Unit("path", name, Glob.below("."), below, wide=True, text=text))
    return units


def _unit(name: str, kind: str, text: str, effects: frozenset[str]) -> Unit:
    if kind == "url":
        try:
            return Unit("url", name, parse_url(text), effects, text=text)
        except UrlError as error:
            raise NotUnderstood("bad-url", str(error)) from None
    return Unit(kind, name, text, effects, text=text)


def _check(value: Any, argument: Argument, name: str) -> None:
    """Raises BadArguments if the value is not of the argument's kind."""
    kind = argument.kind
    if argument.one_of:
        if not any(type(value) is type(choice) and value == choice for choice in argument.one_of):
            choices = ", ".join(map(str, argument.one_of))
            raise BadArguments("mistyped-argument", f"`{name}` must be one of {choices}", name)
    elif kind in _TEXTS:
        if type(value) is not str:
            raise BadArguments("mistyped-argument", f"`{name}` must be text", name)
    elif kind == "flag":
        if type(value) is not bool:
            raise BadArguments("mistyped-argument", f"`{name}` must be true or false", name)
    elif kind == "number" and type(value) is not int and (type(value) is not float or not math.isfinite(value)):
        raise BadArguments("mistyped-argument", f"`{name}` must be a number", name)


def _shape(tool: Tool) -> _Shape:
    root = _Shape("")
    for name, argument in tool.args.items():
        shape = root
        for part in name.split("."):
            bare = part.removesuffix("[]")
            shape = shape.fields.setdefault(bare, _Shape(bare))
            shape.many = shape.many or part.endswith("[]")
        shape.argument = argument
    return root


def _effects(tool: Tool) -> dict[str, tuple[frozenset[str], frozenset[str]]]:
    """By argument: the effects on it, and the effects on all below it. `""` is the call itself."""
    found: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for does in tool.does:
        if does.reach is not None and does.effect != "delegate":
            continue
        own = does.arg is not None and tool.args[does.arg].kind in _UNITS - {"shell", "sql"}
        name = does.arg if own and does.arg is not None else ""
        on, below = found.get(name, (_NONE, _NONE))
        one = frozenset({does.effect})
        found[name] = (on, below | one) if does.below else (on | one, below)
    return found


def _fixed_units(tool: Tool) -> list[Unit]:
    """The fixed reaches of a tool."""
    reaches: dict[str, frozenset[str]] = {}
    for does in tool.does:
        if does.reach is not None and does.effect != "delegate":
            reaches[does.reach] = reaches.get(does.reach, _NONE) | {does.effect}
    units = []
    for reach, effects in sorted(reaches.items()):
        if "://" in reach:
            units.append(Unit("url", "", UrlPattern.parse(reach), effects, wide=True, text=reach))
        else:
            units.append(Unit("path", "", Glob.parse(reach, absolute=True), effects, wide=True, text=reach))
    return units
