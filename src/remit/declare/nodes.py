"""Policy text → a tree of nodes with positions, read strictly by libyaml.

YAML 1.2 core schema, one document, no aliases, anchors, tags or duplicate keys, bounded depth and size.
Scalars stay text until a shape says what it expects, so `no` and `on` are never anything but text.
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.cyaml import CParser  # type: ignore[attr-defined]  # libyaml itself; the stubs leave it out

from remit.forms.nodes import LIST, MAP, SCALAR, Node
from remit.model.errors import PolicyError, Problem
from remit.model.text import shown

MAX_DEPTH = 48
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
MAX_SIZE = 16 * 1024 * 1024
_BLANK = re.compile("^ *[\u00a0\u2000-\u200a\u202f\u205f\u3000]", re.MULTILINE)
_HIDDEN = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u061c]")


def parse(text: str, source: str) -> Node:
    """The root mapping of `text`. Raises PolicyError with the first thing that is not strict YAML."""
    if len(text) > MAX_SIZE:
        raise _refused("too-large", f"larger than {MAX_SIZE // 1024 // 1024} MiB", source)
    control = _CONTROL.search(text)
    if control:
        line, column = text.count("\n", 0, control.start()) + 1, control.start() - text.rfind("\n", 0, control.start())
        what = f"control character U+{ord(control[0]):04X}"
        raise _refused("bad-yaml", what, f"{source}:{line}:{column}", "remove it: a policy is plain text")
    blank = _BLANK.search(text)
    if blank:
        line, column = text.count("\n", 0, blank.start()) + 1, blank.end() - blank.start()
        what = f"a blank that is not a plain space (U+{ord(blank[0][-1]):04X}) in the indentation"
        raise _refused("bad-yaml", what, f"{source}:{line}:{column}", "indent with plain spaces")
    hidden = _HIDDEN.search(text, 1 if text.startswith("\ufeff") else 0)
    if hidden:
        line = text.count("\n", 0, hidden.start()) + 1
        raise _refused("hidden-character", f"hidden character U+{ord(hidden[0]):04X}", f"{source}:{line}", "remove it")
    try:
        root = _build(CParser(text.removeprefix("\ufeff")), source)
    except yaml.MarkedYAMLError as error:
        raise PolicyError((_syntax(error, text, source),)) from None
    except yaml.YAMLError as error:
        raise _refused("bad-yaml", f"not readable as YAML: {str(error).splitlines()[0]}", source) from None
    if root is None or root.kind is not MAP:
        at = source if root is None else root.at
        tests = source.endswith(".test.yaml")
        help = None if root is not None or tests else "`remit init` writes a first policy"
        first = "remit_tests: 1" if tests else "remit: 1"
        raise _refused("bad-yaml", f"expected a mapping: keys with values, such as `{first}`", at, help)
    return root


def has_hidden(text: str) -> bool:
    """True if the text holds a character that nobody sees: no policy may, except escaped in quotes."""
    return _HIDDEN.search(text) is not None


def from_python(value: Any, source: str = "policy", depth: int = 0) -> Node:
    """The same tree from a policy built in Python: dicts, lists, text, numbers, booleans."""
    if depth > MAX_DEPTH:
        raise _refused("too-deep", f"nested deeper than {MAX_DEPTH}", source)
    if isinstance(value, dict):
        node = Node(MAP, {}, source, 0, 0)
        for key, item in value.items():
            name = key if isinstance(key, str) else str(key)
            node.value[name] = from_python(item, f"{source}.{name}", depth + 1)
        return node
    if isinstance(value, (list, tuple)):
        items = [from_python(item, f"{source}[{index}]", depth + 1) for index, item in enumerate(value)]
        return Node(LIST, items, source, 0, 0)
    if isinstance(value, str):
        return Node(SCALAR, value, source, 0, 0)
    if value is None or isinstance(value, (bool, int, float)):
        text = "" if value is None else str(value).lower() if isinstance(value, bool) else repr(value)
        return Node(SCALAR, text, source, 0, 0, plain=True)
    isoformat = getattr(value, "isoformat", None)
    if callable(isoformat):
        return Node(SCALAR, isoformat(), source, 0, 0)
    raise _refused("bad-value", f"expected text, number, list or mapping, got {type(value).__name__}", source)


def _build(parser: Any, source: str) -> Node | None:
    """The tree of the only document, from libyaml's events."""
    root: Node | None = None
    stack: list[Node] = []
    key: str | None = None
    pending: list[str | None] = []
    documents = 0
    while parser.check_event():
        event: Any = parser.get_event()
        kind = type(event)
        if kind is yaml.ScalarEvent:
            if event.anchor or event.tag:
                raise _special(event, source)
            mark = event.start_mark
            if stack and stack[-1].kind is MAP and key is None:
                key = event.value
                top = stack[-1]
                if key in top.value:
                    raise _refused(
                        "duplicate-key",
                        f"duplicate key `{shown(key)}`, first at line {top.keys[key][0]}",
                        f"{source}:{mark.line + 1}:{mark.column + 1}",
                    )
                top.keys[key] = (mark.line + 1, mark.column + 1)
                continue
            node = Node(SCALAR, event.value, source, mark.line + 1, mark.column + 1, not event.style)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            if event.anchor or event.tag:
                raise _special(event, source)
            mark = event.start_mark
            if stack and stack[-1].kind is MAP and key is None:
                raise _refused("bad-key", "a key must be a single word", f"{source}:{mark.line + 1}:{mark.column + 1}")
            if len(stack) >= MAX_DEPTH:
                raise _refused("too-deep", f"nested deeper than {MAX_DEPTH}", f"{source}:{mark.line + 1}")
            mapping = kind is yaml.MappingStartEvent
            node = Node(MAP if mapping else LIST, {} if mapping else [], source, mark.line + 1, mark.column + 1)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            stack.pop()
            key = pending.pop()
            continue
        elif kind is yaml.AliasEvent:
            raise _special(event, source)
        else:
            if kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    line = event.start_mark.line + 1
                    help_ = "remove the `---`; what belongs to the policy too can be a file under `include`"
                    raise _refused("bad-yaml", "only one document a file", f"{source}:{line}", help_)
            continue
        if not stack:
            root = node
        elif stack[-1].kind is MAP:
            stack[-1].value[key] = node
            key = None
        else:
            stack[-1].value.append(node)
        if node.kind is not SCALAR:
            stack.append(node)
            pending.append(key)
            key = None
    return root


