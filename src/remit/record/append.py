"""Appending: entries become leaves of the tree, in one transaction, whoever else is writing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from remit.model.decoding import Decoding
from remit.model.digest import quickest
from remit.record.entry import Entry
from remit.record.errors import LedgerError
from remit.record.listed import STATES, list_of, note_listed
from remit.record.running import unlisted
from remit.record.stamp import CALLS, stamps_of
from remit.record.stop_mark import META, parse_mark
from remit.record.tree import CompactRange, leaf_hash
from remit.store.interface import Transaction

PROOF = "credential"
"""Events that a stopped log takes all the same: that a person proved who they are, who may then lift the mark."""
HEAD = (
    f"SELECT size, range, (SELECT value FROM meta WHERE name = '{META}'), (SELECT max(seq) FROM leaf),"  # noqa: S608
    " (SELECT 1 FROM running LIMIT 1) FROM head WHERE one = 1"
)
"""What is looked at first: `store.write(HEAD)` has it at once. The last: without that table no call could be listed."""
TREE = "tree"
"""What a process remembers of the log: the tree after its newest entry, as it last saw it."""
STATE = "state"
"""What is cached under names that begin so rests on entries about states, and ends with the next one."""
SAYS_STATE = b'"state":{"after":'
"""What every entry has that says how something stands."""
_ADVANCE = (
    "UPDATE head SET size = ?, range = ? WHERE one = 1 AND size = ? AND range = ?"
    " AND (SELECT count(*) FROM leaf WHERE seq >= ?) = ?"
)
"""Only if the entries are there: somebody's trigger could have dropped one."""
_TOGETHER = 4096
"""Leaves that are read at once."""


class Head(NamedTuple):
    """The log at one moment: how many entries, and the root of the tree over them."""

    size: int
    root: bytes


Pending = Entry | Callable[[Callable[[str], int | None]], Entry]
"""An entry, or what makes it once it is known which intent it answers: a function of `place of a call → seq`."""


class Appended(NamedTuple):
    """What one transaction wrote: the entries, the place of the first of them, and the tree after them."""

    first: int
    entries: list[Entry]
    tree: CompactRange

    @property
    def head(self) -> Head:
        return Head(self.tree.size, self.tree.root())


class Own(Protocol):
    """The calls that the writer of these entries has opened, and whose outcomes it writes itself."""

    @property
    def running(self) -> Mapping[str, int]:
        """Where their intents are."""

    @property
    def listed(self) -> Collection[str]:
        """Those that may have a row in the table `running`; its lease tells of the others."""


