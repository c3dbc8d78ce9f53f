"""What a written limit names: globs, commands or sites, as scopes of a policy; nothing where it is neither.

named("git diff:*, pytest")         # two commands, each with any arguments
named("`docs/**` only")             # one glob
covered(names, by)                  # whether a limit lies within another
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cache
from typing import Any

import msgspec

from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.equivalents import but_words
from remit.draft.history import is_glob
from remit.draft.model import quoted
from remit.forms.texts import plain
from remit.languages.programs.profiles import profile_of, programs
from remit.model.errors import PolicyError

_GLOB = re.compile(r"[\w.*@{},/-]*[*/][\w.*@{},/-]*|[\w-]+\.(?:md|ya?ml|json|txt|csv|db)\b")
_STAR = re.compile(r"(?::\*| \*|\*)$")
_WORD = re.compile(r"[A-Za-z0-9_./:@=+,-]+")
_PROGRAM = re.compile(r"[a-z][\w.+-]*")
_SITE = re.compile(r"domain:((?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+)", re.IGNORECASE)
_MARKS = re.compile(r"[{}\[\]\":,]")
LOOKING = ("inspect", "git-read")
"""The sets of commands that only look."""
_SKILL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._:-]{0,63}")
_SEPARATED = re.compile(r",\s*")
_MOST_STARS = 3


class Command(msgspec.Struct, frozen=True):
    """A command that a limit names: its words, and whether these are all of it."""

    words: tuple[str, ...]
    whole: bool = False


def named(limit: str, *, whole: bool = False) -> frozenset[Command | str]:
    """What a limit names, however it is written: commands, globs, or else its own words. With `whole`, a command
    without a star has no further arguments."""
    commands = commands_of(limit, whole=whole)
    return frozenset(commands) if commands else frozenset(globs_of(limit) or [limit.strip().lower()])


def covered(names: Set[Command | str], by: Set[Command | str]) -> bool:
    """Whether everything that a limit names lies within what another names."""
    return all(any(_within(name, other) for other in by) for name in names)


def _within(name: Command | str, other: Command | str) -> bool:
    if name == other:
        return True
    starts = isinstance(name, Command) and isinstance(other, Command) and not other.whole
    return starts and name.words[: len(other.words)] == other.words  # type: ignore[union-attr]


def commands_of(limit: str, *, whole: bool = False) -> list[Command]:
    """The commands of a list of them; none unless all of it is commands."""
    parts = [part.strip() for part in _SEPARATED.split(limit.removeprefix("shell "))]  # as `remit docs` writes it
    found = [_command(part, whole=whole) for part in parts]
    return [one for one in found if one is not None] if all(found) else []


def _command(text: str, *, whole: bool) -> Command | None:
    text = text.strip("`").strip()
    cut = _STAR.sub("", text)
    words = tuple(cut.split())
    if not words or not all(_WORD.fullmatch(word) for word in words):
        return None
    if not (profile_of(words[0]) and _PROGRAM.fullmatch(words[0])) and not (whole and "/" in words[0]):
        return None
    if not whole and len(words) > 1 and next(_forms(words[0], list(words[1:])), None) is None:
        return None  # a sentence, such as "test only"
    return Command(words, whole and cut == text)


def runs_of(commands: Iterable[Command]) -> list[str] | None:
    """Entries of `run` that admit these commands and no other; None if one can't be said."""
    found = [_run(one) for one in commands]
    return [run for run in dict.fromkeys(found) if run is not None] if all(found) else None


def _run(command: Command) -> str | None:
    program, *rest = command.words
    exact = quoted(" ".join(command.words)) if len(command.words) > 1 or "/" in program else None
    forms = [exact] if command.whole else [*_forms(program, rest), exact]
    return next((form for form in forms if form is not None and loads(form)), None)


def _forms(program: str, rest: list[str]) -> Iterator[str]:
    """How a policy may say a program with these first words; narrower than that is the command as it stands."""
    profile = profile_of(program)
    if not rest:
        yield program
    elif rest[0] == "-m" and len(rest) == 2:
        yield f"{{{program}: {{module: [{quoted(rest[1])}]}}}}"
    elif profile is not None and rest[0] in profile.sub and not any(word.startswith("-") for word in rest):
        yield f"{{{program}: [{quoted(' '.join(rest))}]}}"
    elif profile is not None and profile.args == ("target...",) and len(rest) == 1:
        yield f"{{{program}: {{targets: [{quoted(rest[0])}]}}}}"


