"""Permission records in YAML, alone or inside a document, and `accessibleBy` declarations in TypeScript."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from remit.declare.nodes import parse
from remit.forms.nodes import MAP
from remit.forms.texts import plain
from remit.model.errors import PolicyError
from remit.scan.files import Text
from remit.scan.markdown import Code, read_markdown
from remit.scan.model import Account, Entry, Kind, Mark, Place
from remit.scan.names import is_blank

_START = re.compile(r"^([ \t]*)agent_id:[ \t]*(\S.*)$", re.MULTILINE)
_KEY = re.compile(r"^\s*([a-z_]+):[ \t]*(.*?)(?:\s+#.*)?$")
_ACCESSIBLE = re.compile(r"accessibleBy[\"']?\s*:\s*\[([^\]]{0,2000})\]")
_GROUP = re.compile(r"\{[^{}]*\}")
_NAMED = re.compile(r"""\bname["']?\s*:\s*['"]([\w.-]+)['"]""")
_KEYED = re.compile(r"""([A-Za-z_][\w.-]*)["']?\s*:\s*\{[^{}]*$""")
_MOST_DECLARED = 2_000
_MOST_RECORDS = 500
_LONGEST_RECORD = 20_000
"""Characters of a record that are read."""
_CALLER = re.compile(r"""(?:(\w+)\.(\w+))|['"]([\w:.-]+)['"]""")
_BELOW = ("tools_allowed", "tools_forbidden", "data_tiers_allowed", "may_delegate_to", "resource_locks_allowed")
_TERMS = (
    "data_tiers_allowed",
    "data_tiers_with_capsule_grant",
    "resource_locks_allowed",
    "resource_locks_forbidden",
    "external_apis_allowed",
)


class Record(msgspec.Struct, frozen=True):
    """A permission record: its values, the line of each key, and whether its keys lost their indentation."""

    agent: str
    values: dict[str, Any]
    lines: dict[str, int]
    flattened: bool
    line: int


def read_records(text: Text) -> list[Record]:
    """The permission records of a file: YAML documents, code blocks, or lines of a page."""
    found = []
    line, seen = 1, 0
    for start in islice(_START.finditer(text.text), _MOST_RECORDS):
        line, seen = line + text.text.count("\n", seen, start.start()), start.start()
        record = _record(_block(text.text[seen : seen + _LONGEST_RECORD]), line)
        if record is not None:
            found.append(record)
    return found


def _block(text: str) -> str:
    """The lines from `agent_id` on that are keys, items or comments."""
    kept: list[str] = []
    for line in text.split("\n")[:200]:
        if kept and re.match(r"\s*(?:-\s+)?agent_id:", line):
            break
        if not (_KEY.match(line) or re.match(r"\s*(?:#.*)?$|\s+\S|\s*-\s", line)):
            break
        kept.append(line)
    return "\n".join(kept)


def _record(block: str, line: int) -> Record | None:
    lines = {match[1]: line + n for n, row in enumerate(block.split("\n")) if (match := _KEY.match(row))}
    try:
        node = parse(block, "record")
    except (PolicyError, RecursionError):
        return None
    if node.kind != MAP:
        return None
    values = plain(node)
    inner = values.get("permissions")
    flattened = inner is None and "permissions" in values and any(key in values for key in _BELOW)
    merged = {**values, **inner} if isinstance(inner, dict) else values
    agent = merged.get("agent_id")
    if not isinstance(agent, str) or is_blank(agent) or not any(key in merged for key in _BELOW):
        return None
    return Record(agent, merged, lines, flattened, line)


def account_of(record: Record, path: str) -> Account:
    """What a record says of its agent."""

    def entries(key: str, mark: Mark) -> Iterator[Entry]:
        value = record.values.get(key)
        for name in value if isinstance(value, list) else ():
            yield Entry(str(name), mark, Place(path, record.lines.get(key, record.line)))

    reviewed = record.values.get("last_reviewed")
    delegates = record.values.get("may_delegate_to")
    delegates = delegates if isinstance(delegates, list) else []
    return Account(
        agent=record.agent,
        kind=Kind.RECORD,
        place=Place(path, record.line),
        entries=(*entries("tools_allowed", Mark.YES), *entries("tools_forbidden", Mark.NO)),
        hands_to=tuple(
            (str(name), Place(path, record.lines.get("may_delegate_to", record.line))) for name in delegates
        ),
        terms={key: record.values[key] for key in _TERMS if key in record.values},
        reviewed=(str(reviewed), Place(path, record.lines.get("last_reviewed", record.line))) if reviewed else None,
    )


def declared(text: Text) -> list[Account]:
    """Who may use which tool by `accessibleBy`, from source files only: in a document it is an example."""
    found: dict[str, list[Entry]] = {}
    line, at = 1, 0
    for match in islice(_ACCESSIBLE.finditer(text.text), _MOST_DECLARED):
        tool, start = _declared_tool(text.text, match.start())
        if tool is None:
            continue
        line, at = (
            line + text.text.count("\n", at, start) if start >= at else text.text.count("\n", 0, start) + 1,
            start,
        )
        for caller in _CALLER.finditer(re.sub(r"//[^\n]*", "", match[1])):
            name = caller[2] or caller[3]
            found.setdefault(name, []).append(Entry(tool, Mark.YES, Place(text.path, line)))
    return [
        Account(agent=name, kind=Kind.CODE, place=entries[0].place, entries=tuple(entries), closed=False)
        for name, entries in found.items()
    ]


def _declared_tool(text: str, end: int) -> tuple[str | None, int]:
    """The tool whose declaration a place lies in, and where it begins: `name: "x"` beside it, or the key before `{`."""
    begin = max(0, end - 2000)
    before = text[begin:end]
    for _ in range(4):
        before = _GROUP.sub(lambda found: " " * len(found[0]), before)
    opened = before.rfind("{")
    named = _NAMED.search(before, max(opened, 0))
    if named is not None:
        return named[1], begin + named.start()
    keyed = _KEYED.search(before, before.rfind("\n", 0, opened) + 1) if opened >= 0 else None
    return (keyed[1], begin + keyed.start()) if keyed is not None else (None, end)


class Enum(msgspec.Struct, frozen=True):
    """An enumeration that a text declares."""

    name: str
    members: tuple[str, ...]
    place: Place


def enums(text: Text) -> tuple[list[Enum], list[tuple[str, str, Place]]]:
    """The enumerations of a text, and every `Name.MEMBER` that its code uses."""
    blocks = (
        read_markdown(text.text).code if text.path.endswith((".md", ".txt", ".mdx")) else [Code("ts", text.text, 1, ())]
    )
    found: list[Enum] = []
    uses: list[tuple[str, str, Place]] = []
    for block in blocks:
        for match in re.finditer(r"\benum\s+(\w+)\s*\{([^}]{0,8000})\}", block.text):
            body = re.sub(r"//[^\n]*|/\*.*?\*/", "", match[2], flags=re.DOTALL)
            members = tuple(re.findall(r"^\s*([A-Za-z_]\w*)\s*(?:=[^,\n]*)?,?\s*$", body, re.MULTILINE))
            line = block.line + block.text.count("\n", 0, match.start())
            found.append(Enum(match[1], members, Place(text.path, line)))
        for match in re.finditer(r"\b([A-Z]\w*)\.([A-Z][A-Z0-9_]{2,})\b", block.text):
            line = block.line + block.text.count("\n", 0, match.start())
            uses.append((match[1], match[2], Place(text.path, line)))
    return found, uses
