"""Adding one entry to a list of a policy file, with every other byte kept."""

from __future__ import annotations

from typing import Any, NamedTuple

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # libyaml itself; the stubs leave it out

from remit.declare.nodes import parse
from remit.forms.nodes import LIST

_MARK = "\ufeff"
_ENDS = ("\r\n", "\n", "\r")


class _List(NamedTuple):
    """Where a list stands, in characters of the text."""

    start: int
    column: int
    flow: bool
    last: int | None
    """The end of the last thing in it."""
    content: bool


def with_entry(text: str, key: str, entry: str) -> str:
    """The text of a policy with one more entry, in one line of flow style, under a key whose value is a list.

    Raises PolicyError for a text that is no mapping, and ValueError where no place can be found that is certain.
    """
    root = parse(text, "policy")
    if key in root.value and root.value[key].kind is not LIST:
        raise ValueError(f"`{key}` is not a list")
    mark = _MARK if text.startswith(_MARK) else ""
    body = text.removeprefix(_MARK)
    end = next((end for end in _ENDS if end in body), "\n")
    found = _find(body, key) if key in root.value else None
    made = mark + (_into(body, found, entry, end) if found is not None else _beside(body, root, key, entry, end))
    again = parse(made, "policy")
    before = len(root.value[key].value) if key in root.value else 0
    if list(again.value) != [*root.value, *([key] if key not in root.value else [])]:
        raise ValueError("the other keys would not stay as they are")
    if again.value[key].kind is not LIST or len(again.value[key].value) != before + 1:
        raise ValueError(f"`{key}` would not have one entry more")
    return made


def _beside(body: str, root: Any, key: str, entry: str, end: str) -> str:
    """The key is missing: it comes last, in its own lines."""
    if root.col != 1 or body.lstrip().startswith("{"):
        raise ValueError("the policy is not written in block style")
    gap = "" if not body or body.endswith(("\n", "\r")) else end
    stop = body.rstrip()
    if stop.endswith("...") and (len(stop) == 3 or stop[-4] in "\r\n"):
        raise ValueError("the policy ends with `...`")
    return f"{body}{gap}{key}:{end}  - {entry}{end}"


def _into(body: str, found: _List, entry: str, end: str) -> str:
    if found.flow:
        if not found.content or found.last is None:
            return f"{body[: found.start + 1]}{entry}{body[found.start + 1 :]}"
        return f"{body[: found.last]}, {entry}{body[found.last :]}"
    if found.last is None:
        raise ValueError("the list is empty, and not written as []")
    # Behind the line that the last entry ends in, with whatever comment stands there.
    place = found.last
    if place and body[place - 1] not in "\r\n":
        while place < len(body) and body[place] not in "\r\n":
            place += 1
        gap = end if place == len(body) else ""
        if not gap:
            place += 2 if body[place : place + 2] == "\r\n" else 1
    else:
        gap = ""
    return f"{body[:place]}{gap}{' ' * found.column}- {entry}{end}{body[place:]}"


def _find(body: str, key: str) -> _List | None:
    """The list under a key of the outermost mapping, by libyaml's own marks."""
    parser: Any = CParser(body)
    depth, name, expecting = 0, None, True
    start: Any = None
    last: int | None = None
    while parser.check_event():
        event: Any = parser.get_event()
        opens = isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent))
        closes = isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent))
        if start is not None:
            if closes and depth == 2:
                return _List(
                    start.start_mark.index, start.start_mark.column, bool(start.flow_style), last, last is not None
                )
            if isinstance(event, yaml.ScalarEvent) or (closes and event.end_mark.index > event.start_mark.index):
                last = max(last or 0, event.end_mark.index)
        elif depth == 1 and not closes:
            if expecting:
                name = event.value if isinstance(event, yaml.ScalarEvent) else None
            elif name == key and isinstance(event, yaml.SequenceStartEvent):
                start = event
            expecting = not expecting
        depth += 1 if opens else -1 if closes else 0
    return None


def with_value(text: str, path: tuple[str, ...], key: str, value: str) -> str:
    """The text with a value, in one line of flow style, under a key of the mapping at a path: set, or added first.

    Raises PolicyError for a text that is no mapping, and ValueError where no place can be found that is certain.
    """
    parse(text, "policy")  # strictly: no anchors, no key twice
    mark = _MARK if text.startswith(_MARK) else ""
    body = text.removeprefix(_MARK)
    node: Any = yaml.compose(body, Loader=yaml.CSafeLoader)
    for name in path:
        node = _under(node, name)
    if not isinstance(node, yaml.MappingNode) or not node.value:
        raise ValueError(f"`{'.'.join(path)}` is not a mapping")
    found = _under(node, key)
    if found is not None:
        start, end = found.start_mark.index, found.end_mark.index
        if "\n" in body[start:end].rstrip() or not found.flow_style:
            raise ValueError(f"`{key}` is not written in one line")
        return f"{mark}{body[:start]}{value}{body[end:]}"
    first = node.value[0][0].start_mark
    if node.flow_style:
        return f"{mark}{body[: first.index]}{key}: {value}, {body[first.index :]}"
    line = body.rfind("\n", 0, first.index) + 1
    if body[line : first.index].strip():
        raise ValueError(f"`{'.'.join(path)}` is not written in lines of its own")
    end = next((end for end in _ENDS if end in body), "\n")
    return f"{mark}{body[:line]}{body[line : first.index]}{key}: {value}{end}{body[line:]}"


def _under(node: Any, name: str) -> Any:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return next((value for key, value in pairs if key.value == name), None)
