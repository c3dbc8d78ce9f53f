"""Other engines, one file each, behind `interface.Engine`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from bench.peers.interface import Engine

MODULES = ("tenuo", "agt_control_plane", "agt_agent_os", "vakt", "cedar", "casbin")


@dataclass(frozen=True, slots=True)
class Absent:
    """An engine that could not be loaded here, and why."""

    name: str
    why: str


def load() -> tuple[list[Engine], list[Absent]]:
    """All peers that import, and those that don't."""
    engines: list[Engine] = []
    absent: list[Absent] = []
    for name in MODULES:
        try:
            module = importlib.import_module(f"bench.peers.{name}")
        except Exception as error:  # whatever a foreign package raises on import, the bench goes on
            absent.append(Absent(name, f"{type(error).__name__}: {error}"))
        else:
            engines.extend(module.ENGINES)
    return engines, absent
