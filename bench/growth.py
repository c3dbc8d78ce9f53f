"""The cost of one decision as the matrix grows from a hundred to a million cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from time import perf_counter

from bench.floor import floor
from bench.peers.interface import PROBED, CannotCheck, Engine, mistakes
from bench.timing import Cost, Decide, Shot, Timed, compare, spend
from bench.workloads import grid

SLOW_NS = 2_000_000
"""An engine that takes this long for one decision goes no further."""
SLOW_BUILD = 4.0
"""Nor does a peer that takes so many seconds to load its policy: the next size is ten times this one."""
FLOOR = "B1 (table lookup)"


@dataclass(slots=True)
class Curve:
    """One engine's costs by size, in multiples of the floor at the smallest size."""

    points: dict[int, Cost] = field(default_factory=dict)
    first: dict[int, float] = field(default_factory=dict)
    """What a cell's first call costs, once."""
    load_seconds: dict[int, float] = field(default_factory=dict)
    stopped: str | None = None


def _each(decide: Decide, pool: Sequence[Shot]) -> float:
    return spend(decide, pool) / len(pool)


def measure(ours: Engine, peers: Sequence[Engine], sizes: Sequence[int], rounds: int) -> dict[str, Curve]:
    """Curves by engine, the floor's own first."""
    engines = [ours, *(peer for peer in peers if peer.grows)]
    curves = {FLOOR: Curve()} | {engine.name: Curve() for engine in engines}
    smallest = grid(min(sizes))
    b1: Timed = (floor(smallest.table), smallest.pool)
    for cells in sizes:
        workload = grid(cells)
        built: dict[str, Timed] = {FLOOR: (floor(workload.table), workload.pool)}
        for engine in engines:
            curve = curves[engine.name]
            if curve.stopped:
                continue
            start = perf_counter()
            try:
                ready = engine.build(workload)
            except CannotCheck as reason:
                curve.stopped = str(reason)
                continue
            except Exception as error:  # a foreign engine may raise anything; the others go on
                if engine is ours:
                    raise
                curve.stopped = f"{type(error).__name__}: {error}"
                continue
            curve.load_seconds[cells] = perf_counter() - start
            wrong = mistakes(ready, workload)
            if wrong:
                curve.stopped = f"decides wrongly: {wrong[0]}"
                continue
            decide, pool = built[engine.name] = ready.timed(workload)
            if engine is ours:
                curve.first[cells] = _each(decide, pool[PROBED:]) / _each(*b1)
            if engine is not ours and curve.load_seconds[cells] > SLOW_BUILD:
                curve.stopped = f"too slow to load beyond {cells:,} cells"
        costs = compare(built, floor=b1, rounds=rounds)
        for name, cost in costs.items():
            curves[name].points[cells] = cost
            if cost.nanoseconds > SLOW_NS and not curves[name].stopped:
                curves[name].stopped = f"too slow beyond {cells:,} cells"
    return curves
