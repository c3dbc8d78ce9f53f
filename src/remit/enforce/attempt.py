"""One attempt to call a tool. This module holds the only sequence of enforcement:

    look up → decide → ask → record → begin → run → outcome

An `Enforcer` has what every attempt at one enforcement point rests on. A `Carrier` says what differs between those that
carry a call to it: Guard, the hook of a host. Whatever breaks on the way is a deny with a reason, recorded as far as
the ledger can be written.

    found = wait(enforcer.attempt(carrier))
    if isinstance(found, Passage):
        return found.run(function)               # called with the arguments that were judged; its end is recorded
    return found                                 # the decision by which it does not run
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec

from remit.decide import decide
from remit.decide.grid import grid_of
from remit.decide.preview import as_judged
from remit.enforce.carrier import Carried, Carrier, Judged
from remit.enforce.errors import CallDenied, GuardError
from remit.enforce.in_force import Activated
from remit.enforce.paths import facts_at, look_up, placed_arguments, still_there
from remit.enforce.refusal import refusal
from remit.enforce.tasks import with_task
from remit.grant.asks import AskState
from remit.grant.authority import CHANGED, Authority
from remit.grant.errors import GrantError
from remit.grant.halts import counts
from remit.grant.launches import add_launch
from remit.model.call import Call, Statement, is_probe
from remit.model.decision import Decision, Remedy
from remit.model.errors import RemitError
from remit.model.facts import NO_FACTS, Facts
from remit.model.policy import Halting
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, ASK, DENY
from remit.record.batch import Also, Receipt
from remit.record.entry import ASKED_OF_HOST, durability
from remit.record.state import StateForged
from remit.record.vault import Vault
from remit.store.errors import StoreError
from remit.store.interface import Store, Transaction

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T")
POLL = 0.2
ROUNDS = 8
"""Questions that one call may raise, one after the other."""
MAY_WAIT = 0.0
"""What an attempt yields before it does something that may take time; a number above it is a pause in seconds."""


Attempt = Generator[float, None, "Passage | Decision"]
"""One attempt under way: `wait` for it, or in an event loop `remit.enforce.event_loop.wait_async`."""


class Recorder(Protocol):
    """What enforcement needs of the ledger."""

    point: str

    def intent(
        self, call: Call, decision: Decision, *, call_id: str | None = None, also: Also | None = None
    ) -> Receipt:
        """Records a decision before the tool runs, and does `also` in the same transaction. Raises LedgerError.

        What `also` raises propagates, and then nothing is recorded.
        """

    def outcome(self, call: str, result: str, *, error: str | None = None, took: int | None = None) -> Receipt:
        """Records how a call ended. Raises LedgerError."""

    def event(self, kind: str, about: Mapping[str, Any]) -> Receipt:
        """Records anything else that counts. Raises LedgerError."""

    def flush(self) -> None:
        """Everything that was queued is on disk. Raises LedgerError."""

    def queue_intent(self, call: Call, decision: Decision) -> Receipt | None:
        """The same as `intent` without a wait, where that is allowed; None if not. Raises LedgerError."""

    def queue_done(self, call: str, took: int) -> bool:
        """That a call is done, without a wait; False if not."""


class Enforcer:
    """What the attempts at one enforcement point rest on. Safe to use from many threads."""

    def __init__(
        self,
        authority: Authority,
        ledger: Recorder,
        rulebook: Callable[[], Rulebook],
        facts: Callable[[Rulebook], Facts],
    ) -> None:
        """`rulebook` says what is in force, `facts` where paths lie under it. Both may raise RemitError."""
        self.authority, self.ledger, self.rulebook = authority, ledger, rulebook
        self._facts = facts
        self._ground = _Ground(None, NO_FACTS)
        self.reads = False
        """The store has to be read to know what is in force."""
        self.closed = False
        """Nothing goes on any more that began here."""
        self.schemas: Callable[[str], dict[str, str] | None] | None = None
        """Gives the schema of a tool's database, where somebody knows it. It may raise RemitError."""
        self.left: deque[Passage] = deque()
        """Calls whose results were dropped before they ended; the next attempt records that."""

    @classmethod
    def of_project(cls, root: Path, state: Path, store: Store, ledger: Recorder) -> Enforcer:
        """Under what is activated in a project, asked anew for each call."""
        authority = Authority(store, Vault(store, state / "keys"))
        rulebook = Activated(root, store).rulebook
        return cls(authority, ledger, rulebook, lambda book: facts_at(root / book.book.root, state))

    def at(
        self,
        root: Path,
        state: Path,
        sealed: tuple[str, ...],
        confined: Callable[[Rulebook], tuple[frozenset[str], str | None]] | None = None,
    ) -> Enforcer:
        """The same where the project lies here; nobody may change what is `sealed`.

        `confined` says what is held of a command that runs confined, and if nothing is, why.
        """

        def facts(book: Rulebook) -> Facts:
            base = facts_at(root / book.book.root, state, sealed)
            held, why = confined(book) if confined is not None else (frozenset(), None)
            return msgspec.structs.replace(base, confined=held, notes=(*base.notes, *([why] if why else ())))

        found = Enforcer(self.authority, self.ledger, self.rulebook, facts)
        found.reads, found.schemas = self.reads, self.schemas
        return found

    # The sequence

    def attempt(self, carrier: Carrier) -> Attempt:
        """A passage if the tool may run now, otherwise the decision by which it does not. Never raises.

        It yields before it does what may take time (see MAY_WAIT); left alone there, it has begun nothing.
        """
        call, ground = carrier.call, self._ground
        if self.left:
            yield MAY_WAIT
            self.record_left()
        if type(call.agent) is not str or type(call.tool) is not str:
            yield MAY_WAIT
            return self.refuse(call, refusal(call, "malformed-call", "the agent and the tool must be names"))
        kind = (call.agent, call.tool)
        quick = kind in ground.harmless and carrier.knows_task and call.context.capsule is None
        if not quick or kind not in ground.pathless or self.reads:
            yield MAY_WAIT
        end: float | None = None
        for _ in range(ROUNDS):
            try:
                rulebook = self.rulebook()
                if quick and ground.rulebook is not rulebook:
                    quick = False  # harmless under another rulebook
                    yield MAY_WAIT
                calls = carrier.calls(rulebook)
                if len(calls) == 1:
                    judged = self.judge(calls[0], rulebook, carrier.knows_task, quick, remembered=True)
                else:
                    judged = self._strictest(calls, rulebook, carrier.knows_task)
            except Exception as error:
                denied = _broken(call, error, "the call can't be read")
                yield MAY_WAIT
                return self.refuse(call, denied, call_id=carrier.call_id)
            decision, call = judged.decision, judged.call
            if quick and not _is_plain(decision):
                quick = False
                ground.harmless.discard(kind)
                yield MAY_WAIT
                continue
            if decision.verdict is ASK and not (_can_be_asked(decision) and carrier.asks_itself(decision, rulebook)):
                end = time.monotonic() + carrier.wait if end is None else end
                refused = yield from self._answered(carrier, judged, end)
                if refused is None:
                    continue  # the answer counts when the call is decided again
                return self.refuse(call, refused, call_id=carrier.call_id)
            if decision.verdict is DENY:
                return self.refuse(call, decision, call_id=carrier.call_id, under=judged.rulebook)
            try:
                if decision.obligations and decision.would is None:
                    self._check_obligations(carrier, judged)
                carrier.check(judged)
            except Exception as error:
                denied = _denied(decision, _why(error, "the call can't run here"))
                yield MAY_WAIT
                return self.refuse(call, denied, call_id=carrier.call_id)
            if quick:
                try:
                    receipt = self.ledger.queue_intent(call, decision)
                except Exception:
                    receipt = None  # recorded with a wait, it fails again and denies
                if receipt is not None:
                    return self._carried(Passage(self.ledger, receipt, decision, call.args), carrier, judged)
                yield MAY_WAIT
            begun = self._begun(carrier, judged)
            if begun is not None:
                return begun
        return self.refuse(call, carrier.pending(decision), call_id=carrier.call_id)

    def judge(
        self, call: Call, rulebook: Rulebook, knows_task: bool = True, quick: bool = False, *, remembered: bool = False
    ) -> Judged:
        """What would be decided about the call now, answers that were given counted. Never raises: a failure denies.

        `quick` looks for no answers, and leaves out what is needed only to obey the decision. `remembered`: a task may
        be as it was when last looked at, for a call that is allowed by that and then begins, which checks it.
        """
        try:
            call = as_judged(rulebook, call)
            if not knows_task:
                call = with_task(self.authority, rulebook, call)
            remembered = remembered and call.context.capsule is not None
            facts = self._known(call, rulebook, remembered=remembered)
            decision = decide(rulebook, call, facts)
            if remembered and (decision.verdict is not ALLOW or decision.would is not None):
                facts = self._known(call, rulebook)
                decision = decide(rulebook, call, facts)
            if quick:
                return Judged(decision, call, facts, rulebook)
            if decision.verdict is ASK:
                answered = self.authority.answered(call, rulebook, facts)
                if answered is not facts:
                    facts, decision = answered, decide(rulebook, call, answered)
                if decision.needs is not None and decision.needs.missing:
                    call = self._as_stated(call, rulebook, facts)
                    decision = decide(rulebook, call, facts)
            return Judged(_placed(decision.for_call(call.args), facts), call, facts, rulebook)
        except StoreError as error:
            found = refusal(call, "store-unavailable", f"facts can't be looked up: {error}")
        except Exception as error:
            found = _broken(call, error, "the call could not be judged")
        return Judged(found, call, NO_FACTS, rulebook)

    def _as_stated(self, call: Call, rulebook: Rulebook, facts: Facts) -> Call:
        """The call with the statement that was given when somebody asked for it, while that has no answer yet."""
        asked = self.authority.asked_before(call, rulebook, facts)
        said = asked.ask.statement if asked is not None else None
        return msgspec.structs.replace(call, statement=Statement(**said)) if said is not None else call

    def _strictest(self, calls: Sequence[Call], rulebook: Rulebook, knows_task: bool) -> Judged:
        """The same of a call that may have come by several chains: what the strictest of them says.

        Where all of them allow it, the obligations of each hold, and the call begins for each. Raises ValueError
        without any.
        """
        every = [self.judge(call, rulebook, knows_task) for call in calls]
        found = max(every, key=lambda judged: judged.decision.verdict)
        if found.decision.verdict is not ALLOW:
            return found
        duties = tuple(dict.fromkeys(duty for judged in every for duty in judged.decision.obligations))
        found = min(every, key=lambda judged: judged.decision.would is not None)  # one that is not only observed
        decision = msgspec.structs.replace(found.decision, obligations=duties)
        others = tuple(judged for judged in every if judged is not found)
        return msgspec.structs.replace(found, decision=decision, others=others)

    def ask(self, judged: Judged) -> tuple[Decision, AskState | None]:
        """The decision with the id of the question in the inbox; a deny if nobody can be asked.

        There is no question yet while the decision says that something is missing.
        """
        decision, call = judged.decision, judged.call
        if decision.needs is None or decision.needs.missing:
            return decision, None
        try:
            asked = self.authority.ask(call, decision, judged.rulebook, judged.facts, point=self.ledger.point)
        except Exception as error:
            code, reason = _why(error, "something failed")
            return _denied(decision, (code, f"nobody can be asked: {reason}")), None
        needs = msgspec.structs.replace(decision.needs, approval=asked.id)
        remedy = Remedy(f"{asked.ask.of} approves {asked.id}", command=f"remit approve {asked.id}")
        return msgspec.structs.replace(decision, needs=needs, remedy=remedy), asked

    def _answered(self, carrier: Carrier, judged: Judged, end: float) -> Generator[float, None, Decision | None]:
        """None once somebody has answered; until `end` nobody has, or nobody can: the decision to refuse with."""
        decision, question = self.ask(judged)
        if decision.verdict is DENY:
            return decision
        if question is not None:
            with suppress(Exception):
                carrier.on_question(question, judged.call)
            while self._is_open(question):
                left = end - time.monotonic()
                if left <= 0:
                    return carrier.pending(decision)
                yield min(POLL, left)
            return None
        return carrier.pending(decision)

    def _is_open(self, question: AskState) -> bool:
        try:
            return self.authority.asked(question.id).state == "open"
        except RemitError:
            return True  # nobody knows of an answer

    def _check_obligations(self, carrier: Carrier, judged: Judged) -> None:
        """Raises GuardError unless the carrier can do all that must be done for the decision to hold."""
        for duty in judged.decision.obligations:
            reached = duty.value is None or carrier.can_reach(duty.arg, judged.call.args)
            if duty.do not in carrier.can or not reached:
                raise GuardError(f"{self.ledger.point} can't carry out `{duty.do}`", code="obligation-unsupported")

    def _begun(self, carrier: Carrier, judged: Judged) -> Passage | Decision | None:
        """Recorded, obligations carried out, and begun; otherwise the deny. None: decide again, something changed."""
        decision, call = judged.decision, judged.call
        if decision.verdict is ASK:
            decision = msgspec.structs.replace(decision, approval=ASKED_OF_HOST)
            self._withdraw(judged)
        carried, also, stopped = self._at_once(carrier, judged), None, None
        within = self.authority.far and durability(decision) == "durable"  # one look less at a server
        if carried is not None or within:
            also = partial(self._begin_within, judged, begins=carried is not None, halts=within)
        try:
            try:
                receipt = self.ledger.intent(call, decision, call_id=carrier.call_id, also=also)
            except (GrantError, StateForged) as error:
                if error.code == CHANGED:
                    return None
                stopped = error
                receipt = self.ledger.intent(call, decision, call_id=carrier.call_id)
            if call.context.capsule is not None and receipt.seq is None:
                self.ledger.flush()  # in the ledger no call of a task follows the end of it
        except Exception as error:
            reason = "the decision can't be recorded, so nothing may run; tell the person who runs you"
            return refusal(call, "ledger-unavailable", reason, detail=str(error), policy=decision.policy)
        passage = Passage(self.ledger, receipt, decision, call.args)
        if stopped is not None:
            return passage.refused(stopped)
        if not within and self._halted_since(judged):
            passage.not_run("halted")
            return None
        if carried is not None:
            passage.args, passage.undo, passage.places, passage.close = carried
        elif not isinstance(found := self._carried(passage, carrier, judged), Passage):
            return found
        try:
            if carried is None:
                self._begin(judged)
            if not carrier.knows_task:
                self._keep_launches(judged)
        except GrantError as error:
            if error.code == CHANGED:
                passage.not_run(error.code)
                return None
            return passage.refused(error)
        except Exception as error:
            return passage.refused(error)
        except BaseException:
            passage.not_run("interrupted")
            raise
        caller = judged.rulebook.book.callers.get(call.agent)
        counted = caller is not None and caller.daily_sum  # that is counted when a call begins
        if receipt.seq is None and _is_plain(decision) and not counted:
            self._ground.harmless.add((call.agent, call.tool))
        return passage

    def _withdraw(self, judged: Judged) -> None:
        """A question that the carrier puts itself waits in no inbox beside that."""
        with suppress(RemitError):
            asked = self.authority.asked_before(judged.call, judged.rulebook, judged.facts)
            if asked is not None:
                self.authority.cancel(asked.id, by=self.ledger.point)

    def _halted_since(self, judged: Judged) -> bool:
        """Whether somebody was halted or resumed since the call was judged, or nobody can tell."""
        try:
            return not self.authority.halts(judged.rulebook) <= judged.facts.halts
        except RemitError:
            return True

    def _at_once(self, carrier: Carrier, judged: Judged) -> Carried | None:
        """What the tool runs with, if the call can begin in the very commit of its intent; None if it can't.

        It can't where obligations are to be carried out in between, and need not where nothing is used up.
        """
        if judged.decision.obligations or not self._uses(judged):
            return None
        if self._is_bare(carrier, judged):
            return Carried(judged.call.args)
        try:
            return carrier.carry_out(judged)
        except Exception:
            return None  # it fails again, after the intent is recorded

    def _carried(self, passage: Passage, carrier: Carrier, judged: Judged) -> Passage | Decision:
        """The passage with its obligations carried out; otherwise the deny."""
        if self._is_bare(carrier, judged):
            return passage
        try:
            passage.args, passage.undo, passage.places, passage.close = carrier.carry_out(judged)
        except Exception as error:
            return passage.refused(error)
        except BaseException:
            passage.not_run("interrupted")
            raise
        return passage

    def _is_bare(self, carrier: Carrier, judged: Judged) -> bool:
        """There is nothing to put in place."""
        call, ground = judged.call, self._ground
        same = call.args is carrier.call.args and ground.rulebook is judged.rulebook
        bare = (call.agent, call.tool) in ground.pathless and not judged.decision.obligations
        return same and bare and not carrier.always_carries

    def _uses(self, judged: Judged) -> bool:
        """Whether the call may use something up."""
        return any(self.authority.uses(one.call, one.decision, one.rulebook) for one in (judged, *judged.others))

    def _begin(self, judged: Judged) -> None:
        """The last step: the task lives and is counted, the approval is used up. Raises RemitError."""
        for one in (judged, *judged.others):
            self.authority.begin(one.call, one.decision, one.rulebook, one.facts)

    def _begin_within(self, judged: Judged, change: Transaction, *, begins: bool, halts: bool) -> None:
        """The same inside a transaction, if it `begins` there. With `halts`, nobody may have been halted since."""
        if halts:
            self.authority.same_halts(change, judged.facts.halts, judged.rulebook)
        for one in (judged, *judged.others) if begins else ():
            self.authority.begin_within(change, one.call, one.decision, one.rulebook, one.facts)

    def _keep_launches(self, judged: Judged) -> None:
        """The store keeps whom the call hands work to. Raises RemitError."""
        for one in (judged, *judged.others):
            decision, call = one.decision, one.call
            if call.context.session is None or "delegate" not in decision.effects:
                continue
            tool = one.rulebook.book.tools.get(decision.tool)
            for target in decision.targets:
                if target.effect == "delegate" and target.kind == "agent":
                    argument = tool.args.get(target.arg) if tool is not None else None
                    name = target.value or str((argument.default if argument is not None else None) or "")
                    chain = (*call.context.chain, call.agent)
                    add_launch(self.authority.store, self.authority.scribe, call.context.session, name, chain)

    def still(self, call: Call, decision: Decision, seen: list[Any]) -> None:
        """Raises CallDenied if a call that has begun may not go on: its task ended, or it would be denied now.

        `seen` is what this remembers from one resumption to the next; an empty list at first.
        """
        try:
            if self.closed:
                raise GuardError("the guard was closed", code="guard-closed")
            rulebook, second = self.rulebook(), int(time.monotonic())
            halts = self.authority.halts(rulebook)
            mark = [rulebook, second, call.context.capsule and self.authority.store.version(), halts]
            if mark == seen and mark[2] != -1:
                return
            found = self.judge(call, rulebook).decision
            seen[:] = mark
        except Exception as error:
            found = _broken(call, error, "it is unclear whether the call may continue")
        if found.verdict is DENY and decision.would is None:
            raise CallDenied(found)

    def refuse(
        self, call: Call, decision: Decision, *, call_id: str | None = None, under: Rulebook | None = None
    ) -> Decision:
        """The decision by which a call does not run, recorded; one that can't be recorded is still a refusal.

        `under` is the rulebook that denied it: if that says so, the violation counts, and may halt the agent.
        """
        decision = decision.for_call(call.args)
        caller = under.book.callers.get(call.agent) if under is not None else None
        halting = caller.on_violation if caller is not None else None
        if halting is not None and counts(halting, decision) and not is_probe(call.context.session):
            authority, point = self.authority, self.ledger.point
            name = call_id if call_id is not None else f"violation-{os.urandom(8).hex()}"
            with authority.halting(call.agent, decision.code):
                also = partial(_violated, authority, call, decision, halting, name, point)
                return self.ledger.intent(call, decision, call_id=name, also=also).on(decision)
        try:
            return self.ledger.intent(call, decision, call_id=call_id).on(decision)
        except Exception:
            return decision

    def record_left(self) -> None:
        """Records the calls whose results were dropped."""
        with suppress(IndexError):
            while True:
                self.left.popleft().abandoned()

    # Calls that run elsewhere, and whose carrier reports how they ended

    def ended(self, call_id: str, result: str, *, error: str | None = None) -> None:
        """Records how a call ended, as far as the ledger can be written."""
        with suppress(Exception):
            self.ledger.outcome(call_id, result, error=error)

    def not_run(self, call_id: str, error: str) -> None:
        """The same for a call that does not run after all, if it had been let."""
        found = None
        with suppress(RemitError), self.authority.store.read() as view:
            found = view.row("SELECT 1 FROM running WHERE call = ?", call_id)
        if found is not None:
            self.ended(call_id, "not-run", error=error)

    # What is known

    def _known(self, call: Call, rulebook: Rulebook, *, remembered: bool = False) -> Facts:
        """What the decision rests on, here and now. Raises RemitError."""
        ground = self._ground
        if ground.rulebook is not rulebook:
            ground = _Ground(rulebook, self._facts(rulebook))
            if ground.base.resolved is not None:  # a root that isn't there is looked for again
                self._ground = ground
        halts = self.authority.halts(rulebook)
        if halts != ground.halts:
            ground.base = msgspec.structs.replace(ground.base, halts=halts)
            ground.halts, ground.second = halts, -1
        if call.context.capsule is not None:
            facts = self.authority.facts(call.context.capsule, ground.base, rulebook, remembered=remembered)
        else:
            second = int(time.time())  # moments are whole seconds of the wall clock, which also counts sleep
            if second != ground.second:
                ground.now, ground.second = self.authority.facts(None, ground.base), second
            facts = ground.now
        if self.schemas is not None:
            schema = self.schemas(rulebook.book.aliases.get(call.tool, call.tool))
            facts = msgspec.structs.replace(facts, schema=schema) if schema is not None else facts
        kind = (call.agent, call.tool)
        if kind in ground.pathless:
            return facts
        found = look_up(rulebook, call, facts)
        known = found is facts and type(call.args) is dict and grid_of(rulebook).knows(*kind)
        if known and not placed_arguments(rulebook, call):
            ground.pathless.add(kind)
        return found


