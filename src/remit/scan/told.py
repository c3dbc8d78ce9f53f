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
from remit.scan.vocabulary import words

_SERVER = re.compile(r"\bmcp__(?:[A-Za-z0-9-]|_(?!_))+__[A-Za-z0-9_*-]+")
_OPEN = re.compile(
    r"\b(?:not|never|no|cannot|without|avoid|instead|rather|unless|except|whether|may|might|could|optional(?:ly)?|unavailable|fall ?back|alternatively"
    r"|(?:is|are|if|when) (?:available|present|installed|connected|enabled|configured)|available|installed|connected|enabled|configured|registered|requires?"
    r"|orchestrator|coordinator|main (?:agent|session|thread|conversation|claude)|caller|parent|they|them|their|others|(?:other|another|each|the|these|those|all) (?:sub)?agents?|agents? (?:can|use|that)"
    r"|example|e\.g|was|were|used|previously)\b|n['’]t\b",
    re.IGNORECASE,
)
"""What makes it open whether this agent is told to use a tool."""
_MOST = 400


_COMMAND = re.compile(
    r"\b(?:[Rr]un|[Uu]s(?:e|ing)|[Ee]xecute|[Vv]ia|[Ww]ith|[Cc]all)\s+(?:the command\s+)?`(?P<command>[a-z][\w./-]*(?: [^`\n]{1,200})?)`"
)


class Told(msgspec.Struct, frozen=True):
    """A tool, or a command, that the text of a definition tells its agent to use."""

    definition: Account
    tool: str
    place: Place
    command: str | None = None


@cache
def _uses() -> re.Pattern[str]:
    names = "|".join(sorted(one for one in words("host_names", "") if one[0].isupper()))
    return re.compile(
        rf"\b[Uu]s(?:e|es|ing)\s+(?:the\s+|your\s+)?(?:[`*]+(?P<code>{names})[`*]+|(?P<plain>{names})(?=\s+tool\b))"
        rf"|\b(?:with|via|through|by|calls?|calling|invokes?|invoking)\s+(?:the\s+|your\s+)?[`*]*(?P<by>{names})[`*]*(?=\s+tool\b)"
    )


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
                    yield Told(definition, "Bash", Place(text.path, line.line), match["command"])


def _told(definition: Account, sentence: str, place: Place, line: Line) -> Iterator[Told]:
    for match in _uses().finditer(sentence):
        name = match["code"] or match["plain"] or match["by"]
        yield Told(definition, name, place)
    for match in _SERVER.finditer(sentence) if "`" in sentence or line.item else ():
        yield Told(definition, match[0], place)
