"""Which processes write to the log, and which calls were left behind by those that are gone."""

from __future__ import annotations

import os
import time
from pathlib import Path

from remit.model.moments import exact_moment
from remit.store.errors import StoreError
from remit.store.interface import Store, Transaction

ELSEWHERE = "elsewhere"
"""The writer of a call whose outcome another process will report, as the hooks of a host do."""


_THERE = "there"
"""In place of when a process started, where only that it is there can be seen."""


def enter(change: Transaction, writer: str) -> None:
    """This process writes from now on; it may have said so before, in a commit that seemed to fail."""
    if change.row("SELECT 1 FROM writer_process WHERE id = ?", writer) is not None:
        return
    now = exact_moment(time.time_ns())
    change.run(
        "INSERT INTO writer_process (id, host, boot, pid, born, seen) VALUES (?, ?, ?, ?, ?, ?)",
        writer,
        os.uname().nodename,
        _boot(),
        os.getpid(),
        _born(os.getpid()),
        now,
    )


def leave(store: Store, writer: str) -> None:
    """It has written its last entry. What it left running stays until somebody recovers it."""
    try:
        with store.write() as change:
            change.run("DELETE FROM writer_process WHERE id = ?", writer)
    except StoreError:
        return  # it will be found gone by its process id


def unfinished(change: Transaction, myself: str) -> list[tuple[str, int]]:
    """Calls without an outcome whose process is gone, with the place of their intent."""
    alive = {myself, ELSEWHERE}
    for writer, host, boot, pid, born in change.rows("SELECT id, host, boot, pid, born FROM writer_process"):
        if _gone(str(host), str(boot), int(pid), str(born)):
            change.run("DELETE FROM writer_process WHERE id = ?", writer)
        else:
            alive.add(writer)
    rows = change.rows("SELECT call, seq, writer FROM running ORDER BY seq")
    return [(str(call), int(seq)) for call, seq, writer in rows if writer not in alive]


def _gone(host: str, boot: str, pid: int, born: str) -> bool:
    """Whether a process is certainly gone. One on another host, or in another container, can't be seen from here."""
    if host != os.uname().nodename:
        return False
    then, _, there = boot.partition(" ")
    now, _, here = _boot().partition(" ")
    if then != now:
        return True
    return there == here and _born(pid) not in (born, _THERE)


def _boot() -> str:
    """Which start of the machine this is, and in which space of process numbers."""
    try:
        start = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{start} {os.readlink('/proc/self/ns/pid')}"
    except OSError:
        return ""


def _born(pid: int) -> str:
    """When the process started, as the kernel counts; empty if there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return _signalled(pid)
    return text.rpartition(")")[2].split()[19]


def _signalled(pid: int) -> str:
    """Without /proc: whether the process is there at all."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return ""
    except OSError:
        return _THERE
    return _THERE
