"""Moments: one form, which sorts as time does, and what people may write for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.model.moments import exact_moment, moment, read_moment, seconds_of

SECONDS = st.integers(-62_135_596_800, 253_402_300_799)


def test_the_form():
    assert moment(0) == "1970-01-01T00:00:00Z"
    assert moment(0.999) == "1970-01-01T00:00:00Z"
    assert moment(-0.001) == "1969-12-31T23:59:59Z"
    assert exact_moment(0) == "1970-01-01T00:00:00.000Z"
    assert exact_moment(1_800_000_000_123_456_789) == "2027-01-15T08:00:00.123Z"
    assert exact_moment(-1) == "1969-12-31T23:59:59.999Z"


@given(SECONDS, SECONDS)
def test_texts_compare_as_moments_do(one: int, two: int):
    assert (moment(one) < moment(two)) == (one < two)
    assert (exact_moment(one * 10**9) < exact_moment(two * 10**9)) == (one < two)


@given(SECONDS)
def test_it_is_read_back(seconds: int):
    assert seconds_of(moment(seconds)) == seconds
    assert read_moment(moment(seconds)) == moment(seconds)
    assert read_moment(moment(seconds)[:10]) == moment(seconds - seconds % 86_400)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("2026-11-15", "2026-11-15T00:00:00Z"),
        ("2026-11-15T12:00Z", "2026-11-15T12:00:00Z"),
        ("2026-11-15 12:00:00+02:00", "2026-11-15T10:00:00Z"),
        ("0001-01-01", "0001-01-01T00:00:00Z"),
        ("0001-01-01T00:00:00+02:00", None),
        ("2026-11-15T12:00:00", None),
        ("2026-13-01", None),
        ("2026-02-30", None),
        ("tomorrow", None),
        ("٢٠٢٦-11-15", None),
        ("", None),
    ],
)
def test_what_people_write(text: str, found: str | None):
    assert read_moment(text) == found


def test_what_is_no_moment_has_no_seconds():
    with pytest.raises(ValueError, match="Invalid isoformat"):
        seconds_of("soon")
