"""What a command does again and again until somebody presses ctrl-c."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from threading import Event
from types import FrameType


def rounds(seconds: float) -> Iterator[None]:
    """Yields at once and then every so many seconds; ctrl-c lets the round that is under way end, a second one doesn't.

    An interrupt that is raised wherever the program happens to be can get lost there: in a destructor, for one.
    """
    over = Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.getsignal(signal.SIGINT)
    if before is not signal.SIG_IGN:  # it was started in the background of a script
        signal.signal(signal.SIGINT, end)
    try:
        yield
        while not over.wait(seconds):
            yield
    finally:
        signal.signal(signal.SIGINT, before if before is not None else signal.SIG_DFL)
