"""Capsules in the store: issued, looked up, used, ended. A capsule that ends takes all below it along."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from remit.grant.asks import cancel_all
from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.grant.issuing import check_issue
from remit.grant.notes import note
from remit.model.decoding import Decoding
from remit.model.facts import Capsule
from remit.model.rulebook import Rulebook
from remit.model.task import SUM, Task, amount_text, counted_text
from remit.model.terms import MAX_CHAIN
from remit.store.errors import StoreRefused
from remit.store.interface import Transaction

_TASK = Decoding(Task)

PLAN = "plan"
"""The gate of a capsule's plan."""


class CapsuleState(NamedTuple):
    """A task with its state: ended or not, gates passed, budget spent."""

    task: Task
    ended: str | None
    ended_by: str | None
    passed: dict[str, str]
    """Gates that were passed, with who passed them."""
    spent: dict[str, int]

    @property
    def timed(self) -> bool:
        """Whether it ends by itself."""
        return self.task.capsule.expires is not None

    @property
    def capsule(self) -> Capsule:
        """As decisions see it."""
        return msgspec.structs.replace(
            self.task.capsule, ended=self.ended is not None, gates=tuple(sorted(self.passed))
        )


class Ending(NamedTuple):
    """What ended, the one that was named first."""

    states: tuple[CapsuleState, ...]


def issue(change: Transaction, rulebook: Rulebook, task: Task, *, clock: Clock, writer: str) -> Task:
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
    task = msgspec.structs.replace(task, made=now, policy=rulebook.hash)
    check_issue(rulebook.book, task, tuple(ancestors), now)
    capsule = task.capsule
    if change.row("SELECT 1 FROM capsule WHERE id = ?", capsule.id) is not None:
        raise GrantError(f"there is a capsule {capsule.id} already", code="capsule-exists")
    change.run(
        "INSERT INTO capsule (id, agent, parent, body, expires) VALUES (?, ?, ?, ?, ?)",
        capsule.id,
        capsule.agent,
        capsule.parent,
        msgspec.json.encode(task),
        capsule.expires,
    )
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
    note(change, writer, "capsule", about, {"goal": task.goal})
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
            raise GrantError(f"the policy has no tool `{tool[:80]}`", code="unknown-tool")


def check_gate(view: Transaction, name: str, gate: str, now: str) -> CapsuleState:
    """The capsule, if the gate could be passed now. Raises GrantError."""
    state = line(view, name, now)[0]
    has_plan = bool(state.task.capsule.plan)
    known = [*state.task.gates, *([PLAN] if has_plan else [])]
    if gate == PLAN and not has_plan:
        raise GrantError(f"the capsule {name} has no plan", code="unknown-gate")
    if gate not in known:
        there = f"it has {', '.join(dict.fromkeys(known))}" if known else "it has none"
        raise GrantError(f"the capsule {name} has no gate `{gate[:80]}`", code="unknown-gate", help=there)
    if gate in state.passed:
        by = state.passed[gate]
        raise GrantError(f"the gate {gate} of {name} is passed already, by {by}", code="gate-passed")
    return state


def state_of(view: Transaction, name: str) -> CapsuleState:
    """One capsule. Raises GrantError if there is none."""
    row = view.row("SELECT body, ended, ended_by, expires FROM capsule WHERE id = ?", name)
    if row is None:
        raise GrantError(f"there is no capsule `{name[:100]}`", code="unknown-capsule")
    try:
        task = _TASK.decode(bytes(row[0]))
    except msgspec.MsgspecError:
        what = f"the capsule `{name[:100]}` was issued by another version of Remit"
        raise GrantError(what, code="unknown-capsule", help="issue the task again") from None
    if task.capsule.expires != row[3]:  # it was moved when the clock was repaired
        task = msgspec.structs.replace(task, capsule=msgspec.structs.replace(task.capsule, expires=row[3]))
    passed = dict(view.rows("SELECT gate, person FROM gate_pass WHERE capsule = ?", name))
    spent = dict(view.rows("SELECT what, used FROM spent WHERE capsule = ?", name))
    return CapsuleState(task, row[1], row[2], passed, spent)


