"""The merged matrix: a row for each agent and source, a column for each kind of tool."""

from __future__ import annotations

import msgspec

from remit.scan.model import Account, Entry, Extent, Kind, Mark, Place, Survey
from remit.scan.vocabulary import capability

COLUMNS = ("read", "search", "write", "shell", "network", "delegate", "mcp", "other")
SIGNS = {Mark.YES: "✅", Mark.SCOPED: "🔒", Mark.NO: "❌", Mark.UNCLEAR: "？", None: "·"}
_STRONGEST = (Mark.YES, Mark.SCOPED, Mark.UNCLEAR, Mark.NO)
_MAIN = frozenset(COLUMNS) - {"other"}


class Cell(msgspec.Struct, frozen=True):
    """What one source says of one kind of tool; None for nothing. The entries are the ground."""

    mark: Mark | None
    entries: tuple[Entry, ...] = ()


class Line(msgspec.Struct, frozen=True):
    """One source of one agent."""

    agent: str
    team: str
    account: Account
    cells: tuple[Cell, ...]

    @property
    def tells(self) -> bool:
        """Whether it says anything certain."""
        return any(cell.mark not in (None, Mark.UNCLEAR) for cell in self.cells)


def board(survey: Survey) -> list[Line]:
    """The rows, agent by agent, the source that a host follows first; one for all that a place says."""
    found: list[Line] = []
    for agent in survey.agents:
        rows: dict[Place, Line] = {}
        for account in agent.accounts:
            if account.kind is not Kind.ROSTER or account.rights:
                cells = tuple(_cell(account, column) for column in COLUMNS)
                before = rows.get(account.place)
                if before is not None:
                    cells = tuple(map(_both, before.cells, cells))
                rows[account.place] = Line(agent.name, agent.team, before.account if before else account, cells)
        found += rows.values()
    return found


def _both(one: Cell, other: Cell) -> Cell:
    """What two accounts of one place say of a kind of tool: what is certain, and the first where both are."""
    sure = next((cell for cell in (one, other) if cell.mark not in (None, Mark.UNCLEAR)), one)
    return Cell(sure.mark, (*one.entries, *other.entries))


def _cell(account: Account, column: str) -> Cell:
    entries = tuple(entry for entry in account.entries if _column(entry.tool) == column)
    entries += tuple(
        Entry(one.text, Mark.YES if one.granted else Mark.NO, one.place)
        for one in account.rights
        if one.kind == column or (one.kind == "changes" and column in ("write", "shell"))
    )
    marks = {entry.mark for entry in entries}
    if account.extent is Extent.EVERYTHING and not marks & {Mark.YES, Mark.SCOPED}:
        return Cell(Mark.NO if Mark.NO in marks else Mark.YES, entries)
    if not entries:
        if account.extent is Extent.UNCLEAR:
            return Cell(Mark.UNCLEAR)
        return Cell(Mark.NO if account.closed and not account.marks and column != "other" else None)
    if marks == {Mark.NO} and all(entry.scope is not None for entry in entries):
        return Cell(Mark.SCOPED, entries)  # `deny: Read(.env)` takes away a part
    return Cell(next(mark for mark in _STRONGEST if mark in marks), entries)


def _column(tool: str) -> str:
    kind = capability(tool)
    if kind == "everything":
        return "shell"
    return kind if kind in _MAIN else "other"
