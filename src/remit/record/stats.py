"""Counts over the log, in one pass and bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from remit.record.reader import Filter, all_said
from remit.store.interface import Transaction

MAX_NAMES = 10_000
OTHERS = "(others)"
BY = ("agent", "tool", "decision", "code", "rule")


class Stats:
    """What was counted."""

    def __init__(self) -> None:
        self.entries = 0
        self.bytes = 0
        self.first: str | None = None
        self.last: str | None = None
        self.types: Counter[str] = Counter()
        self.days: Counter[str] = Counter()
        self.results: Counter[str] = Counter()
        self.by: dict[str, Counter[str]] = {name: Counter() for name in BY}
        self.would: Counter[str] = Counter()
        """Calls that were let through under observe: what would have become of them, and why."""

    def add(self, data: dict[str, Any], size: int) -> None:
        """Counts one entry."""
        at = str(data.get("at", ""))
        self.entries += 1
        self.bytes += size
        self.first = self.first if self.first is not None else at
        self.last = at
        _count(self.types, data.get("type"))
        _count(self.days, at[:10])
        if data.get("type") == "outcome":
            _count(self.results, data.get("result"))
        if data.get("type") == "intent":
            for name in BY:
                if data.get(name) is not None:
                    _count(self.by[name], data[name])
            if data.get("would") is not None:
                _count(self.would, f"{data['would']}: {data.get('code')}")


def count(view: Transaction, wanted: Filter) -> Stats:
    """Counts the entries that are wanted. Raises LedgerError and StoreError."""
    found = Stats()
    for stored, data in all_said(view):
        if wanted.wants(data):
            found.add(data, len(stored.body))
    return found


class Use:
    """What one agent did."""

    def __init__(self) -> None:
        self.calls = self.allowed = self.denied = self.changes = 0
        self.last: str | None = None
        self.tools: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        """Of what was denied."""

    def add(self, data: dict[str, Any]) -> None:
        """Counts one intent."""
        self.calls += 1
        self.last = str(data.get("at", ""))
        _count(self.tools, data.get("tool"))
        if data.get("decision") == "deny":
            self.denied += 1
            _count(self.codes, data.get("code"))
        elif data.get("decision") == "allow":
            self.allowed += 1
            self.changes += not set(data.get("effects") or ()) <= {"read"}


def use_by_agent(view: Transaction, since: Mapping[str, str | None], at_all: str | None = None) -> dict[str, Use]:
    """What each of these agents did since its moment, or since `at_all`. Raises LedgerError and StoreError."""
    found = {agent: Use() for agent in since}
    for _, data in all_said(view):
        if data.get("type") == "intent" and (agent := data.get("agent")) in found:
            start = since[agent] or at_all
            if start is None or str(data.get("at", "")) >= start:
                found[agent].add(data)
    return found


def _count(counter: Counter[str], value: Any) -> None:
    name = str(value)
    counter[name if name in counter or len(counter) < MAX_NAMES else OTHERS] += 1
