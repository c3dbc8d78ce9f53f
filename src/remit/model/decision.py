"""A decision: the verdict on one call, with reasons for the agent and for the operator."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.model.terms import Verdict
from remit.model.trace import Line


class Needs(msgspec.Struct, frozen=True):
    """Whose answer an `ask` waits for, and what is missing before anybody can answer."""

    of: str
    approval: str | None = None
    missing: tuple[str, ...] = ()
    approvals: int | msgspec.UnsetType = msgspec.UNSET
    """How many people have to approve, where the policy names people."""
    people: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Who may."""


class Remedy(msgspec.Struct, frozen=True):
    """The smallest change that would make a refused call pass."""

    text: str
    command: str | None = None
    policy: str | None = None


class Obligation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the enforcement point must do for the allow to hold."""

    do: str
    arg: str
    value: str | None = None


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that the call would reach, and what it would do to it."""

    effect: str
    kind: str
    """`path`, `table`, `url`, `host`, `branch`, `context` (of a cluster), `agent`, `skill` or `records`."""
    value: str
    """Normalised; a pattern where it is wide. Empty: the argument `arg` as the call gives it."""
    arg: str = ""
    wide: bool = False
    """It stands for all that the pattern could match."""


class LedgerHead(msgspec.Struct, frozen=True):
    """The ledger after the decision was recorded: whoever keeps it can tell later that the log was cut or replaced."""

    size: int
    root: str
    """The root hash of the tree, in base64."""


class Decision(msgspec.Struct, frozen=True):
    """What `decide` answers. It carries no call id, so that one object can serve many calls."""

    verdict: Verdict
    agent: str
    tool: str
    code: str
    reason: str
    tier: int = 0
    data_tier: int = 0
    effects: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    grade: str = "understood"
    rule: str | None = None
    trace: tuple[Line, ...] = ()
    policy: str = ""
    would: str | None = None
    needs: Needs | None = None
    remedy: Remedy | None = None
    obligations: tuple[Obligation, ...] = ()
    approval: str | None = None
    violation: bool = False
    """True for a deny of what an agent certainly tried beyond its limits; not of what only might be."""
    ledger: LedgerHead | None = None
    """Set by the enforcement point that recorded it; None while that is only queued."""

    @property
    def allowed(self) -> bool:
        """True only for an allow."""
        return self.verdict is Verdict.ALLOW

    @property
    def detail(self) -> tuple[str, ...]:
        """The trace in words, a line each, for the operator."""
        return tuple(line.text for line in self.trace)

    def for_call(self, args: dict[str, Any]) -> Decision:
        """The decision with the value of each target spelled out, for the call with these arguments."""
        if all(target.value for target in self.targets):
            return self
        replace = msgspec.structs.replace
        full = tuple(t if t.value else replace(t, value=str(args.get(t.arg, ""))) for t in self.targets)
        return replace(self, targets=full)

    def as_json(self, call_id: str | None) -> dict[str, Any]:
        """The wire form, the same at every enforcement point."""
        return {
            "id": call_id,
            "decision": self.verdict.word,
            "would": self.would,
            "agent": self.agent,
            "tool": self.tool,
            "tier": self.tier,
            "data_tier": self.data_tier,
            "effects": self.effects,
            "targets": self.targets,
            "grade": self.grade,
            "code": self.code,
            "reason": self.reason,
            "rule": self.rule,
            "detail": self.detail,
            "policy": self.policy,
            "needs": self.needs,
            "remedy": self.remedy,
            "obligations": self.obligations,
            "approval": self.approval,
            "ledger": self.ledger,
        }
