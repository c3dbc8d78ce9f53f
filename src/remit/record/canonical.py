"""Canonical JSON (RFC 8785) for the values that the ledger records: one value, one text, on every machine.

Numbers are whole and within ±(2⁵³ − 1), where every JSON reader agrees on them. Floats, lone surrogates and
subclasses of the plain types are refused: what can't be written in exactly one way is not written.
"""

from __future__ import annotations

from typing import Any

import msgspec

from remit.record.errors import LedgerError

MAX_INT = 2**53 - 1
MAX_DEPTH = 128
MAX_VALUES = 1_000_000
"""How many values may stand at one depth: a value that shares its parts can be tiny and yet unfold hugely."""
MAX_BYTES = 1024 * 1024

_sorted = msgspec.json.Encoder(order="sorted")
_as_given = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()


class CanonicalError(LedgerError):
    """A value that has no canonical text, or a text that is not canonical."""

    code = "not-canonical"


def encode(value: Any) -> bytes:
    """The canonical text of a value. Raises CanonicalError."""
    wide_keys = not _is_usual(value) and _check(value)
    try:
        return _as_given.encode(_in_utf16_order(value)) if wide_keys else _sorted.encode(value)
    except UnicodeEncodeError as error:
        raise CanonicalError("a text contains half of a surrogate pair") from error


def decode(data: bytes) -> Any:
    """The value of a canonical text; any other spelling of it is refused. Raises CanonicalError."""
    if len(data) > MAX_BYTES:
        raise CanonicalError(f"longer than {MAX_BYTES} bytes")
    try:
        value = _decoder.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise CanonicalError(f"not JSON that can be read: {error}") from error
    if encode(value) != data:
        raise CanonicalError("JSON, but not in its canonical form")
    return value


def _is_usual(value: Any, depth: int = 3) -> bool:
    """Whether it is small and has only what may be written, in keys of plain ASCII: then there is nothing to check."""
    if type(value) is dict:
        if len(value) > _FEW or not _KEYS.issuperset(map(type, value)) or not "".join(value).isascii():
            return False
        value = value.values()
    elif (type(value) is not list and type(value) is not tuple) or len(value) > _FEW:
        return False
    for one in value:
        kind = type(one)
        if kind in _FINE or (kind is int and -MAX_INT <= one <= MAX_INT):
            continue
        if kind is int or not depth or not _is_usual(one, depth - 1):
            return False
    return True


def _check(value: Any) -> bool:
    """Whether a key has characters beyond U+FFFF, which msgspec sorts otherwise. Refuses what may not be written."""
    wide_keys = False
    layer = [value]
    for _ in range(MAX_DEPTH):
        below: list[Any] = []
        count = 0
        for item in layer:
            kind = type(item)
            if kind in _FINE:
                continue
            if kind is int:
                if not -MAX_INT <= item <= MAX_INT:
                    raise CanonicalError("a whole number beyond ±(2⁵³ − 1)")
                continue
            if kind is dict:
                for other in set(map(type, item)) - _KEYS:
                    raise CanonicalError(f"a key that is not a text: {other.__name__}")
                keys = "".join(item)
                wide_keys = wide_keys or (not keys.isascii() and max(keys) > "\uffff")
                values = item.values()
            elif kind is list or kind is tuple:
                values = item
            else:
                raise CanonicalError(f"a value of type {kind.__name__}")
            count += len(values)
            if count > MAX_VALUES:
                raise CanonicalError(f"more than {MAX_VALUES} values")
            kinds = set(map(type, values)) - _FINE
            if kinds == _NUMBERS:
                numbers = [one for one in values if type(one) is int]
                below += (min(numbers), max(numbers))
            elif kinds:
                below += values
        if not count:
            return wide_keys
        layer = below
    raise CanonicalError(f"nested deeper than {MAX_DEPTH}")


_FEW = 16
"""Values of one list or object; four deep there are no more than can be looked at one by one."""
_FINE = frozenset((str, bool, type(None)))
_KEYS, _NUMBERS = frozenset((str,)), frozenset((int,))


def _in_utf16_order(value: Any) -> Any:
    if type(value) is dict:
        keys = sorted(value, key=lambda key: str.encode(key, "utf-16-be"))
        return {key: _in_utf16_order(value[key]) for key in keys}
    if type(value) is list or type(value) is tuple:
        return [_in_utf16_order(item) for item in value]
    return value
