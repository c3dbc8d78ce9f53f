"""Opening the ledger of a project: its folder, store, name and keys, put together and checked.

with open_ledger(root, point="guard") as opened:
    receipt = opened.ledger.intent(call, decision)

Everybody who writes comes in here: Guard, the daemon and the commands by `open_ledger`, a hook by `open_for_hook`. All
of them pass `OpenLog.admit`. A hook loads nothing that signs or verifies, unless it has to.
"""

from __future__ import annotations

import fcntl
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from remit.model.arguments import check_arguments
from remit.model.errors import RemitError
from remit.model.moments import exact_moment
from remit.model.policy import LedgerSettings
from remit.record.continuity import Standing, check_continuity, check_key
from remit.record.direct import DirectLedger
from remit.record.errors import LedgerError, LedgerWarning
from remit.record.lease import recover
from remit.record.listed import STATES
from remit.record.memory import Memory
from remit.record.reader import entry_at
from remit.record.stamp import Stamps, keep_stamps, make_stamps, read_stamps
from remit.record.state_memory import StateMemory
from remit.record.stop_mark import CODES, set_mark
from remit.record.tree import CompactRange
from remit.store.interface import TIMEOUT, Store, Transaction
from remit.store.open import FILE, open_store, store_url
from remit.store.place import make_private, state_directory

if TYPE_CHECKING:
    from types import TracebackType

    from remit.record.keeper import Keeper
    from remit.record.keys import Keys
    from remit.record.log import Log
    from remit.record.signer import CheckpointSigner
    from remit.record.startup import AnchorReply
    from remit.record.vault import Vault

OnFault = Callable[[str], object]
"""Is told what goes wrong while a log is kept, once each time."""
Settings = Callable[[Store], LedgerSettings]
"""What the policy in force says about the ledger in a store. Raises StoreError."""
ORIGIN = "origin"
MANY_UNSIGNED = 256
"""Entries: a hook that reports signs a log with as many unsigned ones; one that asks, with ten times as many."""
LONG_UNSIGNED = 60.0
"""Seconds: the same for the age of the oldest unsigned entry."""


def no_settings(store: Store) -> LedgerSettings:
    """Where no policy is known."""
    return LedgerSettings()


