"""An attempt to pass that is made in another thread: whoever waits for it may be cancelled meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from remit.enforce.passage import Passage

T = TypeVar("T")


class Attempt(Generic[T]):
    """One attempt. If it found a passage and nobody takes it, then the call did not run, and that is recorded."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._found: T | None = None
        self._gone = False

    async def made(self) -> T:
        """What it found, without holding up the loop."""
        try:
            return await asyncio.to_thread(self._run)
        except asyncio.CancelledError:
            with self._lock:
                self._gone, found = True, self._found
            _let_go(found)
            raise

    def _run(self) -> T:
        found = self._make()
        with self._lock:
            self._found, gone = found, self._gone
        if gone:
            _let_go(found)
        return found


def _let_go(found: object) -> None:
    if isinstance(found, Passage):
        found.not_run("cancelled")
