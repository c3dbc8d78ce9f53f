"""What can go wrong with a store. Programs look at the code, or at the class, which is the same thing."""

from __future__ import annotations

import errno

from remit.model.errors import RemitError


class StoreError(RemitError):
    """State that can't be read or kept. Whoever needs it must refuse, not guess."""

    code = "store-unavailable"
    uncertain = False
    """True if a write failed while it was being made durable: it may have been kept, so look before trying again."""


class StoreUnavailable(StoreError):
    """The store is not there, does not answer, or may not be opened by this process."""

    code = "store-unavailable"


class StoreBusy(StoreError):
    """Someone else held the store for longer than the deadline."""

    code = "store-busy"


class StoreFull(StoreError):
    """Nothing can be written: disk full, quota, read-only, I/O error."""

    code = "store-full"


class StoreCorrupt(StoreError):
    """What is there is not what was left there."""

    code = "store-corrupt"


class StoreUnsafe(StoreError):
    """The place is open to others, or can't keep what it is given."""

    code = "store-unsafe"


class StoreTooNew(StoreError):
    """A newer version of Remit has changed the tables."""

    code = "store-too-new"


class StoreMisconfigured(StoreError):
    """A setting, of ours or of the server, with which state can't be kept."""

    code = "store-misconfigured"


class StoreRefused(StoreError):
    """A table refused a row: a key that exists, a condition not met, a record that may only be added to."""

    code = "store-refused"


class StoreMisused(StoreError):
    """A mistake in the calling code: nested writes, a transaction that is over, SQL outside the common subset."""

    code = "store-misused"


_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EFBIG}


def from_os_error(error: OSError, what: str, *, help: str | None = None) -> StoreError:
    """The same as a store error; `what` says what was tried."""
    kind = StoreFull if error.errno in _FULL else StoreUnavailable
    return kind(f"can't {what}: {error.strerror or error}", help=help)
