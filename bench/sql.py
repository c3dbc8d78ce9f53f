"""What judging SQL costs, in multiples of sqlglot's bare parse of the same text."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import process_time_ns

import sqlglot

from remit import Call, build_rulebook, decide_call
from remit.languages.sql import understand

TARGET = 3.0
TEXTS = (
    "SELECT id, verdict FROM reviews WHERE run_id = {} ORDER BY id DESC LIMIT 10",
    "SELECT r.id, count(*) FROM runs r JOIN checks c ON c.run = r.id WHERE day > {} GROUP BY r.id HAVING count(*) > 2",
    "WITH recent AS (SELECT * FROM checks WHERE id > {}) SELECT max(id) FROM recent WHERE ok = 1",
    "INSERT INTO instruction_updates (file, change, reason) VALUES ('AGENTS.md', 'rule {}', 'again')",
)
POLICY = {
    "remit": 1,
    "tools": {"query": {"args": {"sql": "sql"}, "dialect": "sqlite"}},
    "agents": {"knowledge": {"may": [{"query": {"sql": {"select": "any", "insert": ["instruction_updates"]}}}]}},
}


@dataclass(frozen=True, slots=True)
class SqlCost:
    """Medians over texts that were not seen before."""

    decision: float
    """The whole decision, in multiples of the bare parse."""
    understanding: float
    again: float
    """The decision on a text that was seen before."""


def measure(rounds: int) -> SqlCost:
    """Parse, understand and decide the same texts in turn, each text once."""
    rulebook = build_rulebook(POLICY)
    decisions, readings, repeats = [], [], []
    for turn in range(rounds):
        for place, text in enumerate(TEXTS):
            number = turn * 10 + place
            one, two, three = (text.format(number * 3 + offset) for offset in range(3))
            bare = _cost(partial(sqlglot.parse, one, dialect="sqlite"))
            call = Call("knowledge", "query", {"sql": two})
            whole = _cost(partial(decide_call, rulebook, call))
            if not decide_call(rulebook, call).allowed:
                raise RuntimeError(f"not allowed: {two}")
            if turn > 2:
                decisions.append(whole / bare)
                repeats.append(_cost(partial(decide_call, rulebook, call)) / bare)
                readings.append(_cost(partial(understand.understand_sql, three, "sqlite")) / bare)
    return SqlCost(statistics.median(decisions), statistics.median(readings), statistics.median(repeats))


def _cost(work: Callable[[], object]) -> float:
    start = process_time_ns()
    work()
    return max(1, process_time_ns() - start)
