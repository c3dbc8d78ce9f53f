"""Which mutants there are: Cosmic Ray's operators, and four of the same kind that it lacks.

Of the operators that only swap one sign for another, those are left out whose mutants die with any other's
(`==` to `<`, `+` to `**`): they would cost time and tell nothing.

Changes that can't alter a decision are no mutants: each class in `INERT` is one kind of them, with its reason, and a
run prints how many there were of each. Texts are never changed, so neither are docstrings, `__slots__` and messages.
"""

from __future__ import annotations

import ast
import hashlib
import json
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
    """One change to one module: `text` in place of what stands from `start` to `end`."""

    module: str
    """`decide/view`"""
    line: int
    operator: str
    before: str
    after: str
    start: int
    end: int
    text: str
    original: str
    """A digest of the module without the change."""

    @property
    def digest(self) -> str:
        """The same only while the module is the same."""
        key = (self.module, self.original, self.start, self.end, self.text)
        return hashlib.sha256(repr(key).encode()).hexdigest()[:16]

    def source(self, original: str) -> str:
        """The mutated module."""
        return original[: self.start] + self.text + original[self.end :]


class Made(NamedTuple):
    """What became of a module."""

    mutants: list[Mutant]
    inert: dict[str, int]
    """How many changes were left out, by the rule that says that they alter nothing."""


def all_mutants(module: str, path: Path, kept: Path) -> Made:
    """Every mutant of a module. Making them takes seconds, so they are kept in a folder."""
    source = path.read_text(encoding="utf-8")
    key = source + Path(__file__).read_text(encoding="utf-8")
    file = kept / f"{module.replace('/', '-')}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.json"
    if not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(_made(module, source)))
    rows, inert = json.loads(file.read_text())
    return Made([Mutant(*row) for row in rows], inert)


def _made(module: str, source: str) -> Made:
    original = hashlib.sha256(source.encode()).hexdigest()[:16]
    operators = {name: get_operator(f"core/{name}")() for name in CORE}
    operators |= {cls.__name__: cls() for cls in (NeverTrue, DropTerm, DropCall, Membership)}
    made = Made([], {})
    at = 0
    for statement in get_ast(source).children:  # one by one: parsing the whole module for each mutant takes minutes
        text = statement.get_code()
        for name, changed in _variants(text, operators, made.inert):
            mutated = source[:at] + changed + source[at + len(text) :]
            made.mutants.append(Mutant(module, *_changed(source, mutated, name), original))
        at += len(text)
    return made


def _variants(text: str, operators: dict[str, Any], inert: dict[str, int]) -> Iterator[tuple[str, str]]:
    """The mutants of one statement, each with its operator and no two with the same meaning."""
    nodes = list(ast_nodes(get_ast(text)))
    original = meaning(text)
    seen = {original}
    for name, operator in operators.items():
        for number, _ in enumerate(place for node in nodes for place in operator.mutation_positions(node)):
            changed = mutate_code(text, operator, number)
            try:
                means = meaning(changed)
            except SyntaxError:
                continue
            if means == original:
                why = next((rule for rule in INERT if meaning(text, rule) == meaning(changed, rule)), None)
                if ast.dump(ast.parse(text)) != ast.dump(ast.parse(changed)):
                    label = why.__name__ if why is not None else "several"
                    inert[label] = inert.get(label, 0) + 1
            if means not in seen:
                seen.add(means)
                yield name, changed


def _changed(source: str, mutated: str, operator: str) -> tuple[int, str, str, str, int, int, str]:
    old, new = source.split("\n"), mutated.split("\n")
    at = next(number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    start = next(number for number, pair in enumerate(zip(source, mutated, strict=False)) if pair[0] != pair[1])
    same = 0
    while same < min(len(source), len(mutated)) - start and source[-1 - same] == mutated[-1 - same]:
        same += 1
    return (
        at + 1,
        operator,
        old[at].strip(),
        new[at].strip(),
        start,
        len(source) - same,
        mutated[start : len(mutated) - same],
    )


class Annotations(ast.NodeTransformer):
    """Annotations are never evaluated, but for those of a msgspec.Struct, where a mutant dies at import."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        node.annotation = ast.Constant(None)
        self.generic_visit(node)
        return node


class Types(ast.NodeTransformer):
    """Names for types (`Segment = str | tuple[Atom, ...]`), imports under `if TYPE_CHECKING:`, and decorators that only
    the type checker reads."""

    DECORATORS = frozenset({"override", "overload", "abstractmethod", "final", "runtime_checkable"})

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = [one for one in node.decorator_list if _name(one) not in self.DECORATORS]
        self.generic_visit(node)
        return node

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = [one for one in node.body if not _names_type(one)]
        self.generic_visit(node)
        return node

    def visit_If(self, node: ast.If) -> ast.stmt:
        if any(_name(one) == "TYPE_CHECKING" for one in ast.walk(node.test)) or _only_imports(node):
            return ast.Pass()
        self.generic_visit(node)
        return node


class Caches(ast.NodeTransformer):
    """Whether and how much a pure function keeps of its results: `@lru_cache(1024)`. What it returns is the same."""

    DECORATORS = frozenset({"lru_cache", "cache"})
    SIZES = frozenset({"MOST_WIDE"})

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.decorator_list = [one for one in node.decorator_list if _name(one) not in self.DECORATORS]
        self.generic_visit(node)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if _name(node) == "lru_cache" and not isinstance(node.func, ast.Call):
            return ast.Call(node.func, [], [])
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        if isinstance(node.targets[0], ast.Name) and node.targets[0].id in self.SIZES:
            node.value = ast.Constant(None)
        self.generic_visit(node)
        return node


class Signatures(ast.NodeTransformer):
    """The `*` in a signature that becomes `/`: who may be named instead of who must be. Every caller stays valid, or
    fails at its first call."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        pad: list[ast.expr | None] = [None] * (len(node.posonlyargs) + len(node.args) - len(node.defaults))
        node.kw_defaults = [*pad, *node.defaults, *node.kw_defaults]
        node.kwonlyargs = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        node.posonlyargs, node.args, node.defaults = [], [], []
        self.generic_visit(node)
        return node


class Lengths(ast.NodeTransformer):
    """How many characters of a text people are shown: `shown(text, 60)`. The text itself is judged whole."""

    def visit_Call(self, node: ast.Call) -> ast.Call:
        if _name(node) == "shown":
            node.args = node.args[:1]
        self.generic_visit(node)
        return node


INERT = (Annotations, Types, Caches, Signatures, Lengths)
"""Changes that can't alter a decision, whatever the tests."""


def _name(node: ast.AST) -> str | None:
    """`lru_cache`, of `@functools.lru_cache(maxsize=1024)`."""
    while isinstance(node, ast.Call):
        node = node.func
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None


def _only_imports(node: ast.If) -> bool:
    """`if TYPE_CHECKING:`, whatever its condition has become."""
    return not node.orelse and all(isinstance(one, ast.Import | ast.ImportFrom) for one in node.body)


def _names_type(node: ast.stmt) -> bool:
    """`Element = Segment | Wild`, whatever the sign between them has become: a name like a class for a union."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return False
    name = node.targets[0].id
    return isinstance(node.value, ast.BinOp) and name[0].isupper() and not name.isupper()


def meaning(source: str, *rules: type[ast.NodeTransformer]) -> str:
    """What stays the same while no decision can change; by all rules, or by some."""
    tree: ast.AST = ast.parse(source)
    for rule in rules or INERT:
        tree = rule().visit(tree)
    return ast.dump(tree)
