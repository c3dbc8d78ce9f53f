"""What is in force: the rulebook that a person activated last. Read, cached and replaced here, and nowhere else.

The file lies in the workspace, where programs of the project write; its digest lies in the store, outside of it. A file
whose digest is not that of the newest activation is in force for nobody.

Activating leaves one rulebook or the other, wherever it is interrupted: the new file is staged beside the old one; the
ledger and the store record it, in one transaction; only then is the file renamed. Between the last two steps everything
is denied, and the next `remit activate` finds the staged file and finishes.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from remit.compile.file import (
    MAX_SIZE,
    STAGED,
    encode_rulebook,
    put_in_place,
    read_rulebook,
    rulebook_path,
    stage_rulebook,
)
from remit.grant.activation import Activation, add_activation, last_activation, newest_activation
from remit.grant.person import Signatory, needs_none
from remit.model.digest import sha256
from remit.model.errors import RemitError, RulebookError
from remit.model.policy import LedgerSettings
from remit.model.rulebook import Rulebook
from remit.record.state import StateForged
from remit.store.errors import StoreError, StoreRefused, from_os_error
from remit.store.interface import Store, Transaction
from remit.store.watch import Mark, Watch

if TYPE_CHECKING:
    from pathlib import Path

    from remit.record.open import Opened

PAUSES = (0.05, 0.2)
"""Seconds: an activation may be between its two last steps."""


class ActivationError(RemitError):
    """A rulebook that can't be put in force now."""

    code = "not-activated"


class InForce(msgspec.Struct, frozen=True):
    """What was activated last, and its rulebook, or why there is none that may be used."""

    activation: Activation | None = None
    rulebook: Rulebook | None = None
    fault: str | None = None
    """Where something was activated, why its rulebook can't be used: everything is denied then."""
    code: str = "not-activated"
    """Of the fault."""

    def usable(self) -> Rulebook:
        """The rulebook in force. Raises RulebookError if there is none."""
        if self.rulebook is not None:
            return self.rulebook
        if self.fault is None:
            raise _never()
        raise RulebookError(f"nothing is in force: {self.fault}", code=self.code, help="run `remit activate`")


def read_in_force(root: Path, store: Store) -> InForce:
    """What is in force for the project at `root`. Raises StoreError."""
    try:
        activation = _newest(store)
    except StateForged as error:
        return InForce(_last(store), None, str(error), error.code)
    if activation is None:
        return InForce()
    try:
        return InForce(activation, _read(rulebook_path(root), activation))
    except RulebookError as error:
        return InForce(activation, None, str(error))


def look_up_in_force(root: Path) -> InForce:
    """The same, of the project's own store, which is only looked at. Raises LedgerError and StoreError."""
    from remit.record.errors import LedgerError
    from remit.record.open import open_log  # here: a hook has its store already, and starts faster without

    try:
        with open_log(root) as opened:
            return read_in_force(root, opened.store)
    except LedgerError as error:
        if error.code != "no-ledger":
            raise
        return InForce()


def ledger_settings(root: Path, otherwise: Rulebook | None = None) -> Callable[[Store], LedgerSettings]:
    """What the policy in force says about the ledger in a store.

    Where nothing was activated there, `otherwise` counts, or the rulebook that lies in the project: a state directory
    that was removed leaves it behind, and so the anchors that know the old log.
    """

    def look(store: Store) -> LedgerSettings:
        force = read_in_force(root, store)
        rulebook = force.rulebook if force.activation is not None else otherwise
        if rulebook is None:
            try:
                rulebook = read_rulebook(rulebook_path(root))
            except RulebookError:
                return LedgerSettings()
        return rulebook.book.ledger or LedgerSettings()

    return look


def may_be_activated(root: Path, state: Path | None, url: str | None) -> bool:
    """Whether there is a store in which an activation could stand; nothing is opened."""
    from remit.store.open import FILE, store_url
    from remit.store.place import known_state

    place = state if state is not None else known_state(root)
    return url is not None or store_url() is not None or (place is not None and os.path.lexists(place / FILE))


def activated_above(place: Path) -> Path | None:
    """The nearest directory at or above `place` for which a policy was activated. Raises LedgerError and StoreError."""
    from remit.store.open import FILE, store_url
    from remit.store.place import known_state

    real = type(place)(os.path.realpath(place))
    for folder in (real, *real.parents):
        state = known_state(folder)
        kept = state is not None and os.path.lexists(state / FILE)
        shared = store_url() is not None and rulebook_path(folder).exists()
        if (kept or shared) and look_up_in_force(folder).activation is not None:
            return folder
    return None


class Activated:
    """The activated rulebook of a project, read again when it changes. Safe to use from many threads."""

    def __init__(self, root: Path, store: Store) -> None:
        self.path, self.store = rulebook_path(root), store
        self._name, self._watch = str(self.path), Watch(self.path.parent, STAGED)
        self._seen: _Seen | None = None
        self._known: tuple[Mark, Rulebook | None] | None = None
        self.far = store.version() == -1
        """Others may activate elsewhere: the store has to be read each time."""

    def current(self) -> Rulebook | None:
        """The same for programs that run on, in a few microseconds; None if nothing was ever activated.

        An activation stages a file beside the rulebook before it tells the store, and renames it afterwards (`Watch`);
        what is done to the file itself changes nothing of what was read from it.
        Raises RulebookError and StoreError.
        """
        mark, known = self._watch.mark(), self._known
        if known is not None and known[0] == mark and not self.far:
            return known[1]
        rulebook = self.rulebook() if _newest(self.store) is not None else None
        self._known = (mark, rulebook) if self._watch.is_settled(mark) else None
        return rulebook

    def rulebook(self) -> Rulebook:
        """What is in force now. Raises RulebookError and StoreError."""
        for pause in PAUSES:
            try:
                return self._rulebook()
            except RulebookError as error:
                if error.code != "not-activated":
                    raise
                time.sleep(pause)
        return self._rulebook()

    def _rulebook(self) -> Rulebook:
        newest = _newest(self.store)
        if newest is None:
            raise _never()
        mark, seen = _mark(self._name, self._watch), self._seen
        if seen is not None and (seen.mark, seen.activation) == (mark, newest):
            return seen.rulebook
        rulebook = _read(self.path, newest)
        self._seen = _Seen(mark, newest, rulebook)
        return rulebook


