"""How long ago: `7d`, `12h`, or a moment."""

from __future__ import annotations

import re
import time

from remit.cli.ledger.options import moment_option
from remit.model.moments import moment

_AGO = re.compile(r"([1-9][0-9]{0,3})([dhm])")
_SECONDS = {"d": 86_400, "h": 3_600, "m": 60}


def start_of(text: str) -> str:
    """The moment in the form that entries have. Raises InputError."""
    ago = _AGO.fullmatch(text)
    if ago is None:
        return moment_option(text, "--since") or ""
    return moment(time.time() - int(ago[1]) * _SECONDS[ago[2]]).removesuffix("Z") + ".000Z"
