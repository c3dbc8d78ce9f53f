"""Attempts in an event loop, which must not be held up, and whose tasks may be cancelled meanwhile."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from remit.enforce.attempt import MAY_WAIT, Attempt, Passage
from remit.model.decision import Decision

T = TypeVar("T")


async def wait_async(attempt: Attempt) -> Passage | Decision:
    """How the attempt ended. What may take time is done in other threads."""
    found = _step(attempt)
    while isinstance(found, float):
        if found > MAY_WAIT:
            await asyncio.sleep(found)
        found = await _HandOff(attempt).made()
    return found


async def run_async(
    passage: Passage,
    function: Callable[[dict[str, Any]], Coroutine[Any, Any, Any]],
    later: Callable[[Any, Passage], Any],
) -> Any:
    """Runs an async tool as `Passage.run` runs a plain one; the ledger does not hold up the loop."""
    try:
        result = await function(passage.args)
    except GeneratorExit as error:  # the loop was dropped with its tasks: nothing can be awaited any more
        passage.failed(error)
        raise
    except BaseException as error:
        await asyncio.shield(asyncio.to_thread(passage.failed, error))
        raise
    running = later(result, passage)
    if running is not None:
        return running
    if not passage.done_at_once():
        await asyncio.shield(asyncio.to_thread(passage.done))
    return result


async def until_stopped(work: Callable[[Callable[[], bool]], T]) -> T:
    """Work in another thread, which is given something to ask whether it must end. Cancelled, it is waited for."""
    stop = threading.Event()
    done = asyncio.ensure_future(asyncio.to_thread(work, stop.is_set))
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        while not done.done():
            await asyncio.wait([done])
        done.cancelled() or done.exception()  # looked at: nobody else waits for it
        raise


def _step(attempt: Attempt) -> float | Passage | Decision:
    try:
        return next(attempt)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


class _HandOff:
    """One step in another thread. If it opens a passage and nobody takes it, the call did not run: that is recorded."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._lock = threading.Lock()
        self._found: float | Passage | Decision | None = None
        self._gone = False

    async def made(self) -> float | Passage | Decision:
        try:
            return await asyncio.to_thread(self._run)
        except BaseException:  # cancelled, or dropped with its loop
            with self._lock:
                self._gone, found = True, self._found
            _let_go(found)
            raise

    def _run(self) -> float | Passage | Decision:
        found = _step(self._attempt)
        with self._lock:
            self._found, gone = found, self._gone
        if gone:
            _let_go(found)
        return found


def _let_go(found: object) -> None:
    if isinstance(found, Passage):
        found.not_run("cancelled")
