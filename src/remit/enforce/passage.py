"""The way of one call through a guard: decided, asked if need be, recorded, begun; and how it ended."""

from __future__ import annotations

import os
import time
from typing import Any, Protocol

import msgspec

from remit.decide import decide
from remit.decide.grid import grid_of
from remit.enforce.duties import Duties
from remit.enforce.errors import CallDenied, GuardError
from remit.enforce.paths import look_up
from remit.enforce.refusal import refusal
from remit.grant.asks import AskState
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.model.call import Call
from remit.model.decision import Decision, Remedy
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, ASK
from remit.record.batch import Receipt
from remit.record.errors import LedgerError
from remit.store.errors import StoreError


class Recorder(Protocol):
    """What a gate needs of the ledger."""

    point: str

    def intent(self, call: Call, decision: Decision, *, call_id: str | None = None) -> Receipt:
        """Records a decision before the tool runs. Raises LedgerError."""

    def outcome(self, call: str, result: str, *, error: str | None = None, took: int | None = None) -> Receipt:
        """Records how a call ended. Raises LedgerError."""

    def flush(self) -> None:
        """Everything that was queued is on disk. Raises LedgerError."""

    def queue_intent(self, call: Call, decision: Decision) -> str | None:
        """The same without a wait, where that is allowed; None if not."""

    def queue_done(self, call: str, took: int) -> bool:
        """That a call is done, without a wait; False if not."""


