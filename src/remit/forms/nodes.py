"""A written value with its position: text, a list or a mapping, before anybody says what it should be."""

from __future__ import annotations

import re
from typing import Any

SCALAR, LIST, MAP = "value", "list", "mapping"

_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]{1,18}|[0-9]{1,18}(?:\.[0-9]{0,18})?)(?:[eE][-+]?[0-9]{1,3})?")
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})


class Node:
    """One value of the text. `value` is text, a list of nodes, or a dict of nodes by key."""

    __slots__ = ("col", "keys", "kind", "line", "plain", "source", "value")

    def __init__(self, kind: str, value: Any, source: str, line: int, col: int, plain: bool = False) -> None:
        self.kind = kind
        self.value = value
        self.source = source
        self.line = line
        self.col = col
        self.plain = plain
        self.keys: dict[str, tuple[int, int]] = {}

    @property
    def at(self) -> str:
        """`file:line:column`, or the path of keys for a policy built in Python."""
        return f"{self.source}:{self.line}:{self.col}" if self.line else self.source

    def at_key(self, key: str) -> str:
        """The position of one of its keys."""
        line, col = self.keys.get(key, (0, 0))
        return f"{self.source}:{line}:{col}" if line else f"{self.source}.{key}"

    def scalar(self) -> str | int | float | bool | None:
        """The value under the YAML 1.2 core schema: only unquoted text is anything but text."""
        text: str = self.value
        if not self.plain:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if text in _NULLS:
            return None
        if _INT.fullmatch(text):
            return int(text)
        if text[0] in "+-.0123456789" and _FLOAT.fullmatch(text):
            return float(text)
        return text
