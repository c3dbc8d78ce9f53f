"""Ctrl-c ends what is done again and again, wherever it finds the program."""

from __future__ import annotations

import signal

import pytest

from remit.cli.rounds import rounds


class InterruptedWhenGone:
    """Where an exception is lost."""

    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def test_an_interrupt_in_a_destructor_is_not_lost():
    before = signal.getsignal(signal.SIGINT)
    count = 0
    for _ in rounds(0.001):
        count += 1
        InterruptedWhenGone()
    assert count == 1
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_one_ends_the_round_that_is_under_way():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the loop is what is tested)
        for _ in rounds(60):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
