"""The cost of one decision, engine by engine, for each workload."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bench.floor import floor
from bench.peers.interface import CannotCheck, Engine, mistakes
from bench.timing import Cost, Timed, compare
from bench.workloads import Workload


@dataclass(slots=True)
class Column:
    """One workload, timed: costs by engine, what engines can't do, and what they decide wrongly."""

    workload: Workload
    costs: Mapping[str, Cost] = field(default_factory=dict)
    cannot: dict[str, str] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)


def measure(workload: Workload, engines: Sequence[Engine], rounds: int) -> Column:
    """All engines over one workload."""
    column = Column(workload)
    built: dict[str, Timed] = {}
    for engine in engines:
        try:
            ready = engine.build(workload)
            wrong = mistakes(ready, workload)
        except CannotCheck as reason:
            column.cannot[engine.name] = str(reason)
        except Exception as error:  # a foreign engine may raise anything; the others go on
            column.cannot[engine.name] = f"{type(error).__name__}: {error}"
        else:
            built[engine.name] = ready.timed(workload)
            if wrong:
                column.wrong[engine.name] = wrong
    column.costs = compare(built, floor=(floor(workload.table), workload.pool), rounds=rounds)
    return column


def main() -> None:
    """Print Remit's own figures alone: `python -m bench.decisions`."""
    from bench import subject, workloads  # here: they import this module's neighbours

    for workload in workloads.all_of_them():
        column = measure(workload, subject.ENGINES, rounds=31)
        for name, cost in column.costs.items():
            print(f"{workload.key} {name}: {cost} × B1 ({cost.low:.1f} to {cost.high:.1f}), {cost.nanoseconds:.0f} ns")


if __name__ == "__main__":
    main()
