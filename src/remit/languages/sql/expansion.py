"""How often SQLite would expand the CTEs and views of a statement: twice each time one of them is named twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from remit.model.pattern import compile_later

_TOKEN = compile_later(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|[\w$]+|[^\s]""", re.DOTALL
)
_PAIRS = {"'": "'", '"': '"', "`": "`", "[": "]"}


def fold(name: str) -> str:
    """A name as SQLite compares it: of letters, only those of ASCII have no case."""
    return "".join(chr(ord(char) + 32) if "A" <= char <= "Z" else char for char in name)


def expansions(text: str, views: Mapping[str, int]) -> int:
    """An upper bound: each CTE counts as often as it is named, and each view as much as it costs by itself."""
    words = [_word(token) for token in _TOKEN.findall(text) if not token.startswith(("--", "/*"))]
    counts = Counter(words)
    defined = Counter(_defined(words))
    total = 1 + sum(counts[name] * cost for name, cost in views.items() if name in counts)
    for name, times in defined.items():
        total *= max(1, counts[name] - times) ** times
    return total


def _word(token: str) -> str:
    last = _PAIRS.get(token[0])
    if last is None or len(token) < 2:
        return fold(token)
    return fold(token[1:-1].replace(last * 2, last) if last != "]" else token[1:-1])


def _defined(words: list[str]) -> list[str]:
    """Names that stand before `AS (`, with or without a list of columns between."""
    found = []
    opened: list[int] = []
    before: dict[int, int] = {}
    for index, word in enumerate(words):
        if word == "(":
            opened.append(index)
        elif word == ")" and opened:
            before[index] = opened.pop() - 1
        elif word == "as" and index:
            after = [other for other in words[index + 1 : index + 4] if other not in ("not", "materialized")]
            name = before.get(index - 1, index - 1)
            if after[:1] == ["("] and name >= 0:
                found.append(words[name])
    return found
