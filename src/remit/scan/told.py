"""The tools that the text of a definition tells its agent to use: "with the `WebFetch` tool", `mcp__docs__search`.

A sentence that says when, or whether the tool is there, says nothing for certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from remit.scan.files import Text
from remit.scan.front_matter import Head, read_head
from remit.scan.markdown import Line, read_markdown
from remit.scan.model import Account, Place
from remit.scan.vocabulary import section, words

_SERVER = re.compile(r"\bmcp__(?:[A-Za-z0-9-]|_(?!_))+__[A-Za-z0-9_*-]+")
_OPEN = re.compile(
    r"\b(?:not|never|no|cannot|without|avoid|instead|rather|unless|except|whether|may|might|could|optional(?:ly)?|unavailable|fall ?back|alternatively"
    r"|(?:is|are|if|when) (?:available|present|installed|connected|enabled|configured)|available|installed|connected|enabled|configured|registered|requires?"
    r"|orchestrator|coordinator|main (?:agent|session|thread|conversation)|caller|parent|they|them|their|others|(?:other|another|each|the|these|those|all) (?:sub)?agents?|agents? (?:can|use|that)"
    r"|example|e\.g|was|were|used|previously)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What makes it open whether this agent is told to use a tool."""
_MOST = 400


_COMMAND = re.compile(
    r"\b(?:(?P<run>[Rr]un|[Ee]xecute)|[Uu]s(?:e|ing)|[Vv]ia|[Ww]ith|[Cc]all)\s+(?:the command\s+)?`(?P<command>[a-z][\w./-]*(?: [^`\n]{1,200})?)`"
)


_RUNS = re.compile(r"`(?P<command>[a-z.][\w./-]*(?: [^`\n]{1,200})?)`\s*を(?:必ず|まず)?実行(?:し|する)")
_BLOCK = re.compile(
    r"^\W*(?:\d+[.)]\s*)?(?:\*\*)?(?:(?:First|Then|Next|Always|Now),? )?(?:[Rr]un|[Ee]xecute)\b[^.]{0,120}[:：]\W*$"
)
"""A line that orders what the block below it says."""
_FOR_OTHERS = re.compile(
    r"\b(?:examples?|samples?|set-?up|install\w*|usage|outputs?|users?|people|humans?|developers?|manual(?:ly)?|reports?|templates?"
    r"|ci|deploy\w*|handoffs?|reference)\b|例|示例|예시",
    re.IGNORECASE,
)
"""What a heading or a line says of commands that somebody else runs, or that are shown."""
SCRIPT = re.compile(r"(?:\./)?(?:[\w.-]{1,60}/){1,8}[\w.-]{1,80}\.(?:sh|bash|py|js|mjs|ts|rb|pl)")
"""A script, by its path."""
_SHELLS = ("bash", "sh", "shell", "console", "zsh")


class Told(msgspec.Struct, frozen=True):
    """A tool, or a command, that the text of a definition tells its agent to use."""

    definition: Account
    tool: str
    place: Place
    command: str | None = None
    named: str | None = None
    """What the text says, where that leaves the server out."""
    run: bool = False
    """Whether it is told to run the command, and not what comes out of it."""


@cache
def _uses() -> re.Pattern[str]:
    names = "|".join(sorted(one for one in words("host_names", "") if one[0].isupper()))
    verbs = r"(?:[Uu]s(?:e|es|ing)|with|via|through|by|[Cc]all(?:s|ing)?|[Ii]nvok(?:e|es|ing)|[Rr]un)"
    return re.compile(
        rf"\b[Uu]s(?:e|es|ing)\s+(?:the\s+|your\s+)?\*\*(?P<bold>{names})\*\*|\b{verbs}\s+(?:the\s+|your\s+)?"
        rf"(?:`(?P<code>{names})`|`(?P<args>(?:Skill|SlashCommand|WebFetch|WebSearch)(?=\()|Bash(?= ))[^`\n]*`|(?P<plain>{names})(?=\s+tool\b))"
    )


@cache
def _of_servers() -> dict[str, str]:
    """The servers whose tools have these names, where no other program has tools of that name."""
    return {tool: server for server, tools in section("server_tools").items() for tool in tools}


def told_tools(definition: Account, text: Text) -> Iterator[Told]:
    """The tools and commands that the text of a definition tells its agent to use, by the names that its host has."""
    head: Head | None = read_head(text.text)
    if head is None or definition.recovered or definition.host != next(iter(words("collections", ""))):
        return
    for line in read_markdown(head.body[:60_000], head.body_line).lines[:_MOST]:
        for sentence in re.split(r"(?<=[.!;])\s+", line.text) if len(line.text) < 1_000 else ():
            if not _OPEN.search(sentence):
                yield from _told(definition, sentence, Place(text.path, line.line), line)
                for match in _COMMAND.finditer(sentence):
                    place = Place(text.path, line.line)
                    yield Told(definition, "Bash", place, match["command"], run=match["run"] is not None)
                for match in _RUNS.finditer(sentence):
                    yield Told(definition, "Bash", Place(text.path, line.line), match["command"], run=True)
    yield from _blocks(definition, head, text.path)


def _blocks(definition: Account, head: Head, path: str) -> Iterator[Told]:
    """The first command of each block below a line that orders to run it, or of several that run one script."""
    document = read_markdown(head.body[:60_000], head.body_line)
    by_line = {line.line: line.text for line in document.lines[:_MOST]}
    scripts: dict[str, list[Told]] = {}
    for block in document.code[:_MOST]:
        if block.language not in _SHELLS:
            continue
        order = next((by_line[at] for at in (block.line - 2, block.line - 3) if at in by_line), "")
        command = next((row.strip() for row in block.text.split("\n") if row.strip() and row.lstrip()[0] != "#"), "")
        told = Told(definition, "Bash", Place(path, block.line), command.removeprefix("$ ")[:200], run=True)
        if len(order) >= 300 or _OPEN.search(order):
            continue
        program = (told.command or "").partition(" ")[0]
        if _BLOCK.match(order):
            yield told
        elif SCRIPT.fullmatch(program) and not _FOR_OTHERS.search(" ".join((*block.headings, order))[:600]):
            scripts.setdefault(program, []).append(told)
    for several in scripts.values():
        yield from several if len(several) > 1 else ()


def _told(definition: Account, sentence: str, place: Place, line: Line) -> Iterator[Told]:
    for match in _uses().finditer(sentence):
        yield Told(definition, match["code"] or match["args"] or match["plain"] or match["bold"], place)
    for match in _SERVER.finditer(sentence) if "`" in sentence or line.item else ():
        yield Told(definition, match[0], place)
    for match in _USED.finditer(sentence):
        if match[1] in _of_servers():
            yield Told(definition, f"mcp__{_of_servers()[match[1]]}__{match[1]}", place, named=match[1])


_USED = re.compile(r"\b[Uu]s(?:e|ing)\s+(?:the\s+)?`([a-z][\w-]+)`")
