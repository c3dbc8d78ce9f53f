"""Another process that uses a store: `worker.py URL STATE WHAT …`. It prints lines, and waits for lines."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from remit.store import open_store
from tests.store.place import count_up


def main(url: str, state: str, what: str, *words: str) -> None:
    if what == "open":
        sys.stdin.readline()
    store = open_store(url, Path(state), timeout=30)
    match what:
        case "open":
            print(store.kind, flush=True)
        case "count":  # count TIMES NAME: tells each number once it is durable
            for _ in range(int(words[0])):
                print(count_up(store, words[1]), flush=True)
        case "hold":  # holds the writer's lock, until it is told to go on
            with store.write() as transaction:
                transaction.run("INSERT INTO meta (name) VALUES (?)", "held")
                print("held", flush=True)
                sys.stdin.readline()
        case "stream":  # how much memory it takes to read every leaf, in MB
            with store.read() as transaction:
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                count = sum(1 for _ in transaction.each("SELECT seq, hash, body FROM leaf ORDER BY seq"))
                print(count, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024, flush=True)
    store.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
