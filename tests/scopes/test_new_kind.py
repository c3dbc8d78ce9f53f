"""A kind is one module: this one, with nothing else touched, is read, decided, explained, shown and put right."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from remit.analyze.changes import compare
from remit.compile import build_rulebook
from remit.compile.file import read_rulebook, write_rulebook
from remit.decide import decide
from remit.declare.format import schema
from remit.enforce.schema import tool_schema
from remit.explain.extent import extents_of
from remit.explain.matrix import make_matrix
from remit.explain.radius import radius_of
from remit.forms.shapes import Shape
from remit.forms.texts import Parsed, many
from remit.model.call import Call
from remit.model.decision import Target
from remit.model.errors import NotUnderstood, PolicyError
from remit.model.facts import Facts
from remit.scopes import kinds
from remit.scopes.interface import Declared, Kind, Matcher, Unit, Values

NAMES = {"red": "#ff0000", "lime": "#00ff00", "blue": "#0000ff", "black": "#000000"}


def canonical(text: str) -> str:
    """`Red`, `#F00` and `#ff0000` are one colour. Raises ValueError."""
    found = NAMES.get(text.lower(), text.lower())
    digits = found.removeprefix("#")
    if found[:1] != "#" or len(digits) not in (3, 6) or not set(digits) <= set("0123456789abcdef"):
        raise ValueError("no colour")
    return found if len(digits) == 6 else "#" + "".join(digit * 2 for digit in digits)


class ColourMatcher(Matcher):
    """The colours that a scope names."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = texts
        self.colours = frozenset(map(canonical, texts))
        self.empty = not texts

    def covers(self, unit: Unit) -> bool:
        return unit.value in self.colours

    def touches(self, unit: Unit) -> bool:
        return unit.value in self.colours

    def describe(self) -> str:
        return ", ".join(self.texts) or "no colour"

    def samples(self) -> list[Any]:
        return list(self.texts)

    def reach(self) -> Iterator[tuple[Any, str]]:
        yield None, self.describe()


class ColourKind(Kind):
    """A colour, however it is written."""

    name = unit = noun = "colour"
    about = "which colours it may use"
    limited_by = ("colour",)
    must_be_mentioned = True
    conditional = True
    tests = frozenset()
    instead = "`colour:`"

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        try:
            return (Unit("colour", arg.name, canonical(value), arg.effects, text=value),)
        except ValueError as error:
            raise NotUnderstood("bad-colour", str(error)) from None

    def form(self) -> Shape:
        return many(Parsed(canonical, "a colour such as red or #f00", "bad-colour", quote=True))

    def matcher(self, data: Any) -> Matcher:
        return ColourMatcher(data)

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        return f'colour: "{unit.value}"'

    def samples(self) -> list[Any]:
        return ["#123456"]


@pytest.fixture(autouse=True)
def colour() -> Iterator[None]:
    kinds.add(ColourKind())
    yield
    kinds.remove("colour")


TOOLS = {"paint": {"args": {"in": "colour", "note": "text"}, "optional": ["note"], "does": {"execute": "in"}}}


def policy(**agent: Any) -> dict[str, Any]:
    return {"remit": 1, "tools": TOOLS, "agents": {"a": {"may": [{"paint": {"colour": ["red", "#00f"]}}], **agent}}}


def call(colour: Any) -> Call:
    return Call("a", "paint", {"in": colour})


@pytest.mark.parametrize(
    ("text", "verdict", "code"),
    [
        ("red", "allow", "allowed"),
        ("#F00", "allow", "allowed"),
        ("#0000FF", "allow", "allowed"),
        ("lime", "deny", "not-permitted"),
        ("mauve-ish", "deny", "bad-colour"),
        (7, "deny", "mistyped-argument"),
    ],
)
def test_it_decides(text: Any, verdict: str, code: str) -> None:
    found = decide(build_rulebook(policy()), call(text))
    assert (found.verdict.word, found.code) == (verdict, code)


def test_a_prohibition_and_a_question() -> None:
    book = build_rulebook(policy(may=["paint"], may_not=[{"colour": "red"}], must_ask=[{"paint": {"colour": "blue"}}]))
    assert [decide(book, call(text)).verdict.word for text in ("#f00", "#00F", "lime")] == ["deny", "ask", "allow"]


def test_a_condition() -> None:
    book = build_rulebook(policy(may=[{"paint": {"where": {"in": {"colour": "lime"}}}}]))
    assert [decide(book, call(text)).verdict.word for text in ("#0f0", "red")] == ["allow", "deny"]


