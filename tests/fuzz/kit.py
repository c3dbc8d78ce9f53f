"""What the fuzzers share: how a text is mutated, what a loader and a decoder may do with any input."""

from __future__ import annotations

import json
import posixpath
import time
import unicodedata
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.model import Call, CallError, Context, Decision, Facts, PolicyError, Rulebook, Verdict
from remit.model.wire import decode_call, encode_decision

LIMIT = 10.0
"""Seconds that no single input may take, on a slow and busy machine."""

EXAMPLES = {
    path.parent.name: path.read_text() for path in sorted((Path(__file__).parents[2] / "examples").glob("*/remit.yaml"))
}
SIGNS = [
    *"*&!@`%{}[]|>,?:#-~\"'\\/ \n\t\0",
    ": ",
    "- ",
    "\n  ",
    "{}",
    "[]",
    "**",
    "../",
    "null",
    "true",
    "1",
    "[[[[",
    "é",
]
KEYS = [
    "remit: 1",
    "may: []",
    "roles: [x]",
    "include: [x.yaml]",
    "root: ..",
    "<<: {}",
    "enabled: no",
    "tier: 9",
    "examples:",
]


@st.composite
def mutated(draw: st.DrawFn, texts: list[str]) -> str:
    """One of the texts with a few pieces cut, doubled, moved or put in."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        piece = draw(st.sampled_from(["cut", "double", "sign", "key", "text", "move"]))
        if piece == "cut":
            text = text[:start] + text[end:]
        elif piece == "double":
            text = text[:end] + text[start:end] + text[end:]
        elif piece == "sign":
            text = text[:start] + draw(st.sampled_from(SIGNS)) + text[start:]
        elif piece == "key":
            text = text[:start] + "\n" + draw(st.sampled_from(KEYS)) + "\n" + text[start:]
        elif piece == "text":
            text = text[:start] + draw(st.text(max_size=5)) + text[end:]
        else:
            target = draw(st.integers(0, len(text)))
            text = text[:target] + text[start:end] + text[target:]
    return text


def load_text(data: bytes, folder: Path) -> Rulebook | None:
    """The rulebook of a file with these bytes, or None if it is refused; anything else is a fault."""
    path = folder / "remit.yaml"
    path.write_bytes(data)
    started = time.process_time()
    try:
        return load_rulebook(path)
    except PolicyError as error:
        check_problems(error)
        return None
    finally:
        assert time.process_time() - started < LIMIT


def build(data: dict[str, Any]) -> Rulebook | None:
    """The same for a policy built in Python."""
    started = time.process_time()
    try:
        return build_rulebook(data)
    except PolicyError as error:
        check_problems(error)
        return None
    finally:
        assert time.process_time() - started < LIMIT


def check_problems(error: PolicyError) -> None:
    assert error.problems
    for problem in error.problems:
        assert problem.code
        assert problem.message
        assert_printable(problem.message)


def assert_printable(text: str) -> None:
    assert text.isprintable(), ascii(text)


def check_protection(rulebook: Rulebook) -> None:
    """Whatever a policy says, no agent writes the rulebook; and a failure inside is not how it is stopped."""
    if any(text.startswith("unsafe_unprotect") for text in rulebook.book.unsafe):
        return
    for caller in list(rulebook.book.callers.values())[:6]:
        for tool in list({**rulebook.book.tools, **caller.tools}.values())[:12]:
            writes = {does.arg for does in tool.does if does.effect in ("write", "delete") and does.arg}
            if not any(tool.args[name].kind == "path" for name in writes):
                continue
            args = {
                name: ".remit/rulebook" if argument.kind == "path" else "x"
                for name, argument in tool.args.items()
                if "." not in name and "[" not in name and not argument.optional
            }
            decision = decide(rulebook, Call(caller.name, tool.name, args, Context()), Facts())
            assert decision.verdict is Verdict.DENY


# --- calls ---

STRICT = build_rulebook(
    {
        "remit": 1,
        "tools": {
            "read": {"args": {"path": "path"}, "does": {"read": "path"}},
            "write": {"args": {"path": "path", "text": "text"}, "does": {"write": "path"}},
            "fetch": {"args": {"url": "url"}, "does": {"network": "url"}},
            "note": {"args": {"n": "number", "data": "json"}, "optional": ["n", "data"], "does": "nothing"},
        },
        "agents": {
            "reader": {"may": [{"read": {"path": "docs/**"}}]},
            "noter": {"may": [{"note": {"when": {"mode": "interactive"}}}], "data_tiers": [0, 1]},
            "nobody": {"may": []},
        },
    }
)


def answer(line: bytes) -> Decision | None:
    """The decision on a line, or None if it is no call; anything else is a fault."""
    started = time.process_time()
    try:
        call = decode_call(line)
    except CallError as error:
        assert_printable(str(error))
        return None
    finally:
        assert time.process_time() - started < LIMIT
    decision = decide(STRICT, call)
    assert decision == decide(STRICT, call)
    assert time.process_time() - started < LIMIT
    json.loads(encode_decision(decision, call.id))
    assert decision.code != "rule-failed", decision.detail
    for text in (decision.reason, *decision.detail):
        assert_printable(text)
    if decision.verdict is not Verdict.DENY:
        assert may_pass(json.loads(line)), line
    return decision


def may_pass(data: Any) -> bool:
    """A naive second opinion: the only calls that the policy above lets through."""
    context = data.get("context") or {}
    args = data.get("args", {})
    if context.get("chain") or context.get("capsule") is not None:
        return False
    if data["agent"] == "noter":
        fits = set(args) <= {"n", "data"} and data["tool"] == "note"
        return fits and context.get("mode") == "interactive" and context.get("data_tier", 0) <= 1
    if data["agent"] != "reader" or data["tool"] != "read" or set(args) != {"path"}:
        return False
    path = args["path"]
    if not isinstance(path, str) or any(unicodedata.category(c)[0] == "C" for c in path):
        return False
    return posixpath.normpath(posixpath.join(context.get("cwd") or ".", path)).startswith("docs/")


LINES = [
    b'{"agent": "reader", "tool": "read", "args": {"path": "src/a"}}',
    b'{"id": "1", "agent": "reader", "tool": "read", "args": {"path": "docs/../src/a"}}',
    b'{"agent": "reader", "tool": "read", "args": {"path": "/docs/a"}, "context": {"cwd": "docs"}}',
    b'{"agent": "reader", "tool": "write", "args": {"path": "docs/a", "text": "\\u00fc"}}',
    b'{"agent": "reader", "tool": "fetch", "args": {"url": "https://x.example/docs/a"}}',
    b'{"agent": "nobody", "tool": "note", "args": {"n": 1e3, "data": [null, {"k": -0.5}]}}',
    b'{"agent": "noter", "tool": "note", "args": {}, "context": {"mode": "autopilot", "data_tier": 1, "chain": []}}',
    b'{"agent": "noter", "tool": "note", "context": {"mode": "interactive", "data_tier": 2, "capsule_grants": [2]}}',
    b'{"agent": "noter", "tool": "note", "context": {"mode": "interactive", "capsule": "C"}, "statement": {}}',
]
"""Calls that are denied, each by something else."""
