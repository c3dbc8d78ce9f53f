"""Hand-overs: how one agent's block within another's becomes a chain and a task of its own."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from remit.enforce.acting import Acting
from remit.enforce.attempt import Enforcer
from remit.enforce.errors import GuardError
from remit.grant.capsules import CapsuleState, above
from remit.grant.chain import chain_of, check_chain
from remit.grant.errors import GrantError
from remit.model.call import Context
from remit.model.facts import Capsule
from remit.model.task import Task


@contextmanager
def entered(
    enforcer: Enforcer,
    outer: Acting | None,
    name: str,
    capsule: str | None,
    ticket: str | None,
    more: Mapping[str, Any],
) -> Iterator[Context]:
    """The context that calls of the agent have. Raises GrantError and GuardError.

    Who handed work to whom comes from the store where there is a capsule, and from the blocks around this one where
    there is none; nobody can say it.
    """
    if ticket is not None:
        if outer is not None or capsule is not None:
            raise GuardError("a ticket is taken by itself", code="bad-ticket")
        line = enforcer.authority.enter(ticket, name)
        yield _context(name, line, (), more)
        return
    made = None
    if outer is not None and outer.context.capsule is not None and capsule is None:
        capsule = made = _hand_on(enforcer, outer, name)
    try:
        line = _line(enforcer, capsule) if capsule is not None else []
        yield _context(name, line, _around(outer, line), more)
    finally:
        if made is not None:
            with suppress(GrantError):  # it ended with its parent, or by itself
                enforcer.authority.end(made, by="the hand-over is over")


def _hand_on(enforcer: Enforcer, outer: Acting, name: str) -> str:
    """A child of the giver's capsule, with all its limits and no grants."""
    own = f"{str(outer.context.capsule)[:80]}.{secrets.token_hex(4)}"
    capsule = Capsule(own, name, parent=outer.context.capsule)
    enforcer.authority.issue(enforcer.rulebook(), Task(capsule, by=outer.agent, issuer="agent"))
    return own


def _line(enforcer: Enforcer, capsule: str) -> list[CapsuleState]:
    with enforcer.authority.store.read() as view:
        return above(view, capsule)


def _around(outer: Acting | None, line: list[CapsuleState]) -> tuple[str, ...]:
    """The chain of the blocks around; what they say and what the store says must agree."""
    if outer is None:
        return ()
    parent = line[0].task.capsule.parent if line else None
    if line and parent != outer.context.capsule:
        raise GrantError(f"the capsule {line[0].task.capsule.id} does not come from this task", code="broken-chain")
    return (*outer.context.chain, outer.agent)


def _context(name: str, line: list[CapsuleState], around: tuple[str, ...], more: Mapping[str, Any]) -> Context:
    chain = around
    if line:
        if line[0].task.capsule.agent != name:
            raise GrantError(f"the capsule {line[0].task.capsule.id} was not handed to {name}", code="unknown-capsule")
        chain = around or chain_of(line)
        check_chain(chain, line)
    return Context(capsule=line[0].task.capsule.id if line else None, chain=chain, **more)
