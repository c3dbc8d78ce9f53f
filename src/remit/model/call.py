"""A call: one attempt of an agent to use a tool, with the trusted context of the enforcement point."""

from __future__ import annotations

from typing import Any

import msgspec

PROBE = "remit-probe-"
"""How the sessions of `remit status --probe` begin."""


def is_probe(session: object) -> bool:
    """True for a session of probes: its calls are nobody's work, and must be denied."""
    return isinstance(session, str) and session.startswith(PROBE)


class Context(msgspec.Struct, frozen=True):
    """What the enforcement point knows. Trusted; never taken from arguments or the agent's words."""

    cwd: str | None = None
    mode: str | None = None
    environment: str | None = None
    session: str | None = None
    capsule: str | None = None
    chain: tuple[str, ...] = ()
    data_tier: int = 0
    capsule_grants: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        texts = (self.cwd, self.mode, self.environment, self.session, self.capsule)
        if not all(text is None or type(text) is str for text in texts):
            raise TypeError("cwd, mode, environment, session and capsule are text")
        if type(self.chain) is not tuple or not all(type(name) is str for name in self.chain):
            raise TypeError("the chain is a tuple of names")
        grants = self.capsule_grants
        if type(grants) is not tuple or not all(_tier(tier) for tier in (self.data_tier, *grants)):
            raise TypeError("data tiers are whole numbers from 0 to 3")


def _tier(value: object) -> bool:
    return type(value) is int and 0 <= value <= 3


class Statement(msgspec.Struct, frozen=True):
    """The agent's own words about a call: untrusted, shown to approvers."""

    intent: str | None = None
    because: str | None = None
    consequences: str | None = None
    anticipated: bool | None = None

    @property
    def complete(self) -> bool:
        """True when it says what, why and with which consequences."""
        return bool(self.intent and self.because and self.consequences)

    @property
    def well_formed(self) -> bool:
        """True if what it says is text."""
        return all(text is None or type(text) is str for text in (self.intent, self.because, self.consequences))


NO_CONTEXT = Context()


class Call(msgspec.Struct, frozen=True, gc=False):
    """One attempt. `Call("researcher", "read_file", {"filePath": "README.md"})`."""

    agent: str
    tool: str
    args: dict[str, Any] = {}
    context: Context = NO_CONTEXT
    statement: Statement | None = None
    id: str | None = None

    @property
    def stated(self) -> bool:
        """True if the agent has said what, why and with which consequences."""
        return self.statement is not None and self.statement.complete
