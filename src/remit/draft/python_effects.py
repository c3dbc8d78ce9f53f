"""What the body of a function certainly does to its arguments, and whether that is all: by its text alone.

Only a body in which every call is known counts as told. Anything else is for a person to decide.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Set
from typing import Any

import msgspec

from remit.model.text import shown

MOST = 3
"""How many unknown calls are named."""


class Effects(msgspec.Struct, frozen=True):
    """Effects on arguments, and the calls that could do anything."""

    on: dict[str, str]
    """By effect, the argument."""
    unknown: tuple[str, ...]
    """What it calls that nobody can tell from the text, as it is written."""
    kinds: dict[str, str]
    """Arguments whose kind follows from what is done to them: a text that is opened is a path."""

    @property
    def told(self) -> bool:
        """The text tells all that it does."""
        return not self.unknown


_KIND = {"read": "path", "write": "path", "delete": "path", "network": "url", "execute": "shell"}


def effects_of(
    function: ast.FunctionDef | ast.AsyncFunctionDef, args: Mapping[str, Any], known: Mapping[str, Any], own: Set[str]
) -> Effects:
    """What the function does to these arguments; `own` are names that the program gives a meaning of its own."""
    look = _Look(args, known, own)
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(called).rpartition(".")[2] not in known["decorators"]:
            look.unknown.append(f"@{shown(ast.unparse(called), 60)}")
    for statement in function.body:
        look.visit(statement)
    kinds = {arg: _KIND[effect] for effect, arg in look.on.items() if args.get(arg) == "text"}
    return Effects(look.on, tuple(dict.fromkeys(look.unknown))[:MOST], kinds)


class _Look(ast.NodeVisitor):
    """Notes effects on arguments; whatever it doesn't know is unknown."""

    def __init__(self, args: Mapping[str, Any], known: Mapping[str, Any], own: Set[str]) -> None:
        self.known, self.own = known, own
        self.paths = {name for name, kind in args.items() if kind == "path"}
        """Names of `Path` objects: `replace` of one is no `replace` of a text."""
        self.pure = {*known["pure"]} - own
        self.on: dict[str, str] = {}
        self.unknown: list[str] = []
        self.same: dict[str, str] = {name: name for name in args}
        """Names that are an argument, as it is."""
        self.plain = {name.partition("[")[0] for name in args}
        """Names of plain data: arguments, and what was made of them."""

    def visit_Call(self, node: ast.Call) -> None:
        self._call(node)
        if isinstance(node.func, ast.Attribute) and self._is_plain(node.func.value):
            self.visit(node.func.value)
        for part in (*node.args, *(one.value for one in node.keywords)):
            self.visit(part)

    def visit_Name(self, node: ast.Name) -> None:
        """Whatever is neither an argument nor made here belongs to the program: reading it is something, too."""
        if isinstance(node.ctx, ast.Load) and node.id not in self.plain and node.id not in self.pure:
            self._unknown(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._bind(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self._bind(node.target, node.value)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, item.context_expr)
        for statement in node.body:
            self.visit(statement)

    def visit_For(self, node: ast.For) -> None:
        self.visit(node.iter)
        self._bind(node.target, node.iter)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        self.visit(node.iter)
        self._bind(node.target, node.iter)
        for condition in node.ifs:
            self.visit(condition)

    def visit_ListComp(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> None:
        for one in node.generators:
            self.visit(one)
        self.visit(node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self.visit_ListComp(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self.visit_ListComp(node)

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        """Names that hold plain data hold it until something else is put there. What had no unknown part is plain."""
        if isinstance(target, ast.Tuple | ast.List):
            for item in target.elts:
                self._bind(item, value)
        elif isinstance(target, ast.Name):
            found = self._argument(value)
            self.same.pop(target.id, None)
            if found is not None:
                self.same[target.id] = found
            self.paths = self.paths | {target.id} if self._is_path(value) else self.paths - {target.id}
            self.plain.add(target.id)  # what went into it was looked at: an unknown part was noted there
        else:
            self._unknown(target)  # an attribute or an element of something else may change

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.generic_visit(node)
        if isinstance(node.target, ast.Name):
            self.same.pop(node.target.id, None)
        else:
            self._unknown(node.target)

    def visit_Global(self, node: ast.Global) -> None:
        self.unknown.append(f"global {node.names[0]}")

    def visit_Import(self, node: ast.Import) -> None:
        del node  # what is imported counts where it is called

    def visit_Delete(self, node: ast.Delete) -> None:
        self._unknown(node)

    def visit_Await(self, node: ast.Await) -> None:
        if not isinstance(node.value, ast.Call):
            self._unknown(node)
        self.generic_visit(node)

    def _call(self, node: ast.Call) -> None:
        name = ast.unparse(node.func)
        first = name.partition(".")[0]
        if first in self.own or (first in self.plain and "." not in name):
            return self._unknown(node)
        if name == "open":
            return self._open(node)
        found = self.known["calls"].get(name)
        if found is not None and node.args:
            return self._effect(next(iter(found)), self._argument(node.args[0]), node)
        if isinstance(node.func, ast.Attribute):
            if first in self.known["pure_modules"] and first not in self.plain and name.count(".") == 1:
                return None
            effect = self.known["methods"].get(node.func.attr)
            if effect is not None and (on := self._argument(node.func.value)) is not None:
                return self._effect(next(iter(effect)), on, node)
            base = node.func.value
            if node.func.attr in self.known["pure_methods"] and self._is_plain(base) and not self._is_path(base):
                return None
        elif name in self.pure:
            return None
        return self._unknown(node)

    def _open(self, node: ast.Call) -> None:
        given = [one.value for one in node.keywords if one.arg == "mode"]
        mode = node.args[1] if len(node.args) > 1 else given[0] if given else ast.Constant("r")
        text = mode.value if isinstance(mode, ast.Constant) and isinstance(mode.value, str) else None
        on = self._argument(node.args[0]) if node.args else None
        if text is None or on is None:
            return self._unknown(node)
        if set(text) & set("wax+"):
            self._effect("write", on, node)
        if not set(text) & set("wax") or "+" in text:
            self._effect("read", on, node)
        return None

    def _effect(self, effect: str, on: str | None, node: ast.Call) -> None:
        if on is None or self.on.get(effect, on) != on:
            return self._unknown(node)
        self.on[effect] = on
        return None

    def _argument(self, node: ast.expr) -> str | None:
        """The argument that an expression is, also as `Path(argument)`."""
        if isinstance(node, ast.Name):
            return self.same.get(node.id)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Path", "pathlib.Path") and len(node.args) == 1:
            return self._argument(node.args[0])
        return None

    def _is_path(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp):
            return self._is_path(node.left) or self._is_path(node.right)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return self._is_path(node.func.value)
        return ast.unparse(node).partition("(")[0] in {*self.paths, "Path", "pathlib.Path"}

    def _is_plain(self, node: ast.expr) -> bool:
        """A text, number, list or mapping: an argument, a literal, or what a known call gives."""
        if isinstance(node, ast.Name):
            return node.id in self.plain
        if isinstance(node, ast.Constant | ast.JoinedStr | ast.List | ast.Dict | ast.Set | ast.BinOp):
            return True
        if isinstance(node, ast.Subscript):
            return self._is_plain(node.value)
        if isinstance(node, ast.Call):
            made = node.func
            if isinstance(made, ast.Attribute):
                return self._is_plain(made.value)
            return isinstance(made, ast.Name) and made.id in {*self.pure, "open"}
        return False

    def _unknown(self, node: ast.AST) -> None:
        self.unknown.append(shown(ast.unparse(node), 60))
