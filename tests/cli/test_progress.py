"""What takes long says how far it has come: on a terminal that can, and nowhere else."""

from __future__ import annotations

import os
import sys

import pytest

from remit.cli.output import watched


def seen(patch: pytest.MonkeyPatch, *, kind: str = "xterm", machine: bool = False) -> bytes | None:
    """What somebody sees where stderr is a terminal of this kind; None if nothing is shown."""
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w") as stream, patch.context() as here:
        here.setattr(sys, "stderr", stream)
        here.setenv("TERM", kind)
        with watched(machine=machine) as show:
            if show is not None:
                show("1 of 2")
                show("2 of 2")
        found = os.read(ours, 200) if show is not None else None
    os.close(ours)
    return found


def test_one_line_of_a_terminal_shows_it_and_is_gone_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen(monkeypatch) == b"\r\x1b[K1 of 2\r\x1b[K2 of 2\r\x1b[K"


def test_a_terminal_that_can_not_and_a_program_see_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert seen(monkeypatch, kind="dumb") is None
    assert seen(monkeypatch, machine=True) is None
