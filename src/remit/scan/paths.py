"""Paths that documents name: files of a program's hidden folder, drawn trees of one, and tables of files."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document
from remit.scan.model import Place
from remit.scan.vocabulary import bare, section, words

_PROGRAMS = "|".join(
    re.escape(one)
    if one != ".github"
    else r"\.github(?=/(?:agents|prompts|instructions|skills|chatmodes|hooks|plugin|copilot-)|$)"
    for one in sorted({*section("programs").values(), ".agents"})
)
"""The hidden folders of programs that start agents; of GitHub's, only what is for them."""
_FILE = re.compile(
    rf"(?<![\w/.~$}}>*{{\\-])(?:\./)?((?:{_PROGRAMS})/(?:[\w-]+/)*[\w.-]+\.(?:md|mdc|py|sh|js|mjs|cjs|ts|ps1|json|ya?ml|toml))\b(?![\w*/])"
)
_ENTRY = re.compile(
    r"^([\s│|]*(?:[├└][─\s-]*|[+`|]--+\s*)?)(?:[^\w\s.#|(]+\s)?(\.?[\w@][\w.@-]*(?:/[\w.-]+)*/?)(?=\s|$)(.*)"
)
_CELL = re.compile(r"`(?:\./)?((?:\.?[\w-]+/)*\.?[\w.-]+(?:/|\.\w{1,5}))`")
_TEAM = re.compile(rf"^(?:{_PROGRAMS})/|(?:^|/)(?:AGENTS|CLAUDE|GEMINI)\.md$|(?:^|/)(?:agents|skills)/")
_RUNS = re.compile(r"^\s*(?:\$ )?(?:python3?|node|bash|sh|zsh|pwsh|npx|tsx|bun|deno run|uv run) ")
_GLOB = re.compile(r"/\*")
"""What makes a line one about patterns of paths."""
_MOST = 200


class Drawn(msgspec.Struct, frozen=True):
    """The paths that one tree, table or page names, with the line of each."""

    form: str
    """`tree`, `table` or `text`."""
    paths: tuple[tuple[str, Place], ...]
    page: str


def paths_named(text: Text, document: Document) -> Iterator[Drawn]:
    """What a document names by its path."""
    yield from _trees(text, document)
    for table in document.tables:
        for column in range(min(2, len(table.head.cells))):
            rows = [row for row in table.rows if not _is_absent(" ".join(row.cells))]
            found = [
                (match[1], Place(text.path, row.line))
                for row in rows
                if (match := _CELL.fullmatch(row.cells[column].strip()))
            ]
            if len(found) >= 4 and len(found) >= 0.8 * len(rows) and any(_TEAM.search(path) for path, _ in found):
                yield Drawn("table", tuple(found[:_MOST]), text.path)
    named = dict(_in_text(text))
    if named:
        yield Drawn("text", tuple(named.items())[:_MOST], text.path)


def _in_text(text: Text) -> Iterator[tuple[str, Place]]:
    """The files of a program's folder that lines name; of lines of code, only what they run."""
    fenced = False
    for number, raw in enumerate(text.text.split("\n"), 1):
        line = raw[:1_000]
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if "." in line and (not fenced or _RUNS.search(line)) and not _GLOB.search(line) and not _is_absent(line):
            for match in _FILE.finditer(line):
                yield match[1], Place(text.path, number)


def _trees(text: Text, document: Document) -> Iterator[Drawn]:
    """The entries below the hidden folders of programs in drawn trees."""
    for block in document.code:
        if not any(mark in block.text for mark in ("├", "└", "|--", "+--")) or "/" not in block.text:
            continue
        above: list[tuple[int, str]] = []
        found: list[tuple[str, Place]] = []
        for number, line in enumerate(block.text.split("\n")[:1_000], block.line):
            match = _ENTRY.match(line[:400])
            if match is None:
                continue
            above = [(depth, name) for depth, name in above if depth < len(match[1])]
            folders = "/".join(name for _, name in above)
            hidden = re.search(rf"(?:^|/)((?:{_PROGRAMS})(?:/.*)?)$", folders)
            if hidden is not None and not _is_absent(match[3]):
                found.append((f"{hidden[1]}/{match[2].rstrip('/')}", Place(text.path, number)))
            if match[2].endswith("/"):
                above.append((len(match[1]), match[2].rstrip("/")))
        if found:
            yield Drawn("tree", tuple(found[:_MOST]), text.path)


def _is_absent(line: str) -> bool:
    """Whether a line says that a file is made, kept on one machine, or may be missing."""
    return _ABSENT.search(re.sub(r"`[^`]*`|[\w.-]*/[\w./-]*|[\w-]+\.\w{2,4}\b", "", bare(line))) is not None


_ABSENT = re.compile(
    rf"\b(?:{'|'.join(map(re.escape, sorted(words('made_later', 'whole'))))})\b"
    rf"|\b(?:{'|'.join(sorted(words('made_later', 'begins'))).lower()})|{'|'.join(sorted(words('made_later', 'unspaced')))}",
    re.IGNORECASE,
)