def foreseen(rulebook: Rulebook, call: Call, facts: Facts) -> Decision:
    """What a rulebook that need not be in force says about a call: nothing is recorded, and nothing runs by it."""
    return decide(rulebook, call, look_up(rulebook, call, facts))


def wait(attempt: Attempt) -> Passage | Decision:
    """How the attempt ended."""
    try:
        while True:
            pause = next(attempt)
            if pause > MAY_WAIT:
                time.sleep(pause)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


class _Ground:
    """What is known under one rulebook; `harmless` and `pathless` only save time."""

    __slots__ = ("base", "halts", "harmless", "now", "pathless", "rulebook", "second")

    def __init__(self, rulebook: Rulebook | None, base: Facts) -> None:
        self.rulebook, self.base, self.now = rulebook, base, base
        self.second = -1
        self.halts: frozenset[str] = frozenset()
        """Who was halted when the facts were gathered."""
        self.harmless: set[tuple[str, str]] = set()
        """Agents and tools whose last call was allowed without more, and only queued for the ledger."""
        self.pathless: set[tuple[str, str]] = set()
        """Agents and tools whose arguments name no path and are no glob: nothing is to be looked up or put in place."""


class Passage:
    """One call that has begun. It ends once."""

    __slots__ = ("_began", "_decision", "_ended", "_ledger", "_receipt", "args", "call", "close", "places", "undo")

    def __init__(self, ledger: Recorder, receipt: Receipt, decision: Decision, args: dict[str, Any]) -> None:
        self._ledger, self._receipt, self._decision, self.args = ledger, receipt, decision, args
        self.call = receipt.call
        self.undo: Callable[[], None] | None = None
        self.close: Callable[[], None] | None = None
        self.places: tuple[str, ...] = ()
        self._began, self._ended = time.monotonic(), False

    @property
    def decision(self) -> Decision:
        """By which the call was let, with the place of the log that holds it."""
        return self._receipt.on(self._decision)

    def checked(self) -> Passage | Decision:
        """The passage, if its paths lead where they led when the call was decided; otherwise the deny.

        For right before the tool runs.
        """
        try:
            still_there(self.places)
        except GuardError as error:
            return self.refused(error)
        return self

    def refused(self, error: Exception) -> Decision:
        """The deny in the place of a call that was let and could not begin, which is recorded."""
        denied = _denied(self.decision, _why(error, "the call could not begin"))
        self.not_run(denied.code)
        return denied

    def run(self, function: Callable[[dict[str, Any]], T], later: Callable[[T, Passage], T | None] | None = None) -> T:
        """Runs the tool with the arguments that were judged, and records how it ended; its exceptions propagate.

        `later` gives what to return for a result that runs on, which then ends the passage; None for any other.
        """
        if self._ended:
            raise GuardError("the call has ended, and runs only once", code="call-ended")
        try:
            result = function(self.args)
        except BaseException as error:
            self.failed(error)
            raise
        if later is not None and (running := later(result, self)) is not None:
            return running
        if not self.done_at_once():
            self.done()
        return result

    def done_at_once(self) -> bool:
        """The tool has run; False if somebody would have to wait until that is recorded: use `done`."""
        if self.close is not None:
            return False
        took = int((time.monotonic() - self._began) * 1000)
        self._ended = self._ended or self._ledger.queue_done(self.call, took)
        return self._ended

    def done(self) -> None:
        """The tool has run. Raises OSError if a file that was opened for it could not be written: then it failed."""
        if self.close is not None:
            try:
                self.close()
            except OSError as error:
                self.failed(error)
                raise
        self._end("done", None)

    def failed(self, error: BaseException) -> None:
        """The tool has raised."""
        self._undo()
        self._end("failed", type(error).__name__)

    def abandoned(self) -> None:
        """What the tool returned was not run to its end."""
        self._close()
        self._end("abandoned", None)

    def not_run(self, code: str) -> None:
        """It was allowed, and then could not begin."""
        self._undo()
        self._end("not-run", code)

    def _close(self) -> None:
        if self.close is not None:
            with suppress(OSError):
                self.close()

    def _undo(self) -> None:
        self._close()
        if self.undo is not None and not self._ended:
            self.undo()

    def _end(self, result: str, error: str | None) -> None:
        if not self._ended:
            self._ended = True
            took = int((time.monotonic() - self._began) * 1000)
            with suppress(RemitError):  # the intent stands: without an outcome it counts as unknown when recovered
                self._ledger.outcome(self.call, result, error=error, took=took)