def line(view: Transaction, name: str, now: str) -> list[CapsuleState]:
    """The capsule and those above it, all of them alive. Raises GrantError."""
    found = above(view, name)
    for state in found:
        if state.ended is not None or (state.task.capsule.expires or now + "~") <= now:
            raise GrantError(f"the capsule {state.task.capsule.id} has ended", code="capsule-ended")
    return found


def above(view: Transaction, name: str) -> list[CapsuleState]:
    """The capsule and those above it, whatever became of them. Raises GrantError."""
    found = [state_of(view, name)]
    while (parent := found[-1].task.capsule.parent) is not None:
        if len(found) > MAX_CHAIN:
            raise GrantError(f"the capsule {name} lies too deep", code="chain-too-long")
        found.append(state_of(view, parent))
    return found


def end(change: Transaction, name: str, *, by: str, now: str, writer: str) -> Ending:
    """Ends the capsule and all below it, and cancels what they ask. Raises GrantError if it has ended already."""
    first = state_of(change, name)
    if first.ended is not None:
        raise GrantError(f"the capsule {name} ended at {first.ended}", code="capsule-ended")
    ended, waiting = [], [name]
    while waiting:
        one = waiting.pop(0)
        state = state_of(change, one)
        waiting += [str(row[0]) for row in change.rows("SELECT id FROM capsule WHERE parent = ? ORDER BY id", one)]
        if state.ended is not None:
            continue
        change.run("UPDATE capsule SET ended = ?, ended_by = ? WHERE id = ?", now, by, one)
        change.run("DELETE FROM ticket WHERE capsule = ? AND used IS NULL", one)
        about = {"what": "ended", "capsule": one, "by": by, "because_of": name}
        note(change, writer, "capsule", about)
        cancel_all(change, one, by=by, writer=writer)
        if state.task.capsule.grants or state.task.capsule.data_tiers:
            note(change, writer, "revocation", {"capsule": one, "agent": state.task.capsule.agent, "by": by})
        ended.append(state._replace(ended=now, ended_by=by))
    return Ending(tuple(ended))


def pass_gate(change: Transaction, name: str, gate: str, *, by: str, now: str, writer: str) -> None:
    """A person passes a gate of a capsule. Raises GrantError."""
    check_gate(change, name, gate, now)
    try:
        change.run("INSERT INTO gate_pass (capsule, gate, person, at) VALUES (?, ?, ?, ?)", name, gate, by, now)
    except StoreRefused:
        raise GrantError(f"the gate {gate} of {name} is passed already", code="gate-passed") from None
    note(change, writer, "gate", {"capsule": name, "gate": gate, "by": by})


def spend(change: Transaction, line: list[CapsuleState], what: Mapping[str, int]) -> None:
    """Counts a use in the first capsule of a line and in all above it. Raises GrantError when one has nothing left."""
    name = line[0].task.capsule.id
    for state in line:
        own = state.task.capsule.id
        limits = state.task.budget.limits
        for one, much in what.items():
            most = limits.get(one)
            if one not in limits and own != name:
                continue
            used = state.spent.get(one, 0)
            if most is not None and used + much > most:
                raise GrantError(_spent(own, one, most, used), code="budget-spent")
            if change.run("UPDATE spent SET used = used + ? WHERE capsule = ? AND what = ?", much, own, one) == 0:
                change.run("INSERT INTO spent (capsule, what, used) VALUES (?, ?, ?)", own, one, much)


def _spent(capsule: str, what: str, most: int, used: int) -> str:
    if not what.startswith(SUM):
        return f"the capsule {capsule} allows {most} {what.removeprefix('tool:')}"
    left = f"{amount_text(what, max(0, most - used))} are left"
    return f"the capsule {capsule} allows {amount_text(what, most)} in all {counted_text(what)}: {left}"
