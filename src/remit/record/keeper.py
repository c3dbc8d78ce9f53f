"""The keeper: signs the log as it grows, whoever writes to it, and takes its heads to the anchors while a process runs.

A log that is not the one that was signed before (cut, forked, swapped) is stopped for everybody. A key that can't sign
stops this process until it can again. It also reads the entries again, a few each second, and says which was edited;
and each minute it looks for whatever else is wrong, and says what is new.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from remit.model.errors import RemitError
from remit.record.append import Head
from remit.record.continuity import check_key, check_remembered
from remit.record.errors import LedgerError
from remit.record.faults import faults
from remit.record.reread import Reread
from remit.record.stop_mark import CODES, read_mark
from remit.record.writer import Ledger

if TYPE_CHECKING:
    from remit.record.open import Opened

SIGN_EVERY = 1.0
PUSH_EVERY = 60.0
LOOK_EVERY = 60.0
REREAD_EVERY = 60.0
"""Seconds from the end of one run over all entries to the next."""


def stops(code: str) -> bool:
    """Whether this process must not write, with such a fault."""
    return code in CODES or (code.startswith(("key-", "signer-", "origin-")) and code != "key-not-introduced")


class Keeper:
    """A thread that signs when there is something new, and pushes now and then."""

    def __init__(
        self, opened: Opened, ledgers: list[Ledger], on_fault: Callable[[str], object], every: float = PUSH_EVERY
    ) -> None:
        """`ledgers` write to the log: they are stopped when something is wrong with it."""
        self.opened, self.ledgers, self._on_fault, self._every = opened, ledgers, on_fault, every
        self.problem: str | None = None
        """What went wrong last; None once it went right again."""
        self._said = set(opened.warnings)
        self._reread = Reread(opened.store, opened.memory, opened.state)
        self.edited = self._reread.found
        """What was found when the entries were last read again; None if they are as they were written."""
        self._signed: Head | None = None
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="remit-keeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Signs and pushes a last time."""
        self._end.set()
        self._thread.join(self.ledgers[0].deadline)
        self._try(self._push)

    def _run(self) -> None:
        pushed = looked = time.monotonic()
        rest = 0.0
        while not self._end.wait(SIGN_EVERY):
            if time.monotonic() >= rest and self._read_again():
                rest = time.monotonic() + REREAD_EVERY
            if time.monotonic() - looked >= LOOK_EVERY:
                looked = time.monotonic()
                self._look()
            if time.monotonic() - pushed >= self._every:
                pushed = time.monotonic()
                self._try(self._push)
            else:
                self._try(self._sign)

    def _sign(self) -> None:
        head = self._head()
        if head != self._signed or self.problem is not None:
            self.opened.checkpoint()
            self._signed = head

    def _push(self) -> None:
        if self._head().size:
            self.ledgers[0].recover()
            for reply in self.opened.push():
                if reply.error is not None:
                    raise reply.error

    def _look(self) -> None:
        """Says what is wrong by now, once each. What stops the ledger is said when the log is signed."""
        try:
            found = {
                str(one)
                for one in faults(self.opened, anchors=False)
                if not stops(one.code) and one.message != self.edited  # which was said when it was found
            }
        except (RemitError, OSError):
            return  # that too
        for one in sorted(found - self._said):
            self._on_fault(one)
        self._said = found

    def _read_again(self) -> bool:
        """Reads some entries again, and says what is wrong with them; whether that was the end of a run."""
        runs = self._reread.runs
        try:
            with self.opened.stopping(self.ledgers[0].point):
                self._reread.step()
        except LedgerError as error:
            if self.edited != str(error):
                self.edited = str(error)
                self._on_fault(self.edited)
            return True
        except (RemitError, OSError):
            return True  # what is wrong with the store is said when the log is signed
        if self._reread.runs > runs:
            self.edited = None
        return self._reread.runs > runs

    def _head(self) -> Head:
        """The head of the log. Raises LedgerError under a stop mark, and if the key is not as it must be."""
        check_key(self.opened.state, self.opened.origin)
        with self.opened.store.read() as view:
            mark = read_mark(view, self.opened.state)
            if mark is not None:
                raise LedgerError(mark.message, code=mark.code)
            return check_remembered(view)

    def _try(self, step: Callable[[], object]) -> None:
        found: LedgerError | None = None
        problem: str | None = None
        try:
            with self.opened.stopping(self.ledgers[0].point):
                step()
        except LedgerError as error:
            problem = str(error)
            found = error if stops(error.code) else None
        except (RemitError, OSError) as error:
            problem = str(error)
        before, self.problem = self.problem, problem
        for ledger in self.ledgers:
            ledger.stopped = found
        if problem is not None and problem != before:
            self._on_fault(problem)
