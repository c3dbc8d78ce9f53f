"""A task as it is kept: the capsule that decisions look at, and what people want to know about it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from remit.model.facts import Capsule

SUM = "sum:"
UNIT = 1_000_000
"""Sums are counted in millionths."""
LARGEST_SUM = 9 * 10**12


class Budget(msgspec.Struct, frozen=True, omit_defaults=True):
    """How much a task may do: calls in all, calls that change something, calls of one tool, and what an argument may
    add up to over all calls (`send_money.amount`, in millionths). None: no limit."""

    calls: int | None = None
    writes: int | None = None
    tools: dict[str, int] = {}
    sum: dict[str, int] = {}

    @property
    def limits(self) -> dict[str, int]:
        """By what is counted: `calls`, `writes`, `tool:NAME`, `sum:NAME.ARGUMENT`."""
        found = {}
        if self.calls is not None:
            found["calls"] = self.calls
        if self.writes is not None:
            found["writes"] = self.writes
        for name, most in self.tools.items():
            found[f"tool:{name}"] = most
        for name, most in self.sum.items():
            found[f"{SUM}{name}"] = most
        return found


def amount_text(what: str, number: int) -> str:
    """A count, or a sum in whole units: `12.5`."""
    if not what.startswith(SUM):
        return str(number)
    sign, whole = ("-" if number < 0 else ""), abs(number)
    return f"{sign}{whole // UNIT}.{whole % UNIT:06d}".rstrip("0").rstrip(".")


def counted_text(what: str) -> str:
    """What is counted, for people: `calls of read`, `in send_money.amount`."""
    return what.replace("tool:", "calls of ", 1) if not what.startswith(SUM) else f"in {what.removeprefix(SUM)}"


class Task(msgspec.Struct, frozen=True, omit_defaults=True):
    """One capsule with everything that was said when it was issued."""

    capsule: Capsule
    goal: str = ""
    constraints: tuple[str, ...] = ()
    """In words, for people and for the agent; what binds are the capsule's rules."""
    gates: tuple[str, ...] = ()
    """Gates that people pass in the course of it."""
    budget: Budget = Budget()
    by: str = ""
    issuer: Literal["human", "agent"] = "human"
    made: str = ""
    policy: str = ""
    """The hash of the policy that it was issued under."""
    alone: bool = False
    """The agent that issued it granted something by itself: the policy in force has to let it."""
    source: dict[str, Any] = {}
    """The rules as they were written, for people: `may`, `may_not`, `plan`, `grants`."""


class Ask(msgspec.Struct, frozen=True, omit_defaults=True):
    """One call that waits for an answer, as people see it."""

    agent: str
    tool: str
    of: str
    """`human`, or the name of an agent or role."""
    reason: str
    code: str
    tier: int
    asked: str
    point: str = ""
    chain: tuple[str, ...] = ()
    capsule: str | None = None
    session: str | None = None
    effects: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    anticipated: bool | None = None
    """False: the plan of its task does not have it (`not-anticipated`). None: it has no plan to look at."""
    statement: dict[str, Any] | None = None
    policy: str = ""
    approvals: int = 1
    """How many people have to approve."""
    people: tuple[str, ...] | None = None
    """Who may; None: the policy names nobody."""
