"""What Guard costs around a function: beside the bare call, B1, a bare commit, and other governed calls.

    python -m bench.guard

Like stands beside like. Every call is counted twice: CPU time of its caller's thread, and CPU time of all threads until
everything that it records is where it stays. Calls whose record is written before they return are compared with each
other, and batched ones with those that write nothing. Waiting for the disk takes no CPU, so for calls that are written
there is the wall clock too, beside a bare commit of SQLite on the same disk. Everything takes turns in one process, and
the ratios are taken round by round.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.floor import floor
from bench.governed import Governed, all_of_them
from bench.peers import Absent
from bench.timing import quiet, thread_cpu
from remit import Guard, task_from

TARGET = 120.0
BATCH = 200
"""Calls in one measured loop: fewer than what the queue of the ledger holds."""
WRITTEN = 20
"""Calls in one measured loop that wait until they are written."""
BATCHED, ASYNC, DURABLE, IN_TASK = (
    "Guard, batched",
    "Guard, batched, async",
    "Guard, durable",
    "Guard, durable, in a task with a budget",
)
KEEPS = {
    BATCHED: "queued before it runs, on disk within 20 ms",
    ASYNC: "the same",
    DURABLE: "on disk before it runs, its outcome soon after",
    IN_TASK: "the same; the budget is counted on disk before it runs",
}
POLICY = {
    "remit": 1,
    "agents": {
        "researcher": {"may": ["search", "asearch", "kept"]},
        "reviewer": {"may": ["search"]},
    },
}


@dataclass(frozen=True, slots=True)
class Cost:
    """One governed call, the function included."""

    caller: float
    """CPU of the thread that calls, × B1."""
    everything: float | None = None
    """CPU of all threads until it is recorded, × B1."""
    wall: float | None = None
    """Wall clock until it is recorded, × a bare commit."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A peer's call in multiples of one of ours that keeps its record in the same way."""

    peer: str
    ours: str
    cpu: float
    """Of all threads."""
    wall: float | None = None


@dataclass(frozen=True, slots=True)
class GuardCost:
    """Medians of one run."""

    batched: float
    """A batched call over the bare function, × B1, for the caller's thread."""
    costs: dict[str, Cost]
    beside: tuple[Beside, ...]
    bare_commits: float
    """Bare commits a second here."""
    keeps: dict[str, str] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()


@dataclass(frozen=True, slots=True)
class _Subject:
    """A guard with one function, bare and behind it: `search` of tier 0 is batched, `kept` of tier 1 durable."""

    guard: Guard
    bare: Callable[[str], str]
    search: Callable[[str], str]
    asearch: Callable[[str], Any]
    kept: Callable[[str], str]

    def acting(self, *, task: bool) -> AbstractContextManager[object]:
        return self.guard.agent("researcher", capsule="TASK-1" if task else None)


@contextmanager
def _subject(folder: Path) -> Iterator[_Subject]:
    guard = Guard(POLICY, root=folder, state=folder / "state")

    def bare(query: str) -> str:
        return query

    search = guard.tool("search", does="nothing")(bare)
    kept = guard.tool("kept", does="nothing", tier=1)(bare)

    @guard.tool("asearch", does="nothing")
    async def asearch(query: str) -> str:
        return query

    with guard:
        task = {"id": "TASK-1", "agent": "researcher", "goal": "measure", "budget": {"calls": 1_000_000}}
        guard.authority.issue(guard.rulebook, task_from(guard.rulebook, task))
        yield _Subject(guard, bare, search, asearch, kept)


