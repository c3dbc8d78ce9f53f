"""The one object through which authority is looked up, used and changed. Every change is one transaction, recorded.

authority = Authority(store, vault)
facts = authority.facts(call.context.capsule, base)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any, Literal

import msgspec

from remit.decide.questions import call_digest
from remit.grant import asks, capsules, halts, reviews, tickets
from remit.grant.asks import AskState
from remit.grant.capsules import CapsuleState, Ending
from remit.grant.chain import chain_of, check_chain
from remit.grant.clock import Clock
from remit.grant.daily import spend_daily
from remit.grant.errors import GrantError
from remit.grant.expiry import sweep
from remit.grant.halts import Halted, Incident
from remit.grant.history import Unused, unused
from remit.grant.notes import Scribe
from remit.grant.person import needs_none
from remit.grant.repair import Repaired, repair
from remit.grant.reviews import Review, Signed
from remit.grant.sums import sums_of
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import RemitError
from remit.model.facts import Capsule, Facts
from remit.model.policy import Halting
from remit.model.rulebook import Rulebook
from remit.model.task import SUM, Ask, Task
from remit.model.trace import Anticipated, Covered, NotAnticipated
from remit.record.append import STATE
from remit.record.errors import LedgerError
from remit.record.people import Trust
from remit.record.state import Sign
from remit.record.vault import Vault
from remit.store.counter import Counter
from remit.store.interface import Store, Transaction

CHANGED = "task-changed"
"""The code of a GrantError: the task is not as it was when the call was judged, so it is to be judged again."""
MOST_LINES = 1_000


class Authority:
    """Capsules, asks and hand-overs of one project. Safe to use from many threads and processes."""

    def __init__(
        self,
        store: Store,
        vault: Vault,
        *,
        clock: Clock | None = None,
        writer: str | None = None,
    ) -> None:
        self.store, self.vault = store, vault
        self.clock = clock if clock is not None else Clock()
        self.writer = writer if writer is not None else os.urandom(8).hex()
        self.scribe = Scribe(self.writer, set())
        self._lines: dict[str, dict[str, Capsule]] = {}
        """By capsule, what was last known of it and of those above it."""
        self._last: tuple[Facts, dict[str, Capsule], Facts] | None = None
        self._changes = Counter(vault.path.parent.parent / "halts")
        """Of who is halted."""
        self._halts: tuple[bytes, frozenset[str]] | None = None
        self._unrecorded: dict[str, str] = {}
        """Agents whose violation could not be recorded, with its code: they are halted here until it is."""

    def _trust(self, rulebook: Rulebook | None) -> Trust:
        book = rulebook.book if rulebook is not None else None
        return Trust(self.scribe.made, needs_none(book), book)

    # Halts and incidents

    def halts(self, rulebook: Rulebook | None = None) -> frozenset[str]:
        """Who is halted, as decisions look at it. In a few microseconds, if nobody was halted or resumed since.

        Raises StoreError, and StateForged if somebody was resumed and no person did that.
        """
        if self._unrecorded:
            self._record_halts()
        mark, known = self._changes.read(), self._halts
        if known is None or known[0] != mark:
            known = (mark, frozenset(one.who for one in self.halted(rulebook)))
            # what others do elsewhere is not counted here: there the store is read each time
            self._halts = known if self._changes.is_settled(mark) and not self.far else None
        return known[1].union(self._unrecorded) if self._unrecorded else known[1]

    @cached_property
    def far(self) -> bool:
        """Others may halt somebody elsewhere: only the store can tell."""
        return self.store.version() == -1

    def same_halts(self, change: Transaction, known: frozenset[str], rulebook: Rulebook | None) -> None:
        """That nobody was halted since, within the commit of an intent. Raises GrantError (CHANGED) and StateForged."""
        trust = self._trust(rulebook)
        name = (STATE, "halts", str(trust.none_needed))
        now: frozenset[str] | None = change.cached(name)
        if now is None:
            now = frozenset(one.who for one in halts.halts(change, trust))
            change.cache(name, now)
        if not now.union(self._unrecorded) <= known:
            raise GrantError("somebody was halted meanwhile", code=CHANGED)

    def _record_halts(self) -> None:
        for agent, code in list(self._unrecorded.items()):
            with suppress(RemitError):
                self.halt(agent, by=halts.BY_POLICY, because=f"{code}: a violation that could not be recorded")
                del self._unrecorded[agent]

    def halted(self, rulebook: Rulebook | None = None) -> list[Halted]:
        """Every halt that counts, with who halted it and why. Raises StoreError and StateForged."""
        with self.store.read() as view:
            return halts.halts(view, self._trust(rulebook))

    def halt(self, who: str, *, by: str, because: str) -> bool:
        """Halts an agent, a task (`capsule:ID`) or everybody (`system`); False if that was halted already.

        When this returns, nothing that it concerns begins any more, on any machine. Raises RemitError.
        """
        with self._changes.changing(), self.store.write() as change:
            return halts.halt(change, who, by=by, because=because, clock=self.clock, scribe=self.scribe)

    def resume(self, who: str, *, by: str, because: str, sign: Sign | None = None) -> Halted:
        """Lifts a halt, for a person, for whom `sign` signs. Raises GrantError and StateForged."""
        scribe = self.scribe._replace(sign=sign)
        with self._changes.changing(), self.store.write() as change:
            return halts.resume(change, who, by=by, because=because, clock=self.clock, scribe=scribe)

    @contextmanager
    def halting(self, agent: str, code: str) -> Iterator[None]:
        """Around the recording of a violation that may halt the agent: if that fails, it is halted here.

        What is raised inside is suppressed: the call was denied anyway.
        """
        try:
            with self._changes.changing():
                yield
        except Exception:
            self._unrecorded[agent] = code

    def violated(
        self, change: Transaction, call: Call, decision: Decision, halting: Halting, *, call_id: str, point: str
    ) -> None:
        """Counts a violation within the commit that records it, and halts the agent if that was the last one."""
        clock, scribe = self.clock, self.scribe
        halts.violated(change, call, decision, halting, call_id=call_id, point=point, clock=clock, scribe=scribe)

    def found_incident(
        self, *, code: str, reason: str, agent: str, tool: str, point: str, policy: str, capsule: str | None = None
    ) -> Incident:
        """Opens an incident about what was found afterwards; it halts nobody. Raises StoreError."""
        with self.store.write() as change:
            return halts.found_incident(
                change,
                code=code,
                reason=reason,
                agent=agent,
                tool=tool,
                point=point,
                policy=policy,
                capsule=capsule,
                clock=self.clock,
                scribe=self.scribe,
            )

    def incidents(self, rulebook: Rulebook | None = None) -> list[Incident]:
        """Every incident, the oldest first. Raises StoreError and StateForged."""
        with self.store.read() as view:
            return halts.incidents(view, self._trust(rulebook))

    def incident(self, name: str, rulebook: Rulebook | None = None) -> Incident:
        """One incident. Raises GrantError, StoreError and StateForged."""
        with self.store.read() as view:
            return halts.find_incident(view, name, self._trust(rulebook))

    def close_incident(
        self, name: str, *, by: str, because: str, rulebook: Rulebook | None = None, sign: Sign | None = None
    ) -> Incident:
        """Closes an incident, for a person, for whom `sign` signs. Raises GrantError and StateForged."""
        scribe, trust = self.scribe._replace(sign=sign), self._trust(rulebook)
        with self.store.write() as change:
            return halts.close_incident(
                change, name, by=by, because=because, clock=self.clock, scribe=scribe, trust=trust
            )

    # Reviews

    def reviews(self, rulebook: Rulebook) -> list[Review]:
        """How all reviews stand that the policy demands, the worst first. Raises StoreError and StateForged."""
        with self.store.read() as view:
            return reviews.reviews(rulebook.book, self.clock.now(view), reviews.signed(view, self._trust(rulebook)))

    def sign_review(
        self, rulebook: Rulebook, who: str, *, by: str, because: str, ref: str | None = None, sign: Sign | None = None
    ) -> Signed:
        """Records a person's review, for whom `sign` signs. Raises GrantError."""
        scribe = self.scribe._replace(sign=sign)
        with self.store.write() as change:
            return reviews.sign_review(
                change, rulebook.book, who, by=by, because=because, clock=self.clock, scribe=scribe, ref=ref
            )

    # What decisions look at

    def facts(
        self, capsule: str | None, base: Facts, rulebook: Rulebook | None = None, *, remembered: bool = False
    ) -> Facts:
        """The facts with the moment, and with the capsule and those above it. Raises StoreError.

        Raises StateForged if one of them is not what the ledger says. `rulebook` is the one in force. `remembered`: as
        they were when somebody last looked, if nothing of them has run out: `begin` checks that.

        While the clock is in doubt they have no moment. Raises GrantError (`clock-in-doubt`) if the capsule ends by
        itself.
        """
        if self.clock.fresh:
            known = self._lines.get(capsule) if capsule is not None and remembered else None
            if capsule is None:
                return msgspec.structs.replace(base, now=self.clock.now())
            if known is not None:
                now, doubt = self.clock.read()
                if doubt is None and all(one.expires is None or one.expires > now for one in known.values()):
                    return self._remembered(base, now, known)
        found: dict[str, Capsule] = {}
        with self.store.read() as view:
            now, doubt = self.clock.read(view)
            if capsule is not None:
                with suppress(GrantError):
                    found = {
                        state.task.capsule.id: state.capsule
                        for state in capsules.above(view, capsule, self._trust(rulebook))
                    }
        alive = [one for one in found.values() if one.expires is not None and not one.ended]
        if self.clock.news or any(one.expires is not None and one.expires <= now for one in alive):
            sweep(self.store, self.clock, self.scribe)
        if doubt is None:
            if capsule is not None and found:
                if len(self._lines) >= MOST_LINES:
                    self._lines.clear()
                self._lines[capsule] = found
            return msgspec.structs.replace(base, now=now, capsules=found)
        if alive:
            raise GrantError(doubt.reason, code="clock-in-doubt")
        notes = (*base.notes, f"{doubt.reason}; until then no date in the policy counts")
        return msgspec.structs.replace(base, now=None, capsules=found, notes=notes)

    def _remembered(self, base: Facts, now: str, known: dict[str, Capsule]) -> Facts:
        """The facts with this moment and these capsules: the same ones as long as both are the same."""
        last = self._last
        if last is None or last[0] is not base or last[1] is not known or last[2].now != now:
            last = self._last = (base, known, msgspec.structs.replace(base, now=now, capsules=known))
        return last[2]

    def answered(self, call: Call, rulebook: Rulebook, facts: Facts) -> Facts:
        """The facts with the answers to exactly this call. Raises StoreError.

        Raises GrantError (`clock-in-doubt`) if it was approved and nobody can tell whether that still counts.
        """
        digest = call_digest(call, rulebook.hash, facts)
        with self.store.read() as view:
            now, doubt = self.clock.read(view)
            found = asks.answers(view, digest, now, self._trust(rulebook), named=bool(rulebook.book.people))
        if doubt is not None and found:
            raise GrantError(doubt.reason, code="clock-in-doubt")
        return msgspec.structs.replace(facts, approvals=found) if found else facts

    # Using it

    def uses(self, call: Call, decision: Decision, rulebook: Rulebook) -> bool:
        """Whether a call may use something up when it begins.

        What is only observed uses nothing up, and nothing stops it.
        """
        if decision.would is not None:
            return False
        if call.context.capsule is not None or decision.approval is not None:
            return True
        caller = rulebook.book.callers.get(call.agent)
        return caller is not None and bool(caller.daily_sum)

    def begin(self, call: Call, decision: Decision, rulebook: Rulebook, facts: Facts) -> None:
        """The last step before the tool runs: the task lives, its budget is counted, the approval is used up.

        Raises GrantError and StateForged: then the tool must not run. With the code CHANGED the task is not as it was
        judged.
        """
        if self.uses(call, decision, rulebook):
            with self.store.write() as change:
                self.begin_within(change, call, decision, rulebook, facts)

    def begin_within(
        self, change: Transaction, call: Call, decision: Decision, rulebook: Rulebook, facts: Facts
    ) -> None:
        """The same inside a transaction."""
        if not self.uses(call, decision, rulebook):
            return
        capsule, caller = call.context.capsule, rulebook.book.callers.get(call.agent)
        daily = caller.daily_sum if caller is not None else {}
        own = caller.tools.get(decision.tool) if caller is not None else None
        tool = own or rulebook.book.tools.get(decision.tool)
        today = sums_of(tool, call.args, (f"{SUM}{what}" for what in daily)) if daily else {}
        if capsule is None and decision.approval is None and not today:
            return
        now = self.clock.tick(change)
        if today and caller is not None:
            self.clock.sure(change)
            spend_daily(change, caller, today, now, self.scribe)
        if capsule is not None:
            trust = self._trust(rulebook)
            try:
                line = capsules.line(change, capsule, now, trust)
            except GrantError:
                self._lines.pop(capsule, None)
                known = facts.capsules.get(capsule)
                if known is None or known.ended:
                    raise
                raise GrantError("the task has changed meanwhile", code=CHANGED) from None
            if not all(_is_same(facts.capsules.get(state.task.capsule.id), state.capsule) for state in line):
                self._lines.pop(capsule, None)
                raise GrantError("the task has changed meanwhile", code=CHANGED)
            if any(state.timed for state in line):
                self.clock.sure(change)
            check_chain(call.context.chain, line)
            used = dict.fromkeys(_uses(decision), 1)
            summed = [f"{SUM}{what}" for state in line for what in state.task.budget.sum]
            if summed:
                used |= sums_of(tool, call.args, iter(summed))
            capsules.spend(change, line, used, _entries_used(decision), self.scribe, trust)
        if decision.approval is not None:
            self.clock.sure(change)
            digest = call_digest(call, rulebook.hash, facts)
            counted = frozenset(a.id for a in facts.approvals if a.answer == "approve" and a.digest == digest)
            asks.use(change, digest, counted, now=now, scribe=self.scribe, trust=self._trust(rulebook))

    # Asking and answering

    def ask(self, call: Call, decision: Decision, rulebook: Rulebook, facts: Facts, *, point: str) -> AskState:
        """The open ask for this call, with its arguments sealed until it is answered. Raises RemitError."""
        sweep(self.store, self.clock, self.scribe)
        digest = call_digest(call, rulebook.hash, facts)
        shown = _shown(call, decision, facts, point)
        sealed = {"args": call.args, "statement": call.statement, "cwd": call.context.cwd}
        sealed["digest"] = asks.seal_of(digest, shown)
        with self.store.write() as change:
            now = self.clock.tick(change)
            if call.context.capsule is not None:
                check_chain(call.context.chain, capsules.line(change, call.context.capsule, now))
            return asks.open_ask(
                change,
                digest,
                shown,
                now=now,
                clock=self.clock,
                scribe=self.scribe,
                seal=lambda name: self.vault.seal(change, name, sealed),
                most=rulebook.book.open_questions,
            )

    def asked_before(self, call: Call, rulebook: Rulebook, facts: Facts) -> AskState | None:
        """The open ask for exactly this call, if there is one. Raises StoreError and StateForged."""
        digest = call_digest(call, rulebook.hash, facts)
        with self.store.read() as view:
            return asks.find_open(view, digest, self.clock.now(view))

    def asked(self, name: str) -> AskState:
        """One ask as it is now. Raises GrantError."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.read() as view:
            return asks.with_answers(view, asks.find(view, name))

    def waiting(self) -> list[AskState]:
        """Every ask that can still be answered."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.read() as view:
            return asks.waiting(view, self.clock.now(view))

    def arguments(self, name: str) -> dict[str, Any]:
        """`args`, `statement` and `cwd` of a call that waits.

        Raises LedgerError once it was answered, and StateForged if they are those of another call.
        """
        sealed = self._sealed(name)
        with self.store.read() as view:
            asks.check_sealed(asks.find(view, name), sealed.pop("digest", None))
        return sealed

    def _sealed(self, name: str) -> dict[str, Any]:
        found = self.vault.look(name)
        return found if isinstance(found, dict) else {}

    def answer(
        self,
        name: str,
        verdict: Literal["approve", "refuse"],
        *,
        by: str,
        kind: Literal["human", "agent"] = "human",
        because: str | None = None,
        sign: Sign | None = None,
        signed: tuple[str, str | None] | None = None,
    ) -> AskState:
        """Answers an ask; `sign` signs for the person who does. Raises GrantError and StateForged.

        `signed` as in `asks.answer`.
        """
        sweep(self.store, self.clock, self.scribe)
        scribe = self.scribe._replace(sign=sign)
        by_person, digest = kind == "human" and verdict == "approve", None
        if by_person:
            with suppress(LedgerError):
                digest = self._sealed(name).get("digest")
        with self.store.write() as change:
            found = asks.find(change, name)
            if by_person and found.state == "open":
                asks.check_sealed(found, digest)
            return asks.answer(
                change, name, verdict, by=by, kind=kind, clock=self.clock, scribe=scribe, because=because, signed=signed
            )

    def cancel(self, name: str, *, by: str) -> None:
        """Withdraws an ask. Raises GrantError."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.write() as change:
            asks.cancel(change, name, by=by, scribe=self.scribe)

    # Tasks

    def check_issue(self, rulebook: Rulebook, task: Task) -> None:
        """Everything that issuing the task will check, before anybody is asked. Raises GrantError."""
        with self.store.read() as view:
            capsules.check_new(view, rulebook, task, self.clock.now(view))

    def check_gate(self, name: str, gate: str) -> CapsuleState:
        """Everything that passing the gate will check, before anybody is asked. Raises GrantError."""
        with self.store.read() as view:
            return capsules.check_gate(view, name, gate, self.clock.now(view))

    def issue(self, rulebook: Rulebook, task: Task, *, sign: Sign | None = None) -> Task:
        """Issues a capsule; `sign` signs for the person who does. Raises GrantError."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.write() as change:
            return capsules.issue(change, rulebook, task, clock=self.clock, scribe=self.scribe._replace(sign=sign))

    def end(self, name: str, *, by: str) -> Ending:
        """Ends a capsule and all below it: when this returns, nothing begins in them any more. Raises GrantError."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.write() as change:
            return capsules.end(change, name, by=by, now=self.clock.tick(change), scribe=self.scribe)

    def pass_gate(self, name: str, gate: str, *, by: str, sign: Sign | None = None) -> None:
        """Passes a gate of a capsule, for a person, for whom `sign` signs. Raises GrantError."""
        sweep(self.store, self.clock, self.scribe)
        scribe = self.scribe._replace(sign=sign)
        with self.store.write() as change:
            trust = Trust(self.scribe.made, none_needed=sign is None)
            capsules.pass_gate(change, name, gate, by=by, now=self.clock.tick(change), scribe=scribe, trust=trust)

    def unused(self, state: CapsuleState) -> Unused:
        """What of a task's plan, grants and budget was never used."""
        return unused(state.task, state.spent)

    def state(self, name: str) -> CapsuleState:
        """A capsule as it is now. Raises GrantError."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.read() as view:
            return capsules.state_of(view, name)

    def states(self, *, ended: bool = False) -> list[CapsuleState]:
        """The capsules, those that ended too if asked for."""
        sweep(self.store, self.clock, self.scribe)
        with self.store.read() as view:
            rows = view.rows("SELECT id, ended FROM capsule ORDER BY id")
            return [capsules.state_of(view, str(name)) for name, end in rows if ended or end is None]

    def living(self, agent: str) -> list[CapsuleState]:
        """The capsules of an agent that have not ended. Raises StoreError."""
        with self.store.read() as view:
            now = self.clock.now(view)
            return capsules.living(view, agent, now)

    def chain(self, capsule: str) -> tuple[str, ...]:
        """The agents through whose hands the capsule came. Raises GrantError."""
        with self.store.read() as view:
            return chain_of(capsules.above(view, capsule))

    # The clock

    def repair_clock(self, *, by: str, sign: Sign | None = None) -> Repaired:
        """The clock shows what the wall clock shows, by word of a person. Raises GrantError if it is not in doubt."""
        with self.store.write() as change:
            return repair(change, self.clock, by=by, scribe=self.scribe._replace(sign=sign))

    # Hand-overs to other processes

    def ticket(self, capsule: str) -> str:
        """A secret that lets one caller into the capsule, once. Raises GrantError."""
        with self.store.write() as change:
            return tickets.make(change, capsule, clock=self.clock, scribe=self.scribe)

    def enter(self, ticket: str, agent: str | None = None) -> list[CapsuleState]:
        """The capsule of a ticket and those above it. Raises GrantError: an agent that it isn't for leaves it whole."""
        sweep(self.store, self.clock, self.scribe)
        try:
            with self.store.write() as change:
                return tickets.take(change, ticket, agent=agent, clock=self.clock, scribe=self.scribe)
        except GrantError as error:
            with self.store.write() as change:
                self.scribe.note(change, "capsule", {"what": "not-entered", "code": error.code})
            raise