class _Seen(NamedTuple):
    mark: Mark
    activation: Activation
    rulebook: Rulebook


def _newest(store: Store) -> Activation | None:
    with store.read() as view:
        return newest_activation(view)


def _last(store: Store) -> Activation | None:
    with store.read() as view:
        return last_activation(view)


def _read(path: Path, activation: Activation) -> Rulebook:
    rulebook = read_rulebook(path, digest=activation.digest)
    if rulebook.hash != activation.policy:
        what = f"{path}: the rulebook is of another policy than the one that was activated"
        raise RulebookError(what, code="not-activated", help="run `remit activate` again")
    return rulebook


def _mark(name: str, within: Watch) -> Mark:
    """What changes when the file or its directory does, or when others get at it."""
    try:
        file = os.lstat(name)
    except OSError:
        return ()
    return (file.st_ino, file.st_mtime_ns, file.st_ctime_ns, file.st_size, *within.mark())


def _never() -> RulebookError:
    return RulebookError("no policy is activated", code="no-rulebook", help="a person runs `remit activate`")


# Activating


def put_in_force(
    opened: Opened,
    root: Path,
    rulebook: Rulebook,
    *,
    after: Activation | None,
    by: Signatory,
    also: Callable[[Transaction], object] | None = None,
) -> Activation:
    """The rulebook is in force, in place of the one of `after`. Raises RemitError; the old one is in force then.

    `also` is done in the same transaction.

    Only where a write to the store, or the renaming, failed half-way, nothing is in force: the error says so.
    """
    data, path = encode_rulebook(rulebook), rulebook_path(root)
    if len(data) > MAX_SIZE:
        raise RulebookError(f"the rulebook has {len(data)} bytes, more than {MAX_SIZE}")
    with _alone(opened.state):
        if _last(opened.store) != after:
            raise _meanwhile()
        staged = stage_rulebook(data, path)
        try:
            activation = _added(opened, rulebook, after, sha256(data).hexdigest(), by, also)
        except RemitError as error:
            if not getattr(error, "uncertain", False):
                _remove(staged)
            raise
        # From here on the file may be the only one that counts: it stays where the next activation looks for it.
        put_in_place(staged, path)
    return activation


def finish_activation(opened: Opened, root: Path) -> bool:
    """Puts a file in place that an interrupted activation left behind, and removes other staged files.

    True if there was one. Raises RulebookError and StoreError.
    """
    path = rulebook_path(root)
    with _alone(opened.state):
        found = read_in_force(root, opened.store)
        wanted = found.activation if found.rulebook is None else None
        done = False
        for left in sorted(path.parent.glob(f"{STAGED}*")):
            if wanted is not None and not done and _is(left, wanted):
                put_in_place(left, path)
                done = True
            else:
                _remove(left)
    return done


def repair_rulebook(opened: Opened, root: Path, rulebook: Rulebook) -> bool:
    """Writes the file anew if that gives exactly the one that was activated; False if not.

    Raises RulebookError and StoreError.
    """
    data, path = encode_rulebook(rulebook), rulebook_path(root)
    with _alone(opened.state):
        activation = _newest(opened.store)
        if activation is None or activation.digest != sha256(data).hexdigest():
            return False
        put_in_place(stage_rulebook(data, path), path)
    return True


def _added(
    opened: Opened,
    rulebook: Rulebook,
    after: Activation | None,
    digest: str,
    by: Signatory,
    also: Callable[[Transaction], object] | None,
) -> Activation:
    from remit.record.policy import record_weakenings  # here: a hook starts faster without

    at, writer = opened.ledger.clock(), opened.ledger.writer
    try:
        with opened.store.write() as change:
            made = add_activation(
                change,
                after,
                policy=rulebook.hash,
                digest=digest,
                at=at,
                by=by.name,
                name=rulebook.book.name,
                writer=writer,
                none_needed=needs_none(rulebook.book),
                people={person.name: person.roles for person in rulebook.book.people.values()},
                sign=by.sign,
            )
            record_weakenings(change, rulebook, at=at, writer=writer)
            if also is not None:
                also(change)
            return made
    except StoreRefused:
        raise _meanwhile() from None
    except StoreError as error:
        if error.uncertain:
            error.help = "it may be in force, or nothing is: run `remit activate` again"
        raise


def _meanwhile() -> ActivationError:
    return ActivationError("another policy was activated meanwhile", help="run `remit activate` again, and look again")


def _is(path: Path, activation: Activation) -> bool:
    try:
        _read(path, activation)
    except RulebookError:
        return False
    return True


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise RulebookError(f"{path}: can't be removed: {error.strerror}") from None


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """No other activation on this machine writes meanwhile."""
    try:
        handle = os.open(state / "activating", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise from_os_error(error, "lock the state directory") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