class Gathering:
    """The entries of one transaction: each has its place at once, and they are written together.

    INVARIANT: whoever looks for the newest entry about something calls `settle` first.
    """

    __slots__ = ("_change", "_mark", "_opened", "_own", "_pending", "_stateful", "_stored", "_writer", "done")

    def __init__(
        self,
        change: Transaction,
        writer: str,
        *,
        head: tuple[Any, ...] | None = None,
        own: Own | None = None,
    ) -> None:
        """Raises StoreError and LedgerError: the log must go on from what this process has seen, whoever wrote since.

        `head` is the row of HEAD, if it was looked at since the transaction began. `own` are the calls of
        a writer with a lease: they get no rows. Without it, every call that these entries open gets one.
        """
        self._change, self._writer, self._own = change, writer, own
        known: tuple[CompactRange, bytes] | None = change.cached((TREE,))
        if known is not None:
            tree, self._stored = known[0].copy(), known[1]
            self._mark = None
        else:
            tree, self._stored, self._mark = _looked_at(change, head)
        self.done = Appended(tree.size, [], tree)
        self._pending: list[Pending] = []
        self._opened: dict[str, int] = {}
        """The places of calls that these entries open."""
        self._stateful = False

    def add(self, one: Pending) -> int:
        """Its place."""
        if isinstance(one, Entry) and one.subject is not None:
            self._stateful = True
            self._change.uncache(STATE)
        self._pending.append(one)
        return self.done.tree.size + len(self._pending) - 1

    def settle(self) -> None:
        """Those that say how something stands can be found."""
        if self._stateful:
            self.write()

    def _place(self, call: str) -> int | None:
        found = self._opened.get(call)
        if found is None and self._own is not None:
            found = self._own.running.get(call)
        if found is not None:
            return found
        there = self._change.row("SELECT max(seq) FROM running WHERE call = ?", call)
        if there is not None and there[0] is not None:
            return int(there[0])
        return max((one.seq for one in unlisted(self._change) if one.call == call), default=None)

    def _has_row(self, call: str | None) -> bool:
        """Whether a call that ends may have a row among those that run."""
        own = self._own
        return own is None or call in own.listed or (call not in own.running and call not in self._opened)

    def write(self) -> Appended:
        """Writes what was added since; gives all that this transaction wrote.

        Raises StoreError and LedgerError; LedgerStopped if the log carries a stop mark.
        """
        if not self._pending:
            return self.done
        change, own, (_, entries, tree) = self._change, self._own, self.done
        first, sha256, stamps = tree.size, quickest(), stamps_of(change)
        leaves, rows, fields = [], [], []
        opened: dict[int, tuple[str, int, str]] = {}
        closed = []
        for seq, one in enumerate(self._pending, first):
            entry = one if isinstance(one, Entry) else one(self._place)
            entries.append(entry)
            body, committed, call, kind, opens, answers, subject = entry
            leaf = sha256(b"\x00" + body).digest()
            leaves.append(leaf)
            stamp = stamps.make(seq, leaf) if stamps is not None and kind not in CALLS else None
            rows.append((seq, leaf, body, subject, stamp))
            if subject is not None:
                change.note(STATES, subject, seq)
            for path, _, salt, value in committed:
                fields.append((seq, path, salt, value))
            # The list of calls that run: opened by an intent that allows, closed by the outcome that answers it.
            if opens and call is not None:
                self._opened[call] = seq
                if own is None:
                    opened[seq] = (call, seq, self._writer)
            elif answers is not None and opened.pop(answers, None) is None and self._has_row(call):
                closed.append((call, answers))
            if self._mark is not None and kind != PROOF:
                raise parse_mark(self._mark).error()
        self._pending, self._stateful = [], False
        tree.extend(leaves)
        stored = tree.to_bytes()
        changed = change.run_together(
            ("INSERT INTO leaf (seq, hash, body, subject, stamp) VALUES (?, ?, ?, ?, ?)", rows),
            ("INSERT INTO secret (seq, path, salt, value) VALUES (?, ?, ?, ?)", fields),
            ("INSERT INTO running (call, seq, writer) VALUES (?, ?, ?)", list(opened.values())),
            ("DELETE FROM running WHERE call = ? AND seq = ?", closed),
            (_ADVANCE, [(tree.size, stored, first, self._stored, first, len(rows))]),
        )
        if changed != 1:  # writers take turns: whoever moved it is none of them
            what = "the head of the log was changed while an entry was written, or the entry was not kept"
            raise LedgerError(what, code="ledger-forked")
        self._stored = stored
        kept = tree.copy()
        change.remember(TREE, kept)
        if self._mark is None:
            change.cache((TREE,), (kept, stored))
        return self.done


GATHERING = "gathering"
"""What the entries of a transaction are added to, if somebody gathers them: in `Transaction.local`."""


def append(change: Transaction, pending: Sequence[Pending], writer: str, **more: Any) -> Appended:
    """Writes the entries, as Gathering does. Raises StoreError and LedgerError."""
    gathering = Gathering(change, writer, **more)
    for one in pending:
        gathering.add(one)
    return gathering.write()


def add(change: Transaction, entry: Entry, writer: str) -> int:
    """Writes the entry, now or with those that are being gathered; its place. Raises StoreError and LedgerError."""
    gathering: Gathering | None = change.local.get(GATHERING)
    return gathering.add(entry) if gathering is not None else append(change, [entry], writer).first


def settle(view: Transaction) -> None:
    """What was gathered so far can be found. Raises StoreError and LedgerError."""
    gathering: Gathering | None = view.local.get(GATHERING)
    if gathering is not None:
        gathering.settle()


def _looked_at(change: Transaction, row: tuple[Any, ...] | None) -> tuple[CompactRange, bytes, bytes | None]:
    """The tree, as it is and as it is stored, and the stop mark. Raises StoreError and LedgerError."""
    row = row if row is not None else change.row(HEAD)
    if row is None:
        raise LedgerError("the ledger has no head", code="ledger-corrupt")
    size, data, mark, newest = int(row[0]), bytes(row[1]), row[2], row[3]
    if (newest if newest is not None else -1) != size - 1:
        raise not_as_many(size, newest)
    return _gone_on(change, size, data), data, bytes(mark) if mark is not None else None


