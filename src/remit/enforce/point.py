"""An enforcement point of a project: a call is decided by what is activated and known right now, and recorded.

judged = point.decide(call, rulebook := point.rulebook())
decision = point.record(judged.call, judged.decision, call_id="1")     # before the tool runs; a deny if it can't be
refused = point.begin(judged, decision, rulebook, "1")                 # the last step: a deny if it may not after all
point.outcome("1", "done")
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from remit.enforce.in_force import Activated
from remit.enforce.passage import Gate, Recorder
from remit.enforce.paths import open_root
from remit.enforce.refusal import own_places, refusal
from remit.enforce.tasks import with_task
from remit.grant.authority import Authority
from remit.grant.launches import add_launch, launches
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.record.vault import Vault
from remit.store.interface import Store


class Judged(NamedTuple):
    """A decision, the call with its task as it was judged, and the facts that it rests on."""

    decision: Decision
    call: Call
    facts: Facts


class Point:
    """One project, at one place where its agents' calls come by. Safe to use from many threads."""

    def __init__(self, root: Path, state: Path, store: Store, recorder: Recorder) -> None:
        self.root, self.state, self.recorder = root, state, recorder
        self.active = Activated(root, store)
        self.authority = Authority(store, Vault(store, state / "keys"))
        self._gate: Gate | None = None

    def rulebook(self) -> Rulebook:
        """What is in force. Raises RemitError."""
        return self.active.rulebook()

    def decide(self, call: Call, rulebook: Rulebook) -> Judged:
        """What the rulebook says about the call, here and now, in its agent's task. Never raises: a failure denies."""
        try:
            gate = self.gate(rulebook)
            call = with_task(self.authority, rulebook, call)
            decision, facts = gate.decide(call)
            return Judged(_placed(decision.for_call(call.args), facts), call, facts)
        except RemitError as error:
            return Judged(refusal(call, error.code, str(error), policy=rulebook.hash), call, Facts())
        except Exception as error:  # whatever it is, the tool does not run undecided
            reason = f"the call could not be judged ({type(error).__name__})"
            return Judged(refusal(call, "point-failed", reason), call, Facts())

    def strictest(self, calls: list[Call], rulebook: Rulebook) -> Judged:
        """The same for a call that may have come by several chains: what the strictest of them says."""
        return max((self.decide(call, rulebook) for call in calls), key=lambda judged: judged.decision.verdict)

    def chains(self, session: str, agent: str) -> list[tuple[str, ...]]:
        """By whom the agent may have been handed its work in this session. Raises StoreError."""
        return launches(self.active.store, session, agent)

    def handed(self, session: str, judged: Judged, rulebook: Rulebook) -> None:
        """Keeps whom the call hands work to. Raises StoreError."""
        chain = (*judged.call.context.chain, judged.call.agent)
        tool = rulebook.book.tools.get(judged.decision.tool)
        for target in judged.decision.targets:
            if target.effect == "delegate" and target.kind == "agent":
                argument = tool.args.get(target.arg) if tool is not None else None
                name = target.value or (argument.default if argument is not None else None) or ""
                add_launch(self.active.store, self.authority.clock, session, name, chain)

    def ask(self, judged: Judged, rulebook: Rulebook) -> Decision:
        """The decision with the id under which it waits for an answer; a deny if nobody can be asked. Never raises."""
        try:
            return self.gate(rulebook).ask(judged.call, judged.decision, judged.facts)[0]
        except Exception as error:
            return refusal(judged.call, "point-failed", f"nobody can be asked ({type(error).__name__})")

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

    def begin(self, judged: Judged, decision: Decision, rulebook: Rulebook, call_id: str) -> Decision | None:
        """None if the tool may run now: its task lives and is counted, its approval used up. Otherwise the deny."""
        hands_on = "delegate" in decision.effects
        if decision.approval is None and judged.call.context.capsule is None and not hands_on:
            return None
        try:
            self.authority.begin(judged.call, decision, rulebook, judged.facts)
            if hands_on and judged.call.context.session is not None:
                self.handed(judged.call.context.session, judged, rulebook)
        except RemitError as error:
            self.outcome(call_id, "not-run", error=error.code)
            return refusal(judged.call, error.code, str(error), policy=decision.policy)
        except Exception as error:
            self.outcome(call_id, "not-run", error="point-failed")
            return refusal(judged.call, "point-failed", f"the call could not begin ({type(error).__name__})")
        return None

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

    def gate(self, rulebook: Rulebook) -> Gate:
        """Where calls pass under this rulebook. Raises RemitError."""
        found = self._gate
        if found is None or found.rulebook is not rulebook:
            base = Facts(store=True, guarded=(os.path.realpath(self.state),), sealed=own_places())
            facts = open_root(None, self.root / "remit.yaml", base, policy_root=rulebook.book.root)[1]
            found = Gate(rulebook, self.authority, self.recorder, facts)
            if facts.resolved is not None:  # a root that isn't there is looked for again
                self._gate = found
        return found


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
