"""The difference between two books: nothing that changes a decision is left out, and nothing else is in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.analyze.changes import NO_MATTER, Change, compare, flow
from remit.compile import build_rulebook, load_rulebook
from remit.compile.hashing import _PLACES, content_hash
from remit.model.rulebook import Book
from tests.compile.test_hash import POLICY, turned

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/remit.yaml"))


def changed(**more: Any) -> tuple[Change, ...]:
    return compare(build_rulebook(POLICY).book, build_rulebook({**POLICY, **more}).book)


def agent(**more: Any) -> tuple[Change, ...]:
    agents = {**POLICY["agents"], "a": {**POLICY["agents"]["a"], **more}}
    return changed(agents=agents)


def test_what_does_not_matter_is_what_the_hash_leaves_out() -> None:
    assert NO_MATTER | {"root", "reviewed", "contact"} == _PLACES  # both are shown, and change no decision


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_a_book_is_like_itself_and_unlike_nothing(path: Path) -> None:
    book = load_rulebook(path).book
    assert compare(book, book) == ()
    assert compare(book, load_rulebook(path).book) == ()
    first = compare(None, book)
    assert {change.what for change in first} <= {"added", "changed"}
    assert {change.name for change in first if change.section == "agents" and not change.key} == {
        name for name, caller in book.callers.items() if caller.kind == "agent"
    }


def test_order_is_no_change() -> None:
    assert compare(build_rulebook(POLICY).book, build_rulebook(turned(POLICY)).book) == ()
    assert changed(gates=["demo", "plan"]) == (Change("changed", "gates", "", old="[plan, demo]", new="[demo, plan]"),)


@pytest.mark.sample(1)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_another_hash_is_always_a_change(path: Path) -> None:
    """Every value in the book is taken away or changed, one at a time."""
    book = load_rulebook(path).book
    plain = msgspec.to_builtins(book, str_keys=True)
    tried = 0
    for other in _mutants(plain, limit=120):
        try:
            mutant = msgspec.convert(other, Book, str_keys=True)
        except msgspec.ValidationError:
            continue
        differs = content_hash(mutant) != content_hash(book)
        assert not differs or compare(book, mutant), "a change that is not shown"
        tried += differs
    assert tried > 30


def _mutants(value: Any, limit: int) -> list[Any]:
    """Copies of plain data, each with one place changed; a sample of at most `limit` of them."""
    places = list(_places(value))
    step = max(1, len(places) // limit)
    return [_without(value, place) for place in places[::step]]


def _places(value: Any, at: tuple[Any, ...] = ()) -> Any:
    if isinstance(value, dict):
        for key, item in value.items():
            yield (*at, key)
            yield from _places(item, (*at, key))
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield (*at, number)
            yield from _places(item, (*at, number))


def _without(value: Any, at: tuple[Any, ...]) -> Any:
    key, *rest = at
    if isinstance(value, dict):
        if not rest:
            return {name: item for name, item in value.items() if name != key}
        return {name: _without(item, tuple(rest)) if name == key else item for name, item in value.items()}
    if not rest:
        return [item for number, item in enumerate(value) if number != key]
    return [_without(item, tuple(rest)) if number == key else item for number, item in enumerate(value)]


def test_a_tool_more_in_a_rule_is_only_this_tool() -> None:
    [found] = agent(may_not=[{"effect": "delete"}, "read"])
    assert (found.what, found.section, found.name, found.key, found.new) == ("added", "agents", "a", "may_not", "read")


def test_a_scope_that_changes() -> None:
    gone, come = agent(may=[{"write": {"path": ["docs/**"]}}], must_ask=[{"write": {"path": "src/**"}}])
    assert (gone.what, gone.key, gone.old) == ("removed", "may", "write: {path: [docs/**, src/**]}")
    assert (come.what, come.key, come.new) == ("added", "may", "write: {path: [docs/**]}")


def test_a_verb_or_a_question_that_changes() -> None:
    found = agent(must_ask=[{"write": {"path": "src/**", "ask": "human"}}])
    assert [(one.what, one.key, one.old or one.new) for one in found] == [
        ("removed", "must_ask", "write: {path: [src/**]}"),
        ("added", "must_ask", "write: {path: [src/**], ask: human}"),
    ]


@pytest.mark.parametrize(
    ("more", "key", "old", "new"),
    [
        (
            {"locks": {"may": ["docs/**"]}},
            "locks",
            "{may: [docs/**, src/**], except: [src/gen/**]}",
            "{may: [docs/**]}",
        ),
        ({"delegates_to": []}, "delegates_to", "[b]", "[]"),
        ({"apis": []}, "apis", None, "[]"),
        ({"enabled": False}, "enabled", "true", "false"),
        ({"data_tiers": [0]}, "data_tiers", "[0, 1]", "[0]"),
        ({"project_code": "deny"}, "project_code", None, "deny"),
        ({"capsule": "required"}, "capsule", None, "required"),
    ],
)
def test_keys_of_an_agent(more: dict[str, Any], key: str, old: str | None, new: str) -> None:
    [found] = agent(**more)
    assert (found.what, found.name, found.key, found.old, found.new) == ("changed", "a", key, old, new)


def test_the_rest_of_a_policy() -> None:
    found = changed(
        protect=[],
        unsafe_no_credential=True,
        tiers={3: "deny"},
        labels={"production": {"host": ["*.prod.example"]}},
        hosts={"claude-code": {"main": "a"}},
        tools={**POLICY["tools"], "write": {**POLICY["tools"]["write"], "tier": 3}},
    )
    told = {(one.what, one.section, one.name, one.key, one.old, one.new) for one in found}
    assert told == {
        ("removed", "protected", "paths", "", "deploy/**", None),
        ("added", "unsafe", "", "", None, "unsafe_no_credential"),
        ("changed", "tiers", "3", "verdict", "ask", "deny"),
        ("changed", "tiers", "3", "ask", "human", None),
        ("removed", "labels", "", "", "{name: data, tier: 3, path: [**/*.pem, secrets/**]}", None),
        ("added", "hosts", "claude-code", "", None, "{main: a}"),
        ("changed", "tools", "write", "tier", "1", "3"),
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": ["b", 1, True, None]}, "{a: [b, 1, true, null]}"),
        (["true", "1", "null", "-x", "1.5"], '["true", "1", "null", "-x", "1.5"]'),
        (["a: b", "a, b", "", " ", "[x]", 'q"q'], '["a: b", "a, b", "", " ", "[x]", "q\\"q"]'),
        ({"path": "research/*.yaml"}, "{path: research/*.yaml}"),
        ([], "[]"),
    ],
)
def test_one_line(value: Any, text: str) -> None:
    assert flow(value) == text


def test_what_a_policy_says_about_its_ledger() -> None:
    witness = "witness:https://w.example+w/1+00000000+AAAA"
    plain = {"ledger": {"streams": {"s": {"to": "file:/var/log/x"}}, "anchors": [witness]}}
    [one, two] = changed(**plain)
    assert {(change.what, change.section, change.name) for change in (one, two)} == {
        ("added", "ledger", "streams"),
        ("added", "ledger", "anchors"),
    }
    before = build_rulebook({**POLICY, **plain}).book
    after = build_rulebook({**POLICY, "ledger": {**plain["ledger"], "witnesses": {"quorum": 1}}}).book
    [more] = compare(before, after)
    assert (more.what, more.section, more.name, more.old) == ("changed", "ledger", "witnesses", None)
    [less] = compare(after, before)
    assert (less.name, less.new) == ("witnesses", None)
