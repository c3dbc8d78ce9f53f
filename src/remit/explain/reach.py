"""Reach: what an agent can cause through those it hands work to, beyond what it may do itself.

By what is written, as in the matrix: a tool counts if some call of it could be allowed or asked. With
`delegate_within: chain` only what everybody before may too counts.
"""

from __future__ import annotations

from typing import Any

import msgspec

from remit.analyze.reach import Way, ways_from
from remit.decide.preview import Bound, Cell, grid_of
from remit.explain.cells import DENIED, matrix_cell
from remit.explain.extent import Extent, extent_of, highest
from remit.model.rulebook import Rulebook
from remit.model.terms import EFFECTS

_ORDER = {effect: index for index, effect in enumerate(EFFECTS)}


class Added(msgspec.Struct, frozen=True):
    """One tool that somebody else brings."""

    tool: str
    why: str
    """`new`: the agent can't use it itself; `further`: it can, within other limits."""
    symbol: str
    scopes: tuple[str, ...]
    effects: tuple[str, ...]
    tier: int
    tier_why: str
    most: int
    """The highest that a single call could have."""
    most_why: str
    bounded: bool
    """False: the tier is what examples show."""


class Through(msgspec.Struct, frozen=True):
    """What comes of one agent or runner that can be reached."""

    name: str
    kind: str
    ways: tuple[Way, ...]
    adds: tuple[Added, ...]
    effects: tuple[str, ...]
    """Those that the agent does not have itself."""
    tier: int
    """The highest of what it adds, as calls usually have it."""
    most: int
    """The highest that a single call could have."""


class Reach(msgspec.Struct, frozen=True):
    """All that one agent can cause through others."""

    agent: str
    policy: str
    own_tools: tuple[str, ...]
    own_effects: tuple[str, ...]
    own_tier: int
    own_most: int
    through: tuple[Through, ...]
    complete: bool = True


class _Use(msgspec.Struct, frozen=True):
    """One tool as somebody may use it."""

    cell: Cell
    symbol: str
    scopes: tuple[str, ...]
    extent: Extent


def reach_of(rulebook: Rulebook, agent: str, now: str | None = None) -> Reach:
    """What a caller that the rulebook knows can cause through others."""
    ways = ways_from(rulebook.book, agent)
    own = _uses(rulebook, agent, Way(agent, ()), now)
    own_effects = {effect for use in own.values() for effect in use.extent.effects}
    found = []
    for name, mine in ways.by_name.items():
        added: dict[str, Added] = {}
        for way in mine:
            for tool, use in _uses(rulebook, name, way, now).items():
                why = _why(own.get(tool), use, bound=agent in way.bound)
                if why and (tool not in added or use.extent.most > added[tool].most):
                    added[tool] = _added(tool, why, use)
        effects = {effect for one in added.values() for effect in one.effects} - own_effects
        found.append(
            Through(
                name=name,
                kind=rulebook.book.callers[name].kind,
                ways=mine,
                adds=tuple(added[tool] for tool in sorted(added)),
                effects=_sorted(effects),
                tier=max((one.tier for one in added.values()), default=0),
                most=max((one.most for one in added.values()), default=0),
            )
        )
    return Reach(
        agent=agent,
        policy=rulebook.hash,
        own_tools=tuple(sorted(own)),
        own_effects=_sorted(own_effects),
        own_tier=max((use.extent.tier for use in own.values()), default=0),
        own_most=max((use.extent.most for use in own.values()), default=0),
        through=tuple(found),
        complete=ways.complete,
    )


def _uses(rulebook: Rulebook, name: str, way: Way, now: str | None) -> dict[str, _Use]:
    """The tools that somebody can use when work comes by this way: those that all who are bound can use too."""
    grid = grid_of(rulebook)
    row = grid.row(name)
    if row is None:
        return {}
    found = {}
    for tool_name in dict.fromkeys([*rulebook.book.tools, *row.caller.tools]):
        tool = row.tool(tool_name)
        if tool is None:
            continue
        cell = grid.cell(row, tool)
        binding = [grid.cell(other, tool) for one in way.bound if (other := grid.row(one)) is not None]
        shown = [matrix_cell(one, now) for one in (cell, *binding)]
        if any(one.symbol == DENIED for one in shown):
            continue
        extent = _extent(cell, now)
        if extent is None:
            continue
        for one in binding:
            limit = _extent(one, now)
            if limit is not None and limit.bounded and limit.most < extent.most:
                extent = msgspec.structs.replace(limit, effects=extent.effects, bounded=extent.bounded)
        scopes = [*shown[0].scopes]
        for limiting, theirs in zip(binding, shown[1:], strict=True):
            scopes.extend(f"{limiting.caller.name}: {scope}" for scope in theirs.scopes)
        found[tool_name] = _Use(cell, shown[0].symbol, tuple(scopes), extent)
    return found


def _extent(cell: Cell, now: str | None) -> Extent | None:
    """The furthest of all that permits it."""
    if cell.access:
        return extent_of(cell, None)
    permits = [*cell.may, *_grants(cell, now), *cell.asks]
    return highest(extent for bound in permits if (extent := extent_of(cell, bound)) is not None)


def _grants(cell: Cell, now: str | None) -> list[Bound]:
    return [bound for bound in cell.grants if bound.until is not None and now is not None and now < bound.until]


def _why(own_use: _Use | None, use: _Use, *, bound: bool) -> str:
    """`new`, `further`, or nothing where the agent can certainly do the same itself."""
    if own_use is None:
        return "new"
    mine, theirs = own_use.cell, use.cell
    if bound and mine.tool == theirs.tool:
        return ""
    limited = any(own is not None and own != other for own, other in zip(_record(mine), _record(theirs), strict=True))
    if mine.tool != theirs.tool or limited:
        return "further"
    if not _scopes(mine.nots) <= _scopes(theirs.nots) or not _scopes(mine.asks) <= _scopes(theirs.asks):
        return "further"
    if mine.access or any(one.judge.free for one in mine.may):
        return ""
    given = _scopes([*theirs.may, *theirs.asks, *theirs.grants])
    return "further" if theirs.access or not given <= _scopes([*mine.may, *mine.asks]) else ""


def _scopes(bounds: list[Bound]) -> set[bytes]:
    return {msgspec.json.encode(bound.rule.scope) for bound in bounds}


def _record(cell: Cell) -> tuple[Any, ...]:
    """What a caller's record limits besides its rules."""
    caller = cell.caller
    return (caller.locks, caller.apis, caller.skills, caller.data_tiers, caller.data_tiers_with_grant, cell.reserved)


def _added(tool: str, why_added: str, use: _Use) -> Added:
    extent = use.extent
    return Added(
        tool=tool,
        why=why_added,
        symbol=use.symbol,
        scopes=use.scopes,
        effects=extent.effects,
        tier=extent.tier,
        tier_why=extent.why,
        most=extent.most,
        most_why=extent.most_why,
        bounded=extent.bounded,
    )


def _sorted(effects: set[str]) -> tuple[str, ...]:
    return tuple(sorted(effects, key=_ORDER.__getitem__))
