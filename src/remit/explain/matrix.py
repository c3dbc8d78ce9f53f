"""The matrix: tools × callers, cell by cell, as data.

matrix = make_matrix(rulebook)
matrix.cell("create_file", "researcher").symbol     # "🔒"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any, Literal

import msgspec

from remit.decide.preview import cell_of, grid_of
from remit.explain.cells import DENIED, LEGEND, MatrixCell, matrix_cell
from remit.model.policy import Caller, Tool
from remit.model.rulebook import Rulebook
from remit.model.text import counted

Kind = Literal["agent", "role", "runner"]


class Matrix(msgspec.Struct, frozen=True):
    """Cells by tool, then by caller."""

    policy: str
    hash: str
    tools: tuple[str, ...]
    callers: tuple[str, ...]
    cells: dict[str, dict[str, MatrixCell]]
    notes: tuple[str, ...] = ()

    def cell(self, tool: str, caller: str) -> MatrixCell:
        """The cell of a tool and a caller."""
        return self.cells[tool][caller]

    def lines(self, transpose: bool) -> tuple[str, list[str], list[tuple[str, list[MatrixCell]]]]:
        """The corner, the heads of the columns, and the rows with their cells."""
        if transpose:
            rows = [(c, [self.cells[t][c] for t in self.tools]) for c in self.callers]
            return "Agent", list(self.tools), rows
        rows = [(t, [self.cells[t][c] for c in self.callers]) for t in self.tools]
        return "Tool", list(self.callers), rows

    def scoped(self) -> list[tuple[str, str, MatrixCell]]:
        """Caller, tool and cell wherever there is more to say than a symbol."""
        pairs = [(c, t, self.cells[t][c]) for c in self.callers for t in self.tools]
        return [(caller, tool, cell) for caller, tool, cell in pairs if cell.scopes]

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "name": self.policy,
            "policy": self.hash,
            "legend": LEGEND,
            "agents": self.callers,
            "tools": self.tools,
            "cells": {
                tool: {caller: cell_json(cell) for caller, cell in row.items()} for tool, row in self.cells.items()
            },
            "notes": self.notes,
        }


def cell_json(cell: MatrixCell) -> dict[str, Any]:
    """One cell for programs."""
    return {
        "symbol": cell.symbol,
        "verdict": cell.verdict,
        "scopes": cell.scopes,
        "in_full": cell.in_full,
        "rules": cell.rules,
        "why": cell.why or None,
        "limits": cell.limits,
    }


def make_matrix(
    rulebook: Rulebook,
    *,
    callers: Iterable[str] | None = None,
    tools: Iterable[str] | None = None,
    now: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Matrix:
    """The matrix of these callers and tools; without a choice, of all agents and all tools.

    `progress` is told how far it has come."""
    book = rulebook.book
    names = tuple(callers) if callers is not None else tuple(callers_of(rulebook, everyone=False))
    rows = tuple(tools) if tools is not None else tuple(tools_of(rulebook))
    cells: dict[str, dict[str, MatrixCell]] = {}
    for tool in rows:
        if progress is not None:
            progress(f"{len(cells)} of {len(rows)} tools, for {counted(len(names), 'caller')}")
        cells[tool] = {caller: cell_for(rulebook, caller, tool, now) for caller in names}
    notes = [note for name in names if (note := caller_note(book.callers[name], now))]
    return Matrix(book.name, rulebook.hash, rows, names, cells, tuple(notes))


def cell_for(rulebook: Rulebook, caller: str, tool: str, now: str | None = None) -> MatrixCell:
    """The cell of a caller and a tool, by their names."""
    cell = cell_of(rulebook, caller, tool)
    return matrix_cell(cell, now) if cell is not None else MatrixCell(DENIED, why="not declared")


def callers_of(rulebook: Rulebook, *, everyone: bool) -> list[str]:
    """The agents (where there are none: the roles); or everyone, runners too."""
    callers = rulebook.book.callers.values()
    kinds: tuple[Kind, ...] = ("agent", "role", "runner")
    found = [[caller.name for caller in callers if caller.kind == kind] for kind in kinds]
    return [name for group in found for name in group] if everyone else found[0] or found[1] or found[2]


def tools_of(rulebook: Rulebook) -> list[str]:
    """Every declared tool, those of single callers included."""
    book = rulebook.book
    own = (name for caller in book.callers.values() for name in caller.tools)
    return list(dict.fromkeys([*book.tools, *own]))


def tool_for(rulebook: Rulebook, caller: str, name: str) -> Tool | None:
    """The declaration that counts for the caller."""
    row = grid_of(rulebook).row(caller)
    return row.tool(name) if row is not None else None


def chosen_tools(rulebook: Rulebook, words: Iterable[str]) -> tuple[list[str], list[str]]:
    """Tools by name, alias, toolset or pattern; and the words that match none."""
    book, known = rulebook.book, tools_of(rulebook)
    found: list[str] = []
    unknown: list[str] = []
    for word in words:
        if word in book.toolsets:
            mine = [name for name in known if name in book.toolsets[word]]
        else:
            canonical = book.aliases.get(word, word)
            mine = [name for name in known if name == canonical or ("*" in word and fnmatchcase(name, word))]
        found.extend(mine)
        if not mine:
            unknown.append(word)
    return list(dict.fromkeys(found)), unknown


def caller_note(caller: Caller, now: str | None) -> str | None:
    """What weakens or ends everything that the cells of a caller say."""
    if not caller.enabled:
        return f"{caller.name} is disabled"
    until = caller.enforce.observe_until if caller.enforce is not None else None
    if until is not None and (now is None or now < until):
        return f"{caller.name} is only observed until {until}: what is denied here is let through"
    return None
