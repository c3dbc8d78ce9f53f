"""Step 1: the arguments of a call against the tool's closed declaration, and the units they fall into."""

from __future__ import annotations

from typing import Any

from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.policy import Argument, Tool
from remit.model.text import listed, near_miss, shown_name
from remit.scopes.interface import NO_EFFECTS, Declared, Kind, Unit, Values
from remit.scopes.kinds import kind_of
from remit.scopes.reach import reach_unit

BY_TYPE: dict[str, type] = {"text": str, "flag": bool, "number": int, "json": object}
"""Kinds of arguments that accept every value of one type, so that checking them looks at nothing but the type."""


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

    def absent_if_null(self) -> bool:
        """True if null stands for an absent argument; to json it is a value like any other."""
        is_json = self.argument is not None and self.argument.kind == "json" and not self.many
        return not is_json and self.optional()

    def fill(self, name: str, values: Values) -> None:
        """The defaults of what an element of a list lacks, at this name and below it."""
        name = f"{name}[]" if self.many else name
        if self.argument is not None and self.argument.default is not None:
            values.setdefault(name, []).append(self.argument.default)
        if not self.many:
            for key, field in self.fields.items():
                field.fill(f"{name}.{key}", values)

    def given(self, value: Any) -> Any:
        """An object without the fields that are null and so count as absent; the same one if there are none."""
        if type(value) is not dict:
            return value
        found: dict[str, Any] = {}
        same = True
        for key, item in value.items():
            field = self.fields.get(key)
            if field is not None and item is None and field.absent_if_null():
                same = False
                continue
            kept = item
            if field is not None:
                if not field.many:
                    kept = field.given(item)
                elif type(item) in (list, tuple):
                    items = [field.given(one) for one in item]
                    kept = item if all(one is other for one, other in zip(items, item, strict=True)) else items
            same = same and kept is item
            found[key] = kept
        return value if same else found


