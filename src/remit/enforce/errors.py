"""What a caller gets in the place of a result: errors that carry the decision."""

from __future__ import annotations

from collections.abc import Sequence

from remit.model.decision import Decision
from remit.model.errors import RemitError
from remit.model.text import did_you_mean, shown


class CallRefused(RemitError):
    """A call that did not run. `str(error)` is what the agent may be told."""

    code = "refused"

    def __init__(self, decision: Decision) -> None:
        super().__init__(decision.reason, code=decision.code)
        self.decision = decision
        self.help = decision.remedy.text if decision.remedy is not None else None


class CallDenied(CallRefused):
    """The call may not run."""


class CallPending(CallRefused):
    """The call may run once somebody has answered; `approval` is the id of the question."""

    @property
    def approval(self) -> str | None:
        """`A-17`."""
        return self.decision.needs.approval if self.decision.needs is not None else None


class Refused:
    """Returned in place of a result, with `refusals="return"`. Falsy."""

    __slots__ = ("decision",)

    def __init__(self, decision: Decision) -> None:
        self.decision = decision

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return f"Refused({self.decision.verdict.word}: {self.decision.reason})"


class GuardError(RemitError):
    """A guard that is used wrongly."""

    code = "bad-guard"


class InvalidToolError(GuardError, ValueError):
    """An agent is created with a tool that is unknown, or that it may not use."""

    code = "unknown-tool"

    def __init__(
        self, tool: str, known: Sequence[str], *, agent: str | None = None, within: Sequence[str] = ()
    ) -> None:
        self.tool, self.known, self.agent, self.within = tool, list(known), agent, list(within)
        if agent is None:
            what = f"unknown tool `{shown(str(tool))}`{did_you_mean(str(tool), self.known)}"
            super().__init__(f"{what}; known tools: {_listed(self.known)}")
        else:
            what = f"`{shown(tool)}` is outside the remit of {shown(agent)}"
            super().__init__(f"{what}, which may use: {_listed(self.within)}", code="not-permitted")


def _listed(names: list[str]) -> str:
    return shown(", ".join(sorted(names)), 2_000) or "no tools"


class NotActivated(UserWarning):
    """A policy file was edited but not activated: the activated policy stays in force."""
