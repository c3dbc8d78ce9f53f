"""What the ledger costs: durable entries beside one transaction each, a queued entry beside B1, PostgreSQL.

    python -m bench.ledger [--postgres] [--verify]

The wall clock counts here and not CPU time: a durable entry waits for the disk. Both ways to write run in turn on the
same disk, and the ratio is taken round by round.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from bench import verify_ledger
from bench.floor import floor
from bench.timing import thread_cpu
from remit.model import Call, Decision, Verdict
from remit.record.append import append
from remit.record.batch import Batch, Item
from remit.record.entry import intent_entry, intent_snapshot
from remit.record.writer import Ledger
from remit.store import Store, open_store

CALLERS = 64
DURABLE_TARGET, QUEUED_TARGET, ALL_THREADS_TARGET = 5.0, 30.0, 200.0
CALL = Call("researcher", "create_file", {"filePath": "research/a.yaml", "content": "a: 1\n" * 8})
READ = Call("researcher", "read_file", {"filePath": "research/a.yaml"})
WRITES = Decision(
    Verdict.ALLOW,
    "researcher",
    "create_file",
    "allowed",
    "allowed",
    tier=1,
    effects=("write",),
    policy="sha256:" + "0" * 64,
)
READS = Decision(
    Verdict.ALLOW, "researcher", "read_file", "allowed", "allowed", effects=("read",), policy="sha256:" + "0" * 64
)


@dataclass(frozen=True, slots=True)
class LedgerCost:
    """Medians of one run."""

    grouped_per_second: float
    single_per_second: float
    ratio: float
    building: float
    """Seconds of CPU that making one entry takes: canonical form, commitments, a look for secrets."""
    queued_to_b1: float
    all_threads_to_b1: float
    """The same over all threads, until it is on the disk."""


def measure(rounds: int, each: int = 40) -> LedgerCost:
    """On SQLite in a temporary directory."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        state.mkdir(mode=0o700)
        store = open_store(None, state)
        ledger = Ledger(store, point="bench", deadline=60)
        try:
            grouped, single = [], []
            _together(ledger, 10)
            for _ in range(rounds):
                single.append(_alone(store, 60))
                grouped.append(_together(ledger, each))
            ratios = [many / one for many, one in zip(grouped, single, strict=True)]
            queued, everything = _queued(ledger)
        finally:
            ledger.close()
            store.close()
    return LedgerCost(
        statistics.median(grouped),
        statistics.median(single),
        statistics.median(ratios),
        _building(),
        queued,
        everything,
    )


@dataclass(frozen=True, slots=True)
class Shares:
    """Where the time of one durable entry goes when many callers write, in seconds."""

    wall: float
    building: float
    storing: float
    """CPU time for the statements, the tree and the commit, without waiting for the disk."""
    waking: float
    """CPU time of the callers' threads."""
    entries_per_commit: float