class Intake:
    """Reads the arguments of one tool."""

    __slots__ = (
        "acted_on",
        "by_type",
        "declared",
        "defaults",
        "fixed",
        "flat",
        "own_effects",
        "shape",
        "tool",
    )

    def __init__(self, tool: Tool) -> None:
        self.tool = tool
        self.shape = _shape(tool)
        self.flat = not any(field.fields for field in self.shape.fields.values())
        """No argument has fields of its own."""
        self.defaults = {n: a.default for n, a in tool.args.items() if a.default is not None}
        self.by_type = {n: BY_TYPE[a.kind] for n, a in tool.args.items() if a.kind in BY_TYPE and not a.one_of}
        """Arguments that accept every value of one type (`object`: of any), so that only the type is looked at."""
        self.declared, self.own_effects = _declared(tool)
        own = {arg.name for arg, _ in self.declared}
        self.acted_on = tuple(sorted({does.arg for does in tool.does if does.arg is not None} - own))
        """Arguments with effects whose values fall into no units of their own."""
        self.fixed = _fixed_units(tool)

    def values(self, args: dict[str, Any]) -> Values:
        """The values of each declared argument. Raises BadArguments for anything undeclared, missing or mistyped."""
        values: Values = {}
        self._object(self.shape, self.given(args), "", values)
        for name, default in self.defaults.items():
            if name not in values and "[" not in name.rpartition(".")[0]:
                values[name] = [default]
        return values

    def given(self, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments that count as there, which are those that the tool gets; the same object if all do."""
        if self.flat and type(None) not in map(type, args.values()):
            return args
        found: dict[str, Any] = self.shape.given(args)
        return found

    def told(self, args: dict[str, Any]) -> tuple[Values, list[Any]]:
        """The values of those arguments that are declared and of their kinds, and what is left: anything else."""
        values: Values = {}
        aside: list[Any] = []
        for name, value in self.given(args).items():
            field, found = self.shape.fields.get(name), Values()
            try:
                if field is None:
                    raise self._undeclared(name)
                self._field(field, value, name, found)
            except BadArguments:
                aside.append(value)
                continue
            values.update(found)
        for name, default in self.defaults.items():
            if name not in values and "[" not in name.rpartition(".")[0]:
                values[name] = [default]
        return values, aside

    def _object(self, shape: _Shape, value: Any, path: str, values: Values) -> None:
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
                if "[" in path:
                    field.fill(name, values)
                continue
            self._field(field, value[key], name, values)

    def _field(self, field: _Shape, value: Any, name: str, values: Values) -> None:
        if not field.many:
            self._item(field, value, name, values)
            return
        name = f"{name}[]"
        if not isinstance(value, (list, tuple)):
            raise BadArguments("mistyped-argument", f"`{name}` must be a list", name)
        for item in value:
            self._item(field, item, name, values)

    def _item(self, field: _Shape, value: Any, name: str, values: Values) -> None:
        if field.argument is None:
            if not field.many:
                self._object(field, value, name, values)
                return
            element: Values = {}
            self._object(field, value, name, element)
            values.setdefault(name, []).append(element)
            for inner, found in element.items():
                values.setdefault(inner, []).extend(found)
        else:
            _check(value, field.argument, name)
            values.setdefault(name, []).append(value)

    def _undeclared(self, name: str) -> BadArguments:
        source = f" (pack {self.tool.pack})" if self.tool.pack else ""
        shown = shown_name(name)
        slip = near_miss(name, self.tool.args) if len(name) <= 128 else None
        near = f"; did you mean `{slip}`?" if slip is not None else f"; it has {listed(self.tool.args)}"
        return BadArguments("undeclared-argument", f"{self.tool.name} has no argument `{shown}`{source}{near}", shown)

    def units(self, values: Values, call: Call, facts: Facts) -> list[Unit]:
        """What the call falls into; never empty. Raises NotUnderstood for a text that can't be read."""
        units: list[Unit] = []
        for arg, kind in self.declared:
            for value in values.get(arg.name, ()):
                units.extend(kind.units(arg, value, values, call, facts))
        units.extend(self.fixed)
        if not units or self.own_effects is not None:
            on = tuple(name for name in self.acted_on if name in values)
            units.append(Unit("call", "", "", self.own_effects or NO_EFFECTS, args=on))
        return units


def _check(value: Any, argument: Argument, name: str) -> None:
    """Raises BadArguments if the value is not of the argument's kind."""
    if argument.one_of:
        if not any(type(value) is type(choice) and value == choice for choice in argument.one_of):
            choices = ", ".join(map(str, argument.one_of))
            raise BadArguments("mistyped-argument", f"`{name}` must be one of {choices}", name)
        return
    wanted = kind_of(argument.kind).problem(value)
    if wanted is not None:
        raise BadArguments("mistyped-argument", f"`{name}` must be {wanted}", name)


def _shape(tool: Tool) -> _Shape:
    root = _Shape("")
    for name, argument in tool.args.items():
        shape = root
        for part in name.split("."):
            bare = part.removesuffix("[]")
            shape = shape.fields.setdefault(bare, _Shape(bare))
            shape.many = part.endswith("[]")
        shape.argument = argument
    return root


def _declared(tool: Tool) -> tuple[list[tuple[Declared, Kind]], frozenset[str] | None]:
    """The arguments whose values fall into units, with their kinds; and the effects of the call itself, if any."""
    kinds = {name: kind_of(argument.kind) for name, argument in tool.args.items()}
    on: dict[str, frozenset[str]] = {}
    below: dict[str, frozenset[str]] = {}
    for does in tool.does:
        if does.records is not None or (does.reach is not None and does.effect != "delegate"):
            continue
        kind = kinds.get(does.arg or "")
        own = kind is not None and kind.unit and not kind.language
        name = (does.arg or "") if own else ""
        into = below if own and does.below else on  # what has no unit of its own is the call's
        into[name] = into.get(name, NO_EFFECTS) | {does.effect}
    found = []
    for name, argument in tool.args.items():
        if not kinds[name].unit:
            continue
        idle = name not in on and name not in below
        serves = tuple(other for other, a in tool.args.items() if a.base == name) if idle else ()
        mine = (on.get(name, NO_EFFECTS), below.get(name, NO_EFFECTS))
        found.append((Declared(name, argument.kind, tool, *mine, base=argument.base, serves=serves), kinds[name]))
    return found, on.get("")


def _fixed_units(tool: Tool) -> list[Unit]:
    """The fixed reaches of a tool, and the records that it works on."""
    reaches: dict[str, frozenset[str]] = {}
    records: dict[str, frozenset[str]] = {}
    for does in tool.does:
        if does.records is not None:
            records[does.records] = records.get(does.records, NO_EFFECTS) | {does.effect}
        elif does.reach is not None and does.effect != "delegate":
            reaches[does.reach] = reaches.get(does.reach, NO_EFFECTS) | {does.effect}
    units = [reach_unit(reach, effects) for reach, effects in sorted(reaches.items())]
    units.extend(Unit("records", "", name, effects, text=name) for name, effects in sorted(records.items()))
    return units
