"""The keeper: signs the log as it grows, and takes the signed heads to the anchors, for as long as a process runs.

A log that is not the one that was signed before (cut, forked, swapped) stops the ledger: nothing more is allowed on it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from remit.model.errors import RemitError
from remit.record.errors import LedgerError
from remit.record.writer import Ledger

SIGN_EVERY = 1.0
PUSH_EVERY = 60.0


class Keeper:
    """A thread that signs when there is something new, and pushes now and then."""

    def __init__(
        self, ledger: Ledger, sign: Callable[[], object], push: Callable[[], object], every: float = PUSH_EVERY
    ) -> None:
        self.ledger, self._sign, self._push, self._every = ledger, sign, push, every
        self.problem: str | None = None
        """What went wrong last; None once it went right again."""
        self._signed: object = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="remit-keeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Signs and pushes a last time."""
        self._end.set()
        self._thread.join(self.ledger.deadline)
        self._try(self._push)

    def _run(self) -> None:
        pushed = time.monotonic()
        while not self._end.wait(SIGN_EVERY):
            head = self.ledger.head
            if head is None or head == self._signed:
                continue
            if time.monotonic() - pushed >= self._every:
                pushed = time.monotonic()
                done = self._try(self._push)
            else:
                done = self._try(self._sign)
            if done:
                self._signed = head

    def _try(self, step: Callable[[], object]) -> bool:
        try:
            step()
        except LedgerError as error:
            self.problem = str(error)
            if error.code in ("ledger-truncated", "ledger-forked"):
                self.ledger.stopped = error
            return False
        except (RemitError, OSError) as error:
            self.problem = str(error)
            return False
        self.problem = None
        return True