def _gone_on(view: Transaction, size: int, data: bytes) -> CompactRange:
    """The stored tree, if it goes on from what this process has seen. Raises LedgerError."""
    known: CompactRange | None = view.recall(TREE)
    if known is not None and known.size == size and known.to_bytes() == data:
        return known.copy()
    tree = CompactRange.from_bytes(size, data)
    if known is not None:
        if size < known.size:
            raise LedgerError("the log is shorter than it was: it was cut", code="ledger-truncated")
        if not extends(view, known, tree):
            raise LedgerError("the log is not what it was: entries were replaced", code="ledger-forked")
    return tree


def extends(view: Transaction, known: CompactRange, now: CompactRange) -> bool:
    """Whether one tree is the other with the leaves that are stored since."""
    if known.size < now.size:
        known = known.copy()
        while known.size < now.size:
            more = view.rows(
                "SELECT hash, body, stamp FROM leaf WHERE seq >= ? AND seq < ? ORDER BY seq",
                *(known.size, min(now.size, known.size + _TOGETHER)),
            )
            if not more:
                return False
            _note_states(view, known.size, more)
            known.extend(bytes(leaf) for leaf, *_ in more)
    return known.size == now.size and known.hashes == now.hashes


class _State(msgspec.Struct, frozen=True):
    of: tuple[str | int, ...]
    after: int | None = None


class _Stateful(msgspec.Struct, frozen=True):
    state: _State


_STATEFUL = Decoding(_Stateful)


def subject_in(body: bytes) -> str | None:
    """What an entry says the state of, as the column beside it must say it; None for all other entries."""
    if SAYS_STATE not in body:
        return None
    try:
        return msgspec.json.encode(_STATEFUL.decode(body).state.of).decode()
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _note_states(view: Transaction, first: int, rows: Sequence[tuple[Any, ...]]) -> None:
    """Entries of others are noted by what they themselves say: the column beside them could be changed."""
    stamps = stamps_of(view)
    for seq, (leaf, body, stamp) in enumerate(rows, first):
        subject = subject_in(bytes(body))
        if subject is None or leaf_hash(bytes(body)) != bytes(leaf):
            continue
        if (stamps is None or stamps.fits(seq, bytes(leaf), stamp)) and _goes_on(view, subject, bytes(body)):
            view.note(STATES, subject, seq)
            said = msgspec.json.decode(body)["state"]
            names = list_of(tuple(said["of"]), said.get("row")) if said.get("after") is None else None
            if names is not None:
                note_listed(view, names, seq)


def _goes_on(view: Transaction, subject: str, body: bytes) -> bool:
    """Whether an entry comes after the one that is noted: one that leaves it out does not take its place."""
    noted, at = view.noted(STATES, subject), _STATEFUL.decode(body).state.after
    while noted is not None and at is not None and at > noted:
        row = view.row("SELECT body FROM leaf WHERE seq = ?", at)
        if row is None or subject_in(bytes(row[0])) != subject:
            return False
        after = _STATEFUL.decode(bytes(row[0])).state.after
        at = after if after is None or after < at else None  # nothing follows a later one
    return noted is None or at == noted


def not_as_many(size: int, newest: int | None) -> LedgerError:
    """What is wrong with a log whose newest entry is not where its head says."""
    if newest is None or newest < size - 1:
        return LedgerError("entries at the end of the log are missing: it was cut", code="ledger-truncated")
    return LedgerError("there are entries that the head of the log does not know", code="ledger-forked")


def is_there(view: Transaction, seq: int, body: bytes) -> bool:
    """Whether this very entry stands at that place: how a commit that failed half-way is looked after."""
    row = view.row("SELECT hash FROM leaf WHERE seq = ?", seq)
    return row is not None and bytes(row[0]) == leaf_hash(body)


def head_of(view: Transaction) -> Head:
    """The head as it is stored. Raises LedgerError."""
    tree = tree_of(view)
    return Head(tree.size, tree.root())


def tree_of(view: Transaction) -> CompactRange:
    """The tree as it is stored. Raises LedgerError."""
    row = view.row(HEAD)
    if row is None:
        raise LedgerError("the ledger has no head", code="ledger-corrupt")
    return CompactRange.from_bytes(int(row[0]), bytes(row[1]))
