"""The stop mark: once anybody has found the log cut or forked, nobody writes to it until a person lifts the mark.

It stands in the store and in a file of the state directory. Either is enough, so that taking one away changes nothing.
`append` looks at the one in the store in every transaction; opening looks at both.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from remit.model.errors import RemitError
from remit.model.moments import exact_moment
from remit.record.errors import LedgerStopped
from remit.store.files import write_whole
from remit.store.interface import Store, Transaction

FILE = "stopped"
META = "stopped"
CODES = frozenset(("ledger-truncated", "ledger-forked"))
"""What stops a log for good. All else passes when it is put right."""
_STORED = "SELECT value FROM meta WHERE name = ?"


class StopMark(NamedTuple):
    """Why, since when, and who found it."""

    code: str
    message: str
    at: str
    by: str
    missing: str | None = None
    """Where the mark is not, although it is elsewhere: the store, or the state directory."""

    def error(self) -> LedgerStopped:
        """As it is refused."""
        return LedgerStopped(f"the ledger is stopped since {self.at}: {self.message}", code=self.code)


def read_mark(view: Transaction, state: Path) -> StopMark | None:
    """The mark, wherever it stands. Raises StoreError."""
    row = view.row(_STORED, META)
    stored = bytes(row[0] or b"") if row is not None else None
    kept = _kept(state)
    if stored is None and kept is None:
        return None
    missing = "the store" if stored is None else "the state directory" if kept is None else None
    return parse_mark(stored or kept or b"")._replace(missing=missing)


def parse_mark(data: bytes) -> StopMark:
    """What a mark says; one that can't be read stops as well."""
    try:
        found = msgspec.json.decode(data)
        parts = [found[name] for name in ("code", "message", "at", "by")]
        return StopMark(*map(str, parts))
    except (msgspec.DecodeError, UnicodeError, KeyError, TypeError, RecursionError):
        return StopMark("ledger-stopped", "the stop mark can't be read", "?", "?")


def set_mark(store: Store, state: Path, error: RemitError, by: str) -> StopMark:
    """Stops the log in both places, as far as they can be written; a mark that stands stays as it is."""
    mark = StopMark(error.code, str(error), exact_moment(time.time_ns()), by)
    data = msgspec.json.encode({name: value for name, value in mark._asdict().items() if name != "missing"})
    with suppress(OSError):
        if not os.path.lexists(state / FILE):
            write_whole(state / FILE, data)
    with suppress(RemitError), store.write() as change:
        if change.row(_STORED, META) is None:
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", META, data)
    return mark


def lift_mark(change: Transaction) -> None:
    """Takes the mark out of the store, within a change. The file goes with `remove_file`, once that is kept."""
    change.run("DELETE FROM meta WHERE name = ?", META)


def remove_file(state: Path) -> None:
    """Takes the mark out of the state directory. Raises OSError."""
    (state / FILE).unlink(missing_ok=True)


def _kept(state: Path) -> bytes | None:
    try:
        return (state / FILE).read_bytes()
    except FileNotFoundError:
        return None
    except OSError:
        return b""  # something stands there
