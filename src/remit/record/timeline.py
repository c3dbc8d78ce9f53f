"""When what was decided: calls of the log by span of time, agent and decision, in two passes and bounded memory."""

from __future__ import annotations

from collections import Counter, deque
from typing import Any

import msgspec

from remit.model.moments import moment, seconds_of
from remit.record.reader import Filter, all_said
from remit.record.stats import OTHERS
from remit.store.interface import Transaction

SPANS = (1, 5, 15, 60, 300, 900, 3600, 3 * 3600, 12 * 3600, 86_400, 7 * 86_400, 30 * 86_400, 365 * 86_400)
MOST_SPANS = 96
MOST_AGENTS = 12
NEWEST = 50
EVENTS = frozenset(
    (
        *("activation", "grant", "revocation", "gate", "halt", "incident", "resume", "review", "rotation"),
        *("credential", "clock", "observe", "unsafe", "erasure", "archive"),
    )
)


class Timeline(msgspec.Struct, frozen=True):
    """Calls by span, agent and decision, and what happened besides."""

    start: str
    """Where the first span begins."""
    seconds: int
    """How long each is."""
    spans: int
    agents: tuple[str, ...]
    """Those with the most calls; the rest is one of them, `(others)`."""
    calls: dict[tuple[int, str, str], int]
    """By span, agent and decision."""
    events: tuple[dict[str, Any], ...]
    """The newest entries that are no calls: activations, halts, incidents."""
    denied: tuple[dict[str, Any], ...]
    """The newest calls that were denied."""

    def moment(self, span: int) -> str:
        """Where a span begins."""
        return moment(seconds_of(self.start) + span * self.seconds)


def timeline(view: Transaction, wanted: Filter) -> Timeline | None:
    """The timeline of the entries that are wanted; None if there are none. Raises LedgerError and StoreError."""
    first = last = None
    agents: Counter[str] = Counter()
    for _, data in all_said(view):
        if wanted.wants(data) and (at := _seconds(data)) is not None:
            first, last = min(at, first if first is not None else at), max(at, last if last is not None else at)
            if data.get("type") == "intent" and len(agents) < 10 * NEWEST * MOST_AGENTS:
                agents[str(data.get("agent"))] += 1
    if first is None or last is None:
        return None
    seconds = next((one for one in SPANS if (last - first) / one < MOST_SPANS - 1), SPANS[-1])
    start = first - first % seconds
    shown = [name for name, _ in agents.most_common(MOST_AGENTS)]
    calls: Counter[tuple[int, str, str]] = Counter()
    events: deque[dict[str, Any]] = deque(maxlen=NEWEST)
    denied: deque[dict[str, Any]] = deque(maxlen=NEWEST)
    spans = min(int((last - start) // seconds) + 1, 10 * MOST_SPANS)
    for _, data in all_said(view):
        at = _seconds(data)
        if at is None or not wanted.wants(data):
            continue
        if data.get("type") == "intent":
            agent = str(data.get("agent"))
            span = min(max(0, int((at - start) // seconds)), spans - 1)
            calls[span, agent if agent in shown else OTHERS, str(data.get("decision"))] += 1
            if data.get("decision") == "deny":
                denied.append(data)
        elif data.get("type") in EVENTS:
            events.append(data)
    if any(agent == OTHERS for _, agent, _ in calls):
        shown.append(OTHERS)
    found = (tuple(reversed(events)), tuple(reversed(denied)))
    return Timeline(moment(start), seconds, spans, tuple(shown), dict(calls), *found)


def _seconds(data: dict[str, Any]) -> float | None:
    try:
        return seconds_of(str(data.get("at", "")))
    except ValueError:
        return None
