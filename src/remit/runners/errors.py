"""What can go wrong with a runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from remit.model.errors import RemitError
from remit.model.text import shown

if TYPE_CHECKING:
    from remit.confine.process import Finished


class RunnerError(RemitError):
    """A runner can't run what it was asked to; nothing has run."""

    code = "runner-refused"


class RunnerFailed(RemitError):
    """A program ran and failed; `finished` has its output."""

    code = "runner-failed"

    def __init__(self, finished: Finished) -> None:
        how = "ran out of time" if finished.timed_out else f"ended with {finished.code}"
        text = finished.err.strip().splitlines()
        why = f": {shown(text[-1], 300)}" if text else ""
        super().__init__(f"`{shown(' '.join(finished.words[:3]), 120)}` {how}{why}")
        self.finished = finished
