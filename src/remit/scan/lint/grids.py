"""Findings about rights to things: two tables, or a table and lists of paths, that give an agent different ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from remit.scan.grids import Cell, Grid
from remit.scan.lint.counts import is_past_page
from remit.scan.lint.finding import finding
from remit.scan.model import Finding, Place

_MOST = 6
_Case = tuple[str, str, Cell, Cell]


def grid_findings(grids: Sequence[Grid], together: Callable[[str, str], bool]) -> Iterator[Finding]:
    """Each pair of grids that contradict each other, once; `together` says whether two files speak of one team."""
    held: list[Grid] = []
    for each in grids:
        if not is_past_page(each.source) and not any(_is_copy(each, before) for before in held):
            held.append(each)
    for at, one in enumerate(held):
        for other in held[at + 1 :]:
            if one.source != other.source and not (one.matrix and other.matrix) and together(one.source, other.source):
                cases = _differing(one, other)
                if cases:
                    yield _finding(cases, "tables-differ/paths" if one.paths or other.paths else "tables-differ/things")


def _is_copy(one: Grid, other: Grid) -> bool:
    """Whether a grid of paths says nothing that another doesn't say."""
    return one.paths and all(key in other.cells and other.cells[key].may == one.cells[key].may for key in one.cells)


def _differing(one: Grid, other: Grid) -> list[_Case]:
    """The cells that contradict each other, if the grids are about the same things: most of their cells agree."""
    both = [key for key in one.cells if key in other.cells]
    agents, things = {agent for agent, _ in both}, {thing for _, thing in both}
    if len(agents) < 2 or (len(things) < 2 and len(both) < 4):
        return []
    cases = [(*key, one.cells[key], other.cells[key]) for key in both if _contradict(one.cells[key], other.cells[key])]
    return cases if 2 * len(cases) <= len(both) else []


def _contradict(one: Cell, other: Cell) -> bool:
    differ = [right for right in one.may.keys() & other.may.keys() if one.may[right] != other.may[right]]
    if one.narrow == other.narrow:
        return bool(differ)
    broad = other if one.narrow else one  # whoever may not write sources may write other files
    return any(not broad.may[right] for right in differ)


def _finding(cases: Sequence[_Case], key: str) -> Finding:
    by_agent: dict[str, list[str]] = {}
    for agent, thing, _, _ in cases:
        by_agent.setdefault(agent, []).append(thing)
    shown = "; ".join(f"`{agent}` to {', '.join(f'`{one}`' for one in things)}" for agent, things in by_agent.items())
    firsts: dict[str, tuple[Place, Place]] = {}
    for agent, _, one, other in cases:
        firsts.setdefault(agent, (one.place, other.place))
    places = [place for pair in list(firsts.values())[:_MOST] for place in pair]
    return finding(key, f"two places give different rights: {shown[:600]}", *places)
