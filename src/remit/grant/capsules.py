"""Capsules in the store: issued, looked up, used, ended. A capsule that ends takes all below it along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from remit.grant.asks import cancel_all
from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.issuing import check_alone, check_issue, check_within, is_alone
from remit.grant.notes import Scribe
from remit.model.decoding import Decoding
from remit.model.facts import Capsule
from remit.model.rulebook import Book, Rulebook
from remit.model.task import SUM, Task, amount_text, counted_text
from remit.model.terms import MAX_CHAIN
from remit.model.text import shown, suggestion
from remit.record.append import STATE
from remit.record.people import Trust, check_person
from remit.record.state import (
    CAPSULE,
    GATES,
    SPENT,
    Row,
    StateForged,
    check_listed,
    check_row,
    new_salt,
    newest,
    stored,
    subject_of,
)
from remit.store.interface import Transaction

_TASK = Decoding(Task)

PLAN = "plan"
"""The gate of a capsule's plan."""


class CapsuleState(NamedTuple):
    """A task with its state: ended or not, gates passed, budget spent."""

    task: Task
    ended: str | None
    ended_by: str | None
    gates: dict[str, tuple[str, str]]
    """Gates that were passed, with who passed them, and when."""
    spent: dict[str, int]
    row: Row
    """As it is stored."""
    spent_in: int | None
    """The entry that says what was spent."""

    @property
    def timed(self) -> bool:
        """Whether it ends by itself."""
        return self.task.capsule.expires is not None

    @property
    def capsule(self) -> Capsule:
        """As decisions see it."""
        return _as_decided(
            bytes(self.row["body"]), self.row["expires"], self.ended is not None, tuple(sorted(self.gates))
        )


class Ending(NamedTuple):
    """What ended, the one that was named first."""

    states: tuple[CapsuleState, ...]


def issue(change: Transaction, rulebook: Rulebook, task: Task, *, clock: Clock, scribe: Scribe) -> Task:
    """Puts a capsule in the store and the ledger; returns it as it was issued. Raises GrantError."""
    now = clock.tick(change)
    ancestors = [state.task for state in line(change, task.capsule.parent, now)] if task.capsule.parent else []
    if ancestors:
        ends = [t.capsule.expires for t in (task, *ancestors) if t.capsule.expires is not None]
        task = msgspec.structs.replace(
            task, capsule=msgspec.structs.replace(task.capsule, expires=min(ends, default=None))
        )
    if task.capsule.expires is not None:
        clock.sure(change)
    person = scribe.sign.person if scribe.sign is not None else None
    if person is not None and task.issuer == "human" and task.by != person:
        raise GrantError(f"{person} can't issue a task in the name of {task.by[:80]}", code="not-a-person")
    task = msgspec.structs.replace(with_gates(task, rulebook.book), made=now, policy=rulebook.hash)
    check_issue(rulebook.book, task, tuple(ancestors), now)
    task = msgspec.structs.replace(task, alone=is_alone(task, ancestors[0] if ancestors else None))
    capsule = task.capsule
    if change.row("SELECT 1 FROM capsule WHERE id = ?", capsule.id) is not None:
        raise GrantError(f"there is a capsule {capsule.id} already", code="capsule-exists")
    row = dict.fromkeys(CAPSULE.columns) | {
        "id": capsule.id,
        "agent": capsule.agent,
        "parent": capsule.parent,
        "body": msgspec.json.encode(task),
        "expires": capsule.expires,
        "salt": new_salt(),
    }
    about = {
        "what": "issued",
        "capsule": capsule.id,
        "agent": capsule.agent,
        "parent": capsule.parent,
        "by": task.by,
        "issuer": task.issuer,
        "expires": capsule.expires,
        "data_tiers": list(capsule.data_tiers),
        "grants": len(capsule.grants),
        "policy": task.policy,
    }
    scribe.put(change, CAPSULE, (capsule.id,), row, "capsule", about, {"goal": task.goal})
    return task


def check_new(view: Transaction, rulebook: Rulebook, task: Task, now: str) -> None:
    """Raises GrantError if the task could not be issued now."""
    capsule, book = task.capsule, rulebook.book
    above = line(view, capsule.parent, now) if capsule.parent is not None else []
    check_issue(book, task, tuple(state.task for state in above), now)
    if view.row("SELECT 1 FROM capsule WHERE id = ?", capsule.id) is not None:
        raise GrantError(f"there is a capsule {capsule.id} already", code="capsule-exists")
    for tool in task.budget.tools:
        if tool not in book.tools and tool not in book.callers[capsule.agent].tools:
            raise GrantError(
                f"the policy has no tool `{shown(tool)}`{suggestion(tool, book.tools)}", code="unknown-tool"
            )


def with_gates(task: Task, book: Book) -> Task:
    """A task that comes from nobody else's has every gate that calls wait for; those below it share them."""
    if task.capsule.parent is not None:
        return task
    waited = (gate for gate in book.gate_terms if gate != PLAN)
    return msgspec.structs.replace(task, gates=tuple(dict.fromkeys((*task.gates, *waited))))


