"""Dates of documents and records: what should have been looked at again, and dates that can't be right."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator

from remit.scan.files import Text
from remit.scan.lint.finding import finding
from remit.scan.markdown import Document
from remit.scan.model import Finding, Place
from remit.scan.records import Record
from remit.scan.vocabulary import section

OVERDUE = 100
"""Days after which a review is overdue, if nothing says when the next one is."""
_DATE = r"(?P<date>\d{4}-\d{2}-\d{2}|\d{4}-Q[1-4]|Q[1-4] \d{4}|\d{4}-\d{2})\b"


def _dated(what: str) -> re.Pattern[str]:
    """A line that begins with a word of the catalog and gives a date."""
    found = sorted(section("review_dates")[what], key=len, reverse=True)
    said = "|".join(re.escape(one).replace(r"\ ", "[ _-]") for one in found)
    return re.compile(rf"^\W*(?:{said})\W{{0,6}}[:： ]\W*{_DATE}", re.I)


_LAST, _NEXT = _dated("last"), _dated("next")
_RHYTHMS = {"weekly": 7, "monthly": 31, "quarterly": 92, "half-yearly": 184, "yearly": 366, "annually": 366}
_RHYTHM = re.compile(rf"\breview(?:s|ed)?\W+(?:are\W+)?({'|'.join(_RHYTHMS)})\b|\b({'|'.join(_RHYTHMS)}) review", re.I)
_WARNS = re.compile(
    r"\b(?:warn|alert|remind)(?:s|ed|ing)?\W+(?:\w+\W+){0,2}?(?:at|after) (\d{1,4}) ?d(?:ays?)?\b", re.I
)


def reviews_of(text: Text, document: Document, today: datetime.date) -> Iterator[Finding]:
    """A document's own dates: its next review against its last change, and against today."""
    found = {
        what: next(((match, line) for line in document.lines if (match := pattern.match(line.text))), None)
        for what, pattern in (("last", _LAST), ("next", _NEXT))
    }
    yield from _late_warning(text, document)
    after = found["next"]
    if after is None:
        return
    due, place = _end_of(after[0]["date"]), Place(text.path, after[1].line)
    last = found["last"]
    changed = _end_of(last[0]["date"]) if last is not None else None
    if due is not None and changed is not None and last is not None and due < changed:
        yield finding(
            "dates-contradict",
            f"the next review ({after[0]['date']}) is before the last change ({last[0]['date']})",
            place,
            Place(text.path, last[1].line),
        )
    elif due is not None and due < today:
        yield finding(
            "review-overdue/reviews-of", f"its review was due {after[0]['date']}, {(today - due).days} days ago", place
        )


def _late_warning(text: Text, document: Document) -> Iterator[Finding]:
    """Reviews in a rhythm, and a warning of a review that was skipped only when the rhythm is long past."""
    rows = [(" | ".join(row.cells), row.line) for table in document.tables for row in table.rows]
    lines = [*((line.text, line.line) for line in document.lines), *rows]
    rhythm = next(((match, line) for said, line in lines if (match := _RHYTHM.search(said[:1000]))), None)
    for said, line in lines if rhythm is not None else ():
        match = _WARNS.search(said[:1000]) if "review" in said.lower() else None
        if rhythm is None or match is None:
            continue
        word = (rhythm[0][1] or rhythm[0][2]).lower()
        if int(match[1]) > _RHYTHMS[word]:
            what = f"reviews are {word} (every {_RHYTHMS[word]} days at most), and the warning comes after {match[1]}"
            yield finding("dates-contradict/warning", what, Place(text.path, rhythm[1]), Place(text.path, line))
            return


def _end_of(written: str) -> datetime.date | None:
    """The last day of a date, month or quarter."""
    quarter = re.fullmatch(r"(\d{4})-Q([1-4])|Q([1-4]) (\d{4})", written)
    try:
        if quarter:
            year, month = int(quarter[1] or quarter[4]), 3 * int(quarter[2] or quarter[3])
        elif len(written) == 7:
            year, month = int(written[:4]), int(written[5:])
        else:
            return datetime.date.fromisoformat(written)
        following = datetime.date(year + month // 12, month % 12 + 1, 1)
    except ValueError:
        return None
    return following - datetime.timedelta(days=1)


def review_of(record: Record, place: Place, today: datetime.date) -> Iterator[Finding]:
    """A record that nobody has reviewed for too long."""
    try:
        reviewed = datetime.date.fromisoformat(str(record.values.get("last_reviewed")))
    except ValueError:
        return
    age = (today - reviewed).days
    if age > OVERDUE:
        yield finding("review-overdue", f"last reviewed {age} days ago ({reviewed})", place, agent=record.agent)
