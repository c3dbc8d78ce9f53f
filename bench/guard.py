"""What Guard costs around a function: beside the bare call, B1, other governed calls, and a bare commit.

    python -m bench.guard

Batched calls are what their caller pays: CPU time of its thread, as for a queued ledger entry. What all threads pay
together, until the entries are on the disk, stands beside it. A durable call waits for the disk, so there the wall
clock counts, beside a bare commit of SQLite on the same disk. Everything takes turns in one process, and the ratios are
taken round by round.
"""

from __future__ import annotations

import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.floor import floor
from bench.governed import Governed, all_of_them
from bench.peers import Absent
from bench.timing import quiet, thread_cpu
from remit import Guard

TARGET, PEER_TARGET = 120.0, 20.0
BATCH = 200
"""Calls in one measured loop: fewer than what the queue of the ledger holds."""
POLICY = {
    "remit": 1,
    "agents": {
        "researcher": {"may": ["search", "asearch", {"note": {"path": "notes/*"}}]},
        "reviewer": {"may": ["search"]},
    },
}


@dataclass(frozen=True, slots=True)
class GuardCost:
    """Medians of one run."""

    batched: float
    """Over the bare function, × B1, for the caller's thread."""
    call: float
    """The whole call in multiples of that: with the bare function."""
    batched_async: float
    """The same around a coroutine function."""
    everything: float
    """CPU of all threads until two entries are on the disk, × B1."""
    durable: float
    """A call that waits for the disk, beside a bare commit; wall clock."""
    bare_commits: float
    """Bare commits a second here."""
    peers: dict[str, float] = field(default_factory=dict)
    """What their governed call costs, in multiples of ours."""
    peers_everything: dict[str, float] = field(default_factory=dict)
    """The same when all our threads count."""
    keeps: dict[str, str] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()


@dataclass(frozen=True, slots=True)
class _Subject:
    """A guard with its functions, bare and behind it."""

    guard: Guard
    bare: Callable[[str], str]
    search: Callable[[str], str]
    asearch: Callable[[str], Any]
    note: Callable[[str, str], None]


@contextmanager
def _subject(folder: Path) -> Iterator[_Subject]:
    guard = Guard(POLICY, root=folder, state=folder / "state")

    def bare(query: str) -> str:
        return query

    search = guard.tool("search", does="nothing")(bare)

    @guard.tool("asearch", does="nothing")
    async def asearch(query: str) -> str:
        return query

    @guard.tool("note", does={"write": "path"}, tier=1, kinds={"path": "path"})
    def note(path: str, content: str) -> None:
        return None

    with guard, guard.agent("researcher"):
        yield _Subject(guard, bare, search, asearch, note)


def measure(rounds: int) -> GuardCost:
    """On SQLite in a temporary directory."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with _subject(folder) as subject, all_of_them(folder) as (peers, absent), quiet():
            found = [_round(subject, peers) for _ in range(rounds + 1)][1:]  # the first one warms everything
            durable, commits = _durable(subject, folder, rounds)
    middle = {key: statistics.median(one[key] for one in found) for key in found[0]}
    return GuardCost(
        middle["batched"],
        middle["call"],
        middle["async"],
        middle["everything"],
        durable,
        commits,
        {peer.name: middle[peer.name] for peer in peers},
        {peer.name: middle[f"{peer.name}, all"] for peer in peers},
        {peer.name: peer.keeps for peer in peers},
        tuple(absent),
    )


def _round(subject: _Subject, peers: list[Governed]) -> dict[str, float]:
    """One turn for each, right after one another."""
    b1 = floor({"researcher": frozenset({"read_file", "search"})})
    flush = subject.guard.flush
    one = thread_cpu(lambda: b1("researcher", "search", {}), 20_000)
    bare = thread_cpu(lambda: subject.bare("needle"), 20_000)
    flush()
    start = time.process_time_ns()
    ours = thread_cpu(lambda: subject.search("needle"), BATCH)
    flush()
    everything = (time.process_time_ns() - start) / BATCH
    loop = asyncio.new_event_loop()
    try:
        plain, governed = (loop.run_until_complete(_many(one)) for one in (_coroutine, subject.asearch))
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
    flush()
    found = {
        "batched": (ours - bare) / one,
        "call": ours / (ours - bare),
        "async": (governed - plain) / one,
        "everything": (everything - bare) / one,
    }
    for peer in peers:
        theirs = thread_cpu(lambda: peer.search("needle"), BATCH // 2)  # noqa: B023  called here and now
        found[peer.name] = theirs / ours
        found[f"{peer.name}, all"] = theirs / everything
    return found


async def _coroutine(query: str) -> str:
    return query


async def _many(function: Callable[[str], Any]) -> float:
    start = time.thread_time_ns()
    for _ in range(BATCH):
        await function("needle")
    return (time.thread_time_ns() - start) / BATCH


def _durable(subject: _Subject, folder: Path, rounds: int, each: int = 20) -> tuple[float, float]:
    """A call that waits for the disk, in bare commits, and how many of those there are in a second."""
    database = sqlite3.connect(folder / "bare.db", isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE entry (seq INTEGER PRIMARY KEY, body BLOB)")
    body = b"x" * 600

    def commit() -> None:
        database.execute("BEGIN IMMEDIATE")
        database.execute("INSERT INTO entry (body) VALUES (?)", (body,))
        database.execute("COMMIT")

    bare, guarded = [], []
    for _ in range(rounds * each):  # one by one: a disk that others use too changes its pace
        bare.append(_wall(commit))
        guarded.append(_wall(lambda: subject.note("notes/a", "x")))
    database.close()
    middle = statistics.median(bare)
    return statistics.median(guarded) / middle, 1 / middle


def _wall(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Measure and print."""
    found = measure(30)
    print(f"an allowed tier-0 call, batched: {found.batched:.0f} × B1 over the bare function (target {TARGET:g})")
    print(
        f"  async: {found.batched_async:.0f} × B1; CPU of all threads until it is on disk: {found.everything:.0f} × B1"
    )
    for name, ratio in found.peers.items():
        more = f"{found.peers_everything[name]:.1f} × if all our threads count; it records {found.keeps[name]}"
        print(f"  {name}: {ratio:.1f} × as much (target {PEER_TARGET:g}); {more}")
    for peer in found.absent:
        print(f"  absent: {peer.name} ({peer.why})")
    print(f"durable: {found.durable:.1f} × a bare commit ({found.bare_commits:,.0f} of those a second here)")


if __name__ == "__main__":
    main()
