"""E-mail addresses, accounts, hosts and dates: one canonical form, or refused; look-alikes touch prohibitions."""

from __future__ import annotations

import string
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from email.utils import getaddresses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.model import PolicyError
from remit.scopes import email, host
from remit.scopes.account import read_account
from remit.scopes.date import read_date
from remit.scopes.email import read_address
from remit.scopes.host import host_in, read_host
from remit.scopes.interface import Unit
from remit.scopes.kinds import kind_of
from tests.decide.kit import book, outcome

REFUSED: list[tuple[Callable[[str], str], str]] = [
    *(
        (read_address, text)
        for text in (
            *(
                "",
                "@",
                "a@",
                "@x.example",
                "a",
                "a@x",
                "a@1.2.3.4",
                "a@[::1]",
                "a@[1.2.3.4]",
                "a@x.example.",
                "a@.example",
            ),
            *(
                "a b@x.example",
                " a@x.example",
                "a@x.example ",
                "a@x.example\n",
                "a\x00@x.example",
                "a@x.example\r\nBcc: e@e.example",
            ),
            *("a@x.example,e@e.example", "a@x.example;e@e.example", "a@x.example e@e.example", "a@b@x.example"),
            *(
                '"a b"@x.example',
                '"a@x.example"@e.example',
                "a(c)@x.example",
                "a@(c)x.example",
                "a@x.example(c)",
                "a\\@x.example",
            ),
            *(
                "A <a@x.example> <e@e.example>",
                "a@x.example <e@e.example>",
                '"a@x.example" <e@e.example>',
                "A <a@x.example>, e@e.example",
            ),
            *(
                "A, B <a@x.example>",
                "g: a@x.example;",
                "A <<a@x.example>>",
                "A <a@x.example",
                "a@x.example>",
                '"A <a@x.example>',
                '" <a@x.example>',
                "A<a@x.example>",
            ),
            *(
                "@r.example:a@x.example",
                "<@r.example:a@x.example>",
                "a%e.example@x.example",
                "e.example!a@x.example",
                "mailto:a@x.example",
            ),
            *(
                "a@x.exаmple",
                "а@x.example",
                "a＠x.example",
                "a@x。example",
                "\u202ea <a@x.example>",
                "a\u200b@x.example",
                "=?utf-8?q?a?= <a@x.example>",
            ),
            *(
                ".a@x.example",
                "a.@x.example",
                "a..b@x.example",
                "-a@x.example",
                "a" * 65 + "@x.example",
                "a@" + "x" * 64 + ".example",
            ),
        )
    ),
    *(
        (read_account, text)
        for text in (
            *(
                "",
                " ",
                "a b",
                "-a",
                "a-",
                "a\n",
                "DE89370400440532013001",
                "DE00370400440532013000",
                "DE99ABCDEFG100084",  # the same remainders, by other digits than those that the standard gives
                "DE01ABCDEFG100005",
                "DE00ABCDEFG100023",
                "DE89  3704 0044 0532 0130 00",
            ),
            *(
                " DE89370400440532013000",
                "IBAN DE89 3704 0044 0532 0130 00",
                "ＤＥ89370400440532013000",
                "DE8937040044053201300O",
                "a" * 65,
            ),
            *("1234\u200b", "12,34", "12;DROP", "DE89370400440532013000 GB82WEST12345698765432"),
        )
    ),
    *(
        (read_host, text)
        for text in (
            *(
                "",
                ".",
                "x.example.",
                "x..example",
                "http://x.example",
                "x.example/",
                "u@x.example",
                "x.example:",
                "x.example:0",
                "x.example:99999",
            ),
            *(
                "127.1",
                "0177.0.0.1",
                "0x7f000001",
                "2130706433",
                "::1",
                "[::1",
                "[::1]x",
                "[::ffff:1.2.3.4]",
                "[0:0::1]",
                "é.example",
                "x。example",
            ),
            *("x example", "x.example\n", "*.x.example", "x.example:80:81", "-x.example", "x.example:080"),
        )
    ),
    *(
        (read_date, text)
        for text in (
            *(
                "",
                "2027",
                "2027-3-1",
                "2027-02-30",
                "20270301",
                "2027-W09-1",
                "2027-060",
                "01.03.2027",
                "tomorrow",
                "2027-03-01T12:00:00",
            ),
            *(
                "2027-03-01 12:00:00Z",
                "2027-03-01t12:00:00z",
                "2027-03-01T24:00:00Z",
                "2027-03-01T12:00:60Z",
                "2027-03-01T12Z",
                " 2027-03-01",
            ),
            *(
                "2027-03-01\n",
                "٢٠٢٧-٠٣-٠١",
                "2027-03-01T12:00:00+25:00",
                "0001-01-01T00:00:00+10:00",
                "9999-12-31T23:59:59-10:00",
            ),
        )
    ),
]


