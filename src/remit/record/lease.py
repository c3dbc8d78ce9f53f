"""Leases: which processes write to the log, and which calls were left behind by those that are gone.

A process that has calls running holds a lease: a row that it renews, which says from which entry on its calls have no
rows of their own (see `running`), and a lock on a file in the state directory, which
the kernel drops when the process ends, however it ends. Who can see the file knows at once; everybody else waits until
the lease has run out. No host name and no process number counts: both are others in a container that was restarted.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from remit.record.append import append
from remit.record.entry import Entry, outcome_entry
from remit.record.running import RunningCall, listed, runs, unlisted
from remit.store.errors import StoreError
from remit.store.interface import Store, Transaction

ELSEWHERE = "elsewhere"
"""The writer of a call whose outcome another process will report, as the hooks of a host do."""
LEASE = 60.0
"""Seconds that a lease lasts."""
RENEW = 10.0
"""Seconds after which it is renewed, while a call runs."""
FOLDER = "writers"
_held: set[int] = set()
"""Locks of this process. A child must not keep them when its parent dies."""


def _drop_in_child() -> None:
    for handle in _held:
        with suppress(OSError):
            os.close(handle)
    _held.clear()


os.register_at_fork(after_in_child=_drop_in_child)


class Lease:
    """The lease of one writer."""

    def __init__(self, writer: str, state: Path | None, *, lists: bool = False) -> None:
        """Without a state directory there is no lock, and only the row counts. `lists`: each call gets a row."""
        self.writer, self.state, self._lists = writer, state, lists
        self.running: dict[str, int] = {}
        """The calls of this writer that run, with the places of their intents."""
        self.listed: set[str] = set()
        """Those of them that may have a row."""
        self._surely: set[str] = set()
        """And those that have one."""
        self.is_held = False
        """The row says from which entry on its calls have none."""
        self._renewed: float | None = None
        self._renewing: tuple[float, bool, set[str]] | None = None
        """When, whether it is held then, and the calls that have a row then."""
        self._lock = -1

    @property
    def due(self) -> bool:
        """Whether it has to be renewed or given up now: it is held, and was not renewed for a while."""
        return self.is_held and (self._renewed is None or _steady() - self._renewed >= RENEW)

    def hold(self, change: Transaction, size: int) -> None:
        """Within a change of a log of that size, which opens calls: the lease is held, and fresh."""
        self._renewing = None  # whatever a change was to keep that failed
        if self._renewed is None or not (self.is_held or self._lists) or _steady() - self._renewed >= RENEW:
            self._renew(change, None if self._lists else size)

    def _renew(self, change: Transaction, since: int | None) -> None:
        """The calls that run now have rows; the row of the lease says that those from `since` on have none."""
        now = _steady()
        calls = self._unlisted()
        self._renewing = (now, since is not None, set(self.running))
        self.listed.update(self.running)  # from now on, and also if nobody knows whether this is kept
        if self._lock < 0 and self.state is not None:
            self._lock = _locked(self.state / FOLDER / self.writer)
        seen = f"{_wall(change)} {int(now * 1000)}"
        if not change.run("UPDATE writer_process SET seen = ?, since = ? WHERE id = ?", seen, since, self.writer):
            if self._renewed is not None:
                calls = []  # somebody took this process for gone, and wrote their outcomes
            change.run(
                "INSERT INTO writer_process (id, host, boot, pid, seen, since) VALUES (?, ?, ?, ?, ?, ?)",
                *(self.writer, os.uname().nodename, _boot(), os.getpid(), seen, since),
            )
        _list(change, calls)

    def _unlisted(self) -> list[RunningCall]:
        calls = self.running.items()
        return [RunningCall(call, seq, self.writer) for call, seq in calls if call not in self._surely]

    def kept(self) -> None:
        """The change in which it was held was kept."""
        if self._renewing is not None:
            (self._renewed, self.is_held, self._surely), self._renewing = self._renewing, None

    def note(self, entries: Iterable[Entry], first: int) -> None:
        """These entries of the writer were kept, from that place on."""
        for place, entry in enumerate(entries, first):
            if entry.call is None:
                continue
            if entry.opens:
                self.running[entry.call] = place
            elif entry.kind == "outcome":
                self.running.pop(entry.call, None)
                self.listed.discard(entry.call)
                self._surely.discard(entry.call)

    def renew(self, store: Store) -> None:
        """Renews it where that is due, or gives it up if no call runs any more.

        Not if the store can't be written, and then the next call tries again.
        """
        if not self.due:
            return
        with suppress(StoreError):
            with store.write() as change:
                row = change.row("SELECT size FROM head WHERE one = 1")
                self._renew(change, int(row[0]) if row is not None and self.running else None)
            self.kept()

    def release(self, store: Store) -> None:
        """It has written its last entry. What it left running stays until somebody recovers it."""
        with suppress(StoreError):  # it will be found gone
            if self._renewed is not None:
                with store.write() as change:
                    calls = self._unlisted()
                    _list(change, calls)
                    change.run("DELETE FROM writer_process WHERE id = ?", self.writer)
        if self._lock >= 0 and self.state is not None:
            with suppress(OSError):
                (self.state / FOLDER / self.writer).unlink()
            if self._lock in _held:
                _held.discard(self._lock)
                os.close(self._lock)
            self._lock = -1


def recover(store: Store, state: Path | None, writer: str, clock: Callable[[], int] = time.time_ns) -> int:
    """Writes `outcome: unknown` for calls whose process is gone; says how many. Raises LedgerError and StoreError."""
    with store.read() as view:
        alive, gone = _writers(view, state, writer)
        if not gone and all(one.writer in alive for one in listed(view)):
            return 0
    with store.write() as change:
        alive, gone = _writers(change, state, writer)
        rows = [one for one in listed(change) if one.writer not in alive]
        lost = [one for one in rows if runs(change, one)]
        for one in rows:
            if one not in lost:
                change.run("DELETE FROM running WHERE seq = ? AND call = ?", one.seq, one.call)
        for name in gone:
            lost += unlisted(change, name)
        for name in gone:
            change.run("DELETE FROM writer_process WHERE id = ?", name)
        at, why = clock(), "the process ended"
        lost.sort(key=lambda one: one.seq)
        entries = [outcome_entry(one.call, one.seq, "unknown", at, writer, error=why) for one in lost]
        if entries:
            append(change, entries, writer)
    for name in gone:
        if state is not None and "/" not in name:
            with suppress(OSError):
                (state / FOLDER / name).unlink()
    return len(entries)


def _list(change: Transaction, calls: list[RunningCall]) -> None:
    """They have rows; some may have them already, if nobody knows whether the change before was kept."""
    if calls:
        change.run_many("INSERT INTO running (call, seq, writer) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", calls)


def _writers(view: Transaction, state: Path | None, myself: str) -> tuple[set[str], list[str]]:
    """Those whose calls are not lost, and those with a lease that are gone."""
    alive, gone = {myself, ELSEWHERE}, list[str]()
    for writer, boot, seen in view.rows("SELECT id, boot, seen FROM writer_process"):
        if writer != myself and _gone(view, state, str(writer), str(boot), str(seen)):
            gone.append(str(writer))
        else:
            alive.add(str(writer))
    return alive, gone


def _gone(change: Transaction, state: Path | None, writer: str, boot: str, seen: str) -> bool:
    """Whether a process is gone: by its lock where that can be seen, otherwise by its lease."""
    path = state / FOLDER / writer if state is not None and "/" not in writer else None
    if path is not None and os.path.lexists(path):
        return _is_free(path)
    try:
        wall, steady = map(int, seen.split(" "))
    except ValueError:
        return True
    by_server = change.clock is not None
    age = _steady() * 1000 - steady if boot == _boot() and not by_server else float(_wall(change) - wall)
    return abs(age) > LEASE * 1000  # a live process has renewed it by the clock as it is now


def _is_free(path: Path) -> bool:
    """Whether nobody holds the lock."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True


def _locked(path: Path) -> int:
    """A lock of this process; -1 if it can't have one, and the row alone counts."""
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return -1
    _held.add(handle)
    return handle


def _wall(change: Transaction) -> int:
    """Milliseconds since 1970: by the clock of the server, where there is one for all."""
    row = change.row(f"SELECT {change.clock}") if change.clock is not None else None
    return int(row[0]) if row is not None else time.time_ns() // 1_000_000


def _steady() -> float:
    """Seconds since the machine started, sleep included: nobody sets this clock."""
    return time.clock_gettime(_STEADY)


_STEADY: int = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def _boot() -> str:
    """Which start of the machine this is."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
