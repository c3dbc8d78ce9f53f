"""The reader: entries as they are stored, and the values that they commit to where these are still there."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from types import NoneType
from typing import Any, NamedTuple

import msgspec

from remit.model.decoding import Decoding
from remit.record.errors import LedgerError
from remit.record.fields import digest_of
from remit.record.stamp import is_stamped
from remit.record.tree import leaf_hash
from remit.store.interface import Transaction

UNREADABLE = "unreadable"
"""The type of what is no entry."""
FOREIGN = "foreign"
"""The type of an entry that somebody else wrote: it counts for nothing."""
ARCHIVES = "archives"
"""In `meta`: the numbers of the entries that say what was archived."""


_PLACES = Decoding(list[int])


class _Typed(msgspec.Struct):
    type: str = ""


_TYPED = Decoding(_Typed)


def type_of(body: bytes) -> str:
    """Of which type an entry is; empty for bytes that are no entry. Nothing inside an entry passes for its type."""
    try:
        return _TYPED.decode(body).type
    except (msgspec.MsgspecError, UnicodeError):
        return ""


class Stored(NamedTuple):
    """One entry of the log."""

    seq: int
    hash: bytes
    body: bytes

    @property
    def data(self) -> dict[str, Any]:
        """What it says. Raises LedgerError for bytes that are no entry, or not the one that was hashed."""
        if self.hash and leaf_hash(self.body) != self.hash:
            raise LedgerError(f"entry {self.seq} was changed: it does not have its hash", code="ledger-corrupt")
        try:
            found = msgspec.json.decode(self.body)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise LedgerError(f"entry {self.seq} is not an entry", code="ledger-corrupt")
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
    data_tiers: frozenset[int | str] | None = None
    """Of a call's data: 0 to 3, or `unknown`."""

    def wants(self, data: dict[str, Any]) -> bool:
        """Whether an entry passes."""
        for name in ("type", "agent", "tool", "decision", "capsule"):
            wanted = getattr(self, name)
            if wanted is not None and data.get(name) != wanted:
                return False
        if self.data_tiers is not None and data.get("data_tier") not in self.data_tiers:
            return False
        at = str(data.get("at", ""))
        return (self.since is None or at >= self.since) and (self.until is None or at < self.until)


def entries(
    view: Transaction, first: int = 0, before: int | None = None, *, archived: bool = False
) -> Iterator[Stored]:
    """The entries from one place on, in order, streamed. Those of which only the hash is here come if `archived`."""
    end = before if before is not None else 2**62
    for seq, leaf, body in view.each(
        "SELECT seq, hash, body FROM leaf WHERE seq >= ? AND seq < ? ORDER BY seq", first, end
    ):
        if body or archived:
            yield Stored(int(seq), bytes(leaf), bytes(body))


def said(view: Transaction, stored: Stored) -> dict[str, Any]:
    """What an entry says, for people and counts: anybody who can write to the store can add others.

    One that nobody can read is of the type UNREADABLE; one of which Remit is not the writer, FOREIGN, with what it says
    inside. Raises LedgerError for one that was changed.
    """
    if leaf_hash(stored.body) != stored.hash:
        return stored.data  # raises
    try:
        data = stored.data
        kind = data.get("type")
        if kind in ("intent", "outcome"):
            return data if _is_call(data) else {"type": UNREADABLE, "at": ""}
    except LedgerError:
        return {"type": UNREADABLE, "at": ""}
    if isinstance(kind, str) and is_stamped(view, stored.seq):
        return data
    return {"type": FOREIGN, "at": str(data.get("at", "")), "entry": data}


def all_said(view: Transaction, first: int = 0, before: int | None = None) -> Iterator[tuple[Stored, dict[str, Any]]]:
    """The entries from one place on, with what they say. Raises LedgerError for one that was changed."""
    for stored in entries(view, first, before):
        yield stored, said(view, stored)


def _is_call(data: dict[str, Any]) -> bool:
    """Whether it has the form of a call's entry. Raises LedgerError for commitments that nobody can read."""
    for _ in commitments(data):
        pass
    texts = all(isinstance(data.get(name), (str, NoneType)) for name in _TEXTS)
    lists = all(isinstance(data.get(name), (list, NoneType)) for name in _LISTS)
    numbers = all(isinstance(data.get(name), (int, NoneType)) for name in ("tier", "intent"))
    return texts and lists and numbers and all(isinstance(one, str) for name in _LISTS for one in data.get(name) or ())


_LISTS = ("effects", "chain")
_TEXTS = ("at", "agent", "tool", "call", "decision", "code", "capsule", "session", "result", "error")


def entry_at(view: Transaction, seq: int) -> Stored:
    """One entry. Raises LedgerError if the log is shorter, or the entry is in an archive."""
    row = view.row("SELECT seq, hash, body FROM leaf WHERE seq = ?", seq)
    if row is None:
        raise LedgerError(f"there is no entry {seq}", code="no-entry")
    if not row[2]:
        found = archive_of(view, seq)
        where = found.where if found is not None else "an archive that no entry names"
        help_ = "give the folder that it is in now: --archive DIR"
        raise LedgerError(f"entry {seq} was archived in {where}", code="archived", help=help_)
    return Stored(int(row[0]), bytes(row[1]), bytes(row[2]))


class Archive(NamedTuple):
    """What an entry says of an archive."""

    seq: int
    first: int
    end: int
    where: str
    manifest: str
    """The SHA-256 of its manifest."""


def archives(view: Transaction) -> list[Archive]:
    """The archives of this log, the oldest first. Raises LedgerError."""
    row = view.row("SELECT value FROM meta WHERE name = ?", ARCHIVES)
    if row is None or row[0] is None:
        return []
    try:
        places = _PLACES.decode(bytes(row[0]))
    except msgspec.MsgspecError:
        raise LedgerError("the list of archives can't be read", code="ledger-corrupt") from None
    return [archive_said(seq, entry_at(view, seq).data) for seq in places if is_stamped(view, seq)]


def archive_said(seq: int, data: dict[str, Any]) -> Archive:
    """What an `archive` entry says. Raises LedgerError."""
    found = [data.get(name) for name in ("first", "end", "where", "manifest")]
    if data.get("type") != "archive" or [type(one) for one in found] != [int, int, str, str]:
        raise LedgerError(f"entry {seq} does not say what was archived", code="ledger-corrupt")
    return Archive(seq, *found)  # type: ignore[arg-type]  # looked at above


def archive_of(view: Transaction, seq: int) -> Archive | None:
    """The archive that has an entry; None if none has."""
    return next((one for one in archives(view) if one.first <= seq < one.end), None)


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
