"""Who acts right now: the innermost block around the code that runs. Set by the program, never by the agents' words.

A block belongs to the frame that entered it, and counts for what runs inside of that frame. So a generator that is
suspended within a block lends its agent to nobody, in whatever order generators are resumed and closed. Tasks and
threads that were started with a copy of the context have the agent of the block that they were started in. Whenever
nobody can tell, the call is refused.

INVARIANT: `acting_for` returns the block that is around the code, or none, or raises; never another one.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any

from remit.enforce.errors import GuardError
from remit.model.call import Context

_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR
_ENTERS = ("__enter__", "__aenter__")


class Acting:
    """One agent at work, for one guard."""

    __slots__ = (
        "_frame",
        "_strand",
        "_task",
        "agent",
        "around",
        "bound",
        "clean",
        "context",
        "guard",
        "open",
        "process",
    )

    def __init__(self, guard: object, agent: str, context: Context) -> None:
        """`guard` is an object that stands for the guard: as long as a block is known, none can take its place."""
        self.guard, self.agent, self.context = guard, agent, context
        self.open, self.clean, self.process = True, False, process[0]
        self.around: Acting | None = None
        """What the context had before, perhaps for another guard."""
        self.bound = False
        """Entered by a generator: what is started meanwhile may be of those who resume it, so it gets no agent."""
        self._frame: FrameType | None = None
        self._strand: object = self
        self._task: weakref.ref[Any] | None = None

    def enter(self, frame: FrameType) -> None:
        """Whatever runs within the frame that enters this block is done by its agent."""
        owner = _owner(frame)
        task = _task()
        self._frame, self._strand = owner, _strand()
        self._task = weakref.ref(task) if task is not None else None
        flags = owner.f_code.co_flags
        self.bound = bool(flags & _SUSPENDS) or (bool(flags & inspect.CO_COROUTINE) and task is None)
        self.around = _pruned(current.get())
        _blocks.setdefault(id(owner), []).append(self)
        current.set(self)

    def leave(self) -> None:
        """The block is over, wherever that is noticed."""
        self.open, self.clean = False, current.get() is self and self.is_here()
        frame, self._frame = self._frame, None
        if frame is not None:
            _drop(id(frame), self)
        found = current.get()
        if found is not None and not found.open:
            current.set(_pruned(found))

    def bind(self, frame: FrameType | None) -> None:
        """Whatever runs within the frame of a generator or coroutine is done by this agent, whoever resumes it."""
        if frame is not None:
            self._frame = frame
            _blocks.setdefault(id(frame), []).append(self)

    def is_here(self) -> bool:
        """It was entered in this thread and task."""
        if self._strand is not _strand():
            return False
        return (self._task() if self._task is not None else None) is _task()


current: ContextVar[Acting | None] = ContextVar("remit_acting", default=None)
_blocks: dict[int, list[Acting]] = {}
"""The open blocks by the id of the frame that entered them, which lives as long as they are open."""
_local = threading.local()
process = [0]
"""How often this process was forked from another."""


def acting_for(guard: object) -> Acting | None:
    """Who acts right now for this guard; blocks of other guards in between don't count.

    Raises GuardError where it can't be told, or where the block is over.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        for found in reversed(_blocks.get(id(frame), ())):
            if found.guard is guard:
                if not found.open:
                    raise _over(found)
                return found
        frame = frame.f_back
    # None of the blocks that were entered here is around; what this thread or task was started with may be.
    inherited = current.get()
    while inherited is not None:
        if inherited.guard is guard and inherited.process == process[0] and not inherited.is_here():
            return _inherited(inherited)
        inherited = inherited.around
    return None


def _inherited(found: Acting) -> Acting:
    if not found.open and not found.clean:
        raise _over(found)  # left elsewhere: what was started since then may be of anybody
    if found.bound:
        what = f"a generator acts as `{found.agent}`, and this was started meanwhile: nobody can tell who acts"
        raise GuardError(what, code="agent-unclear", help="enter `with guard.agent(…)` in the task or thread itself")
    return found


def _over(found: Acting) -> GuardError:
    help = "wait for tasks and threads within the block, or enter one of their own"
    return GuardError(f"the block of `{found.agent}` is over", code="no-agent", help=help)


@contextmanager
def resumed(acting: Acting) -> Iterator[None]:
    """What is started within has this agent; for each resumption of something that `bind` was called for."""
    before = current.get()
    current.set(acting)
    try:
        yield
    finally:
        current.set(_pruned(before))


def _owner(frame: FrameType) -> FrameType:
    """The frame with the `with` statement: not that of an `__enter__`, nor of a `contextmanager` function."""
    above = frame.f_back
    while above is not None and (
        _is_contextlib(frame)
        or frame.f_code.co_name in _ENTERS
        or (frame.f_code.co_flags & _SUSPENDS and _is_contextlib(above))
    ):
        frame, above = above, above.f_back
    return frame


def _is_contextlib(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") == "contextlib"


def _pruned(found: Acting | None) -> Acting | None:
    """Without the blocks of this thread and task that are over."""
    while found is not None and not found.open and found.is_here():
        found = found.around
    return found


def _drop(key: int, acting: Acting) -> None:
    held = _blocks.get(key)
    if held is not None and acting in held:
        held.remove(acting)
        if not held:
            _blocks.pop(key, None)


def _strand() -> object:
    """One object for each thread."""
    try:
        return _local.strand
    except AttributeError:
        _local.strand = object()
        return _local.strand


def _task() -> Any:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _forked() -> None:
    """Who acted in the parent acts there: the child says anew who does."""
    process[0] += 1
    _blocks.clear()


os.register_at_fork(after_in_child=_forked)
