"""The ledger's errors."""

from __future__ import annotations

from remit.model.errors import RemitError

STOPPED_HELP = (
    "look at `remit ledger verify`; restore the newest copy of the store, or keep this one as evidence;"
    " then a person runs `remit ledger resume --because REASON`"
)


class LedgerError(RemitError):
    """Something about the ledger that must not be passed over."""

    code = "bad-ledger"


class LedgerUnavailable(LedgerError):
    """The ledger can't be written now: the call is denied, and the next one may pass."""

    code = "ledger-unavailable"


class LedgerStopped(LedgerUnavailable):
    """The log was found cut or forked. Nobody writes to it until a person has looked at it and lifted the stop mark."""

    code = "ledger-stopped"

    def __init__(self, message: str, *, code: str | None = None, help: str | None = None) -> None:
        super().__init__(message, code=code, help=help if help is not None else STOPPED_HELP)


class LedgerWarning(UserWarning):
    """Something is wrong with the ledger that stops nobody yet: a person should look at it."""
