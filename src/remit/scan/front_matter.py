"""The head of a definition: strict YAML first, then line by line, and then it says so.

One head in twenty is not valid YAML (nearly always an unquoted colon in `description`), and hosts read it all the same.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from remit.declare.nodes import parse
from remit.forms.nodes import MAP
from remit.forms.texts import plain
from remit.model.errors import PolicyError

LARGEST = 64 * 1024
_OPEN = re.compile(r"\ufeff?---[ \t]*\n")
_CLOSE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_KEY = re.compile(r"""["']?([A-Za-z][\w-]*)["']?[ \t]*:(?:[ \t]+(.*))?$""")


class Head(msgspec.Struct, frozen=True):
    """The keys of a head with the line of each, and the text below."""

    values: dict[str, Any]
    lines: dict[str, int]
    body: str
    body_line: int
    recovered: str | None = None
    """Why it is no YAML, if its lines were read instead."""

    def line(self, key: str) -> int:
        """Where a key stands, or the first line."""
        return self.lines.get(key, 1)


def read_head(text: str) -> Head | None:
    """The head, or None if the text has none."""
    opening = _OPEN.match(text)
    if opening is None:
        return None
    closing = _CLOSE.search(text, opening.end(), opening.end() + LARGEST)
    if closing is None:
        return None
    body = text[opening.end() : closing.start()]
    below = text[closing.end() :].removeprefix("\n")
    body_line = text.count("\n", 0, closing.end()) + 2
    problem = None
    try:
        node = parse(body, "head")
    except (PolicyError, RecursionError) as error:
        node, problem = None, str(error)
    if node is not None and node.kind == MAP:
        lines = {key: place[0] + 1 for key, place in node.keys.items()}
        return Head(plain(node), lines, below, body_line)
    values, lines = _by_line(body)
    return Head(values, lines, below, body_line, problem or "it is not a mapping")


def _by_line(body: str) -> tuple[dict[str, Any], dict[str, int]]:
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    key = None
    for number, line in enumerate(body.split("\n"), 2):
        match = _KEY.match(line)
        if match:
            key = match[1]
            if key not in values:
                values[key], lines[key] = _value(match[2] or ""), number
            continue
        item = re.match(r"\s*-\s+(.*)", line)
        if item and key is not None and lines.get(key):
            if values[key] in (None, ""):
                values[key] = []
            if isinstance(values[key], list):
                part = _KEY.match(item[1])
                values[key].append({part[1]: _scalar(part[2] or "")} if part is not None else _scalar(item[1]))
            continue
        inner = _KEY.match(line.strip())
        last = values[key][-1] if key is not None and isinstance(values.get(key), list) and values[key] else None
        if inner is not None and isinstance(last, dict):
            last[inner[1]] = _scalar(inner[2] or "")
            continue
        if line.startswith((" ", "\t")) and key is not None and isinstance(values.get(key), str):
            values[key] = f"{values[key]} {line.strip()}".strip()
    return values, lines


def _value(text: str) -> Any:
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_scalar(part) for part in text[1:-1].split(",") if part.strip()]
    return _scalar(text)


def _scalar(text: str) -> Any:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        return text[1:-1]
    return {"true": True, "false": False}.get(text, text)