def _special(event: Any, source: str) -> PolicyError:
    """An alias, anchor or tag: nearly always a glob or a word that wanted quotes."""
    mark = event.start_mark
    at = f"{source}:{mark.line + 1}:{mark.column + 1}"
    if isinstance(event, yaml.AliasEvent):
        text, sign = f"*{event.anchor}", "*"
    elif event.anchor:
        text, sign = f"&{event.anchor}", "&"
    else:
        text, sign = str(event.tag).replace("tag:yaml.org,2002:", "!!"), "!"
    meant = "; a policy has no anchors and aliases: use a role for what agents share" if sign in "*&" else ""
    return _refused("unquoted", f"unquoted `{sign}` at the start of a value", at, f'quote it: "{shown(text)}"{meant}')


def _around(row: str, column: int) -> str:
    """The value that a `: ` at the column stands in: from the key's own colon to the end of the entry."""
    start = max(row.rfind(sign, 0, column) for sign in (": ", "- ", "[", "{", ", "))
    begin = start + (1 if row[start : start + 1] in ("[", "{") else 2) if start >= 0 else 0
    before = row[:column]
    flow = before.count("{") > before.count("}") or before.count("[") > before.count("]")
    stop = re.search(r"[,\]}]", row[column:]) if flow else None
    return shown(row[begin : column + stop.start() if stop else len(row)].strip())


_SIGNS = frozenset("*&!@`%{}[]|>,?")


def _syntax(error: yaml.MarkedYAMLError, text: str, source: str) -> Problem:
    """libyaml's complaint in words that say what to quote."""
    mark = error.problem_mark or error.context_mark
    if mark is None:
        return Problem("bad-yaml", str(error.problem or "not readable as YAML"), source)
    line, column = mark.line, mark.column
    lines = text.removeprefix("\ufeff").split("\n")
    row = lines[line] if line < len(lines) else ""
    if error.context and "alias" in error.context and error.context_mark is not None:
        column = error.context_mark.column
    at = f"{source}:{line + 1}:{column + 1}"
    sign = row[column : column + 1]
    if row.lstrip().startswith(("```", "~~~")):
        what = "a fence of Markdown, which is no part of the policy"
        return Problem("bad-yaml", what, f"{source}:{line + 1}:1", "remove this line, and the one that ends the block")
    opened = _no_comma(error, row, source) or _unclosed(error, lines, source)
    if opened is not None:
        return opened
    if error.problem and "mapping values are not allowed" in error.problem:
        return _second_colon(lines, line, column, source)
    if error.problem and "did not find expected ',' or" in error.problem and row[column : column + 1] == ":":
        return Problem("unquoted", "unquoted `: ` inside a value", at, f'quote the value: "{_around(row, column)}"')
    if sign == "\t":
        return Problem("bad-yaml", "a tab where spaces are expected", at, "indent with spaces")
    brace = re.search(r"\{[^{}]*\}[^\s,\]}]+", row)
    if error.problem and "did not find expected" in error.problem and brace:
        at = f"{source}:{line + 1}:{brace.start() + 1}"
        return Problem("unquoted", "unquoted `{` at the start of a value", at, f'quote it: "{shown(brace[0])}"')
    if sign == "," and re.search(r"""[\]}"']\s*$""", row[:column]) and _KEY.match(row):
        return Problem("bad-yaml", "a second key in the line", at, "write each key on a line of its own")
    if sign in _SIGNS and sign:
        value = re.split(r"[\],}]|\s#", row[column:], maxsplit=1)[0].strip() or sign
        return Problem("unquoted", f"unquoted `{sign}` at the start of a value", at, f'quote it: "{shown(value)}"')
    if error.problem and (
        "did not find expected key" in error.problem or "could not find expected ':'" in error.problem
    ):
        missing = _missing_colon(lines, line, source)
        if missing is not None:
            return missing
    if error.problem and "did not find expected '-' indicator" in error.problem:
        help_ = "indent what belongs to the entry above further than its `-`; begin another entry with `- `"
        return Problem("bad-yaml", "this line is neither an entry of the list nor below one", at, help_)
    if "quoted scalar" in str(error.context) and "\\" in row:
        help_ = "between double quotes a backslash begins an escape: write '…', and `/` in paths"
        return Problem("bad-yaml", "a backslash that is not an escape", at, help_)
    if error.problem and "did not find expected key" in error.problem and error.context_mark is not None:
        beside = error.context_mark
        help_ = f"indent it like line {beside.line + 1}, or further in than the key that it belongs to"
        return Problem("bad-yaml", f"indented by {column}, unlike any line above that it could belong to", at, help_)
    context = f"{error.context}: " if error.context else ""
    return Problem("bad-yaml", f"{context}{error.problem}", at)


