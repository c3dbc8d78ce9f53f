"""Calls and decisions as JSON: one shape for the command line, hooks, gateway, HTTP and Python.

Decoding is strict: duplicate keys, NaN, unknown fields, wrong types, lone surrogates, and texts that are too
long or too deep are refused, so that what is decided is what every other reader of the text sees.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

import msgspec

from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision
from remit.model.decoding import Decoding
from remit.model.errors import CallError
from remit.model.text import shown_name

MAX_LINE = 1024 * 1024
MAX_DEPTH = 64
MAX_DIGITS = 400

_SURROGATE = re.compile(rb"\\u[dD][89abAB]|\\u[dD][c-fC-F]")
_LONG_NUMBER = re.compile(rb"[0-9]{%d}" % MAX_DIGITS)
_FIELDS = frozenset({"id", "agent", "tool", "args", "context", "statement"})
_MEANT = dict.fromkeys(("arguments", "input", "params", "parameters", "tool_input"), "args") | dict.fromkeys(
    ("name", "tool_name", "function"), "tool"
)
"""What a call's fields are called elsewhere."""


class _Duplicate(ValueError):
    pass


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Duplicate
    return found


def _constant(name: str) -> Any:
    raise ValueError(name)


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(text)
    return value


_decoder = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float)


def decode_json(data: bytes, *, limit: int = MAX_LINE) -> Any:
    """Strict JSON of at most `limit` bytes. Raises CallError."""
    if len(data) > limit:
        raise CallError(f"longer than {limit} bytes")
    if _deep(data):
        raise CallError(f"nested deeper than {MAX_DEPTH}")
    if _LONG_NUMBER.search(data) and _long_number(data):
        raise CallError(f"a number with more than {MAX_DIGITS} digits")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise CallError("not UTF-8") from None
    try:
        value = _decoder.decode(text)
        if _SURROGATE.search(data):
            _no_surrogates(value)
    except _Duplicate:
        raise CallError("a key appears twice in one object") from None
    except UnicodeEncodeError:
        raise CallError("a lone surrogate in a text") from None
    except (ValueError, RecursionError):
        raise CallError("not valid JSON") from None
    return value


def decode_call(line: bytes) -> Call:
    """One call from one line. Raises CallError, and nothing else."""
    data = decode_json(line)
    if not isinstance(data, dict):
        raise CallError("expected an object")
    try:
        return call_from(data)
    except CallError as error:
        error.id = data.get("id") if isinstance(data.get("id"), str) else None
        raise


def call_from(data: dict[str, Any]) -> Call:
    """A call from plain data, strictly typed. Raises CallError."""
    unknown = sorted(set(data) - _FIELDS)
    if unknown:
        meant = f"; did you mean `{_MEANT[unknown[0]]}`?" if unknown[0] in _MEANT else ""
        raise CallError(f"unknown field `{shown_name(unknown[0], 60)}`{meant}")
    for name in ("agent", "tool"):
        if not isinstance(data.get(name), str):
            raise CallError(f"`{name}` must be text")
    args = data.get("args", {})
    if not isinstance(args, dict):
        raise CallError("`args` must be an object")
    if not isinstance(data.get("id"), (str, type(None))):
        raise CallError("`id` must be text")
    return Call(
        agent=data["agent"],
        tool=data["tool"],
        args=args,
        context=_typed(data.get("context"), Context, "context"),
        statement=_typed(data["statement"], Statement, "statement") if data.get("statement") is not None else None,
        id=data.get("id"),
    )


_PARTS: dict[Any, Decoding[Any]] = {kind: Decoding(kind) for kind in (Context, Statement)}


def _typed(value: Any, kind: Any, name: str) -> Any:
    if value is None:
        return kind()
    if not isinstance(value, dict):
        raise CallError(f"`{name}` must be an object")
    unknown = sorted(set(value) - set(kind.__struct_fields__))
    if unknown:
        raise CallError(f"`{name}` has no `{shown_name(unknown[0], 60)}`")
    try:
        found = _PARTS[kind].convert(value)
    except (msgspec.ValidationError, TypeError) as error:
        raise CallError(f"`{name}`: {error}") from None
    return found


def encode_decision(decision: Decision, call_id: str | None) -> bytes:
    """One line of JSON, without the newline."""
    return msgspec.json.encode(decision.as_json(call_id))


def _deep(data: bytes) -> bool:
    """True if brackets outside of texts nest deeper than allowed."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    depth, inside, escaped = 0, False, False
    for byte in data:
        if inside:
            if escaped:
                escaped = False
            elif byte == 0x5C:
                escaped = True
            elif byte == 0x22:
                inside = False
        elif byte == 0x22:
            inside = True
        elif byte in (0x5B, 0x7B):
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif byte in (0x5D, 0x7D):
            depth -= 1
    return False


def _long_number(data: bytes) -> bool:
    """True if such a run of digits stands outside of texts."""
    return bool(_LONG_NUMBER.search(re.sub(rb'"(?:[^"\\]|\\.)*"', b'""', data)))


def _no_surrogates(value: Any) -> None:
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, dict):
        for key, item in value.items():
            key.encode("utf-8")
            _no_surrogates(item)
    elif isinstance(value, list):
        for item in value:
            _no_surrogates(item)
