"""Which mutants there are: Cosmic Ray's operators, and four of the same kind that it lacks.

Of the operators that only swap one sign for another, those are left out whose mutants die with any other's
(`==` to `<`, `+` to `**`): they would cost time and tell nothing.
"""

from __future__ import annotations

import ast
import hashlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import parso
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator

COMPARISONS = (
    *("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "Lt_GtE", "LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
    *("Is_IsNot", "IsNot_Is"),
)
BINARY = ("Add_Sub", "Sub_Add", "Mul_Div", "FloorDiv_Mul", "Mod_Mul", "BitOr_BitAnd", "BitAnd_BitOr", "BitXor_BitAnd")
CORE = (
    *(f"ReplaceComparisonOperator_{name}" for name in COMPARISONS),
    *(f"ReplaceBinaryOperator_{name}" for name in BINARY),
    *("ReplaceUnaryOperator_Delete_Not", "ReplaceUnaryOperator_Delete_USub", "AddNot", "ReplaceTrueWithFalse"),
    *("ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue"),
    *("ReplaceContinueWithBreak", "ExceptionReplacer", "NumberReplacer", "RemoveDecorator", "ZeroIterationForLoop"),
)


class _Ours(Operator):  # type: ignore[misc]  # Cosmic Ray has no types
    """One change at each place that `changes` finds in a node."""

    def changes(self, node: Any) -> Iterator[Callable[[], Any]]:
        raise NotImplementedError

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        for _ in self.changes(node):
            yield (node.start_pos, node.end_pos)

    def mutate(self, node: Any, index: int) -> Any:
        list(self.changes(node))[index]()
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        return ()


def _put(node: Any, index: int, code: str) -> None:
    node.children[index] = parso.parse(code)


class NeverTrue(_Ours):
    """A guard that is never met: `if a:` becomes `if False:`."""

    def changes(self, node: Any) -> Iterator[Callable[[], Any]]:
        if node.type == "if_stmt":
            for index, child in enumerate(node.children[:-1]):
                if child.type == "keyword" and child.value in ("if", "elif"):
                    yield lambda at=index + 1: _put(node, at, " False")  # type: ignore[misc]


class DropTerm(_Ours):
    """A condition without one of its terms: `a and b` becomes `a`, or `b`."""

    def changes(self, node: Any) -> Iterator[Callable[[], Any]]:
        if node.type in ("and_test", "or_test"):
            neutral = " True" if node.type == "and_test" else " False"
            for index in range(0, len(node.children), 2):
                yield lambda at=index: _put(node, at, neutral)  # type: ignore[misc]


class DropCall(_Ours):
    """A statement that is only a call, left out."""

    def changes(self, node: Any) -> Iterator[Callable[[], Any]]:
        if node.type == "simple_stmt" and node.children[0].type == "atom_expr":
            yield lambda: _put(node, 0, node.children[0].get_first_leaf().prefix + "pass")


class Membership(_Ours):
    """`in` becomes `not in`, and the other way round."""

    def changes(self, node: Any) -> Iterator[Callable[[], Any]]:
        if node.type == "comparison":
            for index, child in enumerate(node.children):
                if child.get_code().split() == ["not", "in"]:
                    yield lambda at=index: _put(node, at, " in")  # type: ignore[misc]
                elif child.type == "keyword" and child.value == "in":
                    yield lambda at=index: _put(node, at, " not in")  # type: ignore[misc]


class Mutant(NamedTuple):
    """One change to one module."""

    module: str
    """`decide/view`"""
    line: int
    operator: str
    before: str
    after: str
    source: str

    @property
    def digest(self) -> str:
        """Of the whole mutated module: the same only while the module is the same."""
        return hashlib.sha256(f"{self.module}\n{self.source}".encode()).hexdigest()[:16]


def mutants(module: str, path: Path, most: int | None, seed: int) -> Iterator[Mutant]:
    """The mutants of a module that differ from it in more than an annotation; at most so many, drawn at random."""
    source = path.read_text(encoding="utf-8")
    nodes = list(ast_nodes(get_ast(source)))
    operators = {name: get_operator(f"core/{name}")() for name in CORE}
    operators |= {cls.__name__: cls() for cls in (NeverTrue, DropTerm, DropCall, Membership)}
    places = [
        (name, number)
        for name, operator in operators.items()
        for number, _ in enumerate(place for node in nodes for place in operator.mutation_positions(node))
    ]
    random.Random(f"{seed} {module}").shuffle(places)  # noqa: S311
    seen = {_meaning(source)}
    for name, number in places:
        if most is not None and len(seen) > most:
            return
        mutated = mutate_code(source, operators[name], number)
        try:
            meaning = _meaning(mutated)
        except SyntaxError:
            continue
        if meaning not in seen:
            seen.add(meaning)
            yield Mutant(module, *_changed(source, mutated, name), mutated)


def _changed(source: str, mutated: str, operator: str) -> tuple[int, str, str, str]:
    old, new = source.split("\n"), mutated.split("\n")
    at = next(number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    return at + 1, operator, old[at].strip(), new[at].strip()


class _NoAnnotations(ast.NodeTransformer):
    """Annotations of functions and variables are never evaluated; those of fields, msgspec reads."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        node.body = [_bare(one) for one in node.body]
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node


def _bare(statement: ast.stmt) -> ast.stmt:
    if isinstance(statement, ast.AnnAssign):
        statement.annotation = ast.Constant(None)
    return statement


def _meaning(source: str) -> str:
    return ast.dump(_NoAnnotations().visit(ast.parse(source)))
