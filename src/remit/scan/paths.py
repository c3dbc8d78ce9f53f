"""Paths that documents name: files of a program's hidden folder, drawn trees of one, and tables of files."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document, example_rows
from remit.scan.model import Place
from remit.scan.vocabulary import bare, section, words

_PROGRAMS = "|".join(
    f"{re.escape(one)}(?=/(?:{parts})|$)" if (parts := section("parts_for_agents").get(one)) else re.escape(one)
    for one in sorted({*section("programs").values(), ".agents"})
)
"""The hidden folders of programs that start agents."""
_FILE = re.compile(
    rf"(?<![\w/.~$}}>*{{\\-])(?:\./)?((?:{_PROGRAMS})/(?:[\w-]+/)*[\w.-]+\.(?:md|mdc|py|sh|js|mjs|cjs|ts|ps1|json|ya?ml|toml))\b(?![\w*/])"
)
_SCRIPTS = "py|sh|js|mjs|cjs|ts|ps1"
_ENDINGS = f"md|mdc|{_SCRIPTS}|json|ya?ml|toml"
_OWN = re.compile(rf"(?:[`\s]|\]\()(?:\./)?((?:[\w-]+/){{1,4}}[\w-][\w.-]*\.(?:{_ENDINGS}))(?=[`\s)#])")
"""A file of a skill's folder, by its path from there."""
_ENTRY = re.compile(
    r"^([\s│|]*(?:[├└][─\s-]*|[+`|]--+\s*)?)(?:[^\w\s.#|(]+\s)?(\.?[\w@][\w.@-]*(?:/[\w.-]+)*/?)(?=\s|$)(.*)"
)
_CELL = re.compile(r"`(?:\./)?((?:\.?[\w-]+/)*\.?[\w.-]+(?:/|\.\w{1,5}))`")
_TEAM = re.compile(rf"^(?:{_PROGRAMS})/|(?:^|/)(?:agents|skills)/")
_RUNS = re.compile(r"^\s*(?:\$ )?(?:python3?|node|bash|sh|zsh|pwsh|npx|tsx|bun|deno run|uv run) ")
_SAYS_NOTHING = re.compile(r"\binit\b|/\*|^\W*(?:file|path)s?\W*:", re.IGNORECASE)
"""What makes a line one about patterns of paths, or about what stands below it."""
_NAMES = re.compile(r"`[^`]*`|(?<![\w.-])[\w.-]*/[\w./-]*|(?<![\w-])[\w-]+\.\w{2,4}\b")
"""What of a line is the name of a file, and says nothing of it."""
_MARKED = re.compile(r"`[^`]+`|\]\([^()\s]+\)")
"""What of a line stands in backticks, or is the address of a link."""
_MAKES = re.compile(
    r"(?:^|[/_-])(?:skills?|agents?|plugins?|commands?|creators?|builder|author|authoring|writing|templates?"
    r"|scaffold|generator|factory)(?:-[^/]*)?$"
)
"""The folder of a skill that makes skills, agents and the like."""
_TEACHES = 3
"""How often a page names `SKILL.md` if it tells how to write one."""
_LONGEST = 1_000
_MOST = 200


class Drawn(msgspec.Struct, frozen=True):
    """The paths that one tree, table or page names, with the line of each."""

    form: str
    """`tree`, `table`, `text` or `skill`."""
    paths: tuple[tuple[str, Place], ...]
    page: str
    skill: str = ""
    """The folder of the skill that the page belongs to."""


def paths_named(text: Text, document: Document) -> Iterator[Drawn]:
    """What a document names by its path."""
    yield from _trees(text, document)
    for table in document.tables:
        for column in range(min(2, len(table.head.cells))):
            rows = [row for row in table.rows if not _is_absent(" ".join(row.cells))]
            found = [
                (match[1], Place(text.path, row.line))
                for row in rows
                if (match := _CELL.fullmatch(row.cells[column][:200].strip()))
            ]
            if len(found) >= 4 and len(found) >= 0.8 * len(rows) and any(_TEAM.search(path) for path, _ in found):
                yield Drawn("table", tuple(found[:_MOST]), text.path)
    named = dict(_in_text(text))
    if named:
        yield Drawn("text", tuple(named.items())[:_MOST], text.path)


def _in_text(text: Text) -> Iterator[tuple[str, Place]]:
    """The files of a program's folder that lines name; of lines of code, only what they run."""
    fenced = False
    examples = example_rows(text.text)
    for number, raw in enumerate(text.text.split("\n"), 1):
        line = raw[:_LONGEST] if number not in examples else ""
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if (
            "." in line
            and (not fenced or _RUNS.search(line))
            and not _SAYS_NOTHING.search(line)
            and not _is_absent(line)
        ):
            for match in _FILE.finditer(line):
                yield match[1], Place(text.path, number)


def named_in_skill(text: Text, skill: str) -> Iterator[Drawn]:
    """The files below the folder of a skill that its pages name, if they don't speak of how to make a skill."""
    if not skill or _MAKES.search(skill) is not None or text.text.count("SKILL.md") >= _TEACHES:
        return
    named = dict(_marked(text))
    if named:
        yield Drawn("skill", tuple(named.items())[:_MOST], text.path, skill)


def _marked(text: Text) -> Iterator[tuple[str, Place]]:
    fenced = False
    examples = example_rows(text.text)
    for number, raw in enumerate(text.text.split("\n"), 1):
        line = raw[:_LONGEST] if number not in examples else ""
        fenced ^= line.lstrip().startswith(("```", "~~~"))
        if "/" not in line or (fenced and not _RUNS.search(line)) or _is_absent(line, _MADE):
            continue
        pieces = [f" {line} "] if fenced else [f"{one} " for one in _MARKED.findall(line)]
        for piece in pieces:
            for match in _OWN.finditer(piece):
                yield match[1], Place(text.path, number)


def _trees(text: Text, document: Document) -> Iterator[Drawn]:
    """The entries below the hidden folders of programs in drawn trees."""
    for block in document.code:
        if not any(mark in block.text for mark in ("├", "└", "|--", "+--")) or "/" not in block.text:
            continue
        above: list[tuple[int, str]] = []
        found: list[tuple[str, Place]] = []
        for number, line in enumerate(block.text.split("\n")[:2_000], block.line):
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


def _is_absent(line: str, said: re.Pattern[str] | None = None) -> bool:
    """Whether a line says that a file is made, kept on one machine, or may be missing."""
    return (said or _ABSENT).search(_NAMES.sub("", bare(line[:_LONGEST]))) is not None


def _saying(besides: frozenset[str] = frozenset()) -> re.Pattern[str]:
    """Words that say that a file is made later, but for some."""
    whole, begins, unspaced = (
        "|".join(re.escape(one) for one in sorted(words("made_later", key) - besides))
        for key in ("whole", "begins", "unspaced")
    )
    return re.compile(rf"\b(?:{whole})\b|\b(?:{begins})|{unspaced}", re.IGNORECASE)


_ABSENT = _saying()
_MADE = _saying(words("made_later", "not_in_skills"))