class OpenLog:
    """A log that can be read, signed and proved."""

    def __init__(self, state: Path, store: Store, origin: str, settings: Settings = no_settings) -> None:
        self.state, self.store, self.origin, self._settings = state, store, origin, settings
        with suppress(LedgerError):  # whoever writes is told by `admit`; a copy may be without
            keep_stamps(store, read_stamps(state / "keys"))

    @property
    def settings(self) -> LedgerSettings:
        """What the policy says about this log, now. Raises StoreError."""
        return self._settings(self.store)

    @cached_property
    def keys(self) -> Keys:
        from remit.record.keys import Keys  # here: a hook does without what signs

        return Keys(self.state / "keys", self.origin)

    @cached_property
    def log(self) -> Log:
        from remit.record.log import Log  # here: for the same reason

        return Log(self.store, self.origin, self.keys.verifiers())

    @cached_property
    def signer(self) -> CheckpointSigner:
        from remit.record.signer import CheckpointSigner  # here: for the same reason

        return CheckpointSigner(self.store, self.keys, self.origin)

    @cached_property
    def vault(self) -> Vault:
        from remit.record.vault import Vault

        return Vault(self.store, self.state / "keys")

    @property
    def memory(self) -> Memory:
        return Memory(self.state / "keys")

    def admit(self, by: str) -> Standing:
        """Lets a writer in: the key can sign, and the log goes on from what is remembered. Raises LedgerError.

        A log that was cut or forked is stopped for everybody, by a mark that only a person lifts.
        """
        with self.stopping(by):
            check_key(self.state, self.origin)
            self.remember_states()
            return check_continuity(self.store, self.state)

    def remember_states(self) -> None:
        """From now on, nothing counts that Remit did not write, or that is not what this machine remembers.

        Raises LedgerError and StoreError.
        """
        keep_stamps(self.store, make_stamps(self.store, self.state / "keys", self._stamp_all))
        self.store.keep_notes(STATES, StateMemory(self.state / "keys"))

    def _stamp_all(self, change: Transaction, stamps: Stamps) -> None:
        """Stamps the entries of a log from before there were stamps, if they are those that were signed."""
        from remit.record.upgrade import stamp_all  # here: it happens once

        stamp_all(change, stamps, self.memory.signed())

    @contextmanager
    def stopping(self, by: str) -> Iterator[None]:
        """A block that may find the log cut or forked: then it is stopped for everybody."""
        try:
            yield
        except LedgerError as error:
            if error.code in CODES:
                set_mark(self.store, self.state, error, by)
            raise

    def checkpoint(self) -> bytes:
        """A signed head of the log as it is now. Raises LedgerError and StoreError."""
        return self.signer.sign()

    def push(self) -> list[AnchorReply]:
        """Signs the head and hands it to every anchor. Raises LedgerError and StoreError if it can't be signed."""
        from remit.record.startup import hand_out

        return hand_out(self.log, self.memory, self.checkpoint(), self.settings.anchors)

    def close(self) -> None:
        """Gives everything back."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Opened(OpenLog):
    """A log that a program writes to, for as long as it runs."""

    def __init__(
        self,
        state: Path,
        store: Store,
        origin: str,
        point: str,
        *,
        settings: Settings,
        full: bool,
        on_fault: OnFault | None,
    ) -> None:
        from remit.record.faults import anchor_fault, check_newest, faults  # here, as below: a hook does without
        from remit.record.startup import check_anchors
        from remit.record.writer import Ledger

        super().__init__(state, store, origin, settings)
        standing = self.admit(point)
        with store.read() as view:
            check_newest(view)
        self.keys.signers(exact_moment(time.time_ns()))  # that they can sign is known before anything runs
        with self.stopping(point):
            asked = check_anchors(self.log, self.memory, full=full, also=self.settings.anchors)
        self.warnings = [str(one) for one in (*map(anchor_fault, asked), *faults(self, anchors=False))]
        """What is wrong and stops nobody: anchors that can't be reached or were emptied, triggers that were dropped."""
        self.ledger = Ledger(store, point=point, on_break=self.on_break, state=state)
        self.keeper: Keeper | None = None
        try:
            self.recovered = self.ledger.recover()
            if on_fault is not None:
                from remit.record.keeper import Keeper

                self.keeper = Keeper(self, [self.ledger], on_fault)
            if self.recovered or standing.unsigned:
                with self.stopping(point):
                    self.checkpoint()
        except BaseException:
            self.ledger.close()
            raise

    def on_break(self, error: LedgerError) -> None:
        """Stops the log for everybody: a process that writes found it cut or forked."""
        set_mark(self.store, self.state, error, self.ledger.point)

    def close(self) -> None:
        """Everything is on the disk and signed. Raises LedgerUnavailable if something could not be written."""
        try:
            try:
                self.ledger.close()
            finally:
                if self.keeper is not None:
                    self.keeper.close()
                else:
                    self._sign_last()
        finally:
            super().close()

    def _sign_last(self) -> None:
        try:
            with self.stopping(self.ledger.point):
                if check_continuity(self.store, self.state).unsigned:
                    self.checkpoint()
        except RemitError as error:
            warnings.warn(LedgerWarning(f"what was recorded could not be signed: {error}"), stacklevel=3)


class OpenedForHook(OpenLog):
    """A log that one hook writes to: an entry or two, each in a transaction of its own."""

    def __init__(self, state: Path, store: Store, origin: str, point: str) -> None:
        super().__init__(state, store, origin)
        self.standing = self.admit(point)
        self.ledger = DirectLedger(store, point=point, memory=self.memory)
        self.recovered = recover(store, state, self.ledger.writer)

    def sign_if_due(self, *, waited: bool, ended: bool) -> bool:
        """Signs the log where too many entries, or too old ones, are unsigned, and when a host's session has ended.

        `waited`: somebody waits for this hook, so that only what is long overdue is signed. Raises LedgerError and
        StoreError.
        """
        due = self.standing.unsigned > 0 if ended else is_due(self.store, self.standing, 10 if waited else 1)
        if not due:
            return False
        with self.stopping(self.ledger.point):
            self.checkpoint()
        return True


def is_due(store: Store, standing: Standing, patience: int = 1) -> bool:
    """Whether somebody has to sign: no daemon, Guard or command did lately. Raises LedgerError and StoreError."""
    if standing.unsigned == 0:
        return False
    if standing.unsigned >= MANY_UNSIGNED * patience:
        return True
    since = unsigned_since(store, standing)
    return since is None or not 0 <= time.time() - since <= LONG_UNSIGNED * patience


def unsigned_since(store: Store, standing: Standing) -> float | None:
    """When the oldest unsigned entry was written, in seconds since 1970; None if it doesn't say."""
    from datetime import datetime

    try:
        with store.read() as view:
            text = entry_at(view, standing.signed).data.get("at")
        return datetime.fromisoformat(str(text).replace("Z", "+00:00")).timestamp()
    except (LedgerError, ValueError):
        return None