def measure(rounds: int) -> GuardCost:
    """On SQLite in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with _subject(folder) as subject, all_of_them(folder) as (peers, absent), _commits(folder) as commit, quiet():
            found = [_round(subject, peers, commit) for _ in range(rounds + 1)][1:]  # the first one warms everything
    return GuardCost(
        batched=statistics.median(one.batched for one in found),
        costs={name: _middle([one.costs[name] for one in found]) for name in found[0].costs},
        beside=tuple(_beside(peer, ours, found) for peer in peers for ours in _like(peer)),
        bare_commits=1e9 / statistics.median(one.commit for one in found),
        keeps=KEEPS | {peer.name: peer.keeps for peer in peers},
        absent=tuple(absent),
    )


def _like(peer: Governed) -> tuple[str, ...]:
    return (DURABLE, IN_TASK) if peer.written else (BATCHED,)


@dataclass(frozen=True, slots=True)
class _Round:
    batched: float
    costs: dict[str, Cost]
    commit: float


def _round(subject: _Subject, peers: list[Governed], commit: Callable[[], None]) -> _Round:
    """One turn for each, right after one another."""
    b1 = floor({"researcher": frozenset({"read_file", "search"})})
    one = thread_cpu(lambda: b1("researcher", "search", {}), 20_000)
    bare = thread_cpu(lambda: subject.bare("needle"), 20_000)
    flush = subject.guard.flush
    flush()
    single = _spent(commit, WRITTEN).wall
    costs: dict[str, Cost] = {}
    with subject.acting(task=False):
        batched = _spent(lambda: subject.search("needle"), BATCH, flush)
        costs[BATCHED] = Cost(batched.caller / one, batched.everything / one)
        costs[ASYNC] = Cost(_asynchronous(subject) / one)
        flush()
        costs[DURABLE] = _cost(lambda: subject.kept("needle"), one, single, flush)
    with subject.acting(task=True):
        costs[IN_TASK] = _cost(lambda: subject.kept("needle"), one, single, flush)
    for peer in peers:
        found = _cost(lambda: peer.search("needle"), one, single)  # noqa: B023  called here and now
        costs[peer.name] = found if peer.written else Cost(found.caller, found.everything)
    return _Round((batched.caller - bare) / one, costs, single)


@dataclass(frozen=True, slots=True)
class _Spent:
    """Nanoseconds a call."""

    caller: float
    everything: float
    wall: float


def _spent(work: Callable[[], object], times: int, finish: Callable[[], object] = lambda: None) -> _Spent:
    """`finish` is when all that the calls record is recorded; it does not count for the caller."""
    whole, wall = time.process_time_ns(), time.perf_counter_ns()
    caller = thread_cpu(work, times)
    finish()
    return _Spent(caller, (time.process_time_ns() - whole) / times, (time.perf_counter_ns() - wall) / times)


def _cost(work: Callable[[], object], b1: float, commit: float, finish: Callable[[], object] = lambda: None) -> Cost:
    spent = _spent(work, WRITTEN, finish)
    return Cost(spent.caller / b1, spent.everything / b1, spent.wall / commit)


def _asynchronous(subject: _Subject) -> float:
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_many(subject.asearch))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


async def _many(function: Callable[[str], Any]) -> float:
    start = time.thread_time_ns()
    for _ in range(BATCH):
        await function("needle")
    return (time.thread_time_ns() - start) / BATCH


def _middle(costs: list[Cost]) -> Cost:
    def of(name: str) -> float | None:
        values = [getattr(cost, name) for cost in costs]
        return None if None in values else statistics.median(values)

    return Cost(of("caller") or 0.0, of("everything"), of("wall"))


def _beside(peer: Governed, ours: str, rounds: list[_Round]) -> Beside:
    def ratio(name: str) -> float | None:
        pairs = [(getattr(one.costs[peer.name], name), getattr(one.costs[ours], name)) for one in rounds]
        return None if None in pairs[0] else statistics.median(theirs / own for theirs, own in pairs)

    return Beside(peer.name, ours, ratio("everything") or 0.0, ratio("wall"))


@contextmanager
def _commits(folder: Path) -> Iterator[Callable[[], None]]:
    """A bare commit of 600 bytes, flushed to the disk."""
    database = sqlite3.connect(folder / "bare.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE entry (seq INTEGER PRIMARY KEY, body BLOB)")
    body = b"x" * 600

    def commit() -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO entry (body) VALUES (?)", (body,))
        database.execute("COMMIT")

    yield commit
    database.close()


def main() -> None:
    """Measure and print."""
    found = measure(30)
    print(f"an allowed tier-0 call, batched: {found.batched:.0f} × B1 over the bare function (target {TARGET:g})")
    for name, cost in found.costs.items():
        more = "" if cost.everything is None else f", {cost.everything:,.0f} × B1 in all threads"
        more += "" if cost.wall is None else f", {cost.wall:.1f} × a bare commit by the wall clock"
        print(f"  {name}: {cost.caller:,.0f} × B1 for its caller{more}; {found.keeps[name]}")
    for pair in found.beside:
        more = "" if pair.wall is None else f", {pair.wall:.2f} × its time"
        print(f"  {pair.peer} beside {pair.ours}: {pair.cpu:.2f} × the CPU of all threads{more}")
    for peer in found.absent:
        print(f"  absent: {peer.name} ({peer.why})")
    print(f"{found.bare_commits:,.0f} bare commits a second here")


if __name__ == "__main__":
    main()