def check_gate(view: Transaction, name: str, gate: str, now: str) -> CapsuleState:
    """The capsule, if the gate could be passed now. Raises GrantError."""
    state = line(view, name, now)[0]
    has_plan = bool(state.task.capsule.plan)
    known = [*state.task.gates, *([PLAN] if has_plan else [])]
    if gate == PLAN and not has_plan:
        raise GrantError(f"the capsule {name} has no plan", code="unknown-gate")
    if gate not in known:
        raise GrantError(
            f"the capsule {name} has no gate `{shown(gate)}`{suggestion(gate, known)}", code="unknown-gate"
        )
    if gate in state.gates:
        by, _ = state.gates[gate]
        raise GrantError(f"{by} has already passed the gate {gate} of {name}", code="gate-passed")
    return state


def state_of(view: Transaction, name: str, trust: Trust | None = None) -> CapsuleState:
    """One capsule, if the ledger says the same; with `trust`, what a person gives only if one gave it.

    Raises StateForged, and GrantError if there is none.
    """
    row, (own, gates, spent) = stored(view, CAPSULE, (name,), (GATES, (name,)), (SPENT, (name,)))
    if row is None:
        what = f"there is no capsule `{shown(name, 100)}`"
        raise GrantError(what, code="unknown-capsule", help="`remit capsule list` shows the open ones")
    own = check_row(CAPSULE, (name,), row, own)
    if trust is not None:
        check_person(view, CAPSULE, row, own, trust)
        if gates is not None:
            check_person(view, GATES, gates.row, gates, trust)
    try:
        task = _task(bytes(row["body"]), row["expires"])
    except msgspec.MsgspecError:
        what = f"the capsule `{name[:100]}` was issued by another version of Remit"
        raise GrantError(what, code="unknown-capsule", help="issue the task again") from None
    if trust is not None and own.person is not None and own.state.after is None and task.by != own.person:
        raise StateForged(f"the capsule `{name[:100]}` names {task.by[:80]} as its issuer, and {own.person} signed it")
    passed = {gate: (str(by), str(at)) for gate, (by, at) in gates.row.items()} if gates is not None else {}
    used = {what: int(number) for what, number in spent.row.items()} if spent is not None else {}
    return CapsuleState(
        task, row["ended"], row["ended_by"], passed, used, row, spent.seq if spent is not None else None
    )


@lru_cache(256)
def _task(body: bytes, expires: str | None) -> Task:
    """A task as it was issued. Raises MsgspecError."""
    task = _TASK.decode(body)
    if task.capsule.expires != expires:  # it was moved when the clock was repaired
        task = msgspec.structs.replace(task, capsule=msgspec.structs.replace(task.capsule, expires=expires))
    return task


@lru_cache(256)
def _as_decided(body: bytes, expires: str | None, ended: bool, gates: tuple[str, ...]) -> Capsule:
    task = _task(body, expires)
    issued_by = task.by if task.issuer == "human" else None
    return msgspec.structs.replace(task.capsule, ended=ended, gates=gates, issued_by=issued_by)


def line(view: Transaction, name: str, now: str, trust: Trust | None = None) -> list[CapsuleState]:
    """The capsule and those above it, all of them alive. Raises GrantError and StateForged."""
    found = above(view, name, trust)
    for state in found:
        if state.ended is not None or (state.task.capsule.expires or now + "~") <= now:
            raise GrantError(f"the capsule {state.task.capsule.id} has ended", code="capsule-ended")
    return found


def living(view: Transaction, agent: str, now: str) -> list[CapsuleState]:
    """The capsules of an agent that have not ended. Raises StateForged.

    Those that ended are looked at too: one that somebody only marked so would let the agent work without its limits.
    """
    rows = view.rows("SELECT id FROM capsule WHERE agent = ? ORDER BY id", agent)
    check_listed(view, (CAPSULE.name, agent), [subject_of(CAPSULE, str(name)) for (name,) in rows])
    found = [state_of(view, str(name)) for (name,) in rows]
    return [one for one in found if one.ended is None and (one.task.capsule.expires or now + "~") > now]


def above(view: Transaction, name: str, trust: Trust | None = None) -> list[CapsuleState]:
    """The capsule and those above it, whatever became of them. Raises GrantError and StateForged."""
    known: list[CapsuleState] | None = view.cached(_known_as(name, trust))
    if known is not None:
        _check_alone(known, trust)
        return known
    found = [state_of(view, name, trust)]
    while (parent := found[-1].task.capsule.parent) is not None:
        if len(found) > MAX_CHAIN:
            raise GrantError(f"the capsule {name} lies too deep", code="chain-too-long")
        found.append(state_of(view, parent, trust))
    for state, over in zip(found, [*found[1:], None], strict=True):
        if state.task.issuer == "agent":
            _check_granted(state.task, over.task if over is not None else None)
    view.cache(_known_as(name, trust), found)
    _check_alone(found, trust)
    return found


