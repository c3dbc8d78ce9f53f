"""What can be told of a call that step 1 refuses: enough to say what binds even while only observing.

What is declared and well formed is judged as ever. Each text in the rest stands for a path that the tool might read and
change, wherever that path starts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.decide.case import Case
from remit.decide.grid import Cell, Grid, Row
from remit.decide.measure import measure
from remit.decide.protection import guesses
from remit.decide.steps import known_capsules
from remit.model.call import Call
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.policy import Caller, Tool
from remit.model.text import shown
from remit.scopes.interface import Unit

MOST = 1_000
"""Texts; a call with more of them is not looked through."""
LONGEST = 4_096
"""Characters of a path."""
_ANYTHING = frozenset(("read", "write"))


class TooMuch(Exception):
    """More than anybody looks through."""


def stranger(grid: Grid, name: str) -> Row:
    """An agent that the policy doesn't know: without rules, under the policy's own `enforce`."""
    book = grid.rulebook.book
    return Row(book, Caller(name, "agent", enforce=book.enforce), grid.index)


def undeclared(grid: Grid, row: Row, tool: str) -> Cell:
    """The cell of a tool that the policy doesn't know: nothing is declared."""
    return Cell(grid, row, Tool(shown(tool)))


def what_is_told(cell: Cell, call: Call, facts: Facts) -> Case:
    """The call as far as it can be read. Raises TooMuch."""
    values, aside = cell.intake.told(call.args)
    units: list[Unit] = []
    for arg, kind in cell.intake.declared:
        for value in values.get(arg.name, ()):
            try:
                units.extend(kind.units(arg, value, values, call, facts))
            except NotUnderstood:
                aside.append(value)
    units.extend(cell.intake.fixed)
    lost = [_anywhere(text) for text in _bounded(aside)]
    for unit in lost:
        units.extend(guesses(unit, unit.text))
    case = Case(cell, call, facts, values, units or [Unit("call", "", "")])
    if call.context.capsule is not None:
        known_capsules(case)
    measure(case)
    case.units += lost  # after measuring: as something whose place is not told it would have every label
    return case


def _anywhere(text: str) -> Unit:
    parts = [part for part in text.split("/") if part]
    return Unit("path", "", text, _ANYTHING, text=text, untold="place", also=("/".join(parts) or ".",))


def _bounded(values: list[Any]) -> Iterator[str]:
    """The texts that could be paths. Raises TooMuch."""
    for count, text in enumerate(_texts(values)):
        if count >= MOST:
            raise TooMuch
        if text and len(text) <= LONGEST and text.isprintable():
            yield text


def _texts(values: list[Any]) -> Iterator[str]:
    """Every text in them, however deep; of objects also the keys."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if type(value) is str:
            yield value
        elif type(value) is dict:
            waiting += [*value, *value.values()]
        elif type(value) in (list, tuple):
            waiting += value
