"""Costs as ratios: every engine is timed right beside the floor, many times, and the median counts.

Absolute times differ between machines and even between minutes; the ratio of two loops that ran within
milliseconds of each other differs much less. CPU time is read, not the wall clock, so that a busy neighbour
on a shared core counts for nobody.
"""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time_ns, thread_time_ns
from typing import Any

Args = dict[str, Any]
Shot = tuple[Any, Any, Any]
"""One call as every engine gets it: agent, tool, arguments."""
Decide = Callable[[Any, Any, Any], Any]
Timed = tuple[Decide, Sequence[Shot]]
"""What is timed, and the pool of calls that it is given."""

BATCH_NS = 3_000_000
"""How long one timed loop should take: long beside the clock's own cost, short beside a change of load."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one call costs, in multiples of the floor: the median, and the middle half of all rounds."""

    ratio: float
    low: float
    high: float
    nanoseconds: float

    def __str__(self) -> str:
        return show(self.ratio)


def show(ratio: float) -> str:
    """Two significant digits, three from a hundred on: what a repeated run would show again."""
    if ratio >= 1000:
        return f"{round(ratio, -1):,.0f}"
    return f"{ratio:.0f}" if ratio >= 20 else f"{ratio:.1f}"


@contextmanager
def quiet() -> Iterator[None]:
    """No garbage collection inside; what exists by now is not looked at again."""
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def spend(decide: Decide, shots: Sequence[Shot]) -> int:
    """Nanoseconds of CPU time for all these calls, without the loop's own."""
    start = process_time_ns()
    for agent, tool, args in shots:
        decide(agent, tool, args)
    end = process_time_ns()
    for agent, tool, args in shots:  # noqa: B007  the empty loop, so that it can be taken off
        pass
    return max(1, (end - start) - (process_time_ns() - end))


class Feed:
    """Hands out the next calls of a pool, round and round, so that each batch meets other ones."""

    def __init__(self, pool: Sequence[Shot], length: int) -> None:
        self.length = length
        self._pool = list(pool) * (2 + length // len(pool))
        self._period = len(pool)
        self._at = 0

    def next(self) -> list[Shot]:
        """As many calls as a batch has."""
        batch = self._pool[self._at : self._at + self.length]
        self._at = (self._at + self.length) % self._period
        return batch


def feed(decide: Decide, pool: Sequence[Shot]) -> Feed:
    """A feed whose batches take about `BATCH_NS` with this engine; afterwards every call was made once."""
    for shot in pool:
        decide(*shot)
    trial = pool[: max(1, len(pool) // 20)]
    each = spend(decide, trial) / len(trial)
    return Feed(pool, max(5, min(20_000, int(BATCH_NS / each))))


def compare(engines: Mapping[str, Timed], *, floor: Timed, rounds: int) -> dict[str, Cost]:
    """Each engine's cost in multiples of the floor, each over its pool of calls.

    In every round each engine takes its turn, in another order each time, between two batches of the floor.
    """
    with quiet():
        floors = feed(*floor)
        feeds = {name: feed(*engine) for name, engine in engines.items()}
        ratios: dict[str, list[float]] = {name: [] for name in engines}
        times: dict[str, list[float]] = {name: [] for name in engines}
        names = list(engines)
        for turn in range(rounds):
            start = turn % len(names)
            for name in names[start:] + names[:start]:
                before = spend(floor[0], floors.next())
                batch = feeds[name].next()
                each = spend(engines[name][0], batch) / len(batch)
                after = spend(floor[0], floors.next())
                ratios[name].append(each / ((before + after) / (2 * floors.length)))
                times[name].append(each)
    return {name: _cost(ratios[name], times[name]) for name in names}


def _cost(ratios: list[float], times: list[float]) -> Cost:
    low, middle, high = statistics.quantiles(ratios, n=4)
    return Cost(ratio=middle, low=low, high=high, nanoseconds=statistics.median(times))


def alternate(tasks: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, list[int]]:
    """CPU nanoseconds of whole tasks, one after the other, as often as asked."""
    times: dict[str, list[int]] = {name: [] for name in tasks}
    with quiet():
        for task in tasks.values():
            task()
        for _ in range(rounds):
            for name, task in tasks.items():
                start = process_time_ns()
                task()
                times[name].append(process_time_ns() - start)
                gc.collect()
    return times


def ratio_of(times: Mapping[str, Sequence[int]], name: str, to: str) -> float:
    """The median, over the rounds, of one task's time in multiples of another's."""
    return statistics.median(a / b for a, b in zip(times[name], times[to], strict=True))


def thread_cpu(work: Callable[[], object], times: int) -> float:
    """Nanoseconds of CPU that one call takes in this thread, without the loop's own; other threads' are not counted."""
    start = thread_time_ns()
    for _ in range(times):
        pass
    empty = thread_time_ns() - start
    start = thread_time_ns()
    for _ in range(times):
        work()
    return max(1, thread_time_ns() - start - empty) / times
