"""The reader: entries as they are stored, and the values that they commit to where these are still there."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from remit.record.errors import LedgerError
from remit.record.fields import digest_of
from remit.store.interface import Transaction


class Stored(NamedTuple):
    """One entry of the log."""

    seq: int
    hash: bytes
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        """What it says. Raises LedgerError for bytes that are no entry."""
        try:
            found = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeError):
            found = None
        if not isinstance(found, dict):
            raise LedgerError(f"entry {self.seq} is no entry", code="ledger-corrupt")
        return found


class Filter(NamedTuple):
    """Which entries are wanted; None is any."""

    type: str | None = None
    agent: str | None = None
    tool: str | None = None
    decision: str | None = None
    capsule: str | None = None
    since: str | None = None
    until: str | None = None

    def wants(self, data: dict[str, Any]) -> bool:
        """Whether an entry passes."""
        for name in ("type", "agent", "tool", "decision", "capsule"):
            wanted = getattr(self, name)
            if wanted is not None and data.get(name) != wanted:
                return False
        at = str(data.get("at", ""))
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


def entries(view: Transaction, first: int = 0, before: int | None = None) -> Iterator[Stored]:
    """The entries from one place on, in order, streamed."""
    end = before if before is not None else 2**62
    for seq, leaf, body in view.each(
        "SELECT seq, hash, body FROM leaf WHERE seq >= ? AND seq < ? ORDER BY seq", first, end
    ):
        yield Stored(int(seq), bytes(leaf), bytes(body))


def entry_at(view: Transaction, seq: int) -> Stored:
    """One entry. Raises LedgerError if the log is shorter."""
    row = view.row("SELECT seq, hash, body FROM leaf WHERE seq = ?", seq)
    if row is None:
        raise LedgerError(f"there is no entry {seq}", code="no-entry")
    return Stored(int(row[0]), bytes(row[1]), bytes(row[2]))


def checkpoints(view: Transaction) -> Iterator[tuple[int, bytes]]:
    """The signed heads, the smallest first."""
    for size, note in view.each("SELECT size, note FROM checkpoint ORDER BY size"):
        yield int(size), bytes(note)


def values_of(view: Transaction, entry: Stored) -> dict[str, Any]:
    """The values behind the commitments of an entry, by path; missing where one was erased. Raises LedgerError."""
    found: dict[str, Any] = {}
    committed = dict(commitments(entry.data))
    for path, salt, value in view.rows("SELECT path, salt, value FROM secret WHERE seq = ?", entry.seq):
        if value is None:
            continue
        if digest_of(path, bytes(salt), bytes(value)) != committed.get(path):
            problem = f"the value {path} of entry {entry.seq} is not what it committed to"
            raise LedgerError(problem, code="ledger-corrupt")
        try:
            found[path] = msgspec.json.decode(bytes(value))
        except (msgspec.DecodeError, UnicodeError):
            raise LedgerError(f"a value of entry {entry.seq} can't be read", code="ledger-corrupt") from None
    return found


def commitments(data: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """What an entry commits to: path and digest. Raises LedgerError."""
    for name, value in data.items():
        if not isinstance(value, dict):
            continue
        if isinstance(value.get("$c"), str):
            yield name, _digest(value)
        elif name == "args":
            yield from ((f"args.{key}", _digest(item)) for key, item in value.items())


def _digest(value: Any) -> bytes:
    try:
        return base64.b64decode(value["$c"], validate=True)
    except (KeyError, TypeError, ValueError):
        raise LedgerError("an entry has a commitment that can't be read", code="ledger-corrupt") from None