def _no_comma(error: yaml.MarkedYAMLError, row: str, source: str) -> Problem | None:
    """Two entries of a list or mapping in one line, with nothing between them."""
    mark = error.problem_mark
    if mark is None or "did not find expected ',' or" not in str(error.problem):
        return None
    before, after = row[: mark.column].rstrip(), row[mark.column : mark.column + 1]
    if before[-1:] not in ("]", "}", '"', "'") or not (after.isalnum() or after in ('"', "'", "[", "{")):
        return None
    at = f"{source}:{mark.line + 1}:{mark.column + 1}"
    return Problem("bad-yaml", "a comma is missing before this", at, f"write `{before[-1]},`")


def _unclosed(error: yaml.MarkedYAMLError, lines: list[str], source: str) -> Problem | None:
    """A bracket, brace or quotation that was opened on an earlier line and is not closed."""
    began, ended, about = error.context_mark, error.problem_mark, f"{error.context} {error.problem}"
    if began is None or ended is None or began.line >= len(lines):
        return None
    sign = lines[began.line][began.column : began.column + 1]
    found = lines[ended.line][ended.column : ended.column + 1] if ended.line < len(lines) else ""
    if "flow" in about and sign in _CLOSING and found in ("]", "}"):
        at = f"{source}:{ended.line + 1}:{ended.column + 1}"
        what = f"`{found}` can't close the `{sign}` of {began.line + 1}:{began.column + 1}"
        return Problem("bad-yaml", what, at, f"close that with `{_CLOSING[sign]}` first")
    if began.line == ended.line and ended.line < len(lines) - 1:
        return None
    if sign in _CLOSING and ("flow" in about or "quoted scalar" in about):
        at = f"{source}:{began.line + 1}:{began.column + 1}"
        return Problem("bad-yaml", f"`{sign}` is opened here and not closed", at, f"close it with `{_CLOSING[sign]}`")
    return None


_CLOSING = {"[": "]", "{": "}", '"': '"', "'": "'"}
_KEY = re.compile(r"\s*(?:- )*([\w./-]+):(?:\s|$)")


def _missing_colon(lines: list[str], line: int, source: str) -> Problem | None:
    """The line above, blank ones aside, is a mere word, and this one stands further in."""
    above = line - 1
    while above >= 0 and not lines[above].split("#")[0].strip():
        above -= 1
    word = lines[above].split("#")[0].rstrip() if above >= 0 else ""
    if re.fullmatch(r"\s*(?:- )*[\w./-]+", word) is None or _indent(lines[line]) <= _indent(word):
        return None
    name = shown(word.strip().removeprefix("- "))
    at = f"{source}:{above + 1}:{_indent(word) + 1}"
    return Problem("bad-yaml", f"a colon is missing after `{name}`", at, f"write `{name}:`")


def _indent(row: str) -> int:
    return len(row) - len(row.lstrip())


def _second_colon(lines: list[str], line: int, column: int, source: str) -> Problem:
    """A `: ` where no key can be: the colon of the line above is missing, or two keys stand in one line."""
    row = lines[line]
    first = _KEY.match(row)
    if first is not None and first.end(1) == column:
        missing = _missing_colon(lines, line, source)
        if missing is not None:
            return missing
    at, value = f"{source}:{line + 1}:{column + 1}", _around(row, column)
    inner = re.fullmatch(r"([\w-]+):\s+(\S.*)", value)
    if first is not None and inner is not None and first.end(1) < column:
        keys = f"write {first[1]}: {{{inner[1]}: {inner[2]}}}"
        return Problem("unquoted", "two keys in one line", at, f"{keys}, or if it is one text: {_quoted(value)}")
    return Problem("unquoted", "unquoted `: ` inside a value", at, f"quote the value: {_quoted(value)}")


def _quoted(value: str) -> str:
    quote = "'" if '"' in value else '"'
    return f"{quote}{value}{quote}"


def _refused(code: str, message: str, at: str, help: str | None = None) -> PolicyError:
    return PolicyError((Problem(code, message, at, help),))
