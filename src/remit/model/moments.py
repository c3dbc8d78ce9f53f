"""Moments: one form for every point in time, `2026-11-15T12:00:00Z`, in UTC, so that texts compare as times do.

moment(1_794_744_000)            # 2026-11-15T12:00:00Z
read_moment("2026-11-15")        # 2026-11-15T00:00:00Z
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

from remit.model.pattern import compile_later

_DATE = compile_later(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = compile_later(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ](?:[01][0-9]|2[0-3]):[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)


@lru_cache(8)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").removesuffix("+00:00")


def moment(seconds: float) -> str:
    """The moment so many seconds after 1970 began."""
    return f"{_second(int(seconds // 1))}Z"


def exact_moment(nanoseconds: int) -> str:
    """The moment so many nanoseconds after 1970 began, to the millisecond: `2026-11-15T12:00:00.123Z`."""
    return _millisecond(nanoseconds // 1_000_000)


@lru_cache(8)
def _millisecond(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1_000)
    return f"{_second(seconds)}.{rest:03d}Z"


def read_moment(text: str) -> str | None:
    """The moment that people wrote; a date is its first instant. None for anything else, or without a time zone."""
    try:
        if _DATE.fullmatch(text):
            when = datetime.fromisoformat(text).replace(tzinfo=UTC)
        elif _MOMENT.fullmatch(text):
            when = datetime.fromisoformat(text.upper().replace(" ", "T"))
        else:
            return None
        return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    except (ValueError, OverflowError):
        return None


def duration(text: str) -> int:
    """The seconds of a duration as policies write it: `90s`, `10m`, `24h`, `30d`."""
    return int(text[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86_400}[text[-1]]


def seconds_of(moment: str) -> float:
    """The seconds since 1970 of a moment, exact or not. Raises ValueError."""
    return datetime.fromisoformat(moment).timestamp()
