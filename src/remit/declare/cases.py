"""The format of policy tests: calls with the decisions that their author expects."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.declare.nodes import parse
from remit.forms.nodes import SCALAR, Node
from remit.forms.shapes import (
    BAD,
    JSON,
    Choice,
    Either,
    Field,
    Flag,
    ListOf,
    MapOf,
    Number,
    Reader,
    Record,
    Shape,
    Text,
)
from remit.forms.texts import Anything, Moment
from remit.model.call import Call
from remit.model.errors import CallError
from remit.model.terms import CONTEXT_KEYS
from remit.model.wire import call_from

_WORDS = ("allow", "ask", "deny")


class Expected(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a decision must say; None is not looked at."""

    decision: str
    code: str | None = None
    tier: int | None = None
    data_tier: int | None = None
    would: str | None = None
    of: str | None = None


class PolicyTest(msgspec.Struct, frozen=True):
    """One call with its expected decision."""

    name: str
    call: Call
    expect: Expected
    at: str
    facts: Any = None


class TestFile(msgspec.Struct, frozen=True):
    """One `*.test.yaml`."""

    __test__ = False

    source: str
    policy: str
    tests: tuple[PolicyTest, ...]
    now: str | None = None
    facts: Any = None


class _NodeShape(Shape):
    """Kept as it is, for a reader that comes later."""

    expects = "a mapping"

    def read(self, node: Node, reader: Reader) -> Any:
        return node

    def schema(self) -> JSON:
        return {"$ref": "#/$defs/facts"}


class _CallShape(Shape):
    """A call as in JSON."""

    expects = "a call such as {agent: a, tool: t, args: {}}"
    data = Anything()

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is SCALAR:
            return self.wrong(node, reader)
        try:
            return call_from(self.data.read(node, reader))
        except (CallError, TypeError, AttributeError) as error:
            return reader.fail(node.at, "malformed-call", str(error))

    def schema(self) -> JSON:
        return _call.schema()


_context = Record(
    {
        **{key: Field(Text(), about) for key, about in CONTEXT_KEYS.items()},
        "chain": Field(ListOf(Text()), "who handed the work on, the first one first"),
        "data_tier": Field(Number(0, 3), "the highest data tier that the session has touched"),
        "capsule_grants": Field(ListOf(Number(0, 3)), "data tiers that the task grants"),
    }
)
_statement = Record(
    {
        "intent": Field(Text(), "what the call is to do"),
        "because": Field(Text(), "why it is needed"),
        "consequences": Field(Text(), "what follows from it"),
        "anticipated": Field(Flag(), "whether the plan has it"),
    }
)
_call = Record(
    {
        "agent": Field(Text(), "who calls", required=True),
        "tool": Field(Text(), "the tool that is called", required=True),
        "args": Field(MapOf(Anything(), what="argument"), "its arguments"),
        "context": Field(_context, "what the enforcement point knows"),
        "statement": Field(_statement, "the agent's own words, for whoever is asked"),
        "id": Field(Text(), "a name of this call"),
    }
)
"""Only for the schema: a call itself is read as on the wire."""

_expect = Either(
    scalar=Choice(*_WORDS),
    map=Record(
        {
            "decision": Field(Choice(*_WORDS), "allow, ask or deny", required=True),
            "code": Field(Text(), "the code of the decision, such as not-permitted"),
            "tier": Field(Number(0, 4), "the tier of the call"),
            "data_tier": Field(Number(0, 3), "the highest data tier that it touches"),
            "would": Field(Choice(*_WORDS), "while observing: what it would have been"),
            "of": Field(Text(), "whom an ask is of"),
        },
        lambda values, node, reader: Expected(**values),
        what="an expected decision",
    ),
)


def _test(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    expect = values["expect"]
    if isinstance(expect, str):
        expect = Expected(expect)
    call: Call = values["call"]
    name = values.get("name") or f"{call.agent} {call.tool} is {expect.decision}"
    return PolicyTest(name, call, expect, node.at, values.get("facts"))


test_file = Record(
    {
        "remit_tests": Field(Number(1, 1), "the version of the format", required=True),
        "policy": Field(Text(), "the policy under test; the default is remit.yaml beside the file"),
        "now": Field(Moment(), "the time at which the calls are decided"),
        "facts": Field(_NodeShape(), "facts for all tests"),
        "tests": Field(
            ListOf(
                Record(
                    {
                        "name": Field(Text(), "what the test shows, for the report"),
                        "call": Field(_CallShape(), "the call: agent, tool, args, context", required=True),
                        "expect": Field(_expect, "the decision that it must get", required=True),
                        "facts": Field(_NodeShape(), "facts for this test, in addition to those for all"),
                    },
                    _test,
                    what="a test",
                ),
                some=True,
            ),
            "calls and the decisions that they must get",
            required=True,
        ),
    },
    what="a test file",
)


def read_tests(text: str, source: str) -> TestFile:
    """The tests of one file. Raises PolicyError."""
    reader = Reader()
    values = test_file.read(parse(text, source), reader)
    reader.finish()
    if values is BAD:
        reader.fail(source, "bad-value", "can't be read")
        reader.finish()
    return TestFile(source, values.get("policy", "remit.yaml"), values["tests"], values.get("now"), values.get("facts"))
