"""The ledger's errors."""

from __future__ import annotations

from remit.model.errors import RemitError


class LedgerError(RemitError):
    """Something about the ledger that must not be passed over."""

    code = "bad-ledger"


class LedgerUnavailable(LedgerError):
    """The ledger can't be written now: the call is denied, and the next one may pass."""

    code = "ledger-unavailable"
