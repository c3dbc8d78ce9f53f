"""Erasing: the values behind commitments go, the entries stay, and what was proved stays proved.

An `erasure` entry says whose values went, and who had them erased. Both happen in one transaction.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from remit.record.append import append
from remit.record.archive import erase_archived
from remit.record.entry import event_entry
from remit.record.errors import LedgerError
from remit.record.reader import Filter, all_said, archive_of, archives
from remit.store.interface import Store, Transaction

MAX_RANGES = 2_000
"""Runs of entries that one erasure entry names: an entry has a bounded size."""
WRITER = "erase"


class Which(NamedTuple):
    """Whose values are to go: some entries by number, all of a call, or all of an agent and before a moment."""

    seqs: tuple[int, ...] = ()
    call: str | None = None
    agent: str | None = None
    before: str | None = None


class Erased(NamedTuple):
    """What went."""

    entries: int
    values: int


def selected(view: Transaction, which: Which, *, archived: bool = False) -> list[int]:
    """The entries that still have values, of those asked for; `archived`: also those that an archive may have values
    of. Raises LedgerError for a number beyond the log."""
    if which.seqs:
        for seq in which.seqs:
            if view.row("SELECT 1 FROM leaf WHERE seq = ?", seq) is None:
                raise LedgerError(f"there is no entry {seq}", code="no-entry")
        wanted: Iterable[int] = sorted(set(which.seqs))
    elif which.call is not None or which.agent is not None or which.before is not None:
        wanted = _matching(view, which)
    else:
        raise LedgerError("nothing is named that should be erased", code="bad-erasure")
    if archived:
        return [seq for seq in wanted if archive_of(view, seq) is not None or _has_values(view, seq)]
    return [seq for seq in wanted if _has_values(view, seq)]


def _has_values(view: Transaction, seq: int) -> bool:
    return view.row("SELECT 1 FROM secret WHERE seq = ? LIMIT 1", seq) is not None


def elsewhere(store: Store) -> list[str]:
    """Where values may lie that no erasing here can reach."""
    found = ["backups, and exports with --values"]
    with store.read() as view:
        found += [f"the archive {one.where} (--archive DIR erases there)" for one in archives(view)]
    return found


def _matching(view: Transaction, which: Which) -> Iterator[int]:
    wanted = Filter(agent=which.agent, until=which.before)
    for stored, data in all_said(view):
        if (which.call is None or data.get("call") == which.call) and wanted.wants(data):
            yield stored.seq


def erase(store: Store, which: Which, who: str, folders: Sequence[Path] = ()) -> Erased:
    """Erases values for good, and writes down that it was done. Raises LedgerError and StoreError.

    `folders` hold archives; what these have of the entries goes too, after it was written down."""
    with store.read() as view:
        seqs = selected(view, which, archived=bool(folders))
    if not seqs:
        return Erased(0, 0)
    values = 0
    with store.write() as change:
        for ranges in _chunks(list(_ranges(seqs))):
            gone = 0
            for first, last in ranges:
                gone += change.run("DELETE FROM secret WHERE seq >= ? AND seq <= ?", first, last)
            about = {"entries": [list(run) for run in ranges], "values": gone, "who": who}
            append(change, [event_entry("erasure", time.time_ns(), WRITER, about, {})], WRITER)
            values += gone
    values += sum(erase_archived(folder, seqs) for folder in folders)
    return Erased(len(seqs), values)


def _ranges(seqs: list[int]) -> Iterator[tuple[int, int]]:
    first = last = seqs[0]
    for seq in seqs[1:]:
        if seq != last + 1:
            yield first, last
            first = seq
        last = seq
    yield first, last


def _chunks(ranges: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    for start in range(0, len(ranges), MAX_RANGES):
        yield ranges[start : start + MAX_RANGES]
