"""What the bench asks of an engine, its own or another's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from bench.timing import Decide, Shot, Timed
from bench.workloads import Check, Workload

PROBED = 50
"""How many calls of a pool are looked at before it is timed."""


class CannotCheck(Exception):
    """The engine has no way to say what this workload needs; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Built:
    """An engine with its policy loaded.

    `decide` is timed: it builds the engine's own request and returns the engine's own answer.
    `allowed` reads that answer, and `prepare` makes ready what a caller would have at hand; neither is timed.
    """

    decide: Decide
    allowed: Callable[[Any], bool] = bool
    prepare: Callable[[Shot], Shot] = lambda shot: shot

    def timed(self, workload: Workload) -> Timed:
        """What is to be timed over this workload."""
        return self.decide, [self.prepare(shot) for shot in workload.pool]

    def permits(self, shot: Shot) -> bool:
        """The engine's answer to one call."""
        return self.allowed(self.decide(*self.prepare(shot)))


class Engine(Protocol):
    """One engine, used in the fastest way that its documentation offers."""

    @property
    def name(self) -> str:
        """As shown."""
        ...

    @property
    def distribution(self) -> str:
        """Its name on PyPI, for the version in the report."""
        ...

    @property
    def use(self) -> str:
        """How it is used here."""
        ...

    @property
    def checks(self) -> Mapping[Check, str]:
        """What it looks at in each kind of workload; a kind that is missing here is one that it can't do."""
        ...

    @property
    def grows(self) -> bool:
        """Whether it takes part in the plot of cost against size."""
        ...

    def build(self, workload: Workload) -> Built:
        """The engine with this workload's policy. Raises `CannotCheck`."""
        ...


def mistakes(built: Built, workload: Workload) -> list[str]:
    """Every call that the engine decides otherwise than the workload says."""
    wrong: list[str] = []
    for agent, tool, args in workload.pool[:PROBED]:
        if built.permits((agent, tool, args)) is not workload.allowed:
            wrong.append(f"{agent} {tool} {args}: {'refused' if workload.allowed else 'allowed'}")
    for agent, tool, args in workload.refused:
        if built.permits((agent, tool, args)):
            wrong.append(f"{agent} {tool} {args}: allowed")
    return wrong
