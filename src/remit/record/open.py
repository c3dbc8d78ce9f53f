"""Opening the ledger of a project: its folder, store, name and keys, put together and checked.

with open_ledger(root, point="guard") as opened:
    receipt = opened.ledger.intent(call, decision)
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from remit.record.anchor import configured
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.keeper import Keeper
from remit.record.keys import Keys
from remit.record.log import Log
from remit.record.signer import CheckpointSigner
from remit.record.startup import AnchorReply, push_to_anchors, start_up_check
from remit.record.tree import EMPTY_ROOT
from remit.record.vault import Vault
from remit.record.writer import Ledger
from remit.store import Store, open_store, state_directory, store_url
from remit.store.open import FILE
from remit.store.place import make_private

ORIGIN = "origin"


class OpenLog:
    """A log that can be read, signed and proved."""

    def __init__(self, state: Path, store: Store, origin: str) -> None:
        self.state, self.store, self.origin = state, store, origin
        self.keys = Keys(state / "keys", origin)
        self.log = Log(store, origin, self.keys.verifiers())
        self.signer = CheckpointSigner(store, self.keys, origin)
        self.vault = Vault(store, state / "keys")

    def checkpoint(self) -> bytes:
        """A signed head of the log as it is now. Raises LedgerError and StoreError."""
        return self.signer.sign()

    def push(self) -> list[AnchorReply]:
        """Signs the head and hands it to every anchor. Raises LedgerError and StoreError if it can't be signed."""
        note = self.checkpoint()
        with self.store.read() as view:
            specs = configured(view)
        return push_to_anchors(self.log, specs, note)

    def close(self) -> None:
        """Gives everything back."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Opened(OpenLog):
    """A log that is written to."""

    def __init__(self, state: Path, store: Store, origin: str, point: str, *, full: bool, keep: bool) -> None:
        super().__init__(state, store, origin)
        self.warnings = start_up_check(self.log, self.signer, full=full)
        """Anchors that could not be reached."""
        self.ledger = Ledger(store, point=point)
        try:
            self.recovered = self.ledger.recover()
        except BaseException:
            self.ledger.close()
            raise
        self.keeper = Keeper(self.ledger, self.checkpoint, self.push) if keep else None

    def close(self) -> None:
        try:
            try:
                self.ledger.close()
            finally:
                if self.keeper is not None:
                    self.keeper.close()
        finally:
            super().close()


def open_ledger(
    root: Path,
    *,
    point: str,
    create: bool = True,
    state: Path | None = None,
    url: str | None = None,
    full: bool = True,
    keep: bool = False,
) -> Opened:
    """The ledger of the project at `root`, checked, to be written to. Raises LedgerError and StoreError.

    `url` names the store; without it REMIT_STORE does. `keep` signs it every second and takes the head to the anchors
    every minute, as long as it is open. `full` compares anchors with all leaves, about a second for 10⁶; see
    `start_up_check`.
    """
    place, store, origin = _open(root, state, create=create, url=url)
    try:
        return Opened(place, store, origin, point, full=full, keep=keep)
    except BaseException:
        store.close()
        raise


def open_log(root: Path | None, *, state: Path | None = None, url: str | None = None) -> OpenLog:
    """The same to look at, without any check: for those who look for what is wrong. It must be there already."""
    place, store, origin = _open(root, state, create=False, url=url)
    try:
        return OpenLog(place, store, origin)
    except BaseException:
        store.close()
        raise


def _open(root: Path | None, state: Path | None, *, create: bool, url: str | None = None) -> tuple[Path, Store, str]:
    if state is None:
        if root is None:
            raise LedgerError("neither a project nor a state directory is named", code="no-ledger")
        state = state_directory(root)
    url = url if url is not None else store_url()
    if not create and url is None and not os.path.lexists(state / FILE):
        raise LedgerError("there is no ledger here yet", code="no-ledger", help=f"it would lie in {state}")
    make_private(state)
    store = open_store(url, state)
    try:
        origin = _origin(store)
        if origin is None and create:
            origin = _begin(store, state, root if root is not None else state)
        if origin is None:
            raise LedgerError("there is no ledger here yet", code="no-ledger")
        _check_origin(origin)
        if not Keys(state / "keys", origin).exist():
            help_ = f"put the folder {state / 'keys'} back from a copy; on another host, copy it there"
            raise LedgerError("the ledger's keys are missing", code="key-missing", help=help_)
    except BaseException:
        store.close()
        raise
    return state, store, origin


def _origin(store: Store) -> str | None:
    with store.read() as view:
        row = view.row("SELECT value FROM meta WHERE name = ?", ORIGIN)
    if row is None or row[0] is None:
        return None
    try:
        return bytes(row[0]).decode()
    except UnicodeDecodeError:
        raise LedgerError("the ledger's name can't be read", code="ledger-corrupt") from None


def _check_origin(origin: str) -> None:
    try:
        Checkpoint(origin, 0, EMPTY_ROOT)
    except LedgerError:
        raise LedgerError("the ledger's name can't be read", code="ledger-corrupt") from None


def _begin(store: Store, state: Path, root: Path) -> str:
    """A new log: its key first, then its name, once. A key that was left by an attempt before is taken over."""
    with _alone(state):
        found = _origin(store)
        if found is not None:
            return found
        left = Keys(state / "keys", "").verifiers()
        origin = left[-1].name if left else _name(root)
        if not left:
            Keys(state / "keys", origin).make()
        with store.write() as change:
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", ORIGIN, origin.encode())
        return origin


def _name(root: Path) -> str:
    """`remit.local/project-1a2b3c4d`: for people, and unlike any other."""
    name = re.sub(r"[^a-z0-9]+", "-", Path(os.path.realpath(root)).name.lower())[:40].strip("-") or "project"
    return f"remit.local/{name}-{secrets.token_hex(4)}"


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    handle = os.open(state / "beginning", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
