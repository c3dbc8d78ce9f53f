"""What a tool returns and what runs only then: coroutines, generators, async generators. They run within the passage.

Each resumption is done by the agent that called, is refused once its task has ended or the policy has changed against
it, and the outcome is recorded when it really ends: `done`, `failed`, or `abandoned` if it was closed early, dropped or
never started.
"""

from __future__ import annotations

import collections.abc
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from types import AsyncGeneratorType, CoroutineType, GeneratorType, TracebackType
from typing import Any

from remit.enforce.acting import Acting, resumed
from remit.enforce.attempt import Passage

_KEPT = 64
_orphans: deque[Acting] = deque()
"""Of async generators that nobody closed: their frames may still run once, when the event loop closes them."""


class Later:
    """Something that runs on after its function returned."""

    def __init__(
        self, inner: Any, passage: Passage, acting: Acting, check: Callable[[], None], left: deque[Passage]
    ) -> None:
        """`check` raises if it may not go on. What is dropped is put to `left`, since nothing can be recorded then."""
        self._inner, self._passage, self._acting, self._check, self._left = inner, passage, acting, check, left
        self._over = False
        self._ending = threading.Lock()
        frames = (getattr(inner, name, None) for name in ("gi_frame", "cr_frame", "ag_frame"))
        acting.bind(next((frame for frame in frames if frame is not None), None))

    def _end(self, error: BaseException | None = None, *, abandoned: bool = False) -> None:
        with self._ending:  # of two threads one says how it ended
            if self._over:
                return
            self._over = True
        self._acting.leave()
        if abandoned:
            self._passage.abandoned()
        elif error is not None:
            self._passage.failed(error)
        else:
            self._passage.done()

    def _checked(self, close: Callable[[], None] | None) -> None:
        """Raises what the check raises; then it is over."""
        if self._over:
            return
        try:
            self._check()
        except BaseException as refused:
            if close is not None:
                with resumed(self._acting):
                    close()
            self._end(refused)
            raise

    def __del__(self) -> None:
        if not self._over:
            self._over = True
            close = getattr(self._inner, "close", None)
            if close is not None and not isinstance(self._inner, AsyncGeneratorType):
                close()
                self._acting.leave()
            else:
                self._acting.open = False  # what its frame still does is refused
                _orphans.append(self._acting)
                while len(_orphans) > _KEPT:
                    _orphans.popleft().leave()
            self._left.append(self._passage)


class _Driven(Later):
    """What is resumed by `send`, `throw` and `close`: generators and coroutines."""

    def send(self, value: Any) -> Any:
        """As of a generator."""
        return self._resumed(lambda: self._inner.send(value))

    def throw(self, kind: Any, value: Any = None, at: TracebackType | None = None) -> Any:
        """As of a generator."""
        error = value if value is not None else kind
        return self._step(lambda: self._inner.throw(error if at is None else error.with_traceback(at)))

    def close(self) -> None:
        """As of a generator."""
        if self._over:
            return
        close = getattr(self._inner, "close", None)
        try:
            if close is not None:
                with resumed(self._acting):
                    close()
        except BaseException as error:
            if not _is_running(self._inner, error):
                self._end(error)
            raise
        self._end(abandoned=True)

    def _resumed(self, step: Callable[[], Any]) -> Any:
        self._checked(getattr(self._inner, "close", None))
        return self._step(step)

    def _step(self, step: Callable[[], Any]) -> Any:
        try:
            with resumed(self._acting):
                return step()
        except StopIteration:
            self._end()
            raise
        except GeneratorExit:
            self._end(abandoned=True)
            raise
        except BaseException as error:
            if not _is_running(self._inner, error):
                self._end(error)
            raise


def _is_running(inner: object, error: BaseException) -> bool:
    """Another thread runs it right now: that one says how it ends. One that raised has no frame any more."""
    frame = getattr(inner, "gi_frame", None) or getattr(inner, "cr_frame", None)
    return isinstance(error, ValueError) and str(error).endswith("already executing") and frame is not None


class Stream(_Driven, collections.abc.Generator[Any, Any, Any]):
    """A generator, or the iterator of a tool that said `streams=True`."""

    def __next__(self) -> Any:
        return self._resumed(self._inner.__next__)


class LaterCoroutine(_Driven, collections.abc.Coroutine[Any, Any, Any]):
    """A coroutine that a function returned that is not async itself."""

    def __await__(self) -> Any:
        return self

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        return self.send(None)


class AsyncStream(Later, collections.abc.AsyncGenerator[Any, Any]):
    """An async generator, or the async iterator of a tool that said `streams=True`."""

    async def __anext__(self) -> Any:
        return await self._step(lambda: self._inner.__anext__(), checked=True)

    async def asend(self, value: Any) -> Any:
        """As of an async generator."""
        return await self._step(lambda: self._inner.asend(value), checked=True)

    async def athrow(self, kind: Any, value: Any = None, at: TracebackType | None = None) -> Any:
        """As of an async generator."""
        error = value if value is not None else kind
        if at is not None:
            error = error.with_traceback(at)
        return await self._step(lambda: self._inner.athrow(error), checked=False)

    async def aclose(self) -> None:
        """As of an async generator."""
        if not self._over:
            try:
                close = getattr(self._inner, "aclose", None)
                if close is not None:
                    with resumed(self._acting):
                        await close()
            except BaseException as error:
                self._end(error)
                raise
            self._end(abandoned=True)

    async def _step(self, step: Callable[[], Any], *, checked: bool) -> Any:
        if checked and not self._over:
            try:
                self._check()
            except BaseException as refused:
                close = getattr(self._inner, "aclose", None)
                if close is not None:
                    with resumed(self._acting):
                        await close()
                self._end(refused)
                raise
        try:
            with resumed(self._acting):
                return await step()
        except StopAsyncIteration:
            self._end()
            raise
        except GeneratorExit:
            self._end(abandoned=True)
            raise
        except BaseException as error:
            self._end(error)
            raise


_NATIVE: dict[type, type[Later]] = {
    GeneratorType: Stream,
    CoroutineType: LaterCoroutine,
    AsyncGeneratorType: AsyncStream,
}


def runs_later(result: object, streams: bool) -> type[Later] | None:
    """What to wrap a result in; None for one that passes as it is: files, connections, whatever else iterates."""
    found = _NATIVE.get(type(result))
    if found is None and streams:
        if isinstance(result, AsyncIterator):
            return AsyncStream
        if isinstance(result, Iterator):
            return Stream
    return found
