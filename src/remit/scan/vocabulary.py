"""What people call tools, yes and no. The words are data: `catalog/scan.yaml`."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any

import msgspec

from remit.catalog import text
from remit.declare.nodes import parse
from remit.forms.nodes import MAP, SCALAR, Node
from remit.scan.model import Entry, Mark

CHANGES = frozenset({"write", "shell"})
_SCOPED = re.compile(r"([A-Za-z_][\w.*/-]*)\s*\((.*)\)", re.DOTALL)
_BREAKS = re.compile(r"[\s_.-]+")
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_ESCAPE = re.compile(r"\\([_*`~|#<>\[\](){}.+!-])")
_EMPHASIS = re.compile(r"(?<![\w/*])(\*{1,3}|__?)(?=[^\s*])([^*]+?)(?<=[^\s*/])\1(?![\w/*])")
_AGENT_COLUMN = re.compile(
    r"(?:[\w-]+ ){0,2}(?:sub-?)?agents?(?: (?:name|type|id|file|role|definition|character sheet|sheet))?(?: ?\(.*\))?"
)
_DECORATION = re.compile(r"[`~\"“”‘’]+|(?<!\w)'|'(?!\w)")


@cache
def _catalog() -> dict[str, Any]:
    found: dict[str, Any] = plain_node(parse(text("scan.yaml"), "scan.yaml"))
    return found


def plain_node(node: Node) -> Any:
    """What a node of the catalog says, as plain values."""
    if node.kind == MAP:
        return {key: plain_node(value) for key, value in node.value.items()}
    return node.value if node.kind == SCALAR else [plain_node(item) for item in node.value]


@cache
def words(section: str, key: str) -> frozenset[str]:
    """The words of the catalog under a section and a key, or under the key of a list."""
    found = _catalog()[section]
    return frozenset(found[key] if isinstance(found, dict) else found)


def section(name: str) -> dict[str, Any]:
    """A section of the catalog that is a mapping, whole."""
    found: dict[str, Any] = _catalog()[name]
    return found


class Layout(msgspec.Struct, frozen=True):
    """Where a program keeps something, and in which form."""

    host: str
    path: re.Pattern[str]
    form: str
    certain: bool = True
    headless: bool = False
    """Whether the program takes a file without front matter for a definition."""


@cache
def layouts(section: str) -> tuple[Layout, ...]:
    """The rows of `definitions` or `settings`."""
    return tuple(
        Layout(
            row["host"],
            re.compile(row["path"]),
            row["form"],
            certain=row.get("certain") != "false",
            headless=row.get("headless") == "true",
        )
        for row in _catalog()[section]
    )


def pack_of_host(host: str) -> str:
    """The name of the tool pack that has a program's tools."""
    return str(_catalog()["packs"].get(host, host))


@cache
def _by_token() -> dict[str, str]:
    return {token: name for name, tokens in _catalog()["capabilities"].items() for token in tokens}


@cache
def _by_word() -> dict[str, str]:
    return {word: name for name, found in _catalog()["capability_words"].items() for word in found}


@cache
def _by_mark() -> dict[str, Mark]:
    return {word: Mark(name) for name, found in _catalog()["marks"].items() for word in found}


@lru_cache(maxsize=20_000)
def bare(written: str) -> str:
    """A cell or a name without emphasis, footnotes, links and blanks around it."""
    if written.strip().strip("`\"'") == "*":
        return "*"
    linked = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", written)
    linked = re.sub(r"\[\^?[0-9]{1,3}\]|<sup>.*?</sup>|[¹²³⁴⁵⁶⁷⁸⁹†‡]", "", linked)
    return unescaped(_DECORATION.sub("", _EMPHASIS.sub(r"\2", linked))).replace("\ufe0f", "").strip()


def unescaped(text: str) -> str:
    """Markdown's text without the backslashes before its own marks."""
    return _ESCAPE.sub(r"\1", text)


def split_scope(token: str) -> tuple[str, str | None]:
    """`Bash(git diff:*)` is the tool `Bash` with the scope `git diff:*`."""
    match = _SCOPED.fullmatch(token.strip())
    if match is None:
        return token.strip(), None
    scope = match[2].strip()
    return match[1], None if scope in ("", "*", "**", ":*") else scope


def tool_key(tool: str) -> str:
    """One text for all spellings of a tool's name."""
    return _BREAKS.sub("", tool.lower())


_OF_SERVER = re.compile(r"@?\w[\w.@-]*(?:/[\w.@-]+)*/(?:[\w@-][\w.@-]*|\*)")
"""`server/tool`, and no path of a hidden folder, no pattern of paths, no words."""


