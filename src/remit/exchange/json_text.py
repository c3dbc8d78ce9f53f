"""JSON that people keep by hand: read with the place of each value, and changed without touching the rest.

    text = put(text, ("permissions", "deny"), [])
    text = append(text, ("permissions", "deny"), "WebFetch")

Strict: no comments, no trailing commas, no key twice. Every function returns the whole text.
"""

from __future__ import annotations

import json
import re
from json.decoder import scanstring  # type: ignore[attr-defined]  # the stubs leave it out
from typing import Any

from remit.model.errors import RemitError

MAX_DEPTH = 100
MAX_SIZE = 4 * 1024 * 1024
Path = tuple[str | int, ...]

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": True, "false": False, "null": None}


class JsonError(RemitError):
    """Text that is not JSON, or not what it should be; `str(error)` names line and column."""

    code = "bad-json"


class Value:
    """One value and where it stands. `data` is a scalar, a list of values, or a dict of them by key."""

    __slots__ = ("data", "end", "head", "start")

    def __init__(self, data: Any, start: int, end: int) -> None:
        self.data = data
        self.start = start
        self.end = end
        self.head = start
        """Where its key starts, for a member of an object."""

    def plain(self) -> Any:
        """The value as Python has it."""
        if isinstance(self.data, dict):
            return {key: item.plain() for key, item in self.data.items()}
        if isinstance(self.data, list):
            return [item.plain() for item in self.data]
        return self.data


def parse(text: str) -> Value:
    """The object that the text is. Raises JsonError."""
    if len(text) > MAX_SIZE:
        raise JsonError(f"larger than {MAX_SIZE // 1024 // 1024} MiB")
    parser = _Parser(text)
    start = parser.space(1 if text.startswith("\ufeff") else 0)
    root = parser.value(start, 0)
    end = parser.space(root.end)
    if end != len(text):
        raise parser.wrong(end, "more text after the end")
    if not isinstance(root.data, dict):
        raise parser.wrong(start, "expected an object")
    return root


def get(text: str, path: Path) -> Any:
    """The value at a path, as Python has it; None if there is none."""
    found = _find(parse(text), path)
    return None if found is None else found.plain()


def put(text: str, path: Path, value: Any) -> str:
    """The value at the path is this one; a key that is missing is added at the end of its object."""
    root = parse(text)
    old = _find(root, path)
    if old is None:
        return _add(text, _container(root, path[:-1]), path[-1], [value])
    return text[: old.start] + _written(text, old.start, value) + text[old.end :]


def append(text: str, path: Path, *values: Any) -> str:
    """The list at the path ends with these values too."""
    return _add(text, _container(parse(text), path), None, list(values)) if values else text


