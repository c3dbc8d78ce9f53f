"""Who handed a task to whom: the store knows it, and a call that says otherwise is refused."""

from __future__ import annotations

from remit.grant.capsules import CapsuleState
from remit.grant.errors import GrantError


def chain_of(line: list[CapsuleState]) -> tuple[str, ...]:
    """The agents through whose hands a capsule came. `line` is the capsule and those above it."""
    last = line[-1].task
    givers = [state.task.capsule.agent for state in reversed(line[1:])]
    return ((last.by,) if last.issuer == "agent" else ()) + tuple(givers)


def check_chain(said: tuple[str, ...], line: list[CapsuleState]) -> None:
    """Raises GrantError unless the chain of a call is how its capsule came. An issuing agent may have had givers."""
    known = chain_of(line)
    more = len(said) - len(known)
    if more < 0 or said[more:] != known or (more and line[-1].task.issuer == "human"):
        raise GrantError("the chain is not the one that the task came by", code="broken-chain")