@pytest.mark.parametrize(
    ("read", "text"), REFUSED, ids=lambda value: ascii(value)[:40] if isinstance(value, str) else ""
)
def test_what_could_be_read_in_two_ways_is_refused(read: Callable[[str], str], text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read(text)


@pytest.mark.parametrize(
    ("read", "text", "canonical"),
    [
        (read_address, "Ann@X.Example", "Ann@x.example"),
        (read_address, "Ann O'Neil-Müller 2. <ann+a@mail.x.example>", "ann+a@mail.x.example"),
        (read_address, '"Ann" <ann@x.example>', "ann@x.example"),
        (read_address, '"" <ann@x.example>', "ann@x.example"),
        (read_address, "<ann@x.example>", "ann@x.example"),
        (read_account, "DE02ABCDEFG100084", "DE02ABCDEFG100084"),
        (read_account, "DE98ABCDEFG100005", "DE98ABCDEFG100005"),
        (read_address, "a@xn--xmple-gva.example", "a@xn--xmple-gva.example"),
        (read_account, "gb82 west 1234 5698 7654 32", "GB82WEST12345698765432"),
        (read_account, "Cust.17/a:b_c-d", "Cust.17/a:b_c-d"),
        (read_host, "WWW.X.example:8080", "www.x.example:8080"),
        (read_host, "[::1]:80", "[::1]:80"),
        (read_date, "2027-03-01T00:30+01:00", "2027-02-28T23:30:00Z"),
    ],
)
def test_the_canonical_form(read: Callable[[str], str], text: str, canonical: str) -> None:
    assert read(text) == canonical
    assert read(canonical) == canonical


@given(st.text(alphabet=string.ascii_letters + string.digits + " .,;:<>()[]@\"\\'+-_\r\n\té", max_size=40))
def test_another_parser_finds_the_same_single_address(text: str) -> None:
    for candidate in (text, text + "@x.example", f"{text} <ann@x.example>", f"ann@x.example{text}"):
        try:
            found = read_address(candidate)
        except ValueError:
            continue
        [(_, address)] = getaddresses([candidate])
        local, _, domain = address.rpartition("@")
        assert f"{local}@{domain.lower()}" == found


@given(
    st.text(alphabet=string.ascii_uppercase + string.digits, min_size=11, max_size=30),
    st.sampled_from(["DE", "GB", "FR"]),
)
def test_one_wrong_character_is_noticed(rest: str, country: str) -> None:
    number = int("".join(str(int(char, 36)) for char in f"{rest}{country}00"))
    right = f"{country}{98 - number % 97:02d}{rest}"
    assert read_account(right.lower()) == right
    other = "1" if right[-1] == "0" else "0"
    if int(right[-1], 36) % 97 != int(other):
        with pytest.raises(ValueError, match="check digits"):
            read_account(right[:-1] + other)


days = st.dates(date(2020, 1, 1), date(2030, 1, 1))
zones = st.integers(-14, 14).map(lambda hours: timezone(timedelta(hours=hours)))


@given(days, days, st.datetimes(datetime(2019, 1, 1), datetime(2031, 1, 1), timezones=zones))
def test_a_range_is_that_of_time_itself(one: date, two: date, moment: datetime) -> None:
    if one == two:
        return
    low, high = min(one, two), max(one, two)
    matcher = kind_of("date").matcher([{"from": low.isoformat(), "until": high.isoformat()}])
    first, end = (datetime(day.year, day.month, day.day, tzinfo=UTC) for day in (low, high))
    unit = Unit("date", "d", read_date(moment.isoformat()))
    assert matcher.covers(unit) is matcher.touches(unit) is (first <= moment < end)
    day = Unit("date", "d", moment.date().isoformat())
    assert matcher.covers(day) is matcher.touches(day) is (low <= moment.date() < high)


@pytest.mark.parametrize(
    ("kind", "scope", "covered", "touched", "neither"),
    [
        (
            "email",
            "ann@x.example",
            ["ann@x.example"],
            ["Ann@x.example", "ann+b@x.example"],
            ["an@x.example", "ann@y.x.example"],
        ),
        ("email", "+a@x.example", ["+a@x.example"], ["+A@x.example"], ["+b@x.example", "a@x.example"]),
        ("email", "*@*.x.example", ["a@b.x.example", "a@c.b.x.example"], [], ["a@x.example", "a@bx.example"]),
        ("account", "DE89 3704 0044 0532 0130 00", ["DE89370400440532013000"], ["DE89-3704-0044-0532-0130-00"], ["DE"]),
        ("account", "acme-1", ["acme-1"], ["ACME_1", "acme1"], ["acme-2"]),
        ("host", "x.example", ["x.example"], ["x.example:22"], ["a.x.example"]),
        (
            "host",
            "*.x.example:*",
            ["a.x.example", "a.b.x.example:1"],
            [],
            ["x.example", "ax.example", "a.quite.other.example"],
        ),
        ("host", "[::1]:80", ["[::1]:80"], ["[::1]"], ["[::2]:80"]),
    ],
)
def test_a_prohibition_reaches_further(
    kind: str, scope: str, covered: list[str], touched: list[str], neither: list[str]
) -> None:
    found = kind_of(kind)
    matcher = found.matcher([scope])

    def answers(texts: list[str]) -> set[tuple[bool, bool]]:
        units = [Unit(kind, "x", found.read(text)) for text in texts]  # type: ignore[attr-defined]
        return {(matcher.covers(unit), matcher.touches(unit)) for unit in units}

    assert answers(covered) == {(True, True)}
    assert answers(touched) <= {(False, True)}
    assert answers(neither) == {(False, False)}
    assert scope in matcher.describe()


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (email.read_pattern, "x.example"),
        (email.read_pattern, "a*@x.example"),
        (email.read_pattern, "a b@x.example"),
        (email.read_pattern, "**@x.example"),
        (email.read_pattern, "@x.example"),
        (email.read_pattern, "a" * 65 + "@x.example"),
        (email.read_pattern, "a@*"),
        (email.read_pattern, "a@*.*.x.example"),
        (email.read_pattern, "a@x*.example"),
        (host.read_pattern, "*.2.3.4"),
        (host.read_pattern, "*"),
        (host.read_pattern, "*.*.x.example"),
        (host.read_pattern, "x.*.example"),
        (host.read_pattern, "x.example:0"),
        (host.read_pattern, "x.example:**"),
    ],
)
def test_patterns_that_are_refused(read: Callable[[str], tuple[str, str]], text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        read(text)


@pytest.mark.parametrize(
    ("read", "text", "found"),
    [
        (email.read_pattern, "a" * 64 + "@X.example", ("a" * 64, "x.example")),
        (email.read_pattern, "*@*.X.example", ("*", "*.x.example")),
        (host.read_pattern, "*.X.example", ("*.x.example", "")),
        (host.read_pattern, "1.2.3.4", ("1.2.3.4", "")),
        (host.read_pattern, "x.example:*", ("x.example", "*")),
        (host.read_pattern, "x.example:8080", ("x.example", "8080")),
    ],
)
def test_patterns(read: Callable[[str], tuple[str, str]], text: str, found: tuple[str, str]) -> None:
    assert read(text) == found


def books(scope: object) -> str:
    """The outcome of booking the second of March with this scope of dates."""
    tools = {"book": {"args": {"day": "date"}, "does": {"pay": "day"}}}
    agents = {"a": {"may": [{"book": {"date": scope}}]}}
    return outcome(book(tools=tools, agents=agents, tiers={"4": "allow", "3": "allow"}), "book", {"day": "2027-03-02"})


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"from": "2027-03-01", "until": "2027-03-03"}, "allow"),
        ({"from": "2027-03-02", "until": "2027-03-03"}, "allow"),
        ({"from": "2027-03-02"}, "allow"),
        ({"until": "2027-03-03"}, "allow"),
        (["2027-03-01", {"from": "2027-03-02"}], "allow"),
        ({"from": "2027-03-03"}, "deny not-permitted"),
        ({"until": "2027-03-02"}, "deny not-permitted"),
        ({"from": "2027-03-02T12:00Z"}, "deny not-permitted"),  # it stands for the whole day
        ("2027-03-01", "deny not-permitted"),
    ],
)
def test_ranges_of_dates(scope: object, expected: str) -> None:
    assert books(scope) == expected


@pytest.mark.parametrize(
    ("scope", "message"),
    [
        ({}, "a range has `from`, `until` or both"),
        ({"from": "2027-03-02", "until": "2027-03-02"}, "no date lies in this range"),
        ({"from": "2027-03-03", "until": "2027-03-02"}, "no date lies in this range"),
    ],
)
def test_a_range_without_a_date_is_refused(scope: object, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        books(scope)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.y.example", True),
        ("b.a.y.example", True),
        ("y.example", False),
        ("xy.example", False),
        ("wxy.example", False),
        (".y.example", False),
    ],
)
def test_what_lies_below_a_domain(text: str, expected: bool) -> None:
    assert host_in(text, "*.y.example") is expected
    assert not host_in(text, "y.example") or text == "y.example"