def is_looking(run: str) -> bool:
    """Whether an entry of `run` is about commands that only look, which a scope of `inspect` and `git-read` admits."""
    program, *rest = _MARKS.sub(" ", run).split()
    entries: list[Any] = [entry for name in LOOKING for entry in programs().sets[name]]
    for entry in entries:
        known: dict[str, dict[str, list[str]]] = {entry: {}} if isinstance(entry, str) else entry
        if program in known:
            subs = known[program].get("sub")
            return subs is None or not rest or any(f"{' '.join(rest)} ".startswith(f"{sub} ") for sub in subs)
    return False


def program_of(run: str) -> str:
    """The program of an entry of `run`."""
    return re.split(r"[: ]", run.strip('{"'), maxsplit=1)[0].strip('"}')


@cache
def loads(run: str) -> bool:
    """Whether an entry of `run` names programs, subcommands and targets that Remit knows."""
    return scope_loads(f"{{shell: {{run: [{run}]}}}}")


@cache
def scope_loads(scope: str) -> bool:
    """Whether a policy can hold a scope."""
    tool = "{args: {c: shell, p: path, u: url, s: skill, a: agent}, does: {write: p, network: u}}"
    text = f"remit: 1\ntools: {{t: {tool}}}\nagents: {{a: {{may: [{{t: {scope}}}]}}}}\n"
    try:
        build_rulebook(plain(parse(text, "scope")))
    except PolicyError:
        return False
    return True


def globs_of(text: str) -> list[str]:
    """The globs that a sentence names: in code spans if it has any, else words that look like one. None if it says that
    some of them are not meant."""
    if _but().search(text):
        return []
    spans = re.findall(r"`([^`]+)`", text)
    found = [word for span in (spans or [text]) for word in _GLOB.findall(span) if not re.search(r"[\\^$()+]", span)]
    clean = (word.strip(",.").removeprefix("./") for word in found)
    globs = (f"{word}**" if word.endswith("/") else word for word in clean)
    return [glob for glob in dict.fromkeys(globs) if glob.strip("*/") and is_glob(glob)]


@cache
def _but() -> re.Pattern[str]:
    words = sorted(but_words(), key=len, reverse=True)
    return re.compile(
        "|".join(rf"\b{re.escape(word)}\b" if word.isascii() else re.escape(word) for word in words), re.I
    )


def sites_of(text: str) -> list[str]:
    """The URLs of a limit such as `domain:docs.example.org`."""
    site = _SITE.fullmatch(text.strip())
    return [f"https://{site[1].lower()}/**"] if site is not None else []


def skills_of(text: str) -> list[str]:
    """The skills that a limit names, each by its name and maybe with any arguments; none if a part of it is no name."""
    found = [part.strip().removesuffix(":*").removesuffix(" *") for part in _SEPARATED.split(text)]
    return list(dict.fromkeys(found)) if all(map(_SKILL.fullmatch, found)) else []


def denied_globs(pattern: str) -> list[str]:
    """Globs for all that a pattern in the manner of `.gitignore` denies; none if it can't be said.

    A name without a folder counts anywhere, what it names may be a folder, and its stars may stand for nothing."""
    text = pattern.strip().removeprefix("./")
    if (
        text.startswith(("~", "//"))
        or text.count("*") - 2 * text.count("**") > _MOST_STARS
        or set(text) & set("[]{}?!\\")
    ):
        return []
    anchored = "/" in text.strip("/") or text.startswith("/")
    body = text.strip("/") if anchored else f"**/{text.strip('/')}"
    found = [glob for each in _without_stars(body) for glob in (each, f"{each.removesuffix('/**')}/**")]
    return list(dict.fromkeys(found)) if all(map(is_glob, found)) else []


def _without_stars(glob: str) -> list[str]:
    """A glob with each star that is part of a name, and without it."""
    found = [""]
    for part in re.split(r"(?<![*/])(\*)(?!\*)|(?<!\*)(\*)(?![*/])", glob):
        if part is not None:
            found = [f"{head}{tail}" for head in found for tail in ((part, "") if part == "*" else (part,))]
    return [one.rstrip("/") for one in found if one.strip("/")]
