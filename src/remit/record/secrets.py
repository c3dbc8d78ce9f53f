"""Secrets in what is recorded: found by the name of a field, by their shape, or by looking random; and blotted out.

What they look like is data: `catalog/secrets.json`.
"""

from __future__ import annotations

import json
import re
from functools import cache, lru_cache
from math import log2
from typing import Any, NamedTuple

from remit import catalog

_RUN = re.compile(r"[A-Za-z0-9+/=_-]{24,}")
_PLAIN = re.compile(r"[0-9a-f]{24,128}|[a-z_-]+|[A-Z_-]+|[0-9_-]+|[A-Za-z]+|sha(?:1|256|384|512)-[A-Za-z0-9+/=]+")
"""Runs that are no secret for being long: hashes, words, numbers."""
_PATH = re.compile(r"[A-Za-z0-9_-]*/[A-Za-z0-9_/-]*")
_CHANGE = re.compile(r"(?<=[a-z])[A-Z0-9]|(?<=[A-Z])[a-z0-9]|(?<=[0-9])[A-Za-z]")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
RESTLESS = 0.4
"""Random text changes between small letters, capitals and digits at 6 of 10 characters, a path at 1 or 2."""
MAX_TEXT = 262_144
MAX_DEPTH = 64


class Shapes(NamedTuple):
    """The catalog's entries, ready to use."""

    names: frozenset[str]
    any: Any
    """Matches a text with any of the shapes in it: a quick first look."""
    each: Any
    """The same with a group for each."""
    kinds: tuple[str, ...]
    length: int
    bits: float


@cache
def shapes() -> Shapes:
    """What secrets look like. In linear time, however long the text is."""
    import re2  # here: a process that writes nothing doesn't need it

    data = json.loads(catalog.text("secrets.json"))
    texts = [_inner(text) for text in data["shapes"].values()]
    options = re2.Options()
    options.never_capture = True
    options.log_errors = False
    return Shapes(
        frozenset(data["names"]),
        re2.compile("|".join(f"(?:{text})" for text in texts), options),
        re2.compile("|".join(f"({text})" for text in texts)),
        tuple(data["shapes"]),
        int(data["entropy"]["length"]),
        float(data["entropy"]["bits"]),
    )


def without_secrets(path: str, value: Any, depth: int = 0) -> Any:
    """The value with every secret blotted out; the very same object where there was none."""
    if value not in (None, "", True, False) and _names_a_secret(path[-100:]):
        return {"$secret": "by name"}
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (dict, list, tuple)) and depth == MAX_DEPTH:
        return f"[nested deeper than {MAX_DEPTH}, not looked through]"
    if isinstance(value, dict):
        clean = {_text(key): without_secrets(key, item, depth + 1) for key, item in value.items()}
        if len(clean) < len(value):  # several keys that were secrets
            return list(clean.values())
        return value if all(clean.get(key) is value[key] for key in value) else clean
    if isinstance(value, (list, tuple)):
        items = [without_secrets("", item, depth + 1) for item in value]
        return value if all(one is other for one, other in zip(items, value, strict=True)) else items
    return value


@lru_cache(4096)
def _names_a_secret(path: str) -> bool:
    """`password`, and also `dbPassword` or `X-Api-Key`."""
    words = _HUMP.sub("_", path.rpartition(".")[2]).lower().replace("-", "_").split("_")
    return any("_".join(words[start:]) in shapes().names for start in range(max(0, len(words) - 3), len(words)))


def _text(text: str) -> str:
    if len(text) < 8:
        return text
    if len(text) > MAX_TEXT:
        return f"[{len(text)} characters, not looked through]"
    known = shapes()
    found = text
    if known.any.search(text) is not None:
        found = known.each.sub(lambda match: f"[secret: {known.kinds[(match.lastindex or 1) - 1]}]", text)
    found = _RUN.sub(lambda match: "[secret: random]" if _random(match[0], known) else match[0], found)
    return text if found == text else found


def _random(text: str, known: Shapes) -> bool:
    """Long, of mixed characters, and with about as much surprise as random text has."""
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
