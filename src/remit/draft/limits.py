"""What a written limit names: globs, commands or sites, as scopes of a policy; nothing where it is neither.

named("git diff:*, pytest")         # two commands, each with any arguments
named("`docs/**` only")             # one glob
covered(names, by)                  # whether a limit lies within another
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Set
from functools import cache

import msgspec

from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.equivalents import but_words
from remit.draft.history import is_glob
from remit.draft.model import quoted
from remit.forms.texts import plain
from remit.languages.programs.profiles import profile_of, programs
from remit.model.errors import PolicyError
from remit.model.terms import CONTEXT_KEYS, EFFECTS
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet

_GLOB = re.compile(r"[\w.*@{},/-]*[*/][\w.*@{},/-]*|[\w-]+\.(?:md|ya?ml|json|txt|csv|db)\b")
_STAR = re.compile(r"(?::\*| \*|\*)$")
_WORD = re.compile(r"[A-Za-z0-9_./:@=+,-]+")
_PROGRAM = re.compile(r"[a-z][\w.+-]*")
_SITE = re.compile(r"domain:((?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)+)", re.IGNORECASE)
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
    tool = "{args: {c: shell, p: path, u: url}, does: {write: p, network: u}}"
    text = f"remit: 1\ntools: {{t: {tool}}}\nagents: {{a: {{may: [{{t: {scope}}}]}}}}\n"
    try:
        build_rulebook(plain(parse(text, "scope")))
    except PolicyError:
        return False
    return True


class Scope(msgspec.Struct, frozen=True):
    """A scope in the words of `remit docs`: the values of each of its keys, as YAML."""

    path: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    """Paths within `path` that are not admitted."""
    new_only: bool = False
    url: tuple[str, ...] = ()
    effect: tuple[str, ...] = ()
    when: tuple[str, ...] = ()
    shell: tuple[tuple[str, str], ...] = ()

    def written(self) -> str | None:
        """It as YAML; None for no limit."""
        found = [
            f"{key}: [{', '.join(map(quoted, getattr(self, key)))}]" for key in ("url", "effect") if getattr(self, key)
        ]
        if self.path:
            allow = f"[{', '.join(map(quoted, self.path))}]"
            beside = f", except: [{', '.join(map(quoted, self.beside))}]" if self.beside else ""
            new = ", new_only: true" if self.new_only else ""
            found.append(f"path: {{allow: {allow}{beside}{new}}}" if beside or new else f"path: {allow}")
        if self.shell:
            found.append(f"shell: {{{', '.join(f'{key}: {value}' for key, value in self.shell)}}}")
        if self.when:
            found.append(f"when: {{{', '.join(self.when)}}}")
        return "{" + ", ".join(found) + "}" if found else None

    def fits(self, kind: str, *, runs: bool) -> bool:
        """Whether a tool of this kind can have it; `runs`: the tool has a shell command."""
        return (
            (not self.path or kind in ("write", "read", "search"))
            and (not self.url or kind == "network")
            and (not self.shell or runs)
        )


class Said(msgspec.Struct, frozen=True):
    """A limit in the words of `remit docs`: what is admitted, what is denied of that, and what a person is asked."""

    may: Scope = Scope()
    never: tuple[Scope, ...] = ()
    asks: tuple[Scope, ...] = ()


_SAID = re.compile(rf"(?:path|shell|url|effect|locks|not|ask|{'|'.join(CONTEXT_KEYS)}) ")
_PATH = re.compile(r"(?P<allow>.+?)(?: except (?P<beside>.+?))?(?P<new> \(new files only\))?")
_ENTRY = re.compile(r"(?P<program>[^\s()]+) \((?P<kind>targets |-m )?(?P<words>[^();]+)\)")
_ALWAYS = re.compile(r"|confirmed each time|tier \d or higher")
_CONTEXT = re.compile(rf"(?P<key>{'|'.join(CONTEXT_KEYS)}) (?P<value>[\w.-]+(?:/[\w.-]+)*)")
_UNDERSTOOD = "any command that is understood"
_LISTS = {
    "behind a pipe ": "filters",
    "joined by ": "joined_by",
    "output into ": "redirect",
    "with the variables ": "env",
}
_NONE = ("nothing", "no file")


def is_said(limit: str) -> bool:
    """Whether a limit may be in the words of `remit docs`."""
    return _SAID.match(limit) is not None


def said(limit: str) -> Said | None:
    """A limit as `remit docs` writes it; None if a part of it is not understood, or says more than a draft can."""
    may, never, asks = Scope(), [], []
    for part in _outside(limit, "; "):
        if part.startswith("ask human"):
            rest = part.removeprefix("ask human").removeprefix(": ")
            asked = Scope() if _ALWAYS.fullmatch(rest) else _part(rest, Scope())
            if asked is None:
                return None
            asks.append(asked)
            continue
        if part.startswith("not "):
            denied = _part(part.removeprefix("not "), Scope())
            if denied is None:
                return None
            never.append(denied)
            continue
        read = _part(part, may)
        if read is None:
            return None
        may = read
    return Said(may, tuple(never), tuple(asks))


def _part(part: str, so_far: Scope) -> Scope | None:
    kind, _, rest = part.partition(" ")
    if kind == "path" and not so_far.path:
        path = _PATH.fullmatch(rest)
        return _paths(path, so_far) if path is not None else None
    if kind == "locks":
        return _locked(rest, so_far)
    if kind == "url" and not so_far.url:
        return msgspec.structs.replace(so_far, url=_listed(rest))
    if kind == "effect" and not so_far.effect:
        return msgspec.structs.replace(so_far, effect=_listed(rest))
    if kind == "shell" and not so_far.shell:
        return _entries(rest, so_far)
    context = _CONTEXT.fullmatch(part)
    if context is not None:
        values = ", ".join(map(quoted, context["value"].split("/")))
        return msgspec.structs.replace(so_far, when=(*so_far.when, f"{context['key']}: [{values}]"))
    return _of_shell(part, so_far) if so_far.shell else None


def _paths(path: re.Match[str], so_far: Scope) -> Scope | None:
    allow, beside = _listed(path["allow"]), _listed(path["beside"] or "")
    if not all(map(is_glob, (*allow, *beside))):
        return None
    return msgspec.structs.replace(so_far, path=allow, beside=beside, new_only=path["new"] is not None)


def _locked(text: str, so_far: Scope) -> Scope | None:
    """The paths that are left of those so far, where only some may be changed."""
    path = _PATH.fullmatch(text)
    locks = _paths(path, Scope()) if path is not None else None
    if locks is None or locks.new_only:
        return None
    if so_far.path:
        held = GlobSet(Glob.parse(glob) for glob in locks.path)
        if not all(held.includes(Glob.parse(glob)) for glob in so_far.path):
            return None
        return msgspec.structs.replace(so_far, beside=(*so_far.beside, *locks.beside))
    return msgspec.structs.replace(so_far, path=locks.path, beside=locks.beside)


def _entries(text: str, so_far: Scope) -> Scope | None:
    runs: list[str] = []
    sets: list[str] = []
    for entry in _outside(text, ", "):
        limited = _ENTRY.fullmatch(entry)
        if limited is not None:
            words = ", ".join(quoted(word) for word in limited["words"].split(", "))
            key = {"targets ": "targets", "-m ": "module"}.get(limited["kind"] or "", "sub")
            runs.append(f"{{{quoted(limited['program'])}: {{{key}: [{words}]}}}}")
        elif entry == _UNDERSTOOD:
            runs.append("any")
        elif entry in programs().sets and profile_of(entry) is None:
            sets.append(entry)
        else:
            runs.append(quoted(entry))
    if any(entry in programs().sets for entry in runs):
        return None
    given = (("sets", sets), ("run", runs))
    return msgspec.structs.replace(
        so_far, shell=tuple((key, f"[{', '.join(values)}]") for key, values in given if values)
    )


def _of_shell(part: str, so_far: Scope) -> Scope | None:
    """A further limit of a shell's scope."""
    key = next((start for start in _LISTS if part.startswith(start)), None)
    if key is not None:
        rest = part.removeprefix(key)
        names = () if rest in _NONE else _listed(rest)
        return _with(so_far, _LISTS[key], f"[{', '.join(map(quoted, names))}]")
    effect, only, rest = part.partition(" only ")
    if only and effect in EFFECTS:
        before = dict(so_far.shell).get("path", "{}").strip("{}")
        globs = ", ".join(map(quoted, () if rest in _NONE else _listed(rest)))
        return _with(so_far, "path", f"{{{before}{', ' if before else ''}{effect}: [{globs}]}}")
    word, _, rest = part.partition(" ")
    return _with(so_far, word, quoted(rest)) if word in ("stdin", "in") and rest else None


def _with(scope: Scope, key: str, value: str) -> Scope:
    return msgspec.structs.replace(scope, shell=tuple({**dict(scope.shell), key: value}.items()))


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(", ") if part)


def _outside(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that stand outside of brackets."""
    found, depth = [""], 0
    for part in re.split(rf"({re.escape(mark)}|[()])", text):
        depth += (part == "(") - (part == ")")
        if part == mark and depth == 0:
            found.append("")
        else:
            found[-1] += part
    return found


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
    return [one for one in found if one.strip("/")]
