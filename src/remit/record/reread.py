"""Reading a log again, slowly, from its first entry to its last and then anew: an entry that was edited shows.

So does one that was hidden: an entry that says how something stands is found by its subject, a column that no hash
covers, and without it the entry before it would count. At the end of a run the tables of authority are compared too.

Whoever writes to a log looks at its head alone, which an edited body leaves as it is. The keeper of a daemon or a Guard
takes a step of this each second, so that an edited entry is found without anybody running `remit ledger verify`. How
far it came, and what it found, stands in a file of the state directory: the next keeper goes on there, and
`remit status` says it. A file that was deleted or damaged means a run from the first entry.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from remit.record.errors import LedgerError
from remit.record.memory import Memory, tree_data, tree_of
from remit.record.reader import archives
from remit.record.stamp import stamps_of
from remit.record.state_audit import StateAudit, is_hidden
from remit.record.tree import CompactRange, TreeError, leaf_hash
from remit.store.files import write_whole
from remit.store.interface import Store

STEP = 500
"""Entries read at a time: at one step a second, 10⁶ take about half an hour and a hundredth of a core."""
SAVE_EVERY = 20.0
"""Seconds after which it is noted how far it came."""
FILE = "reread"
FORKED = "ledger-forked"
"""What stops the log: authority that was given or taken is hidden from those who use it."""


class Progress(NamedTuple):
    """How far a run came, and what the runs before it found."""

    tree: CompactRange
    code: str | None = None
    found: str | None = None


def read_progress(state: Path) -> Progress:
    """What stands in the state directory; nothing if it can't be read."""
    try:
        said = msgspec.json.decode((state / FILE).read_bytes())
        code, found = said["code"], said["found"]
        known = code is not None and found is not None
        return Progress(tree_of(said["tree"]), *((str(code), str(found)) if known else (None, None)))
    except (OSError, ValueError, KeyError, TypeError, TreeError, RecursionError):
        return Progress(CompactRange())


class Reread:
    """One run after the other over the log in a store."""

    def __init__(self, store: Store, memory: Memory, state: Path | None = None) -> None:
        """Without a state directory, nothing is remembered."""
        self._store, self._memory, self._state = store, memory, state
        before = read_progress(state) if state is not None else Progress(CompactRange())
        self._tree, self._goal = before.tree, CompactRange()
        self._found: tuple[str | None, str | None] = (before.code, before.found)
        self._saved = time.monotonic()
        self._archived = 0
        """Of the entries before it, the bodies may lie in an archive."""
        self.runs = 0
        """How often the whole log was read."""

    @property
    def found(self) -> str | None:
        """What the last run found, or one before it in another process."""
        return self._found[1]

    def step(self, count: int = STEP) -> None:
        """Reads the next entries. Raises LedgerError if one is not what was hashed, or they are not what was signed."""
        try:
            runs = self.runs
            self._step(count)
        except LedgerError as error:
            if error.code.startswith(("entry-", "state-")):
                self._found = (error.code, str(error))
                self._save()
            raise
        if self.runs > runs:
            self._found = (None, None)
            self._save()
        elif time.monotonic() - self._saved >= SAVE_EVERY:
            self._save()

    def _save(self) -> None:
        self._saved = time.monotonic()
        if self._state is None:
            return
        code, found = self._found
        try:
            said = {"tree": tree_data(self._tree), "code": code, "found": found}
            write_whole(self._state / FILE, msgspec.json.encode(said), durable=False)
        except OSError:
            return  # the next one begins anew

    def _step(self, count: int) -> None:
        if self._tree.size >= self._goal.size:
            goal = self._memory.signed() or CompactRange()
            fresh = self._goal.size == 0 and self._tree.size < goal.size  # it goes on where another stopped
            self._tree, self._goal = self._tree if fresh else CompactRange(), goal
            with self._store.read() as view:
                self._archived = max((one.end for one in archives(view)), default=0)
        start, end = self._tree.size, min(self._tree.size + count, self._goal.size)
        if start == end:
            return
        with self._store.read() as view:
            rows = view.rows(
                "SELECT seq, hash, body, subject, stamp FROM leaf WHERE seq >= ? AND seq < ? ORDER BY seq", start, end
            )
            stamps = stamps_of(view)
        leaves = []
        for place, (seq, leaf, body, subject, stamp) in enumerate(rows, start):
            if seq != place:
                break
            gone = place < self._archived and not body
            if not gone and leaf_hash(bytes(body)) != bytes(leaf):
                self._again()
                raise LedgerError(f"entry {place} was edited: it is not what was hashed", code="entry-edited")
            if not gone and is_hidden(bytes(leaf), bytes(body), subject):
                if stamps is not None and not stamps.fits(place, bytes(leaf), stamp):
                    leaves.append(bytes(leaf))
                    continue  # Remit did not write it: it counts for nothing
                self._again()
                raise LedgerError(f"entry {place} was hidden: it is not found by what it is about", code=FORKED)
            leaves.append(bytes(leaf))
        if len(leaves) < end - start:
            self._again()
            raise LedgerError(f"entry {start + len(leaves)} is missing", code="entry-missing")
        self._tree.extend(leaves)
        if self._tree.size == self._goal.size:
            same = self._tree.root() == self._goal.root()
            self._again()
            if not same:
                raise LedgerError("the entries are not those that were signed: some were replaced", code="entry-edited")
            self._compare_state()
            self.runs += 1

    def _compare_state(self) -> None:
        """That the tables are what the entries say. Raises LedgerError; uses of a forged row are refused anyway."""
        with self._store.read() as view:
            for fault in StateAudit(view).faults():
                gone = fault.code == "state-missing"  # nobody could notice when it is used
                raise LedgerError(fault.message, code=FORKED if gone else fault.code)

    def _again(self) -> None:
        self._tree, self._goal = CompactRange(), CompactRange()
