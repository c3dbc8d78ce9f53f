"""Names that people write, which must be ones that are known."""

from __future__ import annotations

from remit.model.errors import InputError
from remit.model.text import shown, suggestion


def known_name(name: str, known: list[str], what: str) -> str:
    """The name itself. Raises InputError with a suggestion if it isn't one of those known."""
    if name in known:
        return name
    raise InputError(f"unknown {what} `{shown(name)}`{suggestion(name, known)}", code=f"unknown-{what}")
