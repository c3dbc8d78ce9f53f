"""Sentences of a document against its own lists, tables and code: "no shell for fixers", "status: planned"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from remit.scan.files import Text
from remit.scan.lint.finding import finding, listing
from remit.scan.markdown import Document, Line
from remit.scan.model import Account, Finding, Kind, Mark, Place
from remit.scan.names import parts_of
from remit.scan.vocabulary import bare, capability

_NONE_FOR = re.compile(
    r"\bno (?P<kind>shell|bash|terminal|write|edit|network|internet|web)(?: (?:access|tools?))?"
    r" for (?:all |any )?(?P<group>[A-Z][\w-]{2,40})s\b",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bonly\W*$", re.IGNORECASE)
_ALLOWED = re.compile(r"^\W*(?:allowed|permitted)\b[^:]{0,40}:\W*$", re.IGNORECASE)
_VERB = re.compile(r"\b[A-Z]{4,}\b")
_CODE_FIRST = re.compile(r"^\W{0,3}`([A-Z]{4,}\b[^`]{0,60})`")
_STATES = {
    "planned": r"in planning|planned|planning|draft|proposed|not started|upcoming",
    "done": r"completed?|done|implemented|released|shipped|live",
}
_VERSION = r"v?(?P<version>\d+\.\d+(?:\.\d+)?)"
_STATUS = re.compile(r"^\W*(?:document |current )?status\W{1,8}(?P<rest>.{3,120})", re.IGNORECASE)
_STATE = {name: re.compile(rf"\b(?P<said>{words})\b", re.IGNORECASE) for name, words in _STATES.items()}
_FIRST_STATE = re.compile(rf"^\W*{_VERSION}\s+(?P<rest>in planning|not started|\w+)", re.IGNORECASE)
_CLASS = re.compile(
    r"\bclass (?P<name>[A-Z]\w+)\s*\{(?P<body>(?:[^{}]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}){0,20000})\}"
)
_METHOD = re.compile(
    r"^[ \t]*(?:(?:public|private|protected|static|async|abstract|readonly)\s+)*(\w+)\s*(?:<[^>]*>)?\(", re.MULTILINE
)
_USE = re.compile(r"(?<![.\w])([a-z]\w*)\.(\w+)\(")
_ABRIDGED = re.compile(r"\.\.\.|…|existing|omitted|unchanged")
_LONGEST = 50_000
"""Characters of a block of code that are searched for classes."""


def sentence_findings(text: Text, document: Document, accounts: Sequence[Account]) -> Iterator[Finding]:
    """The findings of one document whose tables or lists name tools."""
    yield from _none_for(text, document, accounts)
    yield from _only(text, document)
    yield from _states(text, document)
    yield from _methods(text, document)


def _none_for(text: Text, document: Document, accounts: Sequence[Account]) -> Iterator[Finding]:
    """ "No shell for fixers", and a table that gives a shell to an agent whose name ends with "fixer"."""
    for line in (*document.headings, *document.lines):
        match = _NONE_FOR.search(bare(line.text[:300]))
        if match is None:
            continue
        kind, group = capability(match["kind"]), parts_of(match["group"])
        for account in accounts:
            if account.kind is not Kind.MATRIX or not group or parts_of(account.agent)[-len(group) :] != group:
                continue
            held = [e for e in account.allowed() if e.mark is Mark.YES and capability(e.tool) == kind]
            if held:
                said = f"“{match[0]}”, and a table gives it {listing([e.tool for e in held])}"
                yield finding(
                    "allowed-and-prohibited/group",
                    said,
                    Place(text.path, line.line),
                    held[0].place,
                    agent=account.agent,
                )


def _only(text: Text, document: Document) -> Iterator[Finding]:
    """ "SELECT and INSERT only", and a list of what is allowed, under the same heading, that has more."""
    rest: Line | None = None
    said: Line | None = None
    for line in document.lines:
        plain = bare(line.text[:400])
        if said is not None and line.headings != said.headings:
            said = rest = None
        if said is not None and rest is not None and line.item and line.indent > rest.indent:
            verb = _CODE_FIRST.match(line.text)
            if verb is not None and not set(_VERB.findall(verb[1])) & set(_VERB.findall(said.text)):
                what = f"“{bare(said.text)[-60:].strip(' —–-')}”, and the list below allows `{verb[1]}` too"
                yield finding("only-and-more/list", what, Place(text.path, said.line), Place(text.path, line.line))
        elif said is not None and _ALLOWED.match(plain):
            rest = line
        else:
            rest = None
            said = line if _ONLY.search(plain) and _VERB.search(plain) else said


def _states(text: Text, document: Document) -> Iterator[Finding]:
    """A version that is planned in one line and done in another."""
    seen: dict[str, tuple[str, str, Place]] = {}
    for line in document.lines:
        plain = bare(line.text[:300])
        status, first = _STATUS.match(plain), _FIRST_STATE.match(plain)
        match = status or first
        version = first["version"] if first is not None else None
        if status is not None:
            found = re.search(rf"\b{_VERSION}\b", status["rest"])
            version = found["version"] if found is not None else None
        if match is None or version is None:
            continue
        states = [(name, one["said"]) for name, pattern in _STATE.items() if (one := pattern.search(match["rest"]))]
        if len(states) != 1:
            continue
        (state, words), place = states[0], Place(text.path, line.line)
        before = seen.setdefault(version, (state, words, place))
        if before[0] != state:
            what = f"version {version} is “{before[1].lower()}” in one line and “{words.lower()}” in another"
            yield finding("classified-differently/states", what, before[2], place)
            return


def _methods(text: Text, document: Document) -> Iterator[Finding]:
    """A call of a method that the class, whole in the same document, does not have."""
    declared: dict[str, tuple[set[str], Place]] = {}
    for block in document.code:
        for match in _CLASS.finditer(block.text[:_LONGEST]):
            place = Place(text.path, block.line + block.text.count("\n", 0, match.start()))
            methods = declared.setdefault(match["name"], (set(), place))[0]
            methods |= set(_METHOD.findall(match["body"])) | ({"*"} if _ABRIDGED.search(match["body"]) else set())
    told: set[tuple[str, str]] = set()
    for block in document.code if declared else ():
        for use in _USE.finditer(block.text[:_LONGEST]):
            owner = use[1][0].upper() + use[1][1:]
            methods, place = declared.get(owner, ({"*"}, Place("", 0)))
            if "*" in methods or use[2] in methods or (owner, use[2]) in told:
                continue
            told.add((owner, use[2]))
            line = block.line + block.text.count("\n", 0, use.start())
            what = f"`{use[1]}.{use[2]}` is called, and `{owner}` declares no such method"
            yield finding("undefined-name/method", what, Place(text.path, line), place, name=owner)