def _is_same(judged: Capsule | None, now: Capsule) -> bool:
    return judged is now or judged == now


def _uses(decision: Decision) -> tuple[str, ...]:
    """What one call counts as, for budgets and for the report of what was left unused."""
    found = ["calls", f"tool:{decision.tool}", f"tier:{decision.data_tier}"]
    if not {"write", "delete"}.isdisjoint(decision.effects):
        found.append("writes")
    return tuple(found)


def _entries_used(decision: Decision) -> dict[str, list[str]]:
    """By capsule: the entries of its grants and plan that the call made use of. A plan may be that of one above."""
    lines = [line for line in decision.trace if isinstance(line, (Covered, Anticipated))]
    if not lines:
        return {}
    used = {one for line in lines for one in (line.used if isinstance(line, Anticipated) else (line.used,))}
    found: dict[str, list[str]] = {}
    for capsule, entry in sorted((one.capsule, str(one)) for one in used if one is not None):
        found.setdefault(capsule, []).append(entry)
    return found


def _shown(call: Call, decision: Decision, facts: Facts, point: str) -> Ask:
    statement = msgspec.to_builtins(call.statement) if call.statement is not None else None
    return Ask(
        agent=call.agent,
        tool=call.tool,
        of=decision.needs.of if decision.needs is not None else "human",
        reason=decision.reason,
        code=decision.code,
        tier=decision.tier,
        asked="",
        point=point,
        chain=call.context.chain,
        capsule=call.context.capsule,
        session=call.context.session,
        effects=decision.effects,
        targets=tuple(f"{t.effect} {t.kind} {t.value}" for t in decision.for_call(call.args).targets),
        anticipated=_anticipated(decision) if _has_plan(call, facts) else None,
        statement=statement,
        policy=decision.policy,
        **_people_asked(decision),
    )


def _people_asked(decision: Decision) -> dict[str, Any]:
    """How many people have to approve, and who may, where the policy names people."""
    needs = decision.needs
    if needs is None or needs.people is msgspec.UNSET or needs.approvals is msgspec.UNSET:
        return {}
    return {"approvals": needs.approvals, "people": needs.people}


def _has_plan(call: Call, facts: Facts) -> bool:
    """Whether the call's task has a plan, of its own or inherited."""
    name = call.context.capsule
    for _ in facts.capsules:
        capsule = facts.capsules.get(name) if name is not None else None
        if capsule is None or capsule.plan:
            return capsule is not None
        name = capsule.parent
    return False


def _anticipated(decision: Decision) -> bool:
    return not any(isinstance(line, NotAnticipated) for line in decision.trace)
