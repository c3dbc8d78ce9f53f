"""The trace of a decision: what each step found, as data. Only `text` makes it something to read."""

from __future__ import annotations

from typing import Literal

import msgspec


class Used(msgspec.Struct, frozen=True):
    """One entry of a capsule that a call made use of."""

    capsule: str
    part: Literal["grants", "plan"]
    index: int

    def __str__(self) -> str:
        return f"{self.part}[{self.index}]"


class Note(msgspec.Struct, frozen=True):
    """What a step has to say, in words that only people read."""

    step: int | None
    """None: said by whoever handed in the facts, or about the decision as a whole."""
    said: str

    @property
    def text(self) -> str:
        """`7 tier 1 (the tool's floor)`."""
        return self.said if self.step is None else f"{self.step} {self.said}"


class Covered(msgspec.Struct, frozen=True):
    """A rule permits one unit of the call."""

    what: str
    """The argument, or the kind of the unit where it has none."""
    by: str
    """The rule, in words."""
    used: Used | None = None
    """Where the rule is a grant of the call's capsule."""
    step: int = 4

    @property
    def text(self) -> str:
        """`4 path covered by remit.yaml:12:8: may: path docs/**`."""
        return f"{self.step} {self.what} covered by {self.by}"


class Anticipated(msgspec.Struct, frozen=True):
    """The plan of the call's capsule covers it."""

    by: tuple[str, ...]
    used: tuple[Used, ...]
    step: int = 7

    @property
    def text(self) -> str:
        """`7 anticipated by plan[1] of TASK-1`."""
        return f"{self.step} anticipated by {', '.join(self.by)}"


class NotAnticipated(msgspec.Struct, frozen=True):
    """The call's capsule has a plan, and it does not cover the call."""

    step: int = 7

    @property
    def text(self) -> str:
        """One line."""
        return f"{self.step} not-anticipated: no item of the passed plan covers this call"


class Unconfined(msgspec.Struct, frozen=True):
    """A command that should run confined can't be: it is decided, and runs, as if nobody had wished that."""

    why: str
    step: int = 7

    @property
    def text(self) -> str:
        """`7 runs unconfined: nothing on this machine can …`."""
        return f"{self.step} runs unconfined: {self.why}"


Line = Note | Covered | Anticipated | NotAnticipated | Unconfined