def remove(text: str, path: Path) -> str:
    """The value at the path is gone, with its key and one comma."""
    holder = _container(parse(text), path[:-1])
    if isinstance(holder.data, dict):
        items, index = list(holder.data.values()), list(holder.data).index(str(path[-1]))
    else:
        items, index = holder.data, int(path[-1])
    if len(items) == 1:
        return text[: holder.start + 1] + text[holder.end - 1 :]
    if index:
        return text[: items[index - 1].end] + text[items[index].end :]
    return text[: items[0].head] + text[items[1].head :]


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text

    def space(self, at: int) -> int:
        match = _SPACE.match(self.text, at)
        return match.end() if match else at

    def wrong(self, at: int, what: str) -> JsonError:
        line = self.text.count("\n", 0, at) + 1
        column = at - (self.text.rfind("\n", 0, at) + 1) + 1
        return JsonError(f"line {line}, column {column}: {what}")

    def value(self, at: int, depth: int) -> Value:
        if depth > MAX_DEPTH:
            raise self.wrong(at, f"nested deeper than {MAX_DEPTH}")
        sign = self.text[at : at + 1]
        if sign == "{":
            return self.object(at, depth)
        if sign == "[":
            return self.list(at, depth)
        if sign == '"':
            text, end = self.string(at)
            return Value(text, at, end)
        for word, data in _WORDS.items():
            if self.text.startswith(word, at):
                return Value(data, at, at + len(word))
        number = _NUMBER.match(self.text, at)
        if number is None or len(number[0]) > 1000:
            comment = self.text[at : at + 2] in ("//", "/*")
            raise self.wrong(at, "a comment, which JSON does not have" if comment else "expected a value")
        return Value(json.loads(number[0]), at, number.end())

    def string(self, at: int) -> tuple[str, int]:
        if self.text[at : at + 1] != '"':
            comment = self.text[at : at + 2] in ("//", "/*")
            raise self.wrong(at, "a comment, which JSON does not have" if comment else 'expected `"`')
        try:
            found: tuple[str, int] = scanstring(self.text, at + 1, True)
        except json.JSONDecodeError as error:
            raise self.wrong(error.pos, "a string that does not end or has a bad character") from None
        return found

    def object(self, at: int, depth: int) -> Value:
        members: dict[str, Value] = {}
        here = self.space(at + 1)
        if self.text[here : here + 1] == "}":
            return Value(members, at, here + 1)
        while True:
            start = here
            key, here = self.string(here)
            if key in members:
                raise self.wrong(start, "a key that appears twice")
            here = self.space(here)
            if self.text[here : here + 1] != ":":
                raise self.wrong(here, "expected `:`")
            item = self.value(self.space(here + 1), depth + 1)
            item.head = start
            members[key] = item
            here = self.space(item.end)
            sign = self.text[here : here + 1]
            if sign == "}":
                return Value(members, at, here + 1)
            if sign != ",":
                raise self.wrong(here, "expected `,` or `}`")
            here = self.space(here + 1)

    def list(self, at: int, depth: int) -> Value:
        items: list[Value] = []
        here = self.space(at + 1)
        if self.text[here : here + 1] == "]":
            return Value(items, at, here + 1)
        while True:
            items.append(self.value(here, depth + 1))
            here = self.space(items[-1].end)
            sign = self.text[here : here + 1]
            if sign == "]":
                return Value(items, at, here + 1)
            if sign != ",":
                raise self.wrong(here, "expected `,` or `]`")
            here = self.space(here + 1)


def _find(root: Value, path: Path) -> Value | None:
    found = root
    for step in path:
        data = found.data
        keyed = isinstance(step, str) and isinstance(data, dict) and step in data
        if not keyed and not (isinstance(step, int) and isinstance(data, list) and 0 <= step < len(data)):
            return None
        found = data[step]
    return found


def _container(root: Value, path: Path) -> Value:
    found = _find(root, path)
    if found is None or not isinstance(found.data, (dict, list)):
        raise JsonError(f"there is no list or object at `{'.'.join(map(str, path))}`")
    return found


def _add(text: str, holder: Value, key: str | int | None, values: list[Any]) -> str:
    """The text with one more member, or more items, at the end of a container."""
    items = list(holder.data.values()) if isinstance(holder.data, dict) else holder.data
    opening = holder.start
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    flat = ", ".join(name + json.dumps(value, ensure_ascii=False) for value in values)
    if items:
        gap = text[opening + 1 : items[0].head]
        at = items[-1].end
        if "\n" in gap:
            lead = gap[gap.rfind("\n") :] if "\r\n" not in gap else gap[gap.rfind("\r\n") :]
            return text[:at] + "".join(f",{lead}{name}{_dump(text, value, lead)}" for value in values) + text[at:]
        return f"{text[:at]}, {flat}{text[at:]}"
    if not _pretty(text):
        return f"{text[: opening + 1]}{flat}{text[holder.end - 1 :]}"
    outer = _newline(text) + _indent_at(text, opening)
    lead = outer + _unit(text)
    inner = ",".join(f"{lead}{name}{_dump(text, value, lead)}" for value in values)
    return f"{text[: opening + 1]}{inner}{outer}{text[holder.end - 1 :]}"


def _written(text: str, at: int, value: Any) -> str:
    """A value that replaces another at this place."""
    if not _pretty(text):
        return json.dumps(value, ensure_ascii=False)
    return _dump(text, value, _newline(text) + _indent_at(text, at))


def _dump(text: str, value: Any, lead: str) -> str:
    return json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", lead)


def _pretty(text: str) -> bool:
    """True if the text is written on several lines, or says nothing yet."""
    return "\n" in text.strip() or not parse(text).data


def _newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _unit(text: str) -> str:
    """What one level is indented by."""
    match = re.search(r"\n([ \t]+)\S", text)
    return match[1] if match else "  "


def _indent_at(text: str, at: int) -> str:
    """The blanks that the line of this place starts with."""
    line = text.rfind("\n", 0, at) + 1
    match = re.compile(r"[ \t]*").match(text, line)
    return match[0] if match else ""
