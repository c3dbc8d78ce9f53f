"""A deny that no rule gave, and where the program lies that gives it."""

from __future__ import annotations

import os
import sys

from remit.model.call import Call
from remit.model.decision import Decision, Remedy
from remit.model.terms import DENY
from remit.model.trace import Note


def own_places() -> tuple[str, ...]:
    """Where the program lies that enforces: its interpreter's environment, and the package itself."""
    package = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir))
    around = sys.prefix if sys.prefix != sys.base_prefix else os.path.dirname(package)
    return tuple(dict.fromkeys((os.path.realpath(around), os.path.realpath(sys.executable), package)))


def refusal(
    call: Call, code: str, reason: str, *, detail: str = "", policy: str = "", remedy: Remedy | None = None
) -> Decision:
    """A deny that no rule gave: something that the decision needs is missing."""
    lines = (Note(None, detail),) if detail else ()
    return Decision(DENY, call.agent, call.tool, code, reason, trace=lines, policy=policy, remedy=remedy)
