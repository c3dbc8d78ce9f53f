"""That a log goes on from what this machine remembers of it: the check that everybody passes who writes.

It reads the head and the leaves since the newest memory, which are few: it takes the same time for a log of any size.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from remit.record.append import TREE, Head, extends, not_as_many
from remit.record.errors import LedgerError
from remit.record.memory import Memory
from remit.record.stop_mark import read_mark
from remit.record.tree import CompactRange, TreeError
from remit.store.errors import StoreUnsafe
from remit.store.interface import Store, Transaction
from remit.store.open import FILE
from remit.store.place import check_private, check_private_file

CUT = "the log is shorter than what was signed: it was cut, or restored from an old copy"
FORKED = "the log is not the one that was signed before: entries were changed or replaced"
_AGAIN = "restore the newest copy, then a person runs `remit ledger resume`; if there is none, with `--accept-loss`"
_HELP = "restore the folder from a copy that is as new as the log; on another host, copy it there whole"


class Standing(NamedTuple):
    """How the log stands."""

    head: Head
    signed: int
    """How many entries the last signature of this machine is over."""

    @property
    def unsigned(self) -> int:
        return max(0, self.head.size - self.signed)


def check_continuity(store: Store, state: Path, *, despite_mark: bool = False) -> Standing:
    """Raises LedgerError: LedgerStopped under a stop mark; `ledger-truncated`, `ledger-forked`,
    `signer-memory-missing` and `signer-unreadable` for a log that does not go on from what is remembered.

    `despite_mark` is for those who look whether it could be lifted.
    """
    memory = Memory(state / "keys")
    signed, seen, anchored = memory.signed(), memory.seen(), memory.anchored()  # before the head, which only grows
    with store.read() as view:
        mark = read_mark(view, state)
        if mark is not None and not despite_mark:
            raise mark.error()
        if signed is None:
            signed = none_signed(view)
        signed_size = signed.size
        most = max((one.size for one in anchored.values()), default=0)
        if most > signed_size:
            what = f"this machine signed {signed_size} entries, and handed {most} to an anchor"
            raise LedgerError(f"{what}: an old copy was restored", code="ledger-truncated", help=_AGAIN)
        newest = seen if seen is not None and seen.size > signed_size else signed
        now = check_extends(view, newest)
        known: CompactRange | None = view.recall(TREE)
        if known is not None:  # this process may have seen more than was signed
            check_extends(view, known)
        view.remember(TREE, now)
    return Standing(Head(now.size, now.root()), signed_size)


def none_signed(view: Transaction) -> CompactRange:
    """The tree that was signed where no memory of it is: the empty one, of an empty log. Raises LedgerError."""
    if _head(view).size:
        raise LedgerError("what was signed last is missing", code="signer-memory-missing", help=_HELP)
    return CompactRange()


def check_extends(view: Transaction, known: CompactRange) -> CompactRange:
    """The tree of the head, if it is that of `known` with the leaves since then. Raises LedgerError."""
    now = _head(view)
    if now.size < known.size:
        raise LedgerError(CUT, code="ledger-truncated", help=_AGAIN)
    newest = view.row("SELECT max(seq) FROM leaf")
    if newest is not None and (newest[0] if newest[0] is not None else -1) != now.size - 1:
        raise not_as_many(now.size, newest[0])
    if not extends(view, known, now):
        raise LedgerError(FORKED, code="ledger-forked", help=_AGAIN)
    return now


def check_remembered(view: Transaction) -> Head:
    """The head, if the log goes on from what this process has seen of it. Raises LedgerError."""
    known: CompactRange | None = view.recall(TREE)
    now = check_extends(view, known if known is not None else CompactRange())
    view.remember(TREE, now)
    return Head(now.size, now.root())


def _head(view: Transaction) -> CompactRange:
    row = view.row("SELECT size, range FROM head WHERE one = 1")
    if row is None:
        raise LedgerError("the ledger has no head", code="ledger-corrupt")
    try:
        return CompactRange.from_bytes(int(row[0]), bytes(row[1]))
    except TreeError:
        raise LedgerError("the ledger's head can't be read", code="ledger-corrupt") from None


def check_files(state: Path) -> None:
    """That only this user can get at the state directory and at a database in it. Raises LedgerError."""
    try:
        check_private(state)
        check_private_file(state / FILE)
    except StoreUnsafe as error:
        raise LedgerError(str(error), code=error.code, help=error.help) from error


def check_key(state: Path, origin: str) -> None:
    """That the newest key can sign for this log, as far as its files show without loading it. Raises LedgerError."""
    keys = state / "keys"
    names = sorted(path.name for path in keys.glob("ledger-*.vkey")) if keys.is_dir() else []
    if not names:
        help_ = f"put the folder {keys} back from a copy; on another host, copy it there"
        raise LedgerError("the ledger's keys are missing", code="key-missing", help=help_)
    path = keys / f"{names[-1].removesuffix('.vkey')}.key"
    check_key_file(path)
    try:
        name, _, _ = (keys / names[-1]).read_text("ascii").strip().split("+", 2)
    except (OSError, ValueError):
        raise LedgerError(f"the key {names[-1]} can't be read", code="key-malformed") from None
    if name != origin:
        what = f"the log is named {origin!r}, and its key {name!r}: one of them was renamed"
        raise LedgerError(what, code="origin-changed", help="look at the row `origin` of the table `meta`")


def check_key_file(path: Path) -> None:
    """That a private key is a file of this user, which nobody else can read. Raises LedgerError."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        help_ = "restore it from a copy; without one, keep this log as evidence and start a new one"
        raise LedgerError(f"the key {path.name} is missing", code="key-missing", help=help_) from None
    except OSError:
        raise LedgerError(f"the key {path.name} can't be read", code="key-unreadable") from None
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        raise LedgerError(f"the key {path.name} is not a file of this user", code="key-unsafe")
    if found.st_mode & 0o077:
        raise LedgerError(f"others can read the key {path.name}", code="key-unsafe", help=f"chmod 600 {path}")