def _check_alone(found: list[CapsuleState], trust: Trust | None) -> None:
    """That the policy in force lets the issuers grant what they granted by themselves. Raises GrantError."""
    if trust is None:
        return  # nothing rests on their grants
    for state, over in zip(found, [*found[1:], None], strict=True):
        if state.task.alone and state.task.issuer == "agent":
            if trust.book is None:
                raise GrantError(f"nobody can tell whether {state.task.by} may grant that", code="may-not-issue")
            check_alone(trust.book, state.task, over.task if over is not None else None)


def _known_as(name: str, trust: Trust | None) -> tuple[str, ...]:
    """What a capsule is cached as, by what was checked."""
    return (STATE, CAPSULE.name, name, "" if trust is None else "none needed" if trust.none_needed else "signed")


def _check_granted(task: Task, parent: Task | None) -> None:
    """INVARIANT: agents grant only what they were granted, or what the policy lets them grant by themselves, whoever
    wrote the entry. Raises StateForged."""
    if (not task.capsule.grants and not task.capsule.data_tiers) or task.alone:
        return
    try:
        check_within(task, parent)
    except GrantError as error:
        raise StateForged(f"the capsule {task.capsule.id} grants what no agent could: {error}") from None


def end(change: Transaction, name: str, *, by: str, now: str, scribe: Scribe) -> Ending:
    """Ends the capsule and all below it, and cancels what they ask.

    Raises StateForged, and GrantError if it has ended already.
    """
    first = state_of(change, name)
    if first.ended is not None:
        raise GrantError(f"the capsule {name} ended at {first.ended}", code="capsule-ended")
    ended, waiting = [], [name]
    while waiting:
        one = waiting.pop(0)
        waiting += [str(row[0]) for row in change.rows("SELECT id FROM capsule WHERE parent = ? ORDER BY id", one)]
        try:
            state = state_of(change, one)
        except StateForged:
            if one == name:
                raise
            continue  # nothing begins in what was forged
        if state.ended is not None:
            continue
        about = {"what": "ended", "capsule": one, "by": by, "because_of": name}
        scribe.put(change, CAPSULE, (one,), {**state.row, "ended": now, "ended_by": by}, "capsule", about)
        cancel_all(change, one, by=by, scribe=scribe)
        if state.task.capsule.grants or state.task.capsule.data_tiers:
            scribe.note(change, "revocation", {"capsule": one, "agent": state.task.capsule.agent, "by": by})
        ended.append(state._replace(ended=now, ended_by=by))
    return Ending(tuple(ended))


def move(change: Transaction, name: str, expires: str, scribe: Scribe) -> None:
    """It ends at another moment, since the clock was repaired. Raises StateForged."""
    state = state_of(change, name)
    scribe.put(
        change, CAPSULE, (name,), {**state.row, "expires": expires}, "capsule", {"what": "moved", "capsule": name}
    )


def pass_gate(change: Transaction, name: str, gate: str, *, by: str, now: str, scribe: Scribe, trust: Trust) -> None:
    """A person passes a gate of a capsule. Raises GrantError, and StateForged if nobody passed those before."""
    [passed_before] = newest(change, (GATES, (name,)))
    if passed_before is not None:  # what is signed now says these too
        check_person(change, GATES, passed_before.row, passed_before, trust)
    state = check_gate(change, name, gate, now)
    passed = {**state.gates, gate: (by, now)}
    scribe.put(change, GATES, (name,), passed, "gate", {"capsule": name, "gate": gate, "by": by})


def spend(
    change: Transaction,
    line: list[CapsuleState],
    what: Mapping[str, int],
    entries: Mapping[str, Sequence[str]],
    scribe: Scribe,
    trust: Trust,
) -> None:
    """Counts a use in the first capsule of a line and in all above it. Raises GrantError when one has nothing left.

    `entries`, by capsule, are counted where they stand.
    """
    name = line[0].task.capsule.id
    after = []
    for state in line:
        own, limits = state.task.capsule.id, state.task.budget.limits
        used = dict(state.spent)
        for one, much in what.items():
            if one not in limits and own != name:
                continue
            most, before = limits.get(one), used.get(one, 0)
            if most is not None and before + much > most:
                raise GrantError(_spent(own, one, most, before), code="budget-spent")
            used[one] = before + much
        for one in entries.get(own, ()):
            used[one] = used.get(one, 0) + 1
        if used != state.spent:
            place = scribe.put(change, SPENT, (own,), used, "budget", {"capsule": own}, after=state.spent_in)
            state = state._replace(spent=used, spent_in=place)
        after.append(state)
    change.cache(_known_as(name, trust), after)


def _spent(capsule: str, what: str, most: int, used: int) -> str:
    if not what.startswith(SUM):
        return f"the capsule {capsule} allows {most} {what.removeprefix('tool:')}"
    left = f"{amount_text(what, max(0, most - used))} are left"
    return f"the capsule {capsule} allows {amount_text(what, most)} in all {counted_text(what)}: {left}"
