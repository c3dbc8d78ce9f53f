"""The tools and agents of a Python program, read from its text; nothing is imported or run.

found = read_program([("app.py", text)])
found.tools["search"].args, found.agents["helper"].tools
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec

from remit import catalog
from remit.declare.nodes import parse
from remit.draft.python_effects import Effects, effects_of
from remit.forms.texts import plain
from remit.model.text import shown

Function = ast.FunctionDef | ast.AsyncFunctionDef
MOST_LISTS = 40
"""How deep names of lists of tools are followed."""


class PythonTool(msgspec.Struct, frozen=True):
    """A function that models can call."""

    name: str
    at: str
    args: dict[str, Any]
    """As a policy declares them: a kind, or `{one_of: […]}`."""
    optional: tuple[str, ...]
    unclear: tuple[str, ...]
    """Parameters whose annotation does not tell their kind."""
    effects: Effects


class PythonAgent(msgspec.Struct, frozen=True):
    """Something that calls tools."""

    name: str
    at: str
    tools: tuple[str, ...]
    hands: tuple[str, ...]
    unread: tuple[str, ...]
    """What its lists hold besides, as it is written."""


class PythonProgram(msgspec.Struct, frozen=True):
    """What was found."""

    tools: dict[str, PythonTool]
    agents: dict[str, PythonAgent]
    problems: tuple[str, ...]
    """Files that are no Python, and names that two functions have."""


@cache
def known() -> Mapping[str, Any]:
    """What the catalog says about Python programs."""
    found: Mapping[str, Any] = plain(parse(catalog.text("python.yaml"), "catalog python"))
    return found


def last(node: ast.AST | None) -> str:
    """The last part of a name: `tool` of `agent.tool(…)`, empty for what is no name."""
    if isinstance(node, ast.Call):
        return last(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def read_program(files: Iterable[tuple[str, str]]) -> PythonProgram:
    """The tools and agents of these files, each a name and its text."""
    modules: list[_Module] = []
    problems: list[str] = []
    for name, text in files:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # an odd escape in somebody's text is none of our business
                modules.append(_Module(name, ast.parse(text)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            problems.append(f"{shown(name, 200)}: not read: {shown(getattr(error, 'msg', None) or error)}")
    return _Reading(modules, problems).found()


class _Module:
    """One file: its functions, what its names are set to, and every call."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self.name = name
        _without_aliases(tree)
        self.own = frozenset(_own_names(tree))
        self.functions: list[Function] = []
        self.classes: dict[str, tuple[str, Function]] = {}
        """Classes that are tools: the tool's name, and the method that is called."""
        self.values: dict[str, ast.expr] = {}
        self.calls: list[tuple[ast.Call, str]] = []
        """With the name that its value gets, if any."""
        taken: dict[int, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions.append(node)
            elif isinstance(node, ast.ClassDef) and (tool := _class_tool(node)) is not None:
                self.classes[node.name] = tool
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.values.setdefault(target.id, node.value)
                        taken[id(node.value)] = target.id
            elif isinstance(node, ast.Call):
                self.calls.append((node, taken.get(id(node), "")))

    def at(self, node: ast.AST) -> str:
        return f"{self.name}:{getattr(node, 'lineno', 0)}"


class _Reading:
    def __init__(self, modules: list[_Module], problems: list[str]) -> None:
        self.modules, self.problems = modules, problems
        self.functions: dict[str, list[tuple[_Module, Function]]] = {}
        for module in modules:
            for function in module.functions:
                self.functions.setdefault(function.name, []).append((module, function))
        self.tools: dict[str, PythonTool] = {}
        self.agents: dict[str, PythonAgent] = {}
        self.named: dict[str, str] = {}
        """By the name of a function or value: the tool's or agent's own name."""

    def found(self) -> PythonProgram:
        of_agent: dict[str, list[str]] = {}
        for module in self.modules:
            for function in module.functions:
                for decorator in function.decorator_list:
                    if last(decorator) in known()["decorators"]:
                        name = self._add(module, function, _own_name(decorator))
                        owner = decorator.func if isinstance(decorator, ast.Call) else decorator
                        if isinstance(owner, ast.Attribute) and isinstance(owner.value, ast.Name):
                            of_agent.setdefault(owner.value.id, []).append(name)
                        break
            for called, function in module.classes.values():
                self._add(module, function, called)
        made = [(module, call, target) for module in self.modules for call, target in module.calls if _makes(call)]
        for _, call, target in made:
            self.named[target or _text_of(call, known()["agent_names"])] = _agent_name(call, target)
        for module, call, target in made:
            self._agent(module, call, target, of_agent.get(target, []))
        return PythonProgram(self.tools, self.agents, tuple(dict.fromkeys(self.problems)))

    def _agent(self, module: _Module, call: ast.Call, target: str, own: list[str]) -> None:
        name = _agent_name(call, target)
        unread: list[str] = []
        tools = list(own)
        for node in _lists(call, known()["agent_tools"], known()["agents"][last(call)]):
            for item in self._items(module, node, 0):
                tool = self._tool(module, item)
                if tool is None:
                    unread.append(shown(ast.unparse(item), 60))
                else:
                    tools.append(tool)
        hands = []
        for node in _lists(call, known()["agent_hands"], None):
            for item in self._items(module, node, 0):
                inner = item.args[0] if isinstance(item, ast.Call) and item.args else item
                whom = self.named.get(last(inner))
                if whom is None:
                    unread.append(shown(ast.unparse(item), 60))
                else:
                    hands.append(whom)
        before = self.agents.get(name)
        if before is not None:
            tools, hands = [*before.tools, *tools], [*before.hands, *hands]
            unread = [*before.unread, *unread]
        place = before.at if before is not None else module.at(call)
        unique = [tuple(dict.fromkeys(names)) for names in (tools, hands, unread)]
        self.agents[name] = PythonAgent(name, place, *unique)

    def _items(self, module: _Module, node: ast.expr, depth: int) -> Iterator[ast.expr]:
        """The elements of a list, through names, sums and stars."""
        if depth > MOST_LISTS:
            return
        if isinstance(node, ast.List | ast.Tuple | ast.Set):
            for item in node.elts:
                if isinstance(item, ast.Starred):
                    yield from self._items(module, item.value, depth + 1)
                else:
                    yield item
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            yield from self._items(module, node.left, depth + 1)
            yield from self._items(module, node.right, depth + 1)
        elif last(node) == "ToolNode" and isinstance(node, ast.Call) and node.args:
            yield from self._items(module, node.args[0], depth + 1)
        elif isinstance(node, ast.Name) and (value := self._value(module, node.id)) is not None:
            yield from self._items(module, value, depth + 1)
        else:
            yield node

    def _value(self, module: _Module, name: str) -> ast.expr | None:
        """What a name is set to: in its file, or in the only other one that sets it."""
        if name in module.values:
            return module.values[name] if isinstance(module.values[name], ast.List | ast.Tuple | ast.BinOp) else None
        others = [other.values[name] for other in self.modules if name in other.values]
        return others[0] if len(others) == 1 and isinstance(others[0], ast.List | ast.Tuple | ast.BinOp) else None

    def _tool(self, module: _Module, item: ast.expr) -> str | None:
        """The tool that an element is: a function, or one that is wrapped. None if that can't be told."""
        if isinstance(item, ast.Name) and item.id in module.values and isinstance(module.values[item.id], ast.Call):
            return self._tool(module, module.values[item.id])
        if isinstance(item, ast.Call):
            for other in self.modules:
                if last(item) in other.classes:
                    return self._add(other, other.classes[last(item)][1], other.classes[last(item)][0])
            if last(item) not in known()["wrappers"]:
                return None
            given = next((one.value for one in item.keywords if one.arg in ("func", "fn", "coroutine")), None)
            inner = given if given is not None else item.args[0] if item.args else None
            if not isinstance(inner, ast.Name | ast.Attribute):
                return None
            return self._function(module, last(inner), _text_of(item, known()["tool_names"]) or None)
        return self._function(module, last(item), None) if isinstance(item, ast.Name | ast.Attribute) else None

    def _function(self, module: _Module, name: str, own: str | None) -> str | None:
        if name in self.named and own is None and self.named[name] in self.tools:
            return self.named[name]
        places = self.functions.get(name, [])
        here = [one for one in places if one[0] is module] or places
        return self._add(*here[0], own) if len(here) == 1 else None

    def _add(self, module: _Module, function: Function, own: str | None) -> str:
        name = own or function.name
        place = module.at(function)
        if name in self.tools and self.tools[name].at != place:
            self.problems.append(f"two functions are the tool `{shown(name)}`: {self.tools[name].at} and {place}")
            return name
        self.named.setdefault(function.name, name)
        args, optional, unclear = _arguments(function)
        self.tools[name] = PythonTool(
            name, place, args, optional, unclear, effects_of(function, args, known(), module.own)
        )
        return name


def _without_aliases(tree: ast.Module) -> None:
    """`from x import Agent as A`: afterwards every `A` in the tree is `Agent`."""
    names = {
        one.asname: one.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for one in node.names
        if one.asname is not None
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = names[node.id]


def _own_names(tree: ast.Module) -> Iterator[str]:
    """Names that mean in this file what the file says: its functions, classes and values, and what it imports."""
    usual = {*known()["sources"], *known()["pure_modules"]}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node in tree.body:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                yield last(target)
        elif isinstance(node, ast.ImportFrom) and node.module not in usual:
            yield from (name for one in node.names for name in (one.asname, one.name) if name)
        elif isinstance(node, ast.Import):
            yield from (one.asname or one.name.partition(".")[0] for one in node.names if one.name not in usual)


def _class_tool(node: ast.ClassDef) -> tuple[str, Function] | None:
    """The name and the method of a class that is a tool."""
    if not any(last(base) in known()["bases"] for base in node.bases):
        return None
    name = node.name
    for one in node.body:
        value = one.value if isinstance(one, ast.Assign | ast.AnnAssign) else None
        target = (
            one.target if isinstance(one, ast.AnnAssign) else one.targets[0] if isinstance(one, ast.Assign) else None
        )
        if last(target) == "name" and isinstance(value, ast.Constant) and isinstance(value.value, str):
            name = value.value
    for one in node.body:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name in known()["methods_of_tools"]:
            return name, one
    return None


def _makes(call: ast.Call) -> bool:
    """Whether a call makes an agent: by its name, and because it says something that agents have."""
    if last(call) not in known()["agents"]:
        return False
    keys = {*known()["agent_tools"], *known()["agent_names"], *known()["agent_hands"], "instructions", "system_prompt"}
    return bool(call.args) or any(one.arg in keys for one in call.keywords)


def _lists(call: ast.Call, keywords: Collection[str], position: int | None) -> list[ast.expr]:
    found = [one.value for one in call.keywords if one.arg in keywords]
    if not found and position is not None and len(call.args) > position:
        found = [call.args[position]]
    return [node for node in found if not (isinstance(node, ast.Constant) and node.value is None)]


def _text_of(call: ast.Call, keywords: Iterable[str]) -> str:
    for keyword in keywords:
        for one in call.keywords:
            if one.arg == keyword and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                return one.value.value
    return ""


def _agent_name(call: ast.Call, target: str) -> str:
    return _text_of(call, known()["agent_names"]) or target or "agent"


def _own_name(decorator: ast.expr) -> str | None:
    """The name that a decorator gives to the tool."""
    if not isinstance(decorator, ast.Call):
        return None
    first = decorator.args[0] if decorator.args else None
    if isinstance(first, ast.Constant) and isinstance(first.value, str):
        return first.value
    return _text_of(decorator, known()["tool_names"]) or None


def _arguments(function: Function) -> tuple[dict[str, Any], tuple[str, ...], tuple[str, ...]]:
    """By name: its kind; which may be left out; and which have no annotation that tells it."""
    given = function.args
    plain_ones = [*given.posonlyargs, *given.args]
    without = len(plain_ones) - len(given.defaults)
    defaulted = {one.arg for one in plain_ones[without:]}
    defaulted |= {one.arg for one, value in zip(given.kwonlyargs, given.kw_defaults, strict=True) if value is not None}
    args: dict[str, Any] = {}
    optional, unclear = [], []
    for number, one in enumerate([*plain_ones, *given.kwonlyargs]):
        if (number == 0 and one.arg in ("self", "cls")) or _is_injected(one.annotation):
            continue
        kind, many, may_lack = kind_of_annotation(one.annotation)
        name = f"{one.arg}[]" if many and kind != "json" else one.arg
        args[name] = "json" if kind is None else kind
        if kind is None:
            unclear.append(one.arg)
        if one.arg in defaulted or may_lack:
            optional.append(name)
    unclear += [f"*{one.arg}" for one in (given.vararg, given.kwarg) if one is not None]
    return args, tuple(optional), tuple(unclear)


def _is_injected(annotation: ast.expr | None) -> bool:
    if annotation is None:
        return False
    return any(last(node) in known()["injected"] for node in ast.walk(annotation) if isinstance(node, ast.expr))


def kind_of_annotation(annotation: ast.expr | None) -> tuple[Any, bool, bool]:
    """The kind that a guard takes an annotation for (None: not clear); whether it is a list; whether None will do."""
    if annotation is None:
        return None, False, False
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return kind_of_annotation(ast.parse(annotation.value, mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            return None, False, False
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = [one for one in (annotation.left, annotation.right) if not _is_none(one)]
        if len(sides) == 1:
            kind, many, _ = kind_of_annotation(sides[0])
            return kind, many, True
        return "json", False, False
    if isinstance(annotation, ast.Subscript):
        return _subscript(annotation)
    return known()["kinds"].get(last(annotation), "json" if last(annotation) else None), False, False


def _subscript(annotation: ast.Subscript) -> tuple[Any, bool, bool]:
    outer, inner = last(annotation.value), annotation.slice
    parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    if outer == "Annotated" and parts:
        return kind_of_annotation(parts[0])
    if outer == "Optional":
        kind, many, _ = kind_of_annotation(parts[0])
        return kind, many, True
    if outer == "Literal":
        values = [part.value for part in parts if isinstance(part, ast.Constant)]
        if len(values) == len(parts) and all(type(value) in (str, int) for value in values):
            return {"one_of": values}, False, False
        return "json", False, False
    if outer in ("list", "List", "Sequence", "set", "Set", "Iterable") and len(parts) == 1:
        kind, many, _ = kind_of_annotation(parts[0])
        return ("json", False, False) if many or kind in (None, "json") else (kind, True, False)
    return "json", False, False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