def _violated(
    authority: Authority, call: Call, decision: Decision, halting: Halting, name: str, point: str, change: Transaction
) -> None:
    authority.violated(change, call, decision, halting, call_id=name, point=point)


def _is_plain(decision: Decision) -> bool:
    return decision.verdict is ALLOW and not decision.obligations and decision.approval is None


def _can_be_asked(decision: Decision) -> bool:
    return decision.needs is None or not decision.needs.missing


def _broken(call: Call, error: Exception, what: str) -> Decision:
    """A deny for what could not be decided."""
    code, reason = _why(error, what)
    help_ = getattr(error, "help", None)
    return refusal(call, code, f"{reason}; {help_}" if help_ else reason)


def _why(error: Exception, what: str) -> tuple[str, str]:
    """Code and reason; of what nobody foresaw only the name, since agents read it."""
    if isinstance(error, RemitError):
        return error.code, str(error)
    return "point-failed", f"{what} ({type(error).__name__})"


def _denied(decision: Decision, why: tuple[str, str]) -> Decision:
    """A deny in the place of a decision that can't be obeyed."""
    code, reason = why
    replace = msgspec.structs.replace
    return replace(decision, verdict=DENY, code=code, reason=reason, would=None, remedy=None, approval=None)


def _placed(decision: Decision, facts: Facts) -> Decision:
    """The decision with absolute paths in its obligations: whoever carries them out may work in another directory."""
    if not decision.obligations:
        return decision
    replace, root = msgspec.structs.replace, facts.root or "/"
    duties = tuple(
        replace(duty, value=os.path.join(root, duty.value))
        if duty.do == "use-resolved-path" and duty.value is not None
        else duty
        for duty in decision.obligations
    )
    return replace(decision, obligations=duties)
