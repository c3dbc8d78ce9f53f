"""What verifying finds."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong: the entries among which it lies, and the row and column, where these are known."""

    code: str
    message: str
    first: int | None = None
    last: int | None = None
    table: str | None = None
    key: tuple[str | int, ...] | None = None
    column: str | None = None