@lru_cache(maxsize=50_000)
def capability(tool: str) -> str:
    """What a tool can do: a word of the catalog, `mcp` for one of a server, or `unknown`."""
    name, _ = split_scope(tool)
    if name in ("*", "all"):
        return "everything"
    lowered = _BREAKS.sub("", name.lower())
    if name.startswith("mcp__") or name.lower().startswith("mcp:") or lowered in ("mcp", "mcptools", "mcpservers"):
        return "mcp"
    known = _by_token()
    if lowered in known:
        return known[lowered]
    before, slash, after = lowered.partition("/")
    if slash:
        if before not in words("toolsets", "") and before not in known:
            return "mcp" if _OF_SERVER.fullmatch(name) else "unknown"
        return known.get(after) or known.get(before) or "unknown"
    return _by_word().get(name.lower().strip(), "unknown")


def capability_word(written: str) -> bool:
    """Whether a text is a word for a kind of tool, in some language, rather than the name of one."""
    return written.lower().strip() in _by_word()


def can_write(entry: Entry) -> bool:
    """Whether the entry grants a tool that can change files: one that edits, a shell without a scope, or everything."""
    if entry.mark not in (Mark.YES, Mark.SCOPED):
        return False
    kind = capability(entry.tool)
    if kind == "shell":
        return entry.scope is None and entry.mark is Mark.YES
    if kind == "mcp":
        return entry.mark is Mark.YES and mutates(entry.tool)
    return kind in ("write", "everything")


def mutates(tool: str) -> bool:
    """Whether the name of a server's tool says that it changes something."""
    last = re.split(r"__|/|:", tool)[-1]
    parts = [part.lower() for part in _WORDS.findall(last.replace("_", " "))]
    verbs = [one for one in parts if one in words("mutating_words", "") | words("reading_words", "")]
    if verbs and verbs[0] in words("reading_words", "") and {"and", "or"}.isdisjoint(parts):
        return False  # what follows the verb is a thing: `get_commit`
    return any(one in words("mutating_words", "") for one in verbs)


def mark_of(cell: str) -> tuple[Mark, str | None] | None:
    """What a cell of a matrix says, with its qualifier; None if it is no mark."""
    plain = bare(cell)
    lowered = plain.lower()
    known = _by_mark()
    if lowered in known:
        mark = known[lowered]
        return mark, (plain if mark is Mark.SCOPED and lowered.isascii() else None)
    if not plain:
        return None
    first = plain[0]
    if first in known and not first.isascii() and not first.isalpha():
        rest = plain[1:].strip(" :()-–—,")
        mark = known[first]
        if not rest or rest.lower() in known:
            return mark, None
        return (Mark.SCOPED if mark is Mark.YES else mark), rest
    word, _, rest = lowered.partition(" ")
    if word in known and known[word] is not Mark.UNCLEAR and word.isalpha() and len(word) > 1 and rest[:1] in "(,:–—-;":
        mark = known[word]
        return (Mark.SCOPED if mark is Mark.YES else mark), plain[len(word) :].strip(" :()-–—,;")
    return None


def is_tool_name(written: str) -> bool:
    """Whether a text is known as a tool, or as a kind of tool."""
    name = bare(written)
    kind = capability(name)
    return kind != "unknown" and (kind != "mcp" or name.startswith("mcp__"))


@lru_cache(maxsize=20_000)
def is_heading(cell: str, key: str) -> bool:
    """Whether the heading of a column means `key` (`agent`, `tools`, `forbidden` …)."""
    plain = bare(cell).lower().rstrip(":")
    return plain in words("columns", key) or (key == "agent" and _AGENT_COLUMN.fullmatch(plain) is not None)


def without_emoji(text: str) -> str:
    """The text without pictures and what modifies them; letters keep their marks."""
    whole = unicodedata.normalize("NFC", text)
    return "".join(
        c for c in whole if unicodedata.category(c) not in ("So", "Sk", "Mn", "Cf", "Cs", "Co", "Cn")
    ).strip()


def tokens(value: str) -> list[str]:
    """The parts of a list in one line: commas, `<br>` and blanks between code spans, outside of brackets."""
    value = re.sub(r"<br\s*/?>", ",", value)
    spans = re.findall(r"`([^`]+)`", value)
    rest = re.sub(r"`[^`]+`", "", value)
    if spans and not re.sub(r"[\s,+&/•·、，;]|and|und|y|et|plus", "", rest):
        return [part for span in spans for part in _parts(span)]
    return _parts(value)


def _parts(value: str) -> list[str]:
    parts, depth, part = [], 0, ""
    for character in value:
        depth += (character in "([{") - (character in ")]}" and depth > 0)
        if character in ",;、，" and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    parts.append(part)
    return [each for one in parts if (found := bare(one)) for each in _slashed(found)]


def _slashed(name: str) -> list[str]:
    """`Read/Edit/Bash` is three tools; `edit/editFiles` is one, of a host that groups its own."""
    parts = [part.strip() for part in name.split("/")]
    known = _by_token()
    if all(part[:1].isupper() and tool_key(part) in known for part in parts):
        return parts
    return [name]