class Gate:
    """Where calls pass: what is in force, what is known, and where it is recorded. Safe to use from many threads."""

    def __init__(self, rulebook: Rulebook, authority: Authority, ledger: Recorder, base: Facts) -> None:
        self.rulebook, self.authority, self.ledger, self.base = rulebook, authority, ledger, base
        self._pathless: set[tuple[str, str]] = set()
        """Agents and tools whose arguments name no path: nothing is to be looked up for these."""
        self._light: set[tuple[str, str]] = set()
        """Agents and tools whose last call was allowed, without more, and harmless enough to be batched."""
        self._second = -1
        self._now = base

    def decide(self, call: Call) -> tuple[Decision, Facts]:
        """What may be said about the call now, answers that were given counted; and the facts it rests on."""
        try:
            facts = self._known(call)
            if (call.agent, call.tool) not in self._pathless:
                facts = self._looked_up(call, facts)
            decision = decide(self.rulebook, call, facts)
            if decision.verdict is ASK:
                with_answers = self.authority.answered(call, self.rulebook, facts)
                if with_answers is not facts:
                    facts = with_answers
                    decision = decide(self.rulebook, call, facts)
            return decision, facts
        except StoreError as error:
            return refusal(call, "store-unavailable", f"what is known can't be looked up: {error}"), self.base
        except Exception as error:  # whatever it is, the tool does not run undecided
            return refusal(call, "point-failed", f"the call could not be judged ({type(error).__name__})"), self.base

    def ask(self, call: Call, decision: Decision, facts: Facts) -> tuple[Decision, AskState | None]:
        """The decision with the id of what was asked; nothing can be asked while something is missing, or refused."""
        if decision.needs is None or decision.needs.missing:
            return decision, None
        try:
            asked = self.authority.ask(call, decision, self.rulebook, facts, point=self.ledger.point)
        except RemitError as error:
            return refusal(call, error.code, f"nobody can be asked: {error}", policy=decision.policy), None
        needs = msgspec.structs.replace(decision.needs, approval=asked.id)
        remedy = Remedy(f"{asked.ask.of} approves {asked.id}", command=f"remit approve {asked.id}")
        return msgspec.structs.replace(decision, needs=needs, remedy=remedy), asked

    def refuse(self, call: Call, decision: Decision) -> Decision:
        """The decision, recorded; one that can't be is still a refusal."""
        decision = decision.for_call(call.args)
        try:
            return self.ledger.intent(call, decision).on(decision)
        except RemitError:
            return decision

    def at_once(self, call: Call, *, look: bool = True) -> Passage | None:
        """The usual case in one go, without a wait: a harmless call, allowed and queued. None: take the long way.

        Without `look` it doesn't touch the disk either.
        """
        pair = (call.agent, call.tool)
        if pair not in self._light or call.context.capsule is not None:
            return None
        try:
            facts = self._known(call)
            if pair not in self._pathless:
                if not look:
                    return None
                facts = self._looked_up(call, facts)
            decision = decide(self.rulebook, call, facts)
            if decision.verdict is ALLOW and not decision.obligations and decision.approval is None:
                name = self.ledger.queue_intent(call, decision)
                if name is not None:
                    return Passage(self, name, decision, call.args)
            self._light.discard(pair)
        except Exception:  # the long way says what is wrong
            self._light.discard(pair)
        return None

    def begin(self, call: Call, decision: Decision, facts: Facts) -> Passage:
        """Records the intent and begins. Raises CallDenied: then the tool must not run."""
        try:
            receipt = self.ledger.intent(call, decision)
        except LedgerError as error:
            reason = f"the decision can't be recorded, so nothing may run: {error}"
            raise CallDenied(refusal(call, "ledger-unavailable", reason, policy=decision.policy)) from None
        passage = Passage(self, receipt.call, receipt.on(decision), call.args)
        if not decision.obligations and decision.approval is None and call.context.capsule is None:
            if receipt.seq is None:
                self._light.add((call.agent, call.tool))
            return passage
        try:
            if decision.obligations:
                base = os.path.join(facts.root or ".", call.context.cwd or "")
                passage.duties = Duties(decision, call.args, base, facts.resolved or {})
            self.authority.begin(call, decision, self.rulebook, facts)
        except (GuardError, GrantError, StoreError, LedgerError) as error:
            passage.not_run(error.code)
            raise CallDenied(refusal(call, error.code, str(error), policy=decision.policy)) from None
        except Exception as error:
            passage.not_run("point-failed")
            reason = f"the call could not begin ({type(error).__name__})"
            raise CallDenied(refusal(call, "point-failed", reason, policy=decision.policy)) from error
        if passage.duties is not None:
            passage.args = passage.duties.args
        return passage

    def _looked_up(self, call: Call, before: Facts) -> Facts:
        facts = look_up(self.rulebook, call, before)
        if facts is before and grid_of(self.rulebook).knows(call.agent, call.tool):
            self._pathless.add((call.agent, call.tool))
        return facts

    def _known(self, call: Call) -> Facts:
        if call.context.capsule is not None:
            return self.authority.facts(call.context.capsule, self.base)
        second = int(time.monotonic())
        if second != self._second:
            self._now, self._second = self.authority.facts(None, self.base), second
        return self._now


class Passage:
    """One call that has begun; it ends once."""

    __slots__ = ("_began", "_gate", "args", "call", "decision", "duties")

    def __init__(self, gate: Gate, call: str, decision: Decision, args: dict[str, Any]) -> None:
        self._gate, self.call, self.decision, self.args = gate, call, decision, args
        self.duties: Duties | None = None
        self._began = time.monotonic()

    def done_at_once(self) -> bool:
        """The tool has run; False if somebody would have to wait until that is written: use `done`."""
        return self._gate.ledger.queue_done(self.call, int((time.monotonic() - self._began) * 1000))

    def done(self) -> None:
        """The tool has run."""
        self._end("done", None)

    def failed(self, error: BaseException) -> None:
        """The tool has raised."""
        if self.duties is not None:
            self.duties.undo()
        self._end("failed", type(error).__name__)

    def not_run(self, code: str) -> None:
        """It was allowed, and then could not begin."""
        if self.duties is not None:
            self.duties.undo()
        self._end("not-run", code)

    def _end(self, result: str, error: str | None) -> None:
        took = int((time.monotonic() - self._began) * 1000)
        try:
            self._gate.ledger.outcome(self.call, result, error=error, took=took)
        except LedgerError:
            return  # the intent stands; a call without an outcome is recorded as unknown when somebody recovers
