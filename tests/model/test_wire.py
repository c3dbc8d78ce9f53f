"""Calls as JSON: a call that two readers could understand differently is refused, and nothing else is raised."""

import json
import time

import pytest

from remit.decide import decide
from remit.model import Call, CallError, Context, Decision, Statement, Verdict
from remit.model.wire import MAX_DEPTH, MAX_DIGITS, MAX_LINE, call_from, decode_call, decode_json, encode_decision
from tests.decide.kit import TOOLS, book

RULEBOOK = book(
    tools={
        **TOOLS,
        "save": {"args": {"text": "text", "n": "number", "data": "json"}, "optional": ["n", "data"], "does": "nothing"},
    },
    agents={"a": {"may": ["think", "save", "read"]}},
)


def refused(line: bytes) -> CallError:
    started = time.process_time()
    with pytest.raises(CallError) as caught:
        decode_call(line)
    assert time.process_time() - started < 5
    assert caught.value.code == "malformed-call"
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300
    return caught.value


def denied(line: bytes, code: str) -> None:
    """The line is a call, and the call is denied: each time."""
    call = decode_call(line)
    for _ in range(2):
        decision = decide(RULEBOOK, call)
        assert (decision.verdict, decision.code) == (Verdict.DENY, code)


def line(**fields) -> bytes:
    return json.dumps({"agent": "a", "tool": "think", **fields}).encode()


def test_a_plain_call():
    text = (
        '{"id": "1", "agent": "a", "tool": "save", "args": {"text": "ü", "data": {"x": [1, 2.5, null, true]}},'
        ' "context": {"cwd": ".", "mode": "m", "environment": "dev", "session": "s", "capsule": "C", "chain": ["b"],'
        ' "data_tier": 1, "capsule_grants": [2, 3]},'
        ' "statement": {"intent": "i", "because": "b", "consequences": "c", "anticipated": true}}'
    )
    assert decode_call(text.encode()) == Call(
        "a",
        "save",
        {"text": "ü", "data": {"x": [1, 2.5, None, True]}},
        Context(".", "m", "dev", "s", "C", ("b",), 1, (2, 3)),
        Statement("i", "b", "c", True),
        "1",
    )


def test_what_may_be_left_out():
    assert decode_call(b'{"agent": "a", "tool": "think"}') == Call("a", "think")
    assert decode_call(line(context=None, statement=None, id=None)) == Call("a", "think")
    assert decode_call(b' \t{"agent":"a","tool":"think"}\r') == Call("a", "think")
    assert decide(RULEBOOK, decode_call(line())).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "text",
    [
        '{"agent": "a", "agent": "b", "tool": "think"}',
        '{"agent": "a", "tool": "think", "tool": "think"}',
        '{"agent": "a", "tool": "save", "args": {"text": "x", "text": "y"}}',
        '{"agent": "a", "tool": "save", "args": {"text": "x", "data": {"k": 1, "k": 1}}}',
        '{"agent": "a", "tool": "save", "args": {"text": "x", "data": [[{"k": 1}, {"k": {"j": 1, "j": 2}}]]}}',
        '{"agent": "a", "tool": "save", "args": {"text": "x", "te\\u0078t": "y"}}',
        '{"agent": "a", "tool": "think", "context": {"mode": "a", "mode": "b"}}',
        '{"agent": "a", "tool": "think", "args": {}, "args": {}}',
    ],
)
def test_a_key_that_stands_twice(text):
    assert str(refused(text.encode())) == "a key appears twice in one object"


@pytest.mark.parametrize(
    "number", ["NaN", "Infinity", "-Infinity", "+1", "01", "1.", ".5", "0x1", "1_000", "1e", "--1"]
)
def test_what_is_no_number(number):
    assert (
        str(refused(f'{{"agent": "a", "tool": "save", "args": {{"text": "x", "n": {number}}}}}'.encode()))
        == "not valid JSON"
    )


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1" * 300 + "e300"])
def test_a_number_that_only_infinity_could_be(number):
    refused(f'{{"agent": "a", "tool": "save", "args": {{"text": "x", "data": {number}}}}}'.encode())


