"""What an agent's arguments add up to in one UTC day, in all its tasks and outside of them.

A clock that jumps begins no new day: what was counted before it counts after it too.
"""

from __future__ import annotations

from remit.grant.errors import GrantError
from remit.grant.notes import Scribe
from remit.model.policy import Caller
from remit.model.task import SUM, amount_text
from remit.record.state import DAILY, newest, newest_under
from remit.store.interface import Transaction


def spend_daily(change: Transaction, caller: Caller, sums: dict[str, int], now: str, scribe: Scribe) -> None:
    """Counts the sums of one call. Raises GrantError (`budget-spent`) and StateForged."""
    day = now[:10]
    before = _used(change, day, caller.name)
    after = dict(before)
    for what, most in caller.daily_sum.items():
        much = sums.get(f"{SUM}{what}")
        if much is None:
            continue
        used = before.get(what, 0)
        if used + much > most:
            left = amount_text(SUM, max(0, most - used))
            reason = f"{caller.name} may have {amount_text(SUM, most)} in {what} a day: {left} are left today"
            raise GrantError(reason, code="budget-spent")
        after[what] = used + much
    if after != before:
        _put(change, day, caller.name, after, scribe)


def used_on(view: Transaction, day: str) -> dict[tuple[str, str], int]:
    """The sums of a day (`2026-01-31`) so far, by agent and by what is counted. Raises StateForged."""
    found = newest_under(view, DAILY, day)
    return {(str(said.state.of[2]), what): int(used) for said in found for what, used in said.row.items()}


def carry(change: Transaction, before: str, after: str, scribe: Scribe) -> None:
    """The clock has gone from one moment to another that no time led to: the day goes on."""
    old, new = before[:10], after[:10]
    if old == new:
        return
    for said in newest_under(change, DAILY, old):
        agent = str(said.state.of[2])
        known = _used(change, new, agent)
        more = {what: max(int(used), known.get(what, 0)) for what, used in said.row.items()}
        if known | more != known:
            _put(change, new, agent, known | more, scribe)


def _used(view: Transaction, day: str, agent: str) -> dict[str, int]:
    [said] = newest(view, (DAILY, (day, agent)))
    return {what: int(used) for what, used in said.row.items()} if said is not None else {}


def _put(change: Transaction, day: str, agent: str, used: dict[str, int], scribe: Scribe) -> None:
    scribe.put(change, DAILY, (day, agent), used, "budget", {"agent": agent, "day": day})