def shares(each: int = 100) -> Shares:
    """Watches the writer's thread."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        state.mkdir(mode=0o700)
        store = open_store(None, state)
        ledger = Ledger(store, point="bench", deadline=60)
        _together(ledger, 10)
        watch = _Watch(ledger)
        start = time.process_time()
        rate = _together(ledger, each)
        cpu = time.process_time() - start
        ledger.close()
        store.close()
    count = CALLERS * each
    building, committing = watch.building / count, watch.committing / count
    return Shares(1 / rate, building, committing - building, cpu / count - committing, count / watch.commits)


class _Watch:
    """Stands between a ledger and its committer, with a clock."""

    def __init__(self, ledger: Ledger) -> None:
        self.building = self.committing = 0.0
        self.commits = 0
        committer = ledger._committer
        build, commit = committer._built, committer.commit

        def built(items: list[Item]) -> list[Item]:
            start = time.thread_time()
            found = build(items)
            self.building += time.thread_time() - start
            return found

        def committed(batch: Batch) -> list[Item]:
            start = time.thread_time()
            found = commit(batch)
            self.committing += time.thread_time() - start
            self.commits += 1
            return found

        setattr(committer, "_built", built)  # noqa: B010
        setattr(committer, "commit", committed)  # noqa: B010


def _together(ledger: Ledger, each: int) -> float:
    """Entries a second with many callers that each wait for the disk."""

    def work() -> None:
        for _ in range(each):
            ledger.intent(CALL, WRITES)

    threads = [threading.Thread(target=work) for _ in range(CALLERS)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return CALLERS * each / (time.perf_counter() - start)


def _alone(store: Store, count: int) -> float:
    """Entries a second with a transaction for each, the same entries."""
    start = time.perf_counter()
    for number in range(count):
        entry = intent_entry(
            intent_snapshot(f"one-{time.time_ns()}-{number}", CALL, WRITES, "bench", time.time_ns()), "w"
        )
        with store.write() as change:
            append(change, [entry], "w")
    return count / (time.perf_counter() - start)


def _queued(ledger: Ledger) -> tuple[float, float]:
    """What a caller pays for an entry that is only queued, and what all threads do, in multiples of B1."""
    b1 = floor({"researcher": frozenset({"read_file", "create_file"})})
    caller, everything = [], []
    for _ in range(40):
        ledger.flush()
        one = thread_cpu(lambda: b1("researcher", "read_file", {}), 20_000)
        start = time.process_time_ns()
        caller.append(thread_cpu(lambda: ledger.intent(READ, READS), 200) / one)
        ledger.flush()
        everything.append((time.process_time_ns() - start) / 200 / one)
    return statistics.median(caller), statistics.median(everything)


def _building() -> float:
    snapshot = intent_snapshot("x" * 20, CALL, WRITES, "bench", time.time_ns())
    return thread_cpu(lambda: intent_entry(snapshot, "w"), 2000) / 1e9


def _process(url: str, state: str, each: int) -> None:
    store = open_store(url, Path(state))
    ledger = Ledger(store, point="bench", deadline=60)
    threads = [threading.Thread(target=lambda: [ledger.intent(CALL, WRITES) for _ in range(each)]) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ledger.close()
    store.close()


def postgres(each: int = 250) -> tuple[float, bool]:
    """Entries a second with four processes of 16 callers on a real server, and whether no place was left out."""
    from tests.postgres import running

    with running(durable=True) as server, tempfile.TemporaryDirectory() as folder:
        state = Path(folder) / "state"
        state.mkdir(mode=0o700)
        store = open_store(server.uri, state)
        context = multiprocessing.get_context("spawn")
        workers = [context.Process(target=_process, args=(server.uri, str(state), each)) for _ in range(4)]
        start = time.perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        seconds = time.perf_counter() - start
        with store.read() as view:
            row = view.row("SELECT count(*), max(seq) FROM leaf")
        store.close()
    count = int(row[0]) if row is not None else 0
    return count / seconds, row is not None and count == int(row[1]) + 1 == 4 * 16 * each


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--postgres", action="store_true", help="also four processes on a real PostgreSQL")
    parser.add_argument("--verify", action="store_true", help="also verify 10⁶ entries")
    options = parser.parse_args()
    found = measure(options.rounds)
    share = found.building * found.grouped_per_second
    print(f"durable, {CALLERS} callers: {found.grouped_per_second:,.0f} entries/s; one transaction each:", end=" ")
    print(f"{found.single_per_second:,.0f}/s; {found.ratio:.1f} × (target {DURABLE_TARGET:g})")
    print(f"  making an entry takes {found.building * 1e6:.0f} µs of CPU: {share:.0%} of the time at that rate")
    where = shares()
    parts = (where.wall, where.building, where.storing, where.waking)
    each = "{:.0f} µs an entry; CPU: {:.0f} to build it, {:.0f} in the store, {:.0f} in the callers' threads".format(
        *(part * 1e6 for part in parts)
    )
    print(f"  {each}; {where.entries_per_commit:.0f} entries a commit; what is left is the disk")
    print(f"queued entry: {found.queued_to_b1:.0f} × B1 for its caller (target {QUEUED_TARGET:g}),", end=" ")
    print(f"{found.all_threads_to_b1:.0f} × B1 over all threads (target {ALL_THREADS_TARGET:g})")
    if options.postgres:
        rate, gapless = postgres()
        print(f"PostgreSQL, 4 processes of 16 callers: {rate:,.0f} entries/s with their start, gapless: {gapless}")
    if options.verify:
        verify_ledger.main()


if __name__ == "__main__":
    main()
