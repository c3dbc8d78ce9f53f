"""Dates and moments: `2027-03-01`, `2027-03-01T12:00:00+01:00`; a scope names days, or a range from one to another.

    >>> read_date("2027-03-01T12:00:00+01:00")
    '2027-03-01T11:00:00Z'

A moment has a time zone and becomes UTC. A date stands for the whole day, in UTC. Other forms are refused: a week, a
day of the year, a moment without a zone, 24:00, a leap second. A range begins with `from` and ends before `until`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from remit.model.pattern import compile_later
from remit.model.text import shown
from remit.scopes.canonical import CanonicalKind
from remit.scopes.interface import Matcher, Unit, in_quotes

if TYPE_CHECKING:
    from remit.forms.shapes import Shape

_DATE = compile_later(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = compile_later(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T(?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})"
)
Span = tuple[datetime, datetime]
"""From a moment until before another; both the same for a single moment."""


def read_date(text: str) -> str:
    """A date as it is, or a moment in UTC. Raises ValueError."""
    try:
        if _DATE.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text).astimezone(UTC).isoformat().replace("+00:00", "Z")
    except (ValueError, OverflowError):
        pass
    raise ValueError(
        f"`{shown(text, 80)}` is neither a date such as 2027-03-01 nor a moment such as 2027-03-01T12:00:00Z"
    )


def _span(canonical: str) -> Span:
    if "T" in canonical:
        moment = datetime.fromisoformat(canonical)
        return moment, moment
    day = datetime.fromisoformat(canonical).replace(tzinfo=UTC)
    return day, day + timedelta(days=1) if day.date() < date.max else datetime.max.replace(tzinfo=UTC)


class DateMatcher(Matcher):
    """What a `date:` scope says about dates."""

    __slots__ = ("empty", "spans", "texts")

    def __init__(self, entries: Sequence[str | Mapping[str, str]]) -> None:
        self.empty = not entries
        self.texts = tuple(map(_described, entries))
        self.spans = [_limits(entry) for entry in entries]

    def covers(self, unit: Unit) -> bool:
        first, end = _span(unit.value)
        return any(low <= first and (end < high or (first < end == high)) for low, high in self.spans)

    def touches(self, unit: Unit) -> bool:
        first, end = _span(unit.value)
        return any(first < high and (low < end or low <= first) for low, high in self.spans)

    def describe(self) -> str:
        return ", ".join(self.texts) or "no date"

    def samples(self) -> list[Any]:
        return [low.isoformat().replace("+00:00", "Z") for low, _ in self.spans]


def _limits(entry: str | Mapping[str, str]) -> Span:
    if isinstance(entry, str):
        first, end = _span(read_date(entry))
        return first, end if first < end else first + timedelta(microseconds=1)
    low = _span(read_date(entry["from"]))[0] if "from" in entry else datetime.min.replace(tzinfo=UTC)
    high = _span(read_date(entry["until"]))[0] if "until" in entry else datetime.max.replace(tzinfo=UTC)
    return low, high


def _described(entry: str | Mapping[str, str]) -> str:
    return entry if isinstance(entry, str) else " ".join(f"{word} {entry[word]}" for word in entry)


class DateKind(CanonicalKind):
    """A date, or a moment with its time zone."""

    name = unit = "date"
    noun = "a date"
    about = "which dates it may name: a date, or `{from: …, until: …}`, which ends before `until`"
    limited_by = ("date",)
    must_be_mentioned = False
    instead = "`date:`"

    def read(self, text: str) -> Any:
        return read_date(text)

    def form(self) -> Shape:
        from remit.forms.shapes import Either, Field, ListOf, Record  # here: a compiled policy needs no forms
        from remit.forms.texts import Parsed

        one = Parsed(read_date, "a date such as 2027-03-01", "bad-date")
        limits = {"from": Field(one, "the first that counts"), "until": Field(one, "the first that no longer counts")}

        def build(values: dict[str, Any], node: Any, reader: Any) -> Any:
            if not values:
                return reader.fail(node.at, "bad-value", "a range has `from`, `until` or both")
            low, high = _limits(values)
            if low >= high:
                return reader.fail(node.at, "bad-value", "no date lies in this range: `until` is not after `from`")
            return values

        return ListOf(Either(scalar=one, map=Record(limits, build, what="a range of dates")), single=True)

    def matcher(self, data: Any) -> Matcher:
        return DateMatcher(data)

    def harmless(self) -> Any:
        return "2027-03-01"

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        return f"date: {in_quotes(unit.value)}"


KINDS = (DateKind(),)
