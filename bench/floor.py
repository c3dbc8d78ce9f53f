"""B1, the floor: the least that any per-agent tool control must do."""

from __future__ import annotations

from collections.abc import Mapping

from bench.timing import Args, Decide


def floor(table: Mapping[str, frozenset[str]]) -> Decide:
    """A function that does `tool in table[agent]` and looks at nothing else."""

    def b1(agent: str, tool: str, args: Args) -> bool:
        return tool in table[agent]

    return b1
