"""The keeper: signs the log as it grows, whoever writes to it, and takes its heads to the anchors while a process runs.

A log that is not the one that was signed before (cut, forked, swapped) is stopped for everybody. A key that can't sign,
and files that others can get at, stop this process until that is put right. It also reads the entries again, a few each
second, and says which was edited; and each minute it asks the anchors, looks for whatever else is wrong, and says what
is new.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from remit.model.errors import RemitError
from remit.record.append import Head
from remit.record.continuity import check_files, check_key, check_remembered
from remit.record.errors import LedgerError
from remit.record.faults import faults
from remit.record.open import read_origin
from remit.record.reread import Reread
from remit.record.stop_mark import CODES, read_mark
from remit.record.writer import Ledger
from remit.store.errors import StoreUnsafe

if TYPE_CHECKING:
    from remit.record.open import Opened

SIGN_EVERY = 1.0
LOOK_EVERY = 60.0
"""Seconds from one look at everything, anchors included, to the next; heads are taken to the anchors as often."""
REREAD_EVERY = 60.0
"""Seconds from the end of one run over all entries to the next."""
_ORIGIN = "look at the row `origin` of the table `meta`"
_OWN = ("key", "signer", "origin")


def stops(code: str) -> bool:
    """Whether this process must not write, with such a fault."""
    first = code.partition("-")[0]
    return code in CODES or code == StoreUnsafe.code or (first in _OWN and code != "key-not-introduced")


class Keeper:
    """A thread that signs when there is something new, and pushes now and then."""

    def __init__(self, opened: Opened, ledgers: list[Ledger], on_fault: Callable[[str], object]) -> None:
        """`ledgers` write to the log: they are stopped when something is wrong with it."""
        self.opened, self.ledgers, self._on_fault = opened, ledgers, on_fault
        self.problem: str | None = None
        """What went wrong last; None once it went right again."""
        self._said = set(opened.warnings)
        self._reread = Reread(opened.store, opened.memory, opened.state)
        self.edited = self._reread.found
        """What was found when the entries were last read again; None if they are as they were written."""
        self._signed: Head | None = None
        self._rest = 0.0
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="remit-keeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Signs and pushes a last time."""
        self.stop()
        self._try(self._push)

    def stop(self) -> None:
        """Nothing is done any more unless somebody calls for it."""
        self._end.set()
        self._thread.join(self.ledgers[0].deadline)

    def _run(self) -> None:
        looked = time.monotonic()
        while not self._end.wait(SIGN_EVERY):
            minute = time.monotonic() - looked >= LOOK_EVERY
            if minute:
                looked = time.monotonic()
            self.work(minute=minute)

    def work(self, *, minute: bool) -> None:
        """What is done each second and, once a minute, besides."""
        if time.monotonic() >= self._rest and self._read_again():
            self._rest = time.monotonic() + REREAD_EVERY
        if minute:
            self._look()
        self._try(self._push if minute else self._sign)

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
        """Says what is wrong by now, once each. What stops this process is said when the log is signed."""
        try:
            found = faults(self.opened)
        except (RemitError, OSError):
            return  # that too
        for one in found:
            if one.code in CODES:  # an anchor knows more than this machine
                self.opened.on_break(LedgerError(one.message, code=one.code))
        said = {str(one) for one in found if not stops(one.code) and one.message != self.edited}  # which was said
        for text in sorted(said - self._said):
            self._on_fault(text)
        self._said = said

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
        """The head of the log. Raises LedgerError under a stop mark, and if key, name and files are not as before."""
        check_files(self.opened.state)
        check_key(self.opened.state, self.opened.origin)
        with self.opened.store.read() as view:
            mark = read_mark(view, self.opened.state)
            if mark is not None:
                raise LedgerError(mark.message, code=mark.code)
            if read_origin(view) != self.opened.origin:
                raise LedgerError("the log was renamed, or its name removed", code="origin-changed", help=_ORIGIN)
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