def open_ledger(
    root: Path,
    *,
    point: str,
    create: bool = True,
    state: Path | None = None,
    url: str | None = None,
    settings: Settings = no_settings,
    full: bool = True,
    on_fault: OnFault | None = None,
) -> Opened:
    """The ledger of the project at `root`, checked, to be written to. Raises LedgerError and StoreError.

    `url` names the store; without it REMIT_STORE does. `settings` tells what the policy says about the ledger. With
    `on_fault` it is signed every second and its head taken to the anchors every minute, as long as it is open; what
    goes wrong there is said to `on_fault`. Without, it is signed when it is closed. `full` compares anchors with all
    leaves, about a second for 10⁶; see `check_anchors`.
    """
    place, store, origin = _open(root, state, create=create, url=url if url is not None else store_url())
    try:
        return Opened(place, store, origin, point, settings=settings, full=full, on_fault=on_fault)
    except BaseException:
        store.close()
        raise


def open_for_hook(state: Path, *, point: str, url: str | None, timeout: float = TIMEOUT) -> OpenedForHook:
    """The ledger in a state directory, checked, for a hook to write to. Raises LedgerError and StoreError.

    It must be there: a hook begins none in the place of one that was taken away.
    """
    place, store, origin = _open(None, state, create=False, url=url, timeout=timeout)
    try:
        return OpenedForHook(place, store, origin, point)
    except BaseException:
        store.close()
        raise


def open_log(
    root: Path | None, *, state: Path | None = None, url: str | None = None, settings: Settings = no_settings
) -> OpenLog:
    """Opens an existing ledger for reading, without any check: for those who look for what is wrong."""
    check_arguments("open_log", {"root": "path?", "state": "path?", "url": "text?"}, root=root, state=state, url=url)
    place, store, origin = _open(root, state, create=False, url=url if url is not None else store_url())
    found = OpenLog(place, store, origin, settings)
    try:
        _ = found.log
    except BaseException:
        store.close()
        raise
    return found


def _open(
    root: Path | None, state: Path | None, *, create: bool, url: str | None, timeout: float = TIMEOUT
) -> tuple[Path, Store, str]:
    if state is None:
        if root is None:
            raise LedgerError("neither a project nor a state directory is named", code="no-ledger")
        state = state_directory(root)
    if not create and url is None and not os.path.lexists(state / FILE):
        raise LedgerError("there is no ledger here yet", code="no-ledger", help=f"it would be in {state}")
    make_private(state)
    store = open_store(url, state, timeout=timeout)
    try:
        origin = stored_origin(store)
        if origin is None and create:
            origin = _begin(store, state, root if root is not None else state)
        if origin is None:
            raise LedgerError("there is no ledger here yet", code="no-ledger")
        if not any((state / "keys").glob("ledger-*.vkey")):
            help_ = f"put the folder {state / 'keys'} back from a copy; on another host, copy it there"
            raise LedgerError("the ledger's keys are missing", code="key-missing", help=help_)
    except BaseException:
        store.close()
        raise
    return state, store, origin


def stored_origin(store: Store) -> str | None:
    """The log's name; None if none was begun. Raises LedgerError and StoreError."""
    with store.read() as view:
        return read_origin(view)


def read_origin(view: Transaction) -> str | None:
    """The same in a transaction."""
    row = view.row("SELECT value FROM meta WHERE name = ?", ORIGIN)
    if row is None or row[0] is None:
        return None
    try:
        found = bytes(row[0]).decode()
    except UnicodeDecodeError:
        found = ""
    if not 0 < len(found) <= 255 or re.search(r"[\x00-\x1f]", found):
        raise LedgerError("the ledger's name can't be read", code="ledger-corrupt")
    return found


def _begin(store: Store, state: Path, root: Path) -> str:
    """A new log: its key first, then its name, once. A key that was left by an attempt before is taken over."""
    from remit.record.keys import Keys

    with _alone(state):
        found = stored_origin(store)
        if found is not None:
            return found
        left = Keys(state / "keys", "").verifiers()
        origin = left[-1].name if left else _name(root)
        if not left:
            Keys(state / "keys", origin).make()
        memory = Memory(state / "keys")
        if memory.signed() is None:
            memory.keep_signed(CompactRange())
        with store.write() as change:
            change.run("INSERT INTO meta (name, value) VALUES (?, ?)", ORIGIN, origin.encode())
        return origin


def _name(root: Path) -> str:
    """`remit.local/project-1a2b3c4d`: for people, and unlike any other."""
    name = re.sub(r"[^a-z0-9]+", "-", Path(os.path.realpath(root)).name.lower())[:40].strip("-") or "project"
    return f"remit.local/{name}-{os.urandom(4).hex()}"


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    handle = os.open(state / "beginning", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
