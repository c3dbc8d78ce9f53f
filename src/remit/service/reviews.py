"""How a policy's reviews stand, by the file and by the ledger of its project."""

from __future__ import annotations

import time
from pathlib import Path

from remit.grant.authority import Authority
from remit.grant.reviews import Review, reviews
from remit.model.moments import moment
from remit.model.rulebook import Rulebook
from remit.record.errors import LedgerError
from remit.record.open import open_log


def standing_reviews(path: Path, rulebook: Rulebook) -> list[Review]:
    """The reviews that the rulebook demands, the worst first. Raises LedgerError and StoreError."""
    try:
        with open_log(path.absolute().parent) as opened:
            return Authority(opened.store, opened.vault).reviews(rulebook)
    except LedgerError as error:
        if error.code != "no-ledger":
            raise
        return reviews(rulebook.book, moment(time.time()), {})
