"""Entries: what they say, that they are canonical whatever is in a call, and how large they may be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision, Obligation
from remit.model.terms import ALLOW, ASK, DENY
from remit.model.trace import Unconfined
from remit.record.canonical import decode
from remit.record.entry import (
    EVENTS,
    MAX_ENTRY,
    Entry,
    event_entry,
    intent_entry,
    intent_snapshot,
    outcome_entry,
)
from remit.record.errors import LedgerError
from remit.record.fields import digest_of
from remit.record.reader import Stored, commitments
from tests.record.stores import allowed, denied

AT = 1_800_000_000_123_456_789


def built(call: Call, decision: Decision) -> Entry:
    return intent_entry(intent_snapshot("c-1", call, decision, "guard", AT), "w")


def test_an_intent_says_what_was_decided():
    context = Context(session="s", capsule="k", chain=("lead", "helper"))
    call = Call("writer", "read", {"b": 1, "a": "x"}, context, Statement(intent="look", because="asked"))
    decision = Decision(
        *(ASK, "writer", "read", "asks", "ask"),
        tier=2,
        data_tier=1,
        effects=("read", "write"),
        rule="remit.yaml:3:5",
        policy="abc",
        approval="owner",
        would="deny",
    )
    entry = built(call, decision)
    said = decode(entry.body)
    assert {name: value for name, value in said.items() if name not in ("args", "statement")} == {
        "v": 1,
        "type": "intent",
        "at": "2027-01-15T08:00:00.123Z",
        "call": "c-1",
        "writer": "w",
        "point": "guard",
        "agent": "writer",
        "chain": ["lead", "helper"],
        "capsule": "k",
        "session": "s",
        "tool": "read",
        "effects": ["read", "write"],
        "grade": "understood",
        "tier": 2,
        "data_tier": 1,
        "decision": "ask",
        "would": "deny",
        "code": "asks",
        "rule": "remit.yaml:3:5",
        "approval": "owner",
        "policy": "abc",
    }
    assert list(said["args"]) == ["a", "b"]
    assert (entry.call, entry.kind, entry.opens) == ("c-1", "intent", False)
    assert {field.path for field in entry.fields} == {"args.a", "args.b", "statement"}


@pytest.mark.parametrize(("verdict", "word"), [(ALLOW, "allow"), (ASK, "ask"), (DENY, "deny")])
def test_only_an_allow_opens(verdict: Any, word: str):
    entry = built(Call("a", "t"), Decision(verdict, "a", "t", "c", "r"))
    assert (decode(entry.body)["decision"], entry.opens) == (word, word == "allow")


def test_the_data_tier_of_what_is_not_understood_is_unknown():
    said = decode(built(Call("a", "t"), allowed(grade="not understood", data_tier=0)).body)
    assert said["data_tier"] == "unknown"


def test_an_intent_says_what_its_command_is_confined_to():
    held = allowed(obligations=(Obligation("confine", "command", "sha256:ab"),))
    loose = allowed(trace=(Unconfined("nothing on this machine can limit what they write"),))
    said = [decode(built(Call("a", "t"), one).body).get("confined") for one in (held, loose, allowed())]
    assert said == ["sha256:ab", "", None]


TEXT = st.text(max_size=30)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, JSON, max_size=6), st.none() | TEXT, st.lists(TEXT, max_size=3), st.integers(0, 3))
def test_whatever_is_in_a_call_the_entry_is_canonical_and_its_commitments_hold(
    args: dict[str, Any], session: str | None, chain: list[str], tier: int
):
    call = Call("a\N{SNOWMAN}", "t", args, Context(session=session, chain=tuple(chain)), Statement(intent=session))
    entry = built(call, denied(tier=tier))
    decode(entry.body)  # raises for anything that is not canonical
    committed = dict(commitments(Stored(0, b"", entry.body).data))
    assert {field.path: digest_of(field.path, field.salt, field.value) for field in entry.fields} == committed
    assert len({field.salt for field in entry.fields}) == len(entry.fields)


def test_names_that_sort_differently_by_code_unit():
    entry = built(Call("a", "t", {"\U0001f600": 1, "\uffee": 2, "a": 3}), denied())
    assert list(decode(entry.body)["args"]) == ["a", "\U0001f600", "\uffee"]


def test_numbers_that_are_none():
    for wrong in ({"tier": 1.5}, {"tier": 2**60}, {"data_tier": 2**60}, {"data_tier": 1.5}):
        with pytest.raises(LedgerError) as caught:
            built(Call("a", "t"), denied(**wrong))
        assert caught.value.code == "bad-entry"


def test_names_of_arguments_that_say_too_much_are_committed_to():
    secret = "ghp_" + "a1B2" * 9
    for name in (secret, "n" * 300, "a\0b"):
        entry = built(Call("a", "t", {name: 1, "b": 2}), denied())
        assert list(decode(entry.body)["args"]) == ["$c"]
        assert name.encode() not in entry.body
        assert secret.encode() not in entry.fields[0].value


def test_as_many_arguments_as_fit_are_committed_to_one_by_one():
    few = built(Call("a", "t", {f"n{number}": number for number in range(800)}), denied())
    assert len(few.fields) == 800
    many = built(Call("a", "t", {f"n{number}": number for number in range(2000)}), denied())
    assert [field.path for field in many.fields] == ["args"]
    assert max(len(few.body), len(many.body)) <= MAX_ENTRY


def test_what_is_too_large_is_refused():
    for make in (
        lambda: built(Call("a", "t", {}, Context(session="s" * 66_000)), denied()),
        lambda: outcome_entry("c", 1, "failed", AT, "w", error="e" * 66_000),
        lambda: event_entry("grant", AT, "w", {"text": "t" * 66_000}, {}),
    ):
        with pytest.raises(LedgerError) as caught:
            make()
        assert caught.value.code == "entry-too-large"
    assert len(event_entry("grant", AT, "w", {}, {"text": "word " * 20_000}).body) < 200


def test_outcomes_and_events():
    entry = outcome_entry("c", 7, "done", AT, "w", took=5, error=None)
    assert decode(entry.body)["intent"] == entry.answers == 7
    assert "error" not in decode(entry.body)
    for kind in EVENTS:
        assert decode(event_entry(kind, AT, "w", {"x": 1}, {"y": 2}).body)["type"] == kind


def test_an_event_does_not_overwrite_what_every_entry_says():
    for name in ("type", "at", "writer", "v"):
        for about, private in (({name: "x"}, {}), ({}, {name: "x"})):
            with pytest.raises(LedgerError):
                event_entry("grant", AT, "w", about, private)
    with pytest.raises(LedgerError):
        event_entry("grant", AT, "w", {"a": 1}, {"a": 2})


def test_what_the_decision_depended_on_besides_the_call_is_committed_to() -> None:
    context = Context(cwd="src", mode="plan", environment="staging", data_tier=2)
    entry = built(Call("a", "t", {"context": "x"}, context), allowed())
    said = {field.path: json.loads(field.value) for field in entry.fields}
    assert said == {
        "args.context": "x",
        "context": {"cwd": "src", "mode": "plan", "environment": "staging", "data_tier": 2},
    }
    assert set(decode(entry.body)["context"]) == {"$c"}


@pytest.mark.parametrize("context", [Context(), Context(cwd="."), Context(session="s", capsule="T", chain=("x",))])
def test_an_ordinary_context_is_not_said_again(context: Context) -> None:
    entry = built(Call("a", "t", {}, context), allowed())
    assert "context" not in decode(entry.body)
