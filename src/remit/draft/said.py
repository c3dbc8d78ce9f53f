"""A limit in the words of `remit docs`, as scopes of a policy: what it writes, `remit init` reads back.

said("path docs/**; not path docs/internal/**; ask human: path docs/a.md")
"""

from __future__ import annotations

import re

import msgspec

from remit.draft.history import is_glob
from remit.draft.model import quoted
from remit.draft.terms import line_of, locked
from remit.languages.programs.profiles import profile_of, programs
from remit.model.terms import CONTEXT_KEYS, EFFECTS


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
    skill: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()

    def written(self) -> str | None:
        """It as YAML; None for no limit."""
        found = [
            f"{key}: [{', '.join(map(quoted, getattr(self, key)))}]"
            for key in ("url", "effect", "skill", "agent")
            if getattr(self, key)
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

    def fits(self, kind: str, *, runs: bool, skills: bool) -> bool:
        """Whether a tool of this kind can have it; `runs`: the tool has a shell command; `skills`: it loads skills."""
        return (
            (not self.skill or skills)
            and (not self.agent or kind == "delegate")
            and (not self.path or kind in ("write", "read", "search"))
            and (not self.url or kind == "network")
            and (not self.shell or runs)
        )


class Said(msgspec.Struct, frozen=True):
    """A limit in the words of `remit docs`: what is admitted, what is denied of that, and what a person is asked."""

    may: tuple[Scope, ...] = ()
    """Each of them admits calls; none if only what a person is asked about is admitted."""
    never: tuple[Scope, ...] = ()
    asks: tuple[Scope, ...] = ()
    record: tuple[tuple[str, str], ...] = ()
    """Lines of the policy for all tools of the agent, by their keys."""


_SAID = re.compile(
    rf"(?:path|shell|url|effect|skill|agent|locks|apis|skills|data|no|not|ask|{'|'.join(CONTEXT_KEYS)}) "
)
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
_NOTHING_ELSE = "nothing else"


def is_said(limit: str) -> bool:
    """Whether a limit may be in the words of `remit docs`."""
    return _SAID.match(limit.removeprefix("(")) is not None


def said(limit: str) -> Said | None:
    """A limit as `remit docs` writes it; None if a part of it is not understood, or says more than a draft can."""
    may: list[Scope] = []
    never: list[Scope] = []
    asks: list[Scope] = []
    record: dict[str, str] = {}
    parts = _outside(limit, "; ")
    for part in parts:
        key, scope = "may", None
        if part.startswith("ask human"):
            rest = part.removeprefix("ask human").removeprefix(": ")
            key, scope = "ask", Scope() if _ALWAYS.fullmatch(rest) else _whole(rest)
        elif part.startswith("not "):
            key, scope = "not", _whole(part.removeprefix("not "))
        elif part.startswith("("):
            scope = _whole(part)
        elif part == _NOTHING_ELSE:
            continue
        elif (line := recorded(part)) is not None:
            record.setdefault(*line)
            continue
        else:
            scope = _part(part, may[-1]) if may else None  # a further part of the same scope
            if scope is not None:
                may.pop()
            else:
                scope = _part(part, Scope())
        if scope is None:
            return None
        {"may": may, "ask": asks, "not": never}[key].append(scope)
    only_asked = _NOTHING_ELSE in parts
    if only_asked and (may or not asks):
        return None
    return Said(() if only_asked else tuple(may or [Scope()]), tuple(never), tuple(asks), tuple(record.items()))


def recorded(part: str) -> tuple[str, str] | None:
    """The line of a policy for what a limit says of all tools of the agent, with its key; None if it says nothing."""
    kind, _, rest = part.partition(" ")
    path = _PATH.fullmatch(rest) if kind == "locks" else None
    locks = _paths(path, Scope()) if path is not None else None
    if locks is not None and not locks.new_only:
        return "locks", locked(() if rest == "nothing" else locks.path, locks.beside)
    if kind in ("apis", "skills") and rest:
        return kind, line_of(kind, () if rest == "nothing" else _listed(rest))
    if part.startswith("data tiers ") and (rest := part.removeprefix("data tiers ")):
        tiers = _listed(rest) if rest != "none" else ()
        return (
            ("data_tiers", line_of("data_tiers", [int(one) for one in tiers])) if all(map(str.isdigit, tiers)) else None
        )
    return ("project_code", line_of("project_code", "deny")) if part == "no code of the project" else None


def _whole(text: str) -> Scope | None:
    """A scope that stands by itself, its parts in brackets if there are several."""
    found: Scope | None = Scope()
    for part in _outside(text[1:-1] if text.startswith("(") and text.endswith(")") else text, "; "):
        found = _part(part, found) if found is not None else None
    return found


def _part(part: str, so_far: Scope) -> Scope | None:
    kind, _, rest = part.partition(" ")
    if kind == "path" and not so_far.path:
        path = _PATH.fullmatch(rest)
        return _paths(path, so_far) if path is not None else None
    if kind == "url" and not so_far.url:
        return msgspec.structs.replace(so_far, url=_listed(rest))
    if kind == "effect" and not so_far.effect:
        return msgspec.structs.replace(so_far, effect=_listed(rest))
    if kind == "skill" and not so_far.skill:
        return msgspec.structs.replace(so_far, skill=_listed(rest))
    if kind == "agent" and not so_far.agent:
        return msgspec.structs.replace(so_far, agent=_listed(rest))
    if kind == "shell" and not so_far.shell:
        return _entries(rest, so_far)
    context = _CONTEXT.fullmatch(part)
    if context is not None:
        values = ", ".join(map(quoted, context["value"].split("/")))
        return msgspec.structs.replace(so_far, when=(*so_far.when, f"{context['key']}: [{values}]"))
    return _of_shell(part, so_far) if so_far.shell else None


def _paths(path: re.Match[str], so_far: Scope) -> Scope | None:
    allow, beside = _listed(path["allow"]), _listed(path["beside"] or "")
    if not all(map(is_glob, (*allow, *beside))) or any(map(is_said, (*allow, *beside))):
        return None  # `except path docs/**` takes out calls, and not paths
    return msgspec.structs.replace(so_far, path=allow, beside=beside, new_only=path["new"] is not None)


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
