"""The id of a call, as it stands in entries and in the list of calls that run."""

from __future__ import annotations

import re

from remit.record.errors import LedgerError

_CALL_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,200}")


def is_id(text: str) -> bool:
    """Whether a text can be the id of a call."""
    return _CALL_ID.fullmatch(text) is not None


def checked_id(text: str) -> str:
    """The id itself. Raises LedgerError for a text that can't be one."""
    if not is_id(text):
        raise LedgerError("the id of a call has up to 200 letters, digits and . _ : / + = @ -", code="bad-entry")
    return text
