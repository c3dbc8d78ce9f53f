"""What this machine remembers of a log, in files apart from the store: a log that was cut, forked or put back shows.

    keys/signed      the tree that was signed last
    keys/seen        the tree after the newest entry of a process that does not sign, such as a hook
    keys/anchored    what was handed to each anchor last

`signed` is on the disk before a signature is given out. The other two follow the log, and may lag behind it.
"""

from __future__ import annotations

from binascii import Error as BadBase64
from binascii import a2b_base64, b2a_base64
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from remit.record.errors import LedgerError
from remit.record.tree import CompactRange, TreeError
from remit.store.files import write_whole

SIGNED, SEEN, ANCHORED = "signed", "seen", "anchored"


class Handed(NamedTuple):
    """What an anchor was handed last."""

    size: int
    root: bytes


class Memory:
    """The files in the folder of the keys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def signed(self) -> CompactRange | None:
        """The tree that was signed last; None without the file. Raises LedgerError for one that can't be read."""
        try:
            return _tree((self.folder / SIGNED).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, TreeError, RecursionError):
            raise _unreadable(self.folder / SIGNED) from None

    def keep_signed(self, tree: CompactRange) -> None:
        """Remembers it, on the disk. Raises LedgerError."""
        self._write(SIGNED, _text(tree), durable=True)

    def seen(self) -> CompactRange | None:
        """The tree that was seen last by somebody who does not sign; None if nobody knows."""
        try:
            return _tree((self.folder / SEEN).read_bytes())
        except (OSError, ValueError, KeyError, TypeError, TreeError, RecursionError):
            return None  # it may be torn when a machine stops: what was signed counts then

    def keep_seen(self, tree: CompactRange) -> None:
        """Remembers it; not if it can't be written."""
        try:
            self._write(SEEN, _text(tree), durable=False)
        except LedgerError:
            return

    def anchored(self) -> dict[str, Handed]:
        """By anchor, what it was handed last. Raises LedgerError for a file that can't be read."""
        try:
            found = msgspec.json.decode((self.folder / ANCHORED).read_bytes())
            return {str(name): Handed(int(one["size"]), a2b_base64(one["root"])) for name, one in found.items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _unreadable(self.folder / ANCHORED) from None

    def keep_anchored(self, known: dict[str, Handed]) -> None:
        """Remembers it. Raises LedgerError."""
        said = {name: {"size": one.size, "root": _base64(one.root)} for name, one in known.items()}
        self._write(ANCHORED, msgspec.json.encode(said), durable=True)

    def _write(self, name: str, data: bytes, *, durable: bool) -> None:
        try:
            write_whole(self.folder / name, data, durable=durable)
        except OSError as error:
            raise LedgerError(f"can't remember what is signed: {error.strerror}", code="signer-unwritable") from None


def tree_of(found: Any) -> CompactRange:
    """The tree that was written by `tree_data`. Raises ValueError, KeyError, TypeError and TreeError."""
    try:
        return CompactRange.from_bytes(int(found["size"]), a2b_base64(found["range"], strict_mode=True))
    except BadBase64:
        raise ValueError("no tree") from None


def tree_data(tree: CompactRange) -> dict[str, Any]:
    """A tree as plain data."""
    return {"size": tree.size, "range": _base64(tree.to_bytes())}


def _tree(data: bytes) -> CompactRange:
    try:
        return tree_of(msgspec.json.decode(data))
    except msgspec.DecodeError:
        raise ValueError("no tree") from None


def _text(tree: CompactRange) -> bytes:
    return msgspec.json.encode(tree_data(tree))


def _base64(data: bytes) -> str:
    return b2a_base64(data, newline=False).decode()


def _unreadable(path: Path) -> LedgerError:
    return LedgerError("what was signed last can't be read", code="signer-unreadable", help=f"look at {path}")
