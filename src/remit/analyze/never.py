"""`never` statements: proved, violated with a call that `decide` confirms, or unknown."""

from __future__ import annotations

from typing import Literal

import msgspec

from remit.analyze.candidates import candidates
from remit.analyze.confined import holds
from remit.decide import decide
from remit.decide.grid import Bound, Cell, grid_of
from remit.decide.selection import selects_caller, selects_tool
from remit.model.call import Call
from remit.model.policy import Caller, Never, Tool
from remit.model.rulebook import Rulebook
from remit.model.terms import DENY, EFFECTS
from remit.scopes.kinds import kind_of

Answer = Literal["proved", "violated", "unknown"]


class Finding(msgspec.Struct, frozen=True):
    """What came out for one statement, with the caller and tool that settled it."""

    statement: Never
    answer: Answer
    caller: str = ""
    tool: str = ""
    because: str = ""
    call: Call | None = None
    cells: int = 0
    assumptions: tuple[str, ...] = ()


def examine(rulebook: Rulebook, statement: Never) -> Finding:
    """The answer for one statement; the first cell that is not proved settles it."""
    assumptions: set[str] = set()
    cells = 0
    grid = grid_of(rulebook)
    for caller in rulebook.book.callers.values():
        row = grid.row(caller.name) if selects_caller(statement, caller) else None
        if row is None:
            continue
        for tool in _tools(rulebook, statement, caller):
            cells += 1
            cell = grid.cell(row, tool)
            answer, because, call = _cell(rulebook, cell, statement, assumptions)
            if answer != "proved":
                return Finding(statement, answer, caller.name, tool.name, because, call, cells)
    return Finding(statement, "proved", cells=cells, assumptions=tuple(sorted(assumptions)))


def describe(statement: Never) -> str:
    """The statement in one line."""
    words = []
    for key in ("agent", "role", "tool", "toolset", "layer", "category", "risk", "kind", "effect"):
        values = getattr(statement, key)
        if values:
            words.append(f"{key} {'/'.join(values)}")
    return "never " + ", ".join(words)


def _tools(rulebook: Rulebook, statement: Never, caller: Caller) -> list[Tool]:
    book = rulebook.book
    tools = [caller.tools.get(name, tool) for name, tool in book.tools.items()]
    tools.extend(tool for name, tool in caller.tools.items() if name not in book.tools)
    return [tool for tool in tools if selects_tool(book, statement, tool)]


def _cell(rulebook: Rulebook, cell: Cell, statement: Never, assumptions: set[str]) -> tuple[Answer, str, Call | None]:
    permits = [*cell.may, *cell.grants, *cell.asks]
    closed = not cell.caller.enabled or cell.access is False or cell.reserved is not None
    if closed or (not permits and cell.access is None):
        return "proved", "", None
    if any(_certain(bound, statement) for bound in cell.nots):
        return "proved", "", None
    project = False
    texts = frozenset(kind for kind in cell.tool.kinds if kind_of(kind).language)
    if "sandbox" in statement.assuming and statement.effect and holds(rulebook, cell, statement.effect):
        return "proved", "", None  # the sandbox is no assumption: the policy requires it
    if texts and statement.effect and cell.access is None:
        shown, project = _text_effects(permits, texts)
        if shown.isdisjoint(statement.effect):
            if not project:
                return "proved", "", None
            if "sandbox" in statement.assuming:
                assumptions.add("a sandbox keeps project code from what its text does not show")
                return "proved", "", None
            return "unknown", "it can run project code, which could do anything; say `assuming: [sandbox]`", None
    for call, facts in candidates(cell):
        decision = decide(rulebook, call, facts)
        if decision.verdict is not DENY and (
            not statement.effect or not set(statement.effect).isdisjoint(decision.effects)
        ):
            return "violated", decision.verdict.word, call
    if _hopeless(cell, statement):
        return "proved", "", None
    for kind in sorted(texts):
        unscoped = kind_of(kind).unscoped
        if unscoped and any(kind not in bound.judge.parts for bound in permits):
            if "sandbox" in statement.assuming:
                assumptions.add(unscoped)
                return "proved", "", None
            return "unknown", f"it takes any {kind} text; scope it, or say `assuming: [sandbox]`", None
    return "unknown", "no counterexample was found, and no prohibition rules it out", None


def _text_effects(permits: list[Bound], kinds: frozenset[str]) -> tuple[frozenset[str], bool]:
    """What all permissions together let texts in a language do."""
    effects: set[str] = set()
    project = False
    for bound in permits:
        for kind in kinds:
            matcher = bound.judge.parts.get(kind)
            if matcher is None:
                return frozenset(EFFECTS), True
            mine, runs = matcher.effects()
            effects |= mine
            project = project or runs
    return frozenset(effects), project


def _certain(bound: Bound, statement: Never) -> bool:
    """A `may_not` that holds for every call that the statement is about."""
    judge = bound.judge
    if judge.when or judge.where or judge.parts or judge.exception is not None:
        return False
    return judge.effects is None or (bool(statement.effect) and judge.effects >= set(statement.effect))


def _hopeless(cell: Cell, statement: Never) -> bool:
    """Every permission names nothing at all, such as an empty list of paths."""
    if cell.access is not None:
        return False
    permits = (*cell.may, *cell.grants, *cell.asks)
    return all(any(matcher.empty for matcher in bound.judge.parts.values()) for bound in permits)
