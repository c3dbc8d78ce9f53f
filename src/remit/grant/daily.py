"""What an agent's arguments add up to in one UTC day, in all its tasks and outside of them.

A clock that jumps begins no new day: what was counted before it counts after it too.
"""

from __future__ import annotations

from remit.grant.errors import GrantError
from remit.model.policy import Caller
from remit.model.task import SUM, amount_text
from remit.store.interface import Transaction


def spend_daily(change: Transaction, caller: Caller, sums: dict[str, int], now: str) -> None:
    """Counts the sums of one call. Raises GrantError (`budget-spent`)."""
    day = now[:10]
    for what, most in caller.daily_sum.items():
        much = sums.get(f"{SUM}{what}")
        if much is None:
            continue
        key = (caller.name, day, what)
        row = change.row("SELECT used FROM daily WHERE agent = ? AND day = ? AND what = ?", *key)
        used = int(row[0]) if row is not None else 0
        if used + much > most:
            left = amount_text(SUM, max(0, most - used))
            reason = f"{caller.name} may have {amount_text(SUM, most)} in {what} a day: {left} are left today"
            raise GrantError(reason, code="budget-spent")
        _put(change, key, used + much)


def used_on(view: Transaction, day: str) -> dict[tuple[str, str], int]:
    """The sums of a day (`2026-01-31`) so far, by agent and by what is counted."""
    rows = view.rows("SELECT agent, what, used FROM daily WHERE day = ?", day)
    return {(agent, what): int(used) for agent, what, used in rows}


def carry(change: Transaction, before: str, after: str) -> None:
    """The clock has gone from one moment to another that no time led to: the day goes on."""
    old, new = before[:10], after[:10]
    if old == new:
        return
    for agent, what, used in change.rows("SELECT agent, what, used FROM daily WHERE day = ?", old):
        row = change.row("SELECT used FROM daily WHERE agent = ? AND day = ? AND what = ?", agent, new, what)
        if row is None or row[0] < used:
            _put(change, (agent, new, what), used)


def _put(change: Transaction, key: tuple[str, str, str], used: int) -> None:
    if change.run("UPDATE daily SET used = ? WHERE agent = ? AND day = ? AND what = ?", used, *key) == 0:
        change.run("INSERT INTO daily (agent, day, what, used) VALUES (?, ?, ?, ?)", *key, used)
