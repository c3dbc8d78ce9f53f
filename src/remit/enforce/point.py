"""An enforcement point: where a call is decided by what is in force and known right now, and recorded.

decision = point.decide(call)
decision = point.record(call, decision, call_id="1")       # before the tool runs; a deny if it can't be written
point.outcome("1", "done")
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Protocol

import msgspec

from remit.decide import decide
from remit.enforce.active import Active
from remit.enforce.paths import look_up, open_root
from remit.model.call import Call
from remit.model.decision import Decision, Remedy
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.terms import DENY
from remit.record.batch import Receipt
from remit.store.interface import Store


class Recorder(Protocol):
    """What an enforcement point needs of the ledger."""

    def intent(self, call: Call, decision: Decision, *, call_id: str | None = None) -> Receipt:
        """Records a decision before the tool runs. Raises LedgerError."""

    def outcome(self, call: str, result: str, *, error: str | None = None, took: int | None = None) -> Receipt:
        """Records how a call ended. Raises LedgerError."""


class Point:
    """One project, at one place where its agents' calls come by. Safe to use from many threads."""

    def __init__(self, root: Path, state: Path, store: Store, recorder: Recorder) -> None:
        self.root, self.state, self.recorder = root, state, recorder
        self.active = Active(root, store)
        self._facts: tuple[str, Facts] | None = None

    def rulebook(self) -> Rulebook:
        """What is in force. Raises RemitError."""
        return self.active.rulebook()

    def decide(self, call: Call, rulebook: Rulebook) -> Decision:
        """What the rulebook says about the call, here and now. Never raises: a failure denies."""
        try:
            facts = self._known(rulebook)
            return _placed(decide(rulebook, call, look_up(rulebook, call, facts)).for_call(call.args), facts)
        except Exception as error:  # whatever it is, the tool does not run undecided
            return refusal(call, "point-failed", f"the call could not be judged ({type(error).__name__})")

    def record(self, call: Call, decision: Decision, *, call_id: str | None = None) -> Decision:
        """The decision, once it is in the ledger; a deny if it can't be written there. Never raises."""
        try:
            return self.recorder.intent(call, decision, call_id=call_id).on(decision)
        except RemitError as error:
            reason = "the decision can't be recorded, so nothing may run; tell the person who runs you"
            return refusal(call, "ledger-unavailable", reason, detail=str(error), policy=decision.policy)
        except Exception as error:
            reason = f"the decision can't be recorded ({type(error).__name__}), so nothing may run"
            return refusal(call, "ledger-unavailable", reason, policy=decision.policy)

    def outcome(self, call_id: str, result: str, *, error: str | None = None) -> bool:
        """Whether how the call ended could be recorded. Never raises."""
        try:
            self.recorder.outcome(call_id, result, error=error)
        except Exception:
            return False
        return True

    def not_run(self, call_id: str, error: str) -> bool:
        """Whether the call had been let run, and it could be recorded that it does not. Never raises."""
        try:
            with self.active.store.read() as view:
                found = view.row("SELECT 1 FROM running WHERE call = ?", call_id)
        except RemitError:
            return False
        return found is not None and self.outcome(call_id, "not-run", error=error)

    def _known(self, rulebook: Rulebook) -> Facts:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        known = self._facts
        if known is None or known[0] != rulebook.book.root:
            base = Facts(store=True, guarded=(os.path.realpath(self.state),), sealed=own_places())
            policy = self.root / "remit.yaml"
            known = (rulebook.book.root, open_root(None, policy, base, policy_root=rulebook.book.root)[1])
            if known[1].resolved is not None:  # a root that isn't there is looked for again
                self._facts = known
        return msgspec.structs.replace(known[1], now=now)


def _placed(decision: Decision, facts: Facts) -> Decision:
    """The decision with whole paths in its obligations: whoever carries them out may work in another directory."""
    if not decision.obligations:
        return decision
    replace, root = msgspec.structs.replace, facts.root or "/"
    duties = tuple(
        duty if duty.value is None else replace(duty, value=os.path.join(root, duty.value))
        for duty in decision.obligations
    )
    return replace(decision, obligations=duties)


def own_places() -> tuple[str, ...]:
    """Where the program lies that enforces: its interpreter's environment, and the package itself."""
    package = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir))
    around = sys.prefix if sys.prefix != sys.base_prefix else os.path.dirname(package)
    return tuple(dict.fromkeys((os.path.realpath(around), os.path.realpath(sys.executable), package)))


def refusal(
    call: Call, code: str, reason: str, *, detail: str = "", policy: str = "", remedy: Remedy | None = None
) -> Decision:
    """A deny that no rule gave: something that the decision needs is missing."""
    lines = (detail,) if detail else ()
    return Decision(DENY, call.agent, call.tool, code, reason, detail=lines, policy=policy, remedy=remedy)
