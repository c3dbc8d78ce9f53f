"""Where a store is, for tests: opens it here, or in other processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from remit.store import Store, StoreError, open_store

WORKER = Path(__file__).with_name("worker.py")


class Place:
    """A URL, and everything that a test has started there."""

    def __init__(self, url: str, state: Path) -> None:
        self.url = url
        self.state = state
        self._stores: list[Store] = []
        self._workers: list[subprocess.Popen[str]] = []

    def open(self, timeout: float = 60.0) -> Store:
        store = open_store(self.url, self.state, timeout=timeout)
        self._stores.append(store)
        return store

    def worker(self, *words: str) -> subprocess.Popen[str]:
        """Another process that does what worker.py knows."""
        process = subprocess.Popen(
            [sys.executable, str(WORKER), self.url, str(self.state), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._workers.append(process)
        return process

    def clear(self) -> None:
        for process in self._workers:
            if process.poll() is None:
                process.kill()
            process.communicate()
        for store in self._stores:
            store.close()


def hear(process: subprocess.Popen[str]) -> str:
    """The next line that a worker prints."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def tell(process: subprocess.Popen[str], line: str = "go") -> None:
    assert process.stdin is not None
    process.stdin.write(line + "\n")
    process.stdin.flush()


def code_of(act: Callable[[], object]) -> str:
    """The code of the StoreError that something raises; `ok` if it does not."""
    try:
        act()
    except StoreError as error:
        return error.code
    return "ok"


def put(store: Store, name: str, value: bytes = b"") -> None:
    with store.write() as transaction:
        transaction.run("INSERT INTO meta (name, value) VALUES (?, ?)", name, value)


def names(store: Store) -> list[str]:
    with store.read() as transaction:
        return [name for (name,) in transaction.rows("SELECT name FROM meta ORDER BY name")]


def count_up(store: Store, writer: str) -> int:
    """Adds a row with the next number, as a ledger does."""
    with store.write() as transaction:
        row = transaction.row("SELECT size FROM head WHERE one = 1")
        assert row is not None
        transaction.run("INSERT INTO leaf (seq, hash, body) VALUES (?, ?, ?)", row[0], bytes(32), writer.encode())
        assert transaction.run("UPDATE head SET size = ? WHERE size = ?", row[0] + 1, row[0]) == 1
        return int(row[0])


def counted(store: Store) -> list[tuple[int, str]]:
    with store.read() as transaction:
        row = transaction.row("SELECT size FROM head")
        rows = transaction.rows("SELECT seq, body FROM leaf ORDER BY seq")
    assert row == (len(rows),)
    return [(seq, writer.decode()) for seq, writer in rows]


def in_child(act: Callable[[], object]) -> str:
    """What comes out of doing something in a forked child: `ok`, the code of a StoreError, or another error."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = code_of(act)
        except BaseException as error:
            answer = repr(error)
        os.write(writing, answer.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read().decode()
    os.waitpid(child, 0)
    return answer