def test_a_scope_must_mention_it() -> None:
    book = build_rulebook(policy(may=[{"paint": {"where": {"note": "x"}}}]))
    found = decide(book, Call("a", "paint", {"in": "red", "note": "x"}))
    assert found.code == "not-permitted"


def test_what_it_reaches_is_shown() -> None:
    found = decide(build_rulebook(policy()), call("Red")).for_call({"in": "Red"})
    assert found.targets == (Target("execute", "colour", "#ff0000", "in"),)


def test_the_reason_and_the_remedy() -> None:
    written = policy()
    found = decide(build_rulebook(written), call("lime"))
    assert found.reason == "paint is limited to colour red, #00f for a"
    assert found.remedy is not None
    assert found.remedy.text == 'add to `may` of a: paint: {colour: "#00ff00"}'
    written["agents"]["a"]["may"].append({"paint": {"colour": "#00ff00"}})
    assert decide(build_rulebook(written), call("lime")).allowed


@pytest.mark.parametrize(
    ("scope", "code", "message"),
    [
        ({"colour": "reddish"}, "bad-colour", "`reddish`: no colour"),
        ({"color": "red"}, "unknown-key", "unknown key `color` in a scope; did you mean `colour`?"),
        ({"path": "docs/**"}, "kind-mismatch", "`path` can't limit `paint`: it has no argument of that kind"),
        (
            {"where": {"in": "red"}},
            "kind-mismatch",
            "the condition on `in` (colour) of `paint` needs `colour:`",
        ),
    ],
)
def test_what_is_wrong_with_a_policy(scope: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(PolicyError) as caught:
        build_rulebook(policy(may=[{"paint": scope}]))
    [problem] = caught.value.problems
    assert (problem.code, problem.message) == (code, message)
    assert problem.at.startswith("policy.agents.a.may")


def test_editors_know_it() -> None:
    found = schema()
    assert found["$defs"]["scope"]["properties"]["colour"]["description"] == "which colours it may use"
    assert not list(Draft202012Validator(found).iter_errors(policy()))
    assert tool_schema(build_rulebook(policy()).book.tools["paint"])["input_schema"]["properties"]["in"] == {
        "type": "string",
        "description": "colour",
    }


def test_the_matrix_and_reports() -> None:
    book = build_rulebook(policy())
    cell = make_matrix(book).cell("paint", "a")
    assert (cell.symbol, cell.scopes) == ("🔒", ("colour red, #00f",))
    [extent] = extents_of(book, "a", book.book.callers["a"].rules[0])
    assert (extent.scope, extent.effects, extent.tier) == ("colour red, #00f", ("execute",), 2)
    assert radius_of(book, "colour", "red", "execute").targets == (Target("execute", "colour", "#ff0000", "text"),)


def test_never() -> None:
    written = policy()
    with pytest.raises(PolicyError, match=r"does not hold: allow for a: paint \{\"in\":\"red\""):
        build_rulebook({**written, "never": [{"agent": "a", "kind": "colour"}]})


def test_a_rulebook_is_written_read_and_compared(tmp_path: Path) -> None:
    book = build_rulebook(policy())
    path = tmp_path / "state" / "rulebook"
    write_rulebook(book, path)
    again = read_rulebook(path)
    assert again.hash == book.hash
    assert decide(again, call("#f00")).allowed
    [gone, come] = compare(book.book, build_rulebook(policy(may=[{"paint": {"colour": "red"}}])).book)
    assert (gone.old, come.new) == ('paint: {colour: ["#00f", red]}', "paint: {colour: [red]}")
    json.dumps(book.book.callers["a"].rules[0].scope.written())


def test_a_rulebook_with_a_kind_that_is_gone_denies() -> None:
    book = build_rulebook(policy())
    kinds.remove("colour")
    try:
        found = decide(book, call("red"))
    finally:
        kinds.add(ColourKind())
    assert (found.verdict.word, found.code) == ("deny", "rule-failed")


def test_a_name_is_taken_once() -> None:
    with pytest.raises(ValueError, match="there is a kind `colour` already"):
        kinds.add(ColourKind())
    with pytest.raises(PolicyError, match="unknown kind `hue`"):
        build_rulebook({**policy(), "tools": {"paint": {"args": {"in": "hue"}, "does": "nothing"}}})


@pytest.mark.parametrize("name", ["path", "json", "table", "call"])
def test_a_kind_of_remits_own_is_not_replaced(name: str) -> None:
    kind = ColourKind()
    kind.name = name
    with pytest.raises(ValueError, match=f"there is a kind `{name}` already"):
        kinds.add(kind)
