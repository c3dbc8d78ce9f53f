"""Fuzzing calls: each is a CallError or a decision, and none is allowed that a naive reader would not allow."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from remit.model import Verdict
from tests.fuzz.kit import LINES, answer

BYTES = [
    b'"',
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"\xff",
    b"null",
    b"NaN",
    b"1e999",
    b"9" * 30,
]
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
paths = st.text("docsrc/.~$:\\ \n\u202e%*", max_size=14) | st.sampled_from(
    ["docs/a", "docs", "docs/../x", "/docs/a", "docs//a"]
)
arguments = st.dictionaries(st.sampled_from(["path", "text", "url", "n", "data", "Path"]), paths | values, max_size=3)
contexts = st.fixed_dictionaries(
    {},
    optional={
        "cwd": st.sampled_from([".", "docs", "..", "/", "docs/..", ""]) | values,
        "mode": st.sampled_from(["interactive", "autopilot"]) | values,
        "data_tier": st.integers(-1, 4) | values,
        "chain": st.lists(st.sampled_from(["reader", "noter", "x"]), max_size=2) | values,
        "capsule": st.none() | st.sampled_from(["C"]) | values,
        "capsule_grants": st.lists(st.integers(-1, 4), max_size=2) | values,
        "trusted": values,
    },
)
calls = st.fixed_dictionaries(
    {
        "agent": st.sampled_from(["reader", "noter", "nobody", "Reader", "reader "]) | values,
        "tool": st.sampled_from(["read", "write", "fetch", "note", "Read"]) | values,
    },
    optional={
        "args": arguments | values,
        "context": contexts | values,
        "id": values,
        "statement": values,
        "extra": values,
    },
)


@pytest.mark.parametrize("line", LINES)
def test_the_lines_that_are_mutated_are_denied(line):
    decision = answer(line)
    assert decision is not None
    assert decision.verdict is Verdict.DENY


@st.composite
def broken_lines(draw):
    line = draw(st.sampled_from(LINES))
    for _ in range(draw(st.integers(1, 5))):
        start = draw(st.integers(0, len(line)))
        end = min(len(line), start + draw(st.integers(0, 12)))
        piece = draw(st.sampled_from([b"", line[start:end] * 2, *BYTES]) | st.binary(max_size=4))
        line = line[:start] + piece + line[end:]
    return line


@settings(max_examples=500)
@given(broken_lines())
def test_mutated_lines(line):
    answer(line)


@settings(max_examples=300)
@given(st.binary(max_size=200))
def test_any_bytes(line):
    answer(line)


@settings(max_examples=300)
@given(calls)
@example({"agent": "reader", "tool": "read", "args": {"path": "docs/a"}})
@example({"agent": "noter", "tool": "note", "context": {"mode": "interactive"}})
def test_calls_of_any_shape(data):
    answer(json.dumps(data).encode("utf-8", "surrogatepass"))


@pytest.mark.long
@settings(max_examples=20_000)
@given(broken_lines())
def test_many_mutated_lines(line):
    answer(line)


@pytest.mark.long
@settings(max_examples=10_000)
@given(calls)
def test_many_calls_of_any_shape(data):
    answer(json.dumps(data).encode("utf-8", "surrogatepass"))


def test_the_fuzzer_also_sees_what_passes():
    for data in (
        {"agent": "reader", "tool": "read", "args": {"path": "docs/a"}},
        {"agent": "noter", "tool": "note", "context": {"mode": "interactive"}},
    ):
        decision = answer(json.dumps(data).encode())
        assert decision is not None
        assert decision.verdict is Verdict.ALLOW
