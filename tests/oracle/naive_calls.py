"""A call's arguments against their declaration, and the units that it falls into (semantics §1, §4)."""

from __future__ import annotations

import math
from typing import Any

from remit.model.call import Call, Context, Statement
from remit.model.facts import Facts
from remit.model.policy import Argument, Tool
from tests.oracle import naive_addresses as addresses
from tests.oracle import naive_paths as paths
from tests.oracle import naive_urls as urls
from tests.oracle.naive_paths import Refused, Unit

Values = dict[str, list[Any]]
"""The values of each declared argument."""


def well_formed(call: Any) -> bool:
    """Whether a call is of the right shape."""
    context, statement = call.context, call.statement
    if not (type(call.agent) is str and type(call.tool) is str and type(call.args) is dict):
        return False
    if not (isinstance(context, Context) and isinstance(statement, Statement | None)):
        return False
    for text in (context.cwd, context.mode, context.environment, context.session, context.capsule, call.id):
        if not isinstance(text, str | None):
            return False
    if not (type(context.chain) is tuple and all(type(name) is str for name in context.chain)):
        return False
    if type(context.capsule_grants) is not tuple:
        return False
    for tier in (context.data_tier, *context.capsule_grants):
        if type(tier) is not int or not 0 <= tier <= 3:
            return False
    if statement is not None:
        for text in (statement.intent, statement.because, statement.consequences):
            if not isinstance(text, str | None):
                return False
        if not isinstance(statement.anticipated, bool | None):
            return False
    return True


# Arguments


def values_of(tool: Tool, args: dict[str, Any]) -> tuple[Values, set[str]]:
    """The values of each declared argument, and the codes of all that is wrong with them."""
    wrong: set[str] = set()
    found: Values = {}
    args = without_nulls(args, "", tool)
    _look(args, "", tool, found, wrong)
    for name, argument in tool.args.items():
        inner = "[" not in name and "." not in name
        if name not in found and (inner or not _reached(name, args)):
            if argument.default is not None and "[" not in name.rpartition(".")[0]:
                found[name] = [argument.default]
            elif not argument.optional:
                wrong.add("missing-argument")
    for name, values in found.items():
        if name in tool.args and not all(_right(tool.args[name], value) for value in values):
            wrong.add("mistyped-argument")
    return found, wrong


def without_nulls(value: dict[str, Any], prefix: str, tool: Tool) -> dict[str, Any]:
    """An object without what is null and optional, which counts as absent; null is a value only to json."""
    kept = {}
    for key, item in value.items():
        name = prefix + key
        within = {n: a for n, a in tool.args.items() if n == name or n.startswith((name + "[]", name + "."))}
        plain_json = name in within and within[name].kind == "json"
        if item is None and within and not plain_json and all(a.optional for a in within.values()):
            continue
        if isinstance(item, dict):
            item = without_nulls(item, name + ".", tool)
        elif isinstance(item, list):
            item = [without_nulls(one, name + "[].", tool) if isinstance(one, dict) else one for one in item]
        kept[key] = item
    return kept


def _look(value: dict[str, Any], prefix: str, tool: Tool, found: Values, wrong: set[str]) -> None:
    """Walk one object of the call; `prefix` is the declared name of where it stands, with a dot behind it."""
    for key in value:
        name, item = prefix + key, value[key]
        if name in tool.args:
            found.setdefault(name, []).append(item)
        elif name + "[]" in tool.args:
            if isinstance(item, list):
                found.setdefault(name + "[]", []).extend(item)
            else:
                wrong.add("mistyped-argument")
        elif any(other.startswith(name + "[].") for other in tool.args):
            if isinstance(item, list) and all(isinstance(one, dict) for one in item):
                for one in item:
                    element: Values = {}
                    _look(one, name + "[].", tool, element, wrong)
                    _fields(one, name + "[].", tool, element, wrong)
                    for inner, values in element.items():
                        found.setdefault(inner, []).extend(values)
                    found.setdefault(name + "[]", []).append(element)
            else:
                wrong.add("mistyped-argument")
        elif any(other.startswith(name + ".") for other in tool.args):
            if isinstance(item, dict):
                _look(item, name + ".", tool, found, wrong)
                _fields(item, name + ".", tool, found, wrong)
            else:
                wrong.add("mistyped-argument")
        else:
            wrong.add("undeclared-argument")


def _fields(item: dict[str, Any], prefix: str, tool: Tool, found: Values, wrong: set[str]) -> None:
    """What an object that is there lacks."""
    for name, argument in tool.args.items():
        if not name.startswith(prefix) or name[len(prefix) :].split("[")[0].split(".")[0] in item:
            continue
        if argument.default is not None:
            if "[" not in name[len(prefix) :].rpartition(".")[0]:  # else there is no element to lack it
                found.setdefault(name, []).append(argument.default)
        elif not argument.optional:
            wrong.add("missing-argument")


def _reached(name: str, args: dict[str, Any]) -> bool:
    """Whether what a nested argument stands in is there, so that it has been looked at."""
    return name.split("[")[0].split(".")[0] in args


def _right(argument: Argument, value: Any) -> bool:
    if argument.one_of:
        return any(type(value) is type(one) and value == one for one in argument.one_of)
    if argument.kind == "json":
        return True
    if argument.kind == "flag":
        return type(value) is bool
    if argument.kind == "number":
        return type(value) is int or (type(value) is float and math.isfinite(value))
    return isinstance(value, str)


# Units

_WITH_UNITS = ("path", "glob", "url", "agent", "skill", *addresses.KINDS)


