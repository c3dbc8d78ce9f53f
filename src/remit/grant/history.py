"""What became of a task: what was asked and answered, what was called and refused, what was left unused."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from remit.grant.asks import COLUMNS, AskState, ask_state
from remit.grant.capsules import CapsuleState, state_of
from remit.model.task import Task
from remit.record.reader import all_said
from remit.store.interface import Transaction


def all_asks(view: Transaction, capsule: str | None = None) -> list[AskState]:
    """Every ask, of one capsule if it is named, whatever became of it; the oldest first."""
    if capsule is None:
        rows = view.rows(f"SELECT {COLUMNS} FROM ask ORDER BY seq")  # noqa: S608
    else:
        rows = view.rows(f"SELECT {COLUMNS} FROM ask WHERE capsule = ? ORDER BY seq", capsule)  # noqa: S608
    return [ask_state(row) for row in rows]


def children(view: Transaction, name: str) -> list[CapsuleState]:
    """The capsules that were handed on from this one."""
    rows = view.rows("SELECT id FROM capsule WHERE parent = ? ORDER BY id", name)
    return [state_of(view, str(row[0])) for row in rows]


class Passed(msgspec.Struct, frozen=True):
    """One gate and who has passed it."""

    gate: str
    by: str | None = None
    at: str | None = None


def gates(state: CapsuleState) -> list[Passed]:
    """The gates of a capsule, its plan among them if it has one."""
    capsule = state.task.capsule
    passed = {gate: Passed(gate, by, at) for gate, (by, at) in state.gates.items()}
    names = [*state.task.gates, *(["plan"] if capsule.plan else []), *passed]
    return [passed.get(name, Passed(name)) for name in dict.fromkeys(names)]


class Unused(msgspec.Struct, frozen=True):
    """What a task was given and did not use."""

    grants: tuple[int, ...]
    plan: tuple[int, ...]
    """Items that answered no question: a call that nobody had to be asked about needs none."""
    data_tiers: tuple[int, ...]
    budget: dict[str, int]
    """What is left of each limit."""


def unused(task: Task, spent: dict[str, int]) -> Unused:
    """By number, as they stand in the capsule."""
    capsule = task.capsule
    return Unused(
        grants=tuple(i for i in range(len(capsule.grants)) if f"grants[{i}]" not in spent),
        plan=tuple(i for i in range(len(capsule.plan)) if f"plan[{i}]" not in spent),
        data_tiers=tuple(tier for tier in capsule.data_tiers if f"tier:{tier}" not in spent),
        budget={what: most - spent.get(what, 0) for what, most in task.budget.limits.items()},
    )


class Calls(msgspec.Struct, frozen=True):
    """What the ledger says about the calls of a task."""

    tools: dict[str, dict[str, int]]
    """By tool: `allow`, `ask`, `deny`, and of those that were allowed `failed`, `not-run`, `unknown`."""
    denials: dict[str, int]
    """By code, those that were allowed and then could not begin included."""
    first: str | None
    last: str | None


def calls_of(view: Transaction, capsule: str) -> Calls:
    """Counts the entries of a task. Raises LedgerError and StoreError."""
    tools: dict[str, dict[str, int]] = {}
    denials: dict[str, int] = {}
    open_calls: dict[str, str] = {}
    moments: list[str] = []
    for data in _entries(view):
        if data.get("type") == "intent" and data.get("capsule") == capsule:
            tool, verdict = str(data.get("tool")), str(data.get("decision"))
            counts = tools.setdefault(tool, {})
            counts[verdict] = counts.get(verdict, 0) + 1
            if verdict == "deny":
                code = str(data.get("code"))
                denials[code] = denials.get(code, 0) + 1
            elif verdict == "allow":
                open_calls[str(data.get("call"))] = tool
            moments.append(str(data.get("at")))
        elif data.get("type") == "outcome" and (ended := open_calls.pop(str(data.get("call")), None)) is not None:
            result = str(data.get("result"))
            if result != "done":
                tools[ended][result] = tools[ended].get(result, 0) + 1
            if result == "not-run":
                code = str(data.get("error"))
                denials[code] = denials.get(code, 0) + 1
    return Calls(tools, denials, min(moments, default=None), max(moments, default=None))


def _entries(view: Transaction) -> Iterator[dict[str, object]]:
    for _, data in all_said(view):
        yield data
