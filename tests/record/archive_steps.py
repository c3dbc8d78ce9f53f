"""A program that archives a log, and dies by SIGKILL at the step that it is told: one fork for each line of stdin.

python -m tests.record.archive_steps ROOT TO
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remit.record import archive as module
from remit.record.archive import end_for, interrupted, prune, write_archive
from remit.record.open import open_log
from remit.record.reader import archives
from remit.store.postgres import PostgresTransaction
from remit.store.sqlite import SqliteTransaction

PLACES: dict[str, list[Any]] = {
    "write_whole": [module],
    "sync": [os],
    "verify_archive": [module],
    "rename": [os],
    "append": [module],
    "_keep": [module],
    "run_many": [SqliteTransaction, PostgresTransaction],
    "run": [SqliteTransaction, PostgresTransaction],
}
"""By step, where it is looked up."""


def armed(act: Callable[..., Any], left: list[int], *, after: bool) -> Callable[..., Any]:
    def step(*args: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] == 0 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        found = act(*args, **more)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    return step


def archive(root: Path, to: Path, step: str, count: int, *, after: bool) -> None:
    """What `remit ledger archive` does. `step` is killed at its call number `count`, before or after it."""
    module.CHUNK = 128
    with open_log(root) as opened:
        opened.checkpoint()
        left = [count]
        for place in PLACES.get(step, ()):
            setattr(place, step, armed(getattr(place, step), left, after=after))
        with opened.store.read() as view:
            begun = interrupted(view)
        if begun is not None:
            prune(opened.store, opened.log, begun, "tester")
        with opened.store.read() as view:
            end = end_for(view)
            folder = write_archive(view, opened.log, to, end) if not archives(view) else None
        if folder is not None:
            prune(opened.store, opened.log, folder, "tester")


def main(root: Path, to: Path) -> None:
    for line in sys.stdin:
        step, count, when = line.split()
        child = os.fork()
        if child == 0:
            archive(root, to, step, int(count), after=when == "after")
            os._exit(0)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
