"""Past calls, decided again under a policy that is not in force yet: what it would change for the work that was done.

Each call is decided twice with the same facts, by what is in force and by the new policy, so that every difference
comes from the policy. Tasks count as they were issued, with their gates passed, however they ended; answers of people
count for neither. Paths are judged by their text.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress

import msgspec

from remit.enforce.attempt import foreseen
from remit.grant.capsules import above
from remit.grant.errors import GrantError
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.facts import Capsule, Facts
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.record.append import head_of
from remit.record.past import PastCall, past_calls
from remit.record.reader import Filter
from remit.service.task_report import subject
from remit.store.interface import Transaction

RECENT = 20_000
"""Entries that `remit activate` looks at."""
EXAMPLES = 3
_ORDER = ("deny", "ask", "allow")


class Turned(msgspec.Struct, frozen=True):
    """Calls of one agent to one tool that would now be decided otherwise."""

    agent: str
    tool: str
    was: str
    now: str
    code: str
    reason: str
    rule: str | None
    times: int
    last: str
    calls: tuple[int, ...]
    """Where they stand in the ledger; the newest."""
    examples: tuple[str, ...]


class Replayed(msgspec.Struct, frozen=True):
    """What came of it."""

    calls: int
    left_out: int
    """Calls of which values were erased or redacted: nobody can decide them again."""
    changes: tuple[Turned, ...]

    def count(self, now: str) -> int:
        """How many calls would now be decided so, and were not."""
        return sum(one.times for one in self.changes if one.now == now)


def replay(calls: Iterable[PastCall], tasks: Tasks, old: Rulebook | None, new: Rulebook, root: str) -> Replayed:
    """Without an `old` rulebook, what was recorded is compared. The worst changes come first."""
    found: dict[tuple[str, ...], list[tuple[PastCall, Decision]]] = {}
    number = left_out = 0
    for past in calls:
        if not past.complete:
            left_out += 1
            continue
        number += 1
        facts = Facts(
            now=past.at.split(".")[0] + "Z", root=root, capsules=tasks.above(past.call), store=True, confined=HELD
        )
        after = foreseen(new, past.call, facts)
        before = foreseen(old, past.call, facts) if old is not None else None
        was = _word(before) if before is not None else _recorded(past)
        now = _word(after)
        if was != now:
            key = (past.call.agent, past.call.tool, was, now, after.code, after.rule or "")
            found.setdefault(key, []).append((past, after))
    changes = [_turned(key, ones) for key, ones in found.items()]
    changes.sort(key=lambda one: (_ORDER.index(one.now.split(" ")[0]), one.agent, one.tool, one.was, one.code))
    return Replayed(number, left_out, tuple(changes))


def _word(decision: Decision) -> str:
    return decision.verdict.word if decision.would is None else f"allow (would {decision.would})"


def _recorded(past: PastCall) -> str:
    return past.decision if past.would is None else f"allow (would {past.would})"


def _turned(key: tuple[str, ...], ones: list[tuple[PastCall, Decision]]) -> Turned:
    agent, tool, was, now, code, rule = key
    pasts = [past for past, _ in ones]
    return Turned(
        agent=agent,
        tool=tool,
        was=was,
        now=now,
        code=code,
        reason=ones[-1][1].reason,
        rule=rule or None,
        times=len(ones),
        last=max(past.at for past in pasts),
        calls=tuple(past.seq for past in pasts[-20:]),
        examples=tuple(dict.fromkeys(subject(past) for past in reversed(pasts)))[:EXAMPLES],
    )


class Tasks:
    """The tasks of past calls, as they were issued."""

    def __init__(self, view: Transaction) -> None:
        self._view = view
        self._known: dict[str, dict[str, Capsule]] = {}

    def above(self, call: Call) -> dict[str, Capsule]:
        """The task of a call and those above it; none of them has ended."""
        name = call.context.capsule
        if name is None:
            return {}
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = {}
            with suppress(GrantError):
                for state in above(self._view, name):
                    capsule = state.capsule
                    found[capsule.id] = msgspec.structs.replace(capsule, ended=False, expires=None)
        return found


def replay_recent(view: Transaction, old: Rulebook | None, new: Rulebook, root: str) -> Replayed:
    """The same of the newest entries only, for `remit activate`."""
    first = max(0, head_of(view).size - RECENT)
    return replay(past_calls(view, Filter(), first), Tasks(view), old, new, root)
