"""Who acts right now in this thread or task: set by the program that runs the agents, never by their words."""

from __future__ import annotations

from contextvars import ContextVar

import msgspec

from remit.model.call import Context


class Acting(msgspec.Struct, frozen=True):
    """One agent at work, for one guard."""

    guard: int
    agent: str
    context: Context
    around: Acting | None = None
    """Who acts around this block, perhaps for another guard."""


current: ContextVar[Acting | None] = ContextVar("remit_acting", default=None)


def acting_for(guard: int) -> Acting | None:
    """Who acts right now for this guard; blocks of other guards in between don't count."""
    found = current.get()
    while found is not None and found.guard != guard:
        found = found.around
    return found
