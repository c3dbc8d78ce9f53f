"""Exports: the log as a folder of tiles, as JSON lines, or as OCSF events. Streamed, and whole or not there at all.

JSON is written in ASCII, so that whatever an entry says can be looked at on a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from remit.record.append import head_of
from remit.record.errors import LedgerError
from remit.record.log import Log, newest_checkpoint
from remit.record.ocsf import event_of
from remit.record.reader import FOREIGN, UNREADABLE, all_said, archives, entries, values_of
from remit.record.tiles import write_tiles
from remit.store.files import whole_file
from remit.store.interface import Transaction

Progress = Callable[[int], object]
FORMATS = ("tiles", "jsonl", "ocsf")
_STEP = 256

_plain = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), check_circular=False)


def as_line(value: Any) -> bytes:
    """One value in one line of ASCII."""
    return _plain.encode(value).replace("\x7f", "\\u007f").encode("ascii") + b"\n"


def jsonl(view: Transaction, first: int, before: int, *, values: bool) -> Iterator[bytes]:
    """`{"seq": 7, "entry": {…}}` for each entry, with the values that it commits to where they are there and wanted."""
    for stored, data in all_said(view, first, before):
        line: dict[str, Any] = {"seq": stored.seq, "entry": data}
        if values and data.get("type") not in (UNREADABLE, FOREIGN):
            line["values"] = values_of(view, stored)
        yield as_line(line)


def ocsf(view: Transaction, first: int, before: int, origin: str) -> Iterator[bytes]:
    """An OCSF event for each entry."""
    for stored, data in all_said(view, first, before):
        yield as_line(event_of(stored.seq, data, origin))


def write_lines(file: BinaryIO, lines: Iterator[bytes], progress: Progress | None = None) -> int:
    """Writes them; returns how many. Raises LedgerError if the file can't be written."""
    count = 0
    try:
        for line in lines:
            file.write(line)
            count += 1
            if progress is not None and not count % _STEP:
                progress(count)
    except OSError as error:
        raise _unwritable(error) from None
    if progress is not None:
        progress(count)
    return count


def export_file(path: Path, lines: Iterator[bytes], progress: Progress | None = None) -> int:
    """Writes a file that has its name only when it is complete. Raises LedgerError."""
    try:
        with whole_file(path) as file:
            return write_lines(file, lines, progress)
    except OSError as error:
        raise _unwritable(error) from None


def export_tiles(view: Transaction, log: Log, folder: Path, progress: Progress | None = None) -> int:
    """Writes the log up to its newest checkpoint as tiles. Raises LedgerError."""
    newest = newest_checkpoint(view)
    if newest is None:
        raise LedgerError("the log was never signed", code="not-signed", help="`remit ledger anchor push` signs")
    size, note = newest
    log.read(note)
    if head_of(view).size < size:
        raise LedgerError("the log is shorter than its newest checkpoint: it was cut", code="ledger-truncated")
    found = archives(view)
    if found:
        raise LedgerError(
            f"the first {found[-1].end} entries are archived, in {len(found)} folders, the last {found[-1].where}",
            code="archived",
            help="an archive is verified by itself (`remit ledger verify DIR`); jsonl and ocsf export what is here",
        )
    bodies = (stored.body for stored in entries(view, 0, size))
    return write_tiles(folder, bodies, note.decode(), progress=progress).size


def _unwritable(error: OSError) -> LedgerError:
    return LedgerError(f"the export can't be written: {error.strerror or error}", code="export-unwritable")
