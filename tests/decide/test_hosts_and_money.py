"""Hosts against commands and reserved URLs, `never` with money and messages, and what a data-tier denial names."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model.call import Call
from remit.model.errors import PolicyError

TOOLS: dict[str, Any] = {
    "connect": {"args": {"host": "host"}, "does": {"network": "host"}},
    "query": {"args": {"sql": "sql"}, "dialect": "postgres"},
    "read": {"args": {"path": "path"}, "does": {"read": "path"}},
    "run": {"args": {"command": "shell"}},
    "pay": {"args": {"to": "account"}, "does": {"pay": "to"}},
    "mail": {"args": {"to": "email"}, "does": {"message": "to"}},
}
MAY = ["connect", "query", "read", "run"]


def book(**more: Any) -> Any:
    return build_rulebook({"remit": 1, "tools": TOOLS, **more})


@pytest.mark.parametrize(
    ("tool", "args", "code"),
    [
        ("connect", {"host": "bad.example"}, "may-not"),
        ("connect", {"host": "BAD.example:99"}, "may-not"),
        ("run", {"command": "curl https://bad.example/x"}, "may-not"),
        ("run", {"command": "curl -s bad.example"}, "may-not"),
        ("run", {"command": "nc bad.example 80"}, "may-not"),
        ("run", {"command": 'curl "https://$HOST/x"'}, "may-not"),
        ("connect", {"host": "a.bad.example"}, None),
        ("connect", {"host": "other.example"}, None),
    ],
)
def test_a_prohibited_host(tool: str, args: dict[str, Any], code: str | None) -> None:
    found = book(agents={"a": {"may": MAY, "may_not": [{"host": ["bad.example"]}]}})
    decision = decide(found, Call("a", tool, args))
    assert (decision.code if code else decision.code != "may-not") == (code or True)


@pytest.mark.parametrize("host", ["api.example", "API.example:8443", "api.example:443"])
def test_a_host_whose_urls_are_reserved(host: str) -> None:
    reserved = {"calls": {"runner": "r", "urls": ["https://api.example/**"]}}
    found = book(agents={"a": {"may": MAY}}, runners={"r": {"may": []}}, reserved=reserved)
    assert decide(found, Call("a", "connect", {"host": host})).code == "reserved"
    assert decide(found, Call("a", "connect", {"host": "x.api.example"})).code != "reserved"


@pytest.mark.parametrize(("effect", "tool"), [("pay", "pay"), ("message", "mail")])
def test_never_with_money_and_messages(effect: str, tool: str) -> None:
    never = [{"agent": "a", "effect": [effect]}]
    with pytest.raises(PolicyError, match=f"never agent a, effect {effect}"):
        book(agents={"a": {"may": [tool]}}, never=never)
    assert book(agents={"a": {"may": MAY[2:3]}}, never=never).book.never


@pytest.mark.parametrize(
    ("tool", "args", "named"),
    [
        ("query", {"sql": "select * from customers"}, "table customers is data of tier 3"),
        ("read", {"path": "hr/pay.csv"}, "path hr/pay.csv is data of tier 3"),
    ],
)
def test_a_data_tier_denial_names_what_has_the_label(tool: str, args: dict[str, Any], named: str) -> None:
    labels = {"data": {"3": {"table": ["customers"], "path": ["hr/**"]}}}
    found = book(agents={"a": {"may": MAY, "data_tiers": [0]}}, labels=labels)
    decision = decide(found, Call("a", tool, args))
    assert (decision.code, decision.reason) == ("data-tier", f"a may not touch data of tier 3: {named}")
