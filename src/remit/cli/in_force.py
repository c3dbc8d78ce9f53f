"""The rulebook in force: finding it, and putting another in its place so that a crash leaves one or the other.

First the new file lies beside the old one; then the ledger says so; then the store; and only then is it renamed. A file
that is not the one of the newest activation is in force for nobody. So between the last two steps everything is denied,
and whoever runs `remit activate` next finds the file that is missing and finishes what was begun.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
from remit.grant.activation import Activation, add_activation, newest_activation
from remit.model.errors import RemitError, RulebookError
from remit.model.moments import exact_moment
from remit.model.rulebook import Rulebook
from remit.record.open import Opened
from remit.record.policy import record_activation
from remit.store import Store
from remit.store.errors import StoreError, StoreRefused, from_os_error


class ActivationError(RemitError):
    """A rulebook that can't be put in force now."""

    code = "not-activated"


class InForce(msgspec.Struct, frozen=True):
    """What was activated last, and its rulebook, or why there is none that may be used."""

    activation: Activation | None = None
    rulebook: Rulebook | None = None
    fault: str | None = None
    """Where something was activated, why its rulebook can't be used: everything is denied then."""


def in_force(root: Path, store: Store) -> InForce:
    """What is in force for the project at `root`. Raises StoreError."""
    with store.read() as view:
        activation = newest_activation(view)
    if activation is None:
        return InForce()
    try:
        rulebook = read_rulebook(rulebook_path(root), digest=activation.digest)
    except RulebookError as error:
        return InForce(activation, None, str(error))
    if rulebook.hash != activation.policy:
        return InForce(activation, None, "the rulebook is of another policy than the one that was activated")
    return InForce(activation, rulebook)


def finish(opened: Opened, root: Path) -> bool:
    """Puts a file in place that an activation left behind when it was interrupted; others of the kind go.

    True if there was one. Raises RulebookError and StoreError.
    """
    path = rulebook_path(root)
    with _alone(opened.state):
        found = in_force(root, opened.store)
        wanted = found.activation.digest if found.activation is not None and found.rulebook is None else None
        done = False
        for left in sorted(path.parent.glob(f"{STAGED}*")):
            if wanted is not None and not done and _is(left, wanted):
                put_in_place(left, path)
                done = True
            else:
                _remove(left)
    return done


def repair(opened: Opened, root: Path, rulebook: Rulebook) -> bool:
    """Writes the file anew if that gives exactly the one that was activated; false if not. Raises as `finish`."""
    data = encode_rulebook(rulebook)
    with _alone(opened.state):
        with opened.store.read() as view:
            activation = newest_activation(view)
        if activation is None or activation.digest != _digest(data):
            return False
        path = rulebook_path(root)
        put_in_place(stage_rulebook(data, path), path)
    return True


def put_in_force(opened: Opened, root: Path, rulebook: Rulebook, *, after: Activation | None, by: str) -> Activation:
    """The rulebook is in force, in place of the one of `after`. Raises RemitError; the old one is in force then.

    Only where a write to the store, or the renaming, failed half-way, nothing is in force: the error says so.
    """
    data, path = encode_rulebook(rulebook), rulebook_path(root)
    if len(data) > MAX_SIZE:
        raise RulebookError(f"the rulebook has {len(data)} bytes, more than {MAX_SIZE}")
    with _alone(opened.state):
        with opened.store.read() as view:
            if newest_activation(view) != after:
                raise _meanwhile()
        staged = stage_rulebook(data, path)
        try:
            record_activation(opened.ledger, rulebook, by)
        except BaseException:
            _remove(staged)
            raise
        activation = _added(opened, rulebook, after, _digest(data), by)
        # From here on the file may be the only one that counts: it stays where the next activation looks for it.
        put_in_place(staged, path)
    return activation


def _added(opened: Opened, rulebook: Rulebook, after: Activation | None, digest: str, by: str) -> Activation:
    at = exact_moment(opened.ledger.clock())
    try:
        with opened.store.write() as change:
            seq = add_activation(change, after, policy=rulebook.hash, digest=digest, at=at, by=by)
    except StoreRefused:
        raise _meanwhile() from None
    except StoreError as error:
        if error.uncertain:
            error.help = "it may be in force, or nothing is: run `remit activate` again"
        raise
    return Activation(seq, rulebook.hash, digest, at, by)


def _meanwhile() -> ActivationError:
    return ActivationError("another policy was activated meanwhile", help="run `remit activate` again, and look again")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is(path: Path, digest: str) -> bool:
    try:
        read_rulebook(path, digest=digest)
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
