"""The head of an agent's definition: its name and its `tools`, found and changed line by line.

One head in twenty is not valid YAML, and hosts read it all the same, so lines decide, and YAML is the check: where
the head is YAML, it must say after a change what it said before, but for `tools`. What can't be found with certainty
is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from remit.declare.nodes import parse
from remit.forms.nodes import LIST, SCALAR, Node
from remit.model.errors import PolicyError, RemitError
from remit.model.text import shown

MAX_HEAD = 64 * 1024

_OPEN = re.compile(r"\ufeff?---[ \t]*\r?\n")
_KEY = re.compile(r"""(?P<quote>["']?)(?P<key>[A-Za-z][A-Za-z0-9_-]*)(?P=quote)[ \t]*:(?=[ \t\r\n]|$)""")
_ITEM = re.compile(r"[ \t]*-[ \t]+[^\r\n]+\r?\n?")
_NAME = re.compile(r"[A-Za-z_*][A-Za-z0-9_.:*/()-]*")


class HeadError(RemitError):
    """A head that can't be changed with certainty; `str(error)` says why."""

    code = "unclear-definition"


class Head(msgspec.Struct, frozen=True):
    """Where the head of a definition lies, without the lines of dashes."""

    text: str
    start: int
    end: int

    @property
    def body(self) -> str:
        """Its lines."""
        return self.text[self.start : self.end]

    @property
    def newline(self) -> str:
        """How its first line ends."""
        return "\r\n" if self.text[: self.start].endswith("\r\n") else "\n"


def decode(data: bytes) -> str:
    """The text of a definition. Raises HeadError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise HeadError("it is not UTF-8") from None


def head_of(text: str) -> Head | None:
    """The head, or None if the file has none. Raises HeadError."""
    opening = _OPEN.match(text)
    if opening is None:
        return None
    close = text.find("---", opening.end())  # where hosts end it, even in the middle of a line
    if close < 0:
        return None
    if close - opening.end() > MAX_HEAD:
        raise HeadError("its head is too long")
    rest = text[close + 3 :]
    if text[close - 1] != "\n" or (rest and rest.lstrip(" \t")[:1] not in ("\n", "\r", "")):
        raise HeadError("`---` appears inside its head, so it is not certain where that ends")
    return Head(text, opening.end(), close)


def name_of(head: Head) -> str | None:
    """The name that the definition gives itself; None if that is not certain."""
    node = _yaml(head.body)
    if node is not None:
        value = node.value.get("name")
        return value.value.strip() if value is not None and value.kind is SCALAR else None
    lines = _keys(head.body).get("name", [])
    if len(lines) != 1:
        return None
    text = re.sub(r"(^|[ \t])#.*$", "", lines[0].partition(":")[2]).strip()
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        text = text[1:-1]
    return text or None


def tools_of(head: Head) -> tuple[str, ...] | None:
    """The tools that are listed; None for no list, and for one that is not certain."""
    node = _yaml(head.body)
    if node is not None:
        return _listed(node.value.get("tools"))
    try:
        found = _block(head.body)
    except HeadError:
        return None
    if found is None:
        return None
    first, *more = head.body[found[0] : found[1]].splitlines()
    value = first.partition(":")[2].strip()
    words = [value.strip("[]")] if value else [line.strip()[1:] for line in more if line.strip()]
    return tuple(part.strip().strip("\"'") for word in words for part in word.split(",") if part.strip())


def set_tools(text: str, tools: Sequence[str]) -> str:
    """The definition with exactly these tools; the same text if it lists them already. Raises HeadError."""
    for tool in tools:
        if not _NAME.fullmatch(tool):
            raise HeadError(f"the tool `{shown(tool)}` can't be written in a head")
    head = head_of(text)
    if head is None:
        raise HeadError("it has no head")
    now = tools_of(head)
    if now is not None and set(now) == set(tools) and (now or _explicitly_empty(head)):
        return text
    line = "tools: " + (", ".join(tools) if tools else "[]")
    return _changed(head, line + head.newline, tools)


def give_back(text: str, before: str, ours: Sequence[str]) -> str:
    """The definition with the `tools` that it had `before`; the same text if they are not ours any more."""
    head, old = head_of(text), head_of(before)
    if head is None or old is None:
        raise HeadError("it has no head")
    now = tools_of(head)
    if now is None or set(now) != set(ours):
        return text
    found = _block(old.body)
    lines = "" if found is None else old.body[found[0] : found[1]]
    return _changed(head, lines, tools_of(old), valid=_yaml(old.body) is not None)


def _changed(head: Head, lines: str, tools: Sequence[str] | None, *, valid: bool = True) -> str:
    """The text with these lines in place of those of `tools`, if that leaves everything else as it was.

    `valid` is false for lines that need not be YAML, since they were not when we found them.
    """
    body = head.body
    found = _block(body)
    if found is None:
        place = _place(body)
        new = body[:place] + lines + body[place:]
    else:
        new = body[: found[0]] + lines + body[found[1] :]
    text = head.text[: head.start] + new + head.text[head.end :]
    after = head_of(text)
    if after is None or after.body != new:
        raise HeadError("its head would end elsewhere")
    old, node = _yaml(body), _yaml(new)
    if node is None:
        if old is None or not valid:
            return text
        raise HeadError("it is not certain where `tools` belongs")
    if old is not None and _others(node) != _others(old):
        raise HeadError("it is not certain where `tools` belongs")
    if tools is not None and _listed(node.value.get("tools")) != tuple(tools):
        raise HeadError("it is not certain where `tools` belongs")
    return text


def _place(body: str) -> int:
    """Where a line with another key can be added: at the end; in a head that is not YAML, behind the name."""
    if _yaml(body) is not None:
        return len(body)
    lines = body.splitlines(keepends=True)
    for number, line in enumerate(lines):
        match = _KEY.match(line)
        if match and match["key"] == "name":
            if number + 1 < len(lines) and not _KEY.match(lines[number + 1]):
                break
            return sum(map(len, lines[: number + 1]))
    raise HeadError("its head is not valid YAML, and where a key could be added is not certain")


def _block(body: str) -> tuple[int, int] | None:
    """From where to where the lines of `tools` reach; None if there are none. Raises HeadError."""
    node = _yaml(body)
    lines = body.splitlines(keepends=True)
    if any(not line.endswith("\n") for line in lines):
        raise HeadError("its lines end in an unusual way")
    starts = [n for n, line in enumerate(lines) if (key := _KEY.match(line)) and key["key"] == "tools"]
    alike = [line for line in lines if re.match(r"""[ \t{]*["']?tools["']?[ \t]*:""", line, re.IGNORECASE)]
    if node is None and len(alike) != len(starts):
        raise HeadError("its head is not valid YAML, and it is not certain where `tools` belongs")
    if node is not None and ("tools" in node.value) != (len(starts) == 1):
        raise HeadError("it is not certain where `tools` belongs")
    if node is not None and any(key.lower() == "tools" and key != "tools" for key in node.value):
        raise HeadError("`tools` is spelt in another way")
    if not starts:
        return None
    if len(starts) > 1:
        raise HeadError("`tools` appears in it twice")
    first = starts[0]
    last = first + 1
    for number in range(first + 1, len(lines)):
        line = lines[number]
        if (line[:1] in (" ", "\t", "]", "}") and line.strip()) or _ITEM.fullmatch(line):
            last = number + 1
        elif line.strip() and not line.startswith("#"):
            break
    if node is None:
        _check_plain(lines[first].partition(":")[2].strip(), lines[first + 1 : last])
    begin = sum(map(len, lines[:first]))
    return begin, begin + sum(map(len, lines[first:last]))


def _check_plain(value: str, more: list[str]) -> None:
    """In a head that is not YAML only the plain forms are certain: one line, or one line for each item."""
    one_line = bool(value) and not more and value.count("[") == value.count("]") and value[:1] not in ("|", ">", "{")
    items = not value and bool(more) and all(_ITEM.fullmatch(line) for line in more)
    if not (one_line or items or (not value and not more)):
        raise HeadError("its head is not valid YAML, and where `tools` ends is not certain")


def _yaml(body: str) -> Node | None:
    """The head as YAML; None if it is not (strict) YAML."""
    try:
        return parse(body, "head")
    except (PolicyError, RecursionError):
        return None


def _keys(body: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in body.splitlines():
        match = _KEY.match(line)
        if match:
            found.setdefault(match["key"], []).append(line)
    return found


def _listed(node: Node | None) -> tuple[str, ...] | None:
    """The tools of a value: a text with commas, or a list of texts."""
    if node is None:
        return None
    if node.kind is SCALAR:
        if node.plain and node.scalar() is None:
            return None
        return tuple(_split(node.value))
    if node.kind is LIST and all(item.kind is SCALAR for item in node.value):
        return tuple(part for item in node.value for part in _split(item.value))
    return None


def _split(text: str) -> list[str]:
    """The parts between commas that stand outside of brackets."""
    return [part.strip() for part in re.split(r",(?![^(]*\))", text) if part.strip()]


def _explicitly_empty(head: Head) -> bool:
    node = _yaml(head.body)
    return node is not None and "tools" in node.value and node.value["tools"].kind is LIST


def _others(node: Node) -> dict[str, object]:
    return {key: _plain(value) for key, value in node.value.items() if key != "tools"}


def _plain(node: Node) -> object:
    if node.kind is SCALAR:
        return (node.value, node.plain)
    if node.kind is LIST:
        return [_plain(item) for item in node.value]
    return {key: _plain(item) for key, item in node.value.items()}
