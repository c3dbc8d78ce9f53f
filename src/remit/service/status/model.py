"""What `remit status` tells, as data: plain, complete, and without a claim that was not looked up."""

from __future__ import annotations

from typing import Literal

import msgspec

from remit.adapters.hosts.catalog import Gap
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.setup import Finding

Bond = Literal["host hook", "only words", "observed", "disabled", "not enforced", "refused"]
"""How strongly an agent is bound. `not enforced`: there should be a hook, and it does not work. `refused`: the hook
works, and refuses all that the agent does."""


DefinitionWord = Literal["pinned", "built in", "without definition", "changed", "new", "unknown"]
"""`unknown`: it existed when Remit was installed, and the policy doesn't know it."""


class PolicyState(msgspec.Struct, frozen=True):
    """The policy file, and what is in force."""

    file: str
    name: str | None
    state: Literal["same", "pending", "broken", "none", "unusable"]
    hash: str | None = None
    at: str | None = None
    by: str | None = None
    fault: str | None = None
    """Why nothing is in force, although something was activated: everything is denied then."""


class StreamState(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a stream of events has come."""

    name: str
    to: str
    waiting: int
    last: str | None = None
    error: str | None = None


class LedgerState(msgspec.Struct, frozen=True):
    """The ledger, as far as a look at its head tells; whether it is whole says `remit ledger verify`."""

    store: str
    reachable: bool
    problem: str | None = None
    origin: str | None = None
    size: int = 0
    last: str | None = None
    signed: int | None = None
    """How many entries the newest checkpoint is over."""
    cosigned: bool = False
    anchors: tuple[str, ...] = ()
    streams: tuple[StreamState, ...] = ()
    unsigned_since: str | None = None
    """When the oldest entry was written that is under no signature."""
    bytes: int | None = None
    """What the store takes up."""
    oldest: str | None = None
    """Of the entries that are not archived."""
    archived: int = 0
    """The first so many are in archives."""


class CredentialState(msgspec.Struct, frozen=True):
    """Whether people can be told from programs."""

    set: bool
    since: str | None = None
    lifted: bool = False


class Weakness(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something in the policy in force that weakens enforcement."""

    what: str
    agent: str | None = None
    until: str | None = None
    over: bool = False
    """The date has passed: it weakens nothing any more."""


class Definition(msgspec.Struct, frozen=True):
    """One agent of the host."""

    name: str
    state: DefinitionWord
    files: tuple[str, ...] = ()
    known: bool = True
    """The policy knows it."""


class CopyState(msgspec.Struct, frozen=True):
    """One settings file that our hooks were put into."""

    where: Where
    path: str
    whole: bool
    """They are there, complete."""


class HostState(msgspec.Struct, frozen=True):
    """One host."""

    name: str
    installed: bool
    at: str | None = None
    settings: str | None = None
    main: str | None = None
    hooked: bool = False
    """The hook is where the host looks for it, complete, and nothing switches it off."""
    findings: tuple[Finding, ...] = ()
    definitions: tuple[Definition, ...] = ()
    passes: tuple[Gap, ...] = ()
    """What the host lets through all the same."""
    copies: tuple[CopyState, ...] = ()
    server: bool | None = None
    """Remit's own MCP server is registered; None where the policy has none of its tools, or the host no list."""


class Seen(msgspec.Struct, frozen=True):
    """An agent's calls at one point, as far as was looked back."""

    point: str
    entries: int
    last: str


class AgentState(msgspec.Struct, frozen=True):
    """One caller of the policy."""

    name: str
    kind: str
    bond: Bond
    by: str | None = None
    why: str | None = None
    until: str | None = None
    since: str | None = None
    seen: tuple[Seen, ...] = ()
    project_code: tuple[str, ...] = ()
    """The tools by which it may run code of the project, which could do anything."""


class DailySum(msgspec.Struct, frozen=True):
    """What an agent's arguments add up to today (UTC), and how much they may."""

    agent: str
    what: str
    """A tool and its argument: `send_money.amount`."""
    used: str
    most: str


class ClockState(msgspec.Struct, frozen=True):
    """The clock by which approvals, tickets, tasks and daily sums go."""

    now: str
    doubt: str | None = None
    """Why nobody can rely on it, and what a person does about that."""


class Looked(msgspec.Struct, frozen=True):
    """How far back the ledger was looked through."""

    entries: int
    all: bool
    without_activation: tuple[Seen, ...] = ()
    """Guards that used another policy than the activated one (`unsafe_no_activation`), by point."""


class Status(msgspec.Struct, frozen=True):
    """Everything."""

    root: str
    state: str
    policy: PolicyState
    ledger: LedgerState
    serving: bool
    credential: CredentialState | None
    """None: it could not be looked up."""
    weaknesses: tuple[Weakness, ...]
    hosts: tuple[HostState, ...]
    agents: tuple[AgentState, ...]
    looked: Looked
    findings: tuple[Finding, ...]
    clock: ClockState | None = None
    """None: it could not be looked up."""
    daily: tuple[DailySum, ...] = ()
    confinement: tuple[str, ...] = ()
    """By what commands are confined here, what that can't hold, and how to get a better one; empty: nobody's are."""

    @property
    def faults(self) -> list[Finding]:
        """What is not as it should be."""
        everything = [*self.findings, *(one for host in self.hosts for one in host.findings)]
        return [one for one in everything if one.level == "fault"]
