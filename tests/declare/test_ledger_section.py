"""The `ledger:` section: where events are streamed to."""

from __future__ import annotations

from typing import Any

import pytest

from remit.analyze.changes import compare
from remit.model import PolicyError
from remit.model.policy import LedgerSettings
from remit.model.streams import Target, check_target
from tests.decide.kit import book


def _loaded(streams: dict[str, Any]) -> LedgerSettings | None:
    return book(agents={"a": {"may": ["read"]}}, ledger={"streams": streams}).book.ledger


def test_streams_are_read_with_their_names_and_defaults():
    found = _loaded({"siem": {"to": "https://siem.example/in", "token": "SIEM_TOKEN"}, "here": {"to": "file:/var/e"}})
    assert found is not None
    plain = [(one.name, one.to, one.token, one.form, one.rotate, one.keep) for one in found.streams]
    assert plain == [
        ("siem", "https://siem.example/in", "SIEM_TOKEN", "ndjson", 100, None),
        ("here", "file:/var/e", None, "ndjson", 100, None),
    ]
    assert all(one.at for one in found.streams)


def test_a_policy_without_the_section_has_the_hash_that_it_had():
    one, other = book(agents={"a": {"may": ["read"]}}), book(agents={"a": {"may": ["read"]}}, ledger={"streams": {}})
    assert one.book.ledger is None
    assert one.hash != other.hash


@pytest.mark.parametrize(
    "stream",
    [
        {},
        {"to": "file:relative"},
        {"to": "file:/folder/"},
        {"to": "ftp://x"},
        {"to": "http://far.example/in"},
        {"to": "https://bob:pw@siem.example/in"},
        {"to": "syslog+tls://"},
        {"to": "syslog+tcp://host:99999"},
        {"to": "syslog+tcp://host:601/path"},
        {"to": "https://siem.example/in", "rotate": 5},
        {"to": "file:/x", "token": "T"},
        {"to": "file:/x", "ca": "/ca.pem"},
        {"to": "syslog+udp://host", "form": "json"},
        {"to": "https://siem.example/in", "token": "not a name"},
        {"to": "https://siem.example/in", "surprise": 1},
    ],
)
def test_what_would_do_nothing_or_is_no_target_does_not_load(stream: dict[str, Any]):
    with pytest.raises(PolicyError):
        _loaded({"x": stream})


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("file:/var/log/x", Target("file", path="/var/log/x")),
        ("syslog+unix:/dev/log", Target("syslog+unix", path="/dev/log")),
        ("syslog+udp://h", Target("syslog+udp", host="h", port=514)),
        ("syslog+tls://h:1", Target("syslog+tls", host="h", port=1)),
        ("http://127.0.0.1:8088/x", Target("http", host="127.0.0.1", port=8088, url="http://127.0.0.1:8088/x")),
    ],
)
def test_targets(text: str, target: Target):
    assert check_target(text) == target


def test_streams_that_come_and_go_are_shown_before_they_are_activated():
    without = book(agents={"a": {"may": ["read"]}}).book
    with_one = book(agents={"a": {"may": ["read"]}}, ledger={"streams": {"x": {"to": "file:/x"}}}).book
    assert [(one.what, one.section, one.name) for one in compare(without, with_one)] == [("added", "ledger", "streams")]
    assert [(one.what, one.section, one.name) for one in compare(with_one, without)] == [
        ("removed", "ledger", "streams")
    ]
    assert [one.new for one in compare(without, with_one)] == ["{name: x, to: file:/x}"]