def units_of(tool: Tool, values: Values, call: Call, facts: Facts) -> tuple[list[Unit], set[str]]:
    """The units of a call, and the codes of the values that can't be one."""
    found: list[Unit] = []
    wrong: set[str] = set()
    for name in tool.args:
        for value in values.get(name, []):
            try:
                if not serves_as_base(tool, name, values):
                    found += units_of_value(tool, name, values, value, call, facts)
                else:
                    _spellings(tool, name, value, call, facts)
            except Refused as refused:
                wrong.update(refused.args)
    for reach in dict.fromkeys(does.reach for does in tool.does if does.reach and does.effect != "delegate"):
        effects = frozenset(does.effect for does in tool.does if does.reach == reach and does.effect != "delegate")
        kind = "url" if "://" in reach else "path"
        found.append(Unit(kind, None, effects, (reach,), wide=True, root=facts.root))
    for records in dict.fromkeys(does.records for does in tool.does if does.records):
        effects = frozenset(does.effect for does in tool.does if does.records == records)
        found.append(Unit("records", None, effects, (records,)))
    others = set()
    for does in tool.does:
        if does.reach is not None and does.effect == "delegate":
            others.add(does.effect)
        if does.arg is not None and tool.args[does.arg].kind not in _WITH_UNITS:
            others.add(does.effect)
    if others or not found:
        plain = [d.arg for d in tool.does if d.arg is not None and tool.args[d.arg].kind not in _WITH_UNITS]
        found.append(Unit("call", None, frozenset(others), on=tuple(arg for arg in plain if values.get(arg))))
    return found, wrong


def serves_as_base(tool: Tool, name: str, values: Values) -> bool:
    """Whether a path has no effects of its own and a glob stands for it."""
    if any(does.arg == name for does in tool.does):
        return False
    return any(argument.base == name and values.get(glob) for glob, argument in tool.args.items())


def units_of_value(tool: Tool, name: str, values: Values, value: str, call: Call, facts: Facts) -> list[Unit]:
    """The units of one value of an argument. Raises Refused."""
    kind = tool.args[name].kind
    mine = [does for does in tool.does if does.arg == name]
    own = frozenset(does.effect for does in mine if not does.below)
    under = frozenset(does.effect for does in mine if does.below)
    if kind == "url":
        if urls.parse(value) is None:
            raise Refused("bad-url")
        return [Unit("url", name, own, (value,))]
    if kind in ("agent", "skill"):
        return [Unit(kind, name, own, (value,))]
    if kind in addresses.KINDS:
        found_form = addresses.canonical(kind, value)
        if found_form is None:
            raise Refused(f"bad-{kind}")
        return [Unit(kind, name, own, (found_form,))]
    if kind == "glob":
        spellings = _patterns(tool, name, values, value, call, facts)
    elif kind == "path":
        spellings = _spellings(tool, name, value, call, facts)
    else:
        return []
    found = []
    wide = kind == "glob"
    one = Unit("path", name, own, spellings, wide=wide, widest=wide, root=facts.root)
    if own or not under:
        found.append(one)
    if under:
        patterns = tuple("**" if path == "." else path.rstrip("/") + "/**" for path in spellings)
        if wide:
            patterns = tuple(f"{{{pattern},{pattern}/**}}" for pattern in spellings)
        found.append(one._replace(effects=under, spellings=patterns, wide=True))
    if kind == "path" and facts.root is not None and f"{facts.root}/".startswith(spellings[0].rstrip("/") + "/"):
        if own and spellings[0] != facts.root:
            found.append(Unit("path", name, own, (".",), root=facts.root))
        if under and spellings[0] != facts.root:
            found.append(Unit("path", name, under, ("**",), wide=True, root=facts.root))
    return found


def _spellings(tool: Tool, name: str, value: str, call: Call, facts: Facts) -> tuple[str, ...]:
    """The normal paths of a path argument. Raises Refused."""
    effects = {does.effect for does in tool.does if does.arg == name}
    text = paths.normal(value, effects <= {"read"}, call.context.cwd, facts.root)
    if facts.resolved is None:
        return (text,)
    if value not in facts.resolved:
        raise Refused("bad-path")
    return tuple(dict.fromkeys((paths.relative(facts.resolved[value], facts.root), text)))


def _patterns(tool: Tool, name: str, values: Values, value: str, call: Call, facts: Facts) -> tuple[str, ...]:
    """The patterns of a glob argument, below the path that it is relative to. Raises Refused."""
    base = tool.args[name].base
    bases: tuple[str | None, ...] = (None,)
    if base is not None and base in values:
        try:
            bases = _spellings(tool, base, values[base][0], call, facts)
        except Refused as refused:
            raise Refused(*refused.args, "outside-root", "bad-glob") from None
    elif call.context.cwd not in (None, "", "."):
        here = paths.normal(str(call.context.cwd), True, None, facts.root)
        both = (paths.glob_argument(value, one, facts.root, first=True) for one in (None, here))
        return tuple(dict.fromkeys(both))
    return tuple(dict.fromkeys(paths.glob_argument(value, one, facts.root, first=one is bases[0]) for one in bases))


def resolved_otherwise(tool: Tool, values: Values, call: Call, facts: Facts) -> set[str]:
    """The path arguments with a value that resolved otherwise than its text."""
    found = set()
    for name, argument in tool.args.items():
        if argument.kind == "path":
            for value in values.get(name, []):
                if len(_spellings(tool, name, value, call, facts)) > 1:
                    found.add(name)
    return found
