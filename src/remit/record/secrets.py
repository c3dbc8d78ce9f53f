"""Secrets in what is recorded: found by the name of a field, by their shape, or by looking random; and blotted out.

What they look like is data: `catalog/secrets.json`.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import log2
from typing import Any

import msgspec

from remit.model.decoding import Decoding
from remit.model.pattern import compile_later
from remit.model.shipped import shipped

_RUN = compile_later(r"[A-Za-z0-9+/=_-]{24,}")
_PLAIN = compile_later(r"[0-9a-f]{24,128}|[a-z_-]+|[A-Z_-]+|[0-9_-]+|[A-Za-z]+|sha(?:1|256|384|512)-[A-Za-z0-9+/=]+")
"""Runs that are no secret for being long: hashes, words, numbers."""
_PATH = compile_later(r"[A-Za-z0-9_-]*/[A-Za-z0-9_/-]*")
_CHANGE = compile_later(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_HUMP = compile_later(r"(?<=[a-z0-9])(?=[A-Z])")
_NAME = compile_later(r"-{0,2}[A-Za-z][A-Za-z0-9_.-]*:?")
_CARD = compile_later(r"(?<![0-9.-])(?:\d[ -]?){14,15}\d(?![0-9.-])")
_SSN = compile_later(r"(?<![0-9-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![0-9-])")
_ISSUERS = compile_later(r"4\d{15}|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|6(?:011|5\d\d)\d{12}")
_NAMES = ("name", "key", "Name", "Key", "NAME", "KEY", "header", "field", "variable", "var", "env", "option", "param")
"""Where a pair says what it is about."""
_VALUES = frozenset(("value", "val", "content", "contents", "data", "text", "string", "stringvalue", "default"))
"""Where it says what that is."""
RESTLESS = 0.4
"""Random text changes between small letters, capitals and digits at 6 of 10 characters, a path at 1 or 2."""
MAX_TEXT = 262_144
MAX_DEPTH = 64


class _Entropy(msgspec.Struct, frozen=True):
    length: int
    bits: float


class _Secrets(msgspec.Struct, frozen=True):
    """The catalog's entries."""

    names: frozenset[str]
    shapes: dict[str, str]
    keep: dict[str, str]
    """By shape, what stands before the secret and stays readable."""
    marks: dict[str, tuple[str, ...]]
    """By shape, texts of which whatever has it has one: without any there is no need to load what finds shapes."""
    entropy: _Entropy


_SECRETS = Decoding(_Secrets)


@cache
def _known() -> _Secrets:
    """What secrets look like."""
    return _SECRETS.decode(shipped("catalog/secrets.json"))


@cache
def _any_shape() -> Any:
    """Matches a text with any of the shapes in it: a quick first look. In linear time, however long the text is."""
    import re2  # here: a process that writes nothing doesn't need it

    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return re2.compile("|".join(f"(?:{_inner(text)})" for text in _known().shapes.values()), options)


@cache
def _each_shape() -> Any:
    """The same with a group for each."""
    import re2

    return re2.compile("|".join(f"({_inner(text)})" for text in _known().shapes.values()))


@cache
def _kept(kind: str) -> Any:
    """Matches what stays of a text of this shape; None if nothing does."""
    import re2

    text = _known().keep.get(kind)
    return re2.compile(text) if text is not None else None


def without_secrets(path: str, value: Any, depth: int = 0) -> Any:
    """The value with every secret blotted out; the very same object where there was none."""
    if value not in (None, "", True, False) and _names_a_secret(path[-100:]):
        return {"$secret": "by name"}
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (dict, list, tuple)) and depth == MAX_DEPTH:
        return f"[nested deeper than {MAX_DEPTH}, not looked through]"
    if isinstance(value, dict):
        named = _pair(value)
        clean = {_text(key): without_secrets(named.get(key) or key, item, depth + 1) for key, item in value.items()}
        if len(clean) < len(value):  # several keys that were secrets
            return list(clean.values())
        return value if all(clean.get(key) is value[key] for key in value) else clean
    if isinstance(value, (list, tuple)):
        before = ("", *value)
        items = [without_secrets(_announced(last), item, depth + 1) for last, item in zip(before, value, strict=False)]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    return value


def _pair(value: dict[Any, Any]) -> dict[Any, str]:
    """Of `{name: DB_PASSWORD, value: x}`, that `value` is called DB_PASSWORD."""
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    if not _names_a_secret(name[-100:]):
        return {}
    return {key: name for key in value if isinstance(key, str) and key.lower() in _VALUES}


def _announced(before: Any) -> str:
    """The name that an item of a list gives the next: `--password`, `Authorization:`."""
    if not isinstance(before, str) or len(before) > 100 or not _NAME.fullmatch(before):
        return ""
    return before.strip("-:").rpartition("=")[0] or before.strip("-:")


@lru_cache(4096)
def _names_a_secret(path: str) -> bool:
    """`password`, and also `dbPassword` or `X-Api-Key`."""
    words = _HUMP.sub("_", path.rpartition(".")[2]).lower().replace("-", "_").split("_")
    return any("_".join(words[start:]) in _known().names for start in range(max(0, len(words) - 3), len(words)))


def _text(text: str) -> str:
    if len(text) < 8:
        return text
    if len(text) > MAX_TEXT:
        return f"[{len(text)} characters, not looked through]"
    found = text
    if (_any_shape.cache_info().currsize or _is_marked(text)) and _any_shape().search(text) is not None:
        kinds = tuple(_known().shapes)
        found = _each_shape().sub(lambda match: _blotted(kinds[(match.lastindex or 1) - 1], match[0]), text)
    found = _RUN.sub(lambda match: "[secret: random]" if _random(match[0]) else match[0], found)
    found = _CARD.sub(lambda match: "[secret: card number]" if _is_card(match[0]) else match[0], found)
    found = _SSN.sub("[secret: social security number]", found)
    return text if found == text else found


def _blotted(kind: str, text: str) -> str:
    kept = _kept(kind)
    start = kept.match(text) if kept is not None else None
    return f"{start[1] if start is not None else ''}[secret: {kind}]"


def _is_card(text: str) -> bool:
    """A number that a card could have: of a known issuer, and with the right check digit."""
    digits = text.replace(" ", "").replace("-", "")
    if _ISSUERS.fullmatch(digits) is None:
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(digits))]
    return sum(number - 9 if number > 9 else number for number in doubled) % 10 == 0


def _is_marked(text: str) -> bool:
    """False only for a text that has none of the shapes."""
    low = text.lower()
    return not text.isascii() or any(mark in low for marks in _known().marks.values() for mark in marks)


def _random(text: str) -> bool:
    """Long, of mixed characters, and with about as much surprise as random text has."""
    known = _known().entropy
    if len(text) < known.length or _PLAIN.fullmatch(text):
        return False
    if _PATH.fullmatch(text) and len(_CHANGE.findall(text)) < RESTLESS * len(text):
        return False
    counts = [text.count(char) for char in set(text)]
    bits = -sum(count / len(text) * log2(count / len(text)) for count in counts)
    return bits >= known.bits


def _inner(text: str) -> str:
    """Flags at the start apply to the one shape."""
    return f"(?i:{text.removeprefix('(?i)')})" if text.startswith("(?i)") else text