@pytest.mark.parametrize("depth", [MAX_DEPTH, 1000, 10_000, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"k":', "}")], ids=["lists", "objects"])
def test_deep_nesting(depth, opening, closing):
    inner = opening * depth + "1" + closing * depth
    error = refused(f'{{"agent": "a", "tool": "save", "args": {{"text": "x", "data": {inner}}}}}'.encode())
    assert str(error) == f"nested deeper than {MAX_DEPTH}"


def test_deep_nesting_that_never_closes():
    for text in ("[" * 10_000, '{"a":' * 10_000, '{"agent": "a", "tool": "' + "[" * 10_000):
        refused(text.encode())


def test_brackets_in_a_text_are_text():
    call = decode_call(line(tool="save", args={"text": '[{"\\' * 500}))
    assert decide(RULEBOOK, call).verdict is Verdict.ALLOW


def test_nesting_up_to_the_limit():
    depth = MAX_DEPTH - 2
    call = decode_call(line(tool="save", args={"text": "", "data": json.loads("[" * depth + "]" * depth)}))
    assert decide(RULEBOOK, call).verdict is Verdict.ALLOW


@pytest.mark.parametrize(
    "number", ["1" * 5000, "-" + "1" * 5000, "1" * MAX_DIGITS, "0." + "1" * 5000, "1e" + "1" * 5000]
)
def test_numbers_without_end(number):
    error = refused(f'{{"agent": "a", "tool": "save", "args": {{"text": "x", "n": {number}}}}}'.encode())
    assert str(error) == f"a number with more than {MAX_DIGITS} digits"


def test_digits_in_a_text_are_text():
    assert decode_call(line(tool="save", args={"text": "1" * 5000})).args["text"] == "1" * 5000


@pytest.mark.parametrize(
    "text",
    [
        rb'{"agent": "a", "tool": "save", "args": {"text": "\ud800"}}',
        rb'{"agent": "a", "tool": "save", "args": {"text": "\udc00\ud800"}}',
        rb'{"agent": "a", "tool": "save", "args": {"text": "\uD83D\u0041"}}',
        rb'{"agent": "a", "tool": "save", "args": {"text": "x", "data": {"\ud800": 1}}}',
        rb'{"agent": "a", "tool": "save", "args": {"text": "x", "data": [["\ud800"]]}}',
        rb'{"agent": "\ud800", "tool": "think"}',
        rb'{"agent": "a", "tool": "think", "id": "\udfff"}',
        rb'{"agent": "a", "tool": "think", "context": {"mode": "\ud800"}}',
    ],
)
def test_lone_surrogates_escaped(text):
    assert str(refused(text)) == "a lone surrogate in a text"


def test_a_pair_of_surrogates_is_one_character():
    assert decode_call(rb'{"agent": "a", "tool": "save", "args": {"text": "\ud83d\ude00"}}').args["text"] == "😀"


@pytest.mark.parametrize("junk", [b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf8\x88\x80\x80\x80", b"\xe2\x82", b"\x80"])
def test_bytes_that_are_not_utf8(junk):
    assert str(refused(b'{"agent": "a", "tool": "think", "args": {"text": "' + junk + b'"}}')) == "not UTF-8"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_other_encodings(encoding):
    refused('{"agent": "a", "tool": "think"}'.encode(encoding))


def test_nul_bytes():
    denied(b'{"agent": "a\\u0000", "tool": "think"}', "unknown-agent")
    denied(b'{"agent": "a", "tool": "think\\u0000"}', "unknown-tool")
    denied(b'{"agent": "a", "tool": "read", "args": {"path": "x\\u0000.txt"}}', "bad-path")
    denied(b'{"agent": "a", "tool": "think", "args": {"text\\u0000": "x"}}', "undeclared-argument")
    refused(b'{"agent": "a", "tool": "think", "args": {"text": "a\0b"}}')
    refused(b'{"agent": "a", "tool": "think"}\0')
    refused(b"\0")


@pytest.mark.parametrize("name", ["а", "ａ", "a\u200b", "\u202ea", "a\u0301", "A", " a", "a\n", "𝐚", "a\u00ad"])
def test_names_that_look_alike(name):
    denied(line(agent=name), "unknown-agent")
    denied(line(tool="think".replace("i", name)), "unknown-tool")
    denied(line(tool="save", args={name: "x"}), "undeclared-argument")


def test_a_line_that_is_too_long():
    text = line(tool="save", args={"text": "x" * MAX_LINE})
    assert str(refused(text)) == f"longer than {MAX_LINE} bytes"
    refused(b" " * (MAX_LINE + 1))
    refused(line(tool="save", args={"text": "x" * (10 * 1024 * 1024)}))


def test_a_line_of_just_the_right_length():
    text = line(tool="save", args={"text": ""})
    full = line(tool="save", args={"text": "x" * (MAX_LINE - len(text))})
    assert len(full) == MAX_LINE
    assert decide(RULEBOOK, decode_call(full)).verdict is Verdict.ALLOW


@pytest.mark.parametrize("size", [10 * 1024 * 1024])
def test_arguments_of_ten_megabytes_handed_in_directly(size):
    text = "x" * size
    started = time.process_time()
    for tool, args in (
        ("read", {"path": text}),
        ("nothing", {"x": text}),
        ("think", {text: 1}),
        ("think", {"text": [text]}),
    ):
        decision = decide(RULEBOOK, Call("a", tool, args))
        assert decision.verdict is Verdict.DENY
        assert len(encode_decision(decision, None)) < 10_000
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "not valid JSON"),
        (b"{}{}", "not valid JSON"),
        (b'{"agent": "a", "tool": "think"} x', "not valid JSON"),
        (b"{'agent': 'a'}", "not valid JSON"),
        (b'{"agent": "a", "tool": "think",}', "not valid JSON"),
        (b'{"agent": "a", "tool": "think" /* x */}', "not valid JSON"),
        (b'{"agent": "a", "tool": "a\nb"}', "not valid JSON"),
        (b'{"agent": "a", "tool": "\\x41"}', "not valid JSON"),
        (b"[]", "expected an object"),
        (b"null", "expected an object"),
        (b'"x"', "expected an object"),
        (b"1", "expected an object"),
        (b"{}", "`agent` must be text"),
        (b'{"agent": "a"}', "`tool` must be text"),
        (b'{"agent": 1, "tool": "think"}', "`agent` must be text"),
        (b'{"agent": null, "tool": "think"}', "`agent` must be text"),
        (b'{"agent": ["a"], "tool": "think"}', "`agent` must be text"),
        (line(args=[]), "`args` must be an object"),
        (line(args=None), "`args` must be an object"),
        (line(args="{}"), "`args` must be an object"),
        (line(id=1), "`id` must be text"),
        (line(id=["1"]), "`id` must be text"),
        (line(id={}), "`id` must be text"),
        (line(id=True), "`id` must be text"),
        (line(context=[]), "`context` must be an object"),
        (line(context="x"), "`context` must be an object"),
        (line(statement="x"), "`statement` must be an object"),
        (line(Args={}), "unknown field `Args`"),
        (line(approved=True), "unknown field `approved`"),
        (line(facts={}), "unknown field `facts`"),
        (line(context={"root": "/"}), "`context` has no `root`"),
        (line(context={"halts": []}), "`context` has no `halts`"),
        (line(statement={"approved": True}), "`statement` has no `approved`"),
    ],
)
def test_what_is_no_call(text, message):
    assert str(refused(text)) == message


@pytest.mark.parametrize(
    "context",
    [
        {"cwd": 1},
        {"mode": True},
        {"environment": ["dev"]},
        {"session": {}},
        {"capsule": 7},
        {"chain": "b"},
        {"chain": [1]},
        {"chain": {"b": 1}},
        {"chain": [None]},
        {"data_tier": "1"},
        {"data_tier": 1.0},
        {"data_tier": True},
        {"data_tier": -1},
        {"data_tier": 4},
        {"data_tier": 10**30},
        {"data_tier": None},
        {"capsule_grants": 3},
        {"capsule_grants": ["3"]},
        {"capsule_grants": [4]},
        {"capsule_grants": [True]},
    ],
)
def test_a_wrong_type_in_the_context(context):
    assert str(refused(line(context=context))).startswith("`context`: ")


@pytest.mark.parametrize("statement", [{"intent": 1}, {"anticipated": "yes"}, {"because": []}])
def test_a_wrong_type_in_the_statement(statement):
    assert str(refused(line(statement=statement))).startswith("`statement`: ")


@pytest.mark.parametrize("name", ["\x1b[31m", "a\nb", "\u202eb", "x" * 10_000])
def test_unknown_names_are_escaped(name):
    refused(line(**{name: 1}))
    refused(line(context={name: 1}))


def test_a_refusal_knows_the_id_where_it_can_be_read():
    assert refused(line(id="7", args=[])).id == "7"
    assert refused(line(id=7)).id is None
    assert refused(b"{").id is None


def test_plain_data_is_read_as_strictly():
    with pytest.raises(CallError):
        call_from({"agent": "a", "tool": "think", "extra": 1})
    assert call_from({"agent": "a", "tool": "think"}) == Call("a", "think")


def test_json_by_itself():
    assert decode_json(b'{"a": [1, "x", null]}') == {"a": [1, "x", None]}


def test_a_decision_as_json():
    decision = Decision(
        Verdict.DENY, "a", "t", "not-permitted", "because", tier=1, effects=("write",), policy="sha256:0"
    )
    assert json.loads(encode_decision(decision, "1")) == {
        "id": "1",
        "decision": "deny",
        "would": None,
        "agent": "a",
        "tool": "t",
        "tier": 1,
        "data_tier": 0,
        "effects": ["write"],
        "targets": [],
        "grade": "understood",
        "code": "not-permitted",
        "reason": "because",
        "rule": None,
        "detail": [],
        "policy": "sha256:0",
        "needs": None,
        "remedy": None,
        "obligations": [],
        "approval": None,
        "ledger": None,
    }


def test_verdicts_are_ordered():
    assert Verdict.ALLOW < Verdict.ASK < Verdict.DENY
    assert max(Verdict.ALLOW, Verdict.DENY, Verdict.ASK) is Verdict.DENY
