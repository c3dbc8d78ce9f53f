"""Commands that a text rules out ("never merge pull requests"), and patterns of a definition that let them through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache

import msgspec

from remit.scan.files import Text
from remit.scan.markdown import Document, read_markdown
from remit.scan.model import Account, Place
from remit.scan.vocabulary import bare, section, words

_LONGEST = 600
_MOST = 200
_ENDS = r"(?=\s*(?:$|[.;,!:)|—–]|-\s|\band\b|\bor\b|\bby\b (?:itself|themselves|yourself)))"


class Ban(msgspec.Struct, frozen=True):
    """A command that a text rules out without an exception, for one agent or, if None, for all."""

    agent: str | None
    verb: str
    text: str
    place: Place


@cache
def _banned() -> re.Pattern[str]:
    verbs = "|".join(re.escape(verb) for verb in section("commands"))
    things = (
        r"(?:any |the |its |your |their |all )?"
        r"(?:prs?|pull requests?|code|anything|changes|branch(?:es)?|commits?|mrs?|merge requests?|packages?)"
    )
    list_of = (
        rf"(?:(?:{verbs}|create|edit|modify|delete|approve)(?:\s+{things})?(?:,\s*(?:or\s+)?|\s+or\s+|\s+and\s+|/))*"
    )
    return re.compile(
        r"(?:(?P<none>\bno (?:sub-?)?agents? (?:(?:may|can|should|must|will|ever)\s+){0,2})"
        r"|(?P<who>\b(?:ai|(?:the |all |this )?(?:ai )?(?:sub-?)?agents?|you|it)\s+(?:[\w ]{1,30}\b(?:but|and)\s+)?)?"
        r"(?<![\w-])(?:(?:do|does|must|may|can|will|shall|should)\s+not(?:\s+ever)?"
        r"|(?:must |should |will |may |can )?never|cannot|can['’]t|don['’]t|doesn['’]t|won['’]t)\s+)"
        rf"{list_of}(?P<verb>{verbs})s?(?:\s+{things})?{_ENDS}",
        re.IGNORECASE,
    )


_EXCEPTED = re.compile(
    r"\b(?:unless|until|without|except|if|when|while|before|directly|only|main|master|example|should|prefer|by default"
    r"|first|yet|automatically|auto-)\b|\?",
    re.IGNORECASE,
)


def own_bans(definition: Account, text: Text) -> Iterator[Ban]:
    """What the text of a definition rules out for its agent, if it allows any commands by patterns."""
    if definition.commands:
        for line in read_markdown(text.text).lines[: 5 * _MOST]:
            yield from _of_line(definition.agent, line.text, Place(text.path, line.line))


def bans_of(path: str, document: Document) -> Iterator[Ban]:
    """What a document rules out for "AI" or "agents", in lines and in cells."""
    for line in document.lines:
        yield from _of_line(None, line.text, Place(path, line.line))
    for table in document.tables:
        for row in table.rows[:_MOST]:
            for cell in row.cells:
                yield from _of_line(None, cell, Place(path, row.line))


_NEVER_RUN = re.compile(
    r"(?<![\w-])(?:never|do not|don['’]t|must not|cannot)\s+(?:ever\s+)?(?:(?:run|use|execute)\s+)?"
    r"`(?P<command>(?:git|gh|npm|pnpm|yarn|docker|kubectl|terraform|rm|curl) [^`\n]{2,80})`",
    re.IGNORECASE,
)
_WITHOUT_A_WORD = re.compile(
    r"(?:^|[.:;,—–-]\s*|\byou (?:must )?)(?:never|do not|don['’]t|must not) (?P<verb>push|commit|merge|publish)"
    r"(?: (?:code|changes|anything|commits|branches|it))?"
    r"(?: to (?:any |the |a )?remote(?: (?:branch(?:es)?|repository))?)?"
    r"(?:,? or [^.;]{2,120}?|, [^.;]{2,120}?)? without (?:an? |the |any |my |explicit |user |user's "
    r"|prior |human )*(?:approval|permission|confirmation|consent|asking)\b",
    re.IGNORECASE,
)


def rules_of(path: str, document: Document) -> Iterator[Ban]:
    """Commands that the page of a repository's rules forbids all agents, or forbids without a question."""
    if path not in words("main_documents", "") and re.search(r"(?:^|/)\.[\w-]+/rules/", path) is None:
        return
    for line in document.lines:
        for sentence in re.split(r"(?<=[.!;])\s+", line.text) if len(line.text) <= _LONGEST else ():
            run, silent = _NEVER_RUN.search(sentence), _WITHOUT_A_WORD.search(sentence)
            if run is not None and not _EXCEPTED.search(sentence):
                yield Ban(None, run["command"], sentence[:80], Place(path, line.line))
            elif silent is not None and not re.search(r"\b(?:unless|except|if|when|main|master)\b", sentence):
                for command in section("commands")[silent["verb"].lower()]:
                    yield Ban(None, command, sentence[:80], Place(path, line.line))


def covers(pattern: str, command: str) -> bool:
    """Whether a pattern of commands lets this one through, whatever follows it."""
    return _covers(pattern, command)


def _of_line(agent: str | None, written: str, place: Place) -> Iterator[Ban]:
    if len(written) > _LONGEST:
        return
    for sentence in re.split(r"(?<=[.!;])\s+", bare(written)):
        match = _banned().search(sentence)
        if match is None or _EXCEPTED.search(sentence):
            continue
        who = (match["who"] or match["none"] or "").lower()
        everybody = re.match(r"(?:no |all |the )?(?:ai\b|(?:ai )?(?:sub-?)?agents\b|no )", who) or match["none"]
        if agent is None and not everybody:
            continue
        if (
            agent is not None
            and not who
            and match.start() > 3
            and not re.search(r"[:,;—–-]\s*$", sentence[: match.start()])
        ):
            continue  # of something else
        yield Ban(agent, match["verb"].lower(), sentence[:80], place)


def lets_through(definition: Account, verb: str) -> tuple[str, str, Place] | None:
    """The pattern that lets a command through without a question, and the command; None where none does."""
    for command in section("commands")[verb]:
        last: tuple[str, str, Place] | None = None
        for one in definition.commands:
            if _covers(one.pattern, command):
                last = (one.pattern, command, one.place) if one.answer == "allow" and one.pattern != "*" else None
        if last is not None:
            return last
    return None


def _covers(pattern: str, command: str) -> bool:
    plain = re.sub(r":\*$", "*", pattern)
    return (
        fnmatchcase(command, plain) or fnmatchcase(f"{command} x", plain) or fnmatchcase(f"{command} x", f"{plain} *")
    )


def merged(bans: Sequence[Ban]) -> dict[str, Ban]:
    """The first ban of each verb."""
    found: dict[str, Ban] = {}
    for one in bans:
        found.setdefault(one.verb, one)
    return found
