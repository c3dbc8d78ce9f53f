"""A `shell:` scope: which commands it admits, and why it does not admit another."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cache
from typing import Any

from remit.languages.bash.reading import Touch, Word
from remit.languages.programs.derived import resources
from remit.languages.programs.meta import meta_of
from remit.languages.programs.outputs import output_of
from remit.languages.programs.profiles import is_plain, profile_of, programs
from remit.languages.programs.understand import Act
from remit.model.terms import PROJECT, UNKNOWN
from remit.model.text import shown
from remit.scopes.glob import Glob
from remit.scopes.globset import GlobSet
from remit.scopes.interface import NO_EFFECTS, Given, Matcher, Unit
from remit.scopes.path import names_base
from remit.scopes.shell.hosts import host_in
from remit.scopes.shell.placed import Placed
from remit.scopes.sql.scope import SqlMatcher
from remit.scopes.url import UrlError, UrlPattern, UrlSet, parse_url

EVERYTHING = Glob.parse("**")
PROJECT_CODE = "project_code"
CHANGES = frozenset(("write", "delete"))
JOINED_BY = ("and", "or", "then", "pipe")


OBJECTS = frozenset(("kubectl", "oc"))
"""Programs whose subcommands are named with the kind of thing that they are about: `get pods`."""
_MANY_KINDS = frozenset(("all",))
"""What stands for several kinds of things."""


class Run:
    """One entry of `run`: a program, and what its arguments may be."""

    def __init__(self, program: str, limits: Any = None) -> None:
        self.program = program
        words = program.split()
        self.exact: tuple[str, ...] | None = tuple(words) if len(words) > 1 or profile_of(program) is None else None
        data = limits if isinstance(limits, dict) else {}
        subs = limits if isinstance(limits, (list, tuple)) else data.get("sub")
        if isinstance(limits, str):
            subs = [limits]
        self.subs = [_named(program, str(sub)) for sub in subs] if subs is not None else None
        self.effects = frozenset(data["effects"]) if "effects" in data else None
        self.options = _options(program, data.get("options"))
        self.targets = _set(data.get("targets"))
        self.modules = _set(data.get("module"))
        self.hosts = _set(data.get("host"))
        self.url_texts = _texts(data.get("url"))
        self.urls = UrlSet(UrlPattern.parse(text) for text in data["url"]) if "url" in data else None
        self.database_texts = _texts(data.get("db"))
        self.databases = GlobSet(Glob.parse(text) for text in self.database_texts) if "db" in data else None
        self.sql = SqlMatcher(data["sql"]) if "sql" in data else None
        self.metas = _set(data.get("meta"))
        self.limits = tuple(key for key in data if key not in ("sub", "unsafe_any_arguments"))
        self.anything = bool(data.get("unsafe_any_arguments"))
        if self.anything:
            self.exact = None

    def given(self, given: Given) -> Run:
        """The same for calls with this task and context."""
        found = copy(self)
        found.sql = self.sql.given(given) if self.sql is not None else None
        return found

    def names(self, sub: tuple[str, ...]) -> bool:
        """True if the entry admits the subcommand, as far as its name goes."""
        return self.subs is None or any(sub[: len(mine)] == mine for mine in self.subs)

    def is_about(self, act: Act) -> bool:
        """True if the entry names what the command does: only how it does it is too much."""
        return self._names(act) is None or bool(act.unknown or act.refused)

    def wider(self, beside: Sequence[str]) -> tuple[str, str] | None:
        """What a prohibition of this entry prohibits, and what of the entry (or `beside` it) it does not look at; None
        if it prohibits just what it says."""
        program = self.program.split()[0]
        if self.exact is not None:
            subs = _subcommands_in(self.exact) or [()]
            rest = self.exact[1 + len(subs[0]) :]
            return (" ".join((program, *subs[0])), f"`{' '.join(rest)}`") if rest else None
        unread = [*self.limits, *beside]
        whole = f"{program} {', '.join(' '.join(sub) for sub in self.subs or ())}".rstrip()
        return (whole, ", ".join(f"`{key}`" for key in unread)) if unread else None

    def could_be(self, act: Act) -> bool:
        """False only if the entry names subcommands, and the command is certainly another one."""
        subs = self.subs if self.exact is None else _subcommands_in(self.exact)
        if subs is None:
            return True
        if any(word.text in _MANY_KINDS for word in act.targets) and act.program in OBJECTS:
            return any(act.sub == sub[: len(act.sub)] for sub in subs)
        return any(mine[: len(sub)] == sub[: len(mine)] for sub in subs for mine in _subcommands(act))

    def excess(self, act: Act) -> int:
        """How many effects the command has beyond the entry's."""
        return len(act.own - self._admitted(act))

    def describe(self) -> str:
        """For people: `git diff, log`, `make build`, `python -m pytest`."""
        if self.exact is not None:
            return f"exactly `{' '.join(self.exact)}`"
        more = [" ".join(sub) for sub in self.subs or ()] or sorted(self.targets or ())
        more = more or [f"-m {name}" for name in sorted(self.modules or ())]
        return f"{self.program} {_brief(more)}".rstrip()

    def refuses(self, placed: Placed, *, loose: bool = False, limited: bool = True) -> str | None:
        """Why this entry does not admit the command; None if it does. `loose` lets mere text be anything; `limited`
        says that the scope limits paths."""
        act = placed.act
        if self.exact is not None:
            texts = tuple(word.text for word in act.command.words)
            return None if texts == self.exact else f"only exactly `{' '.join(self.exact)}` is admitted"
        if self.anything:
            return None
        if act.refused:
            return act.refused[0]
        meta = self._metas(act)
        if meta is not None:
            return meta
        if act.grade == UNKNOWN:
            return act.unknown[0]
        doubt = act.dynamic if loose else (*act.dynamic, *act.loose)
        if doubt and doubt[0][:1] in ("*", "?", "["):
            return f"`{doubt[0]}` could match a name that looks like an option: write `./{doubt[0]}`"
        if doubt:
            return f"`{doubt[0]}` is not literal: write out what it stands for"
        admitted = self._admitted(act)
        if not act.own <= admitted:
            only = f"; {self.program} may only {', '.join(sorted(admitted))}" if admitted else ""
            return f"it would also {', '.join(sorted(act.own - admitted))}{only}"
        return self._names(act) or self._reaches(act) or self._queries(placed) or self._reports(placed, limited)

    def _admitted(self, act: Act) -> frozenset[str]:
        """Effects that the entry admits: those it names, else the program's base; SQL's where the SQL is judged, and
        the network where the entry says which part of it."""
        if self.effects is not None:
            return self.effects
        found = act.base | act.asked if self.sql is not None else act.base
        named = self.hosts is not None or self.urls is not None
        return found | {"network"} if named else found  # `scp` reaches none unless it is told to

    def _names(self, act: Act) -> str | None:
        if not all(self.names(sub) for sub in _subcommands(act)):
            return f"{self.describe()} only"
        for wanted, words, what in ((self.targets, act.targets, "target"), (self.modules, act.modules, "module")):
            if wanted is not None and not _all_among(words, wanted):
                return f"the {what} must be {_brief(sorted(wanted))}"
        if self.modules is None and act.modules:
            return f"the module {act.modules[0].text} is not named"
        return None

    def _reaches(self, act: Act) -> str | None:
        beyond = sorted(act.options - self.options) if self.options is not None else ()
        if beyond:
            return f"the option {beyond[0]} is not among {_brief(sorted(self.options or ()), 12)}"
        if self.hosts is not None and not _all_hosts(act, self.hosts):
            return f"the host must be {_brief(sorted(self.hosts))}"
        urls = self.urls
        if urls is not None and (act.hosts or not act.urls or not all(_within_urls(word, urls) for word in act.urls)):
            reached = ", ".join(word.raw for word in (*act.urls, *act.hosts)) or "nothing"
            return f"it reaches {reached}; only {', '.join(self.url_texts)} is permitted"
        return None

    def _reports(self, placed: Placed, limited: bool) -> str | None:
        """Options that say where a report or a cache goes admit places for these, unless the scope says where."""
        if limited or self.options is not None:
            return None
        for touch, path in placed.touches:
            if touch.report and not _is_report_place(path):
                what = touch.path.raw or "what it writes"
                return f"{what} is not a place for a report or a cache: name one, or admit it by `path`"
        return None

    def _metas(self, act: Act) -> str | None:
        """Meta-commands: those that only show something, where they are named; without SQL in the entry any such."""
        if self.sql is None and self.metas is None:
            return None
        profile = profile_of(act.program or "")
        for name in act.metas:
            known = meta_of(profile.special or "", name[1:])[1] if profile is not None else None
            if name[1:] not in (self.metas or ()) or known is None or not known.harmless:
                what = "dot-command" if name[0] == "." else "command"
                named = f"; only {_brief(sorted(self.metas))}" if self.metas else ""
                return f"the {what} {name} is not admitted{named}"
        return None

    def _queries(self, placed: Placed) -> str | None:
        """What the SQL and the databases must be."""
        act = placed.act
        if self.sql is None:
            strange = [name for statement in act.statements for name in statement.strange]
            if strange:
                return f"the function {strange[0]} is not known to be harmless"
        elif not act.statements and not act.metas:
            return f"no SQL is in the text; {self.program} may only run SQL that it shows"
        else:
            for statement in act.statements:
                reason = self.sql.refuses_statement(statement)
                if reason is not None:
                    return reason
        if self.databases is None:
            return None
        for word, name in placed.databases:
            if name is None or not self.databases.matches(name):
                return f"the database {word.raw} is not {', '.join(self.database_texts)}"
        return None if placed.databases else f"no database is named; only {', '.join(self.database_texts)}"


class ShellMatcher(Matcher):
    """What a `shell:` scope says about the commands of a text."""

    def __init__(self, scope: dict[str, Any]) -> None:
        self.scope = scope
        known = programs().sets
        entries: list[Any] = [entry for name in _texts(scope.get("sets")) for entry in known.get(name, ())]
        run = scope.get("run", [])
        run = [run] if isinstance(run, str) else run
        self.all = "any" in run
        self.project_code = PROJECT_CODE in run
        """With `any`: code of the project too, which could do whatever it says."""
        entries.extend(entry for entry in run if not self.all or entry not in ("any", PROJECT_CODE))
        self.runs: dict[str, list[Run]] = {}
        for entry in entries:
            pairs = entry.items() if isinstance(entry, dict) else [(entry, None)]
            for program, limits in pairs:
                self.runs.setdefault(str(program).split()[0], []).append(Run(str(program), limits))
        self.filters = frozenset(_texts(scope.get("filters")))
        self.joined_by = frozenset(scope.get("joined_by", JOINED_BY))
        self.loose = not self.joined_by.isdisjoint(("substitution", "loop", "function"))
        """Who admits these admits words that they fill in, where they are mere text."""
        redirect = _texts(scope.get("redirect", ["devnull"]))
        self.redirects = [text for text in redirect if text != "devnull"]
        self.redirect = GlobSet(Glob.parse(text) for text in redirect if text != "devnull")
        self.env = frozenset(_texts(scope.get("env")))
        self.stdin = scope.get("stdin", "literal")
        self.inside = Glob.parse(scope["in"].rstrip("/")) if "in" in scope else None
        paths = scope.get("path")
        self.paths: dict[str, GlobSet] | None = None
        self.path_texts = {effect: _texts(texts) for effect, texts in (paths or {}).items()}
        if paths is not None:
            self.paths = {e: GlobSet(Glob.parse(t) for t in _texts(texts)) for e, texts in paths.items()}
        self.open = any(run.sql is not None and run.sql.open for runs in self.runs.values() for run in runs)
        self.kept: frozenset[str] = NO_EFFECTS
        """Effects on files that the kernel holds: there it doesn't matter what a text doesn't tell."""
        self.texts = sorted({*self.runs, *(f"| {name}" for name in self.filters)})

    def given(self, given: Given) -> ShellMatcher:
        found = copy(self)
        found.runs = {program: [run.given(given) for run in runs] for program, runs in self.runs.items()}
        return found

    def held(self, *, read: bool) -> ShellMatcher:
        found = copy(self)
        found.kept = CHANGES | {"read"} if read else CHANGES
        return found

    def covers(self, unit: Unit) -> bool:
        """True only if the command is certainly within."""
        return self.refuses(unit) is None

    def touches(self, unit: Unit) -> bool:
        """For prohibitions: the command is named, or could be anything."""
        act: Act = unit.value.act
        name = act.program.rpartition("/")[2] if act.program is not None else None
        if act.grade == UNKNOWN or self.all or name is None or act.program is None:
            return True
        return any(run.could_be(act) for run in (*self.runs.get(act.program, ()), *self.runs.get(name, ())))

    def refuses(self, unit: Unit) -> str | None:
        """Why the command is not covered; None if it is."""
        placed: Placed = unit.value
        act = placed.act
        return (
            self._joined(act)
            or self._assigned(act)
            or self._named(placed)
            or self._fed(act)
            or self._redirected(placed)
            or self._located(placed)
        )

    def _joined(self, act: Act) -> str | None:
        for joiner in sorted(act.command.joined - self.joined_by):
            if joiner == "pipe":
                behind = act.program in self.filters and act.command.piped_from is not None
                before = act.feeds is not None and act.feeds in self.filters
                ahead = act.feeds is None or act.feeds in self.filters
                if (behind and ahead) or (before and act.command.piped_from is None):
                    continue
            return f"commands may be joined only by {', '.join(sorted(self.joined_by)) or 'nothing'}, not by {joiner}"
        return None

    def _assigned(self, act: Act) -> str | None:
        for name, _ in act.command.assigns:
            if name not in self.env and not is_plain(name):
                allowed = f"; only {', '.join(sorted(self.env))} may" if self.env else ""
                return f"{name} may not be set before a command{allowed}"
        return None

    def _named(self, placed: Placed) -> str | None:
        act = placed.act
        if self.kept and self.all and self.project_code and act.grade == UNKNOWN:
            return None  # confined, it can do no more than code of the project
        if act.program is None:
            return act.unknown[0]
        if act.program == "":
            return None if act.command.assigns or act.command.redirects or act.touches else "an empty command"
        if self.all:
            doubts = (*act.unknown, *act.refused)
            if doubts or act.grade != PROJECT or self.project_code:
                return doubts[0] if doubts else None
            reason = self._listed(placed)
            return reason and "it runs code of the project, which `run: [any, project_code]` admits"
        return self._listed(placed)

    def _listed(self, placed: Placed) -> str | None:
        """Why no entry of the list admits the command; None if one does."""
        act = placed.act
        if act.program is None:
            return act.unknown[0]
        if act.program in self.filters and act.command.piped_from is not None:
            return Run(act.program).refuses(placed, loose=self.loose, limited=self.paths is not None)
        if self._is_input(act):
            return None
        runs = self.runs.get(act.program, ())
        reasons: list[str] = []
        for run in runs:
            reason = run.refuses(placed, loose=self.loose, limited=self.paths is not None)
            if reason is None:
                return None
            reasons.append(reason)
        near = [(run.excess(act), reason) for run, reason in zip(runs, reasons, strict=True) if run.is_about(act)]
        if near:
            return min(near, key=lambda pair: pair[0])[1]
        named = _subcommands(act)
        beyond = [sub for sub in named if not any(run.names(sub) for run in runs)]
        name = " ".join((act.program, *(beyond or named)[0]))
        return f"{name} is not among the commands; {self.allows(act.program)} may be run"

    def _is_input(self, act: Act) -> bool:
        """A literal `echo …` or `printf …` straight into a program that reads SQL or code: it is judged there."""
        if act.feeds not in self.runs or act.dynamic or output_of(act.command) is None:
            return False
        profile = profile_of(act.feeds or "")
        return profile is not None and profile.stdin in ("sql", "code") and not act.touches

    def _fed(self, act: Act) -> str | None:
        if not act.is_fed or act.stdin not in ("sql", "code"):
            return None
        if self.stdin == "none" or act.fed is None:
            return f"what {act.program} reads is not in the text"
        if any(redirect.op in ("<<", "<<<") and not redirect.quoted for redirect in act.command.redirects):
            return f"what {act.program} reads is written as an argument, or as a here-document with a quoted delimiter"
        return None

    def _redirected(self, placed: Placed) -> str | None:
        for touch, path in placed.redirected:
            if path is None and self._keeps(touch):
                continue
            if touch.effect == "read" and self._may_read(path):
                continue
            if not isinstance(path, str) or not self.redirect.matches(path):
                way = "from" if touch.effect == "read" else "to"
                allowed = ", ".join(["/dev/null", *self.redirects])
                return f"a redirection {way} {touch.path.raw}; only {allowed} is permitted"
        return None

    def _may_read(self, path: str | Glob | None) -> bool:
        """`wc -l < README.md` is what `wc -l README.md` is."""
        if self.paths is None:
            return isinstance(path, str) and not path.startswith("/")
        allowed = self.paths.get("read")
        return path is not None and allowed is not None and _lies_in(allowed, path)

    def _located(self, placed: Placed) -> str | None:
        # `cd` counts where it leads to.
        places = [path for _, path in placed.touches] if placed.act.program == "cd" else placed.bases
        if self.inside is not None and not all(isinstance(at, str) and self.inside.matches(at) for at in places):
            return f"it runs outside {self.inside.text}"
        named = {(touch.effect, path) for touch, path in placed.touches if isinstance(path, str)}
        for touch, path in placed.touches:
            if path is None and self._keeps(touch):
                continue
            if (path is None and not touch.implied) or (isinstance(path, str) and path.startswith("/")):
                return f"{touch.path.raw} lies outside the root, or can't be told"
            if self.paths is None:
                continue
            if touch.nested and isinstance(path, str) and self._is_file(touch.effect, path, named):
                continue
            allowed = self.paths.get(touch.effect)
            if self._names_it(touch, path) or _is_folder_of(allowed, touch, path):
                continue
            if _reads_file(touch, path, allowed):
                continue
            if allowed is None or not _lies_in(allowed, path):
                where = ", ".join(self.path_texts.get(touch.effect, ())) or "nothing"
                what = touch.path.raw or "what the text doesn't tell"
                return f"it would {touch.effect} {what}; it may {touch.effect} only {where}"
        effects = (placed.act.own - placed.act.asked) & {"write", "delete"}
        if self.paths is not None and any(not self.paths.get(effect) for effect in effects):
            return f"it would {', '.join(sorted(effects))}"
        return None

    def _keeps(self, touch: Touch) -> bool:
        """What the text doesn't tell is held; but it tells that something lies elsewhere (`~/x`, `../x`)."""
        return touch.effect in self.kept and not (touch.path.text or "").startswith(("~", "../", "/"))

    def _names_it(self, touch: Touch, path: str | Glob | None) -> bool:
        """The scope names, to the letter, what all of this lies in or below: a file."""
        texts = self.path_texts.get(touch.effect, ())
        if not isinstance(path, Glob) or touch.path.glob:
            return False
        return names_base(texts, path) or (touch.shows == "names" and path.base in texts)

    def _is_file(self, effect: str, path: str, named: set[tuple[str, str]]) -> bool:
        """A file below a target that the scope names to the letter: it means the file, not a directory."""
        above = path.rpartition("/")[0]
        return (effect, above) in named and above in self.path_texts.get(effect, ())

    def describe(self) -> str:
        if self.all:
            return "any command that is understood" + (", and code of the project" if self.project_code else "")
        return ", ".join(self.texts) or "no command"

    def brief(self) -> str:
        """The command sets and programs that it names, five at most, each with the beginning of its limits."""
        if self.all:
            return self.describe()
        names: list[str] = []
        for key in ("sets", "run"):
            for entry in self.scope.get(key, ()):
                limited = entry.items() if isinstance(entry, dict) else ()
                names.extend(_run_in_full(str(program), limits) for program, limits in limited)
                names.extend([str(entry)] if not limited else [])
        return _brief([shown(name, _BRIEF) for name in dict.fromkeys(names)], 5) or self.describe()

    def in_full(self) -> str:
        """Everything that the scope says, key by key, in the order of the format."""
        scope = self.scope
        entries = [str(name) for name in scope.get("sets", ())]
        entries += ["any command that is understood"] if self.all else []
        entries += ["code of the project"] if self.project_code else []
        run = scope.get("run", ())
        for entry in [run] if isinstance(run, str) else run:
            if isinstance(entry, dict):
                entries.extend(_run_in_full(str(program), limits) for program, limits in entry.items())
            elif not self.all or entry not in ("any", PROJECT_CODE):
                entries.append(str(entry))
        found = [", ".join(entries) or "no command"]
        if self.filters:
            found.append(f"behind a pipe {', '.join(sorted(self.filters))}")
        if "joined_by" in scope:
            found.append(f"joined by {', '.join(scope['joined_by']) or 'nothing'}")
        if "redirect" in scope:
            found.append(f"output into {', '.join(_texts(scope['redirect'])) or 'no file'}")
        if self.env:
            found.append(f"with the variables {', '.join(sorted(self.env))}")
        if "stdin" in scope:
            found.append(f"stdin {self.stdin}")
        if "in" in scope:
            found.append(f"in {scope['in']}")
        found.extend(f"{effect} only {', '.join(texts) or 'nothing'}" for effect, texts in self.path_texts.items())
        return shown("; ".join(found), _MOST)

    def concerns(self, unit: Unit) -> bool:
        program = unit.value.act.program
        return program in self.runs or program in self.filters

    def samples(self) -> list[Any]:
        from remit.scopes.shell.samples import sample_texts  # here, as below: only explanations need samples

        return list(sample_texts(self))

    def effects(self) -> tuple[frozenset[str], bool]:
        from remit.scopes.shell.samples import possible_effects

        return possible_effects(self)

    def entries(self) -> list[Run]:
        """All entries, with the filters as such."""
        return [*(run for runs in self.runs.values() for run in runs), *map(Run, sorted(self.filters))]

    def allows(self, program: str | None) -> str:
        """What may be run instead, for people: the program's own entries if it has some, else a few names."""
        if self.all:
            return self.describe()
        if program is not None and program in self.runs:
            return _brief(list(dict.fromkeys(run.describe() for run in self.runs[program])), 4)
        few = [run.describe() for runs in self.runs.values() for run in runs] if len(self.runs) <= 4 else self.texts
        return _brief(few) or "no command"


def _is_report_place(path: str | Glob | None) -> bool:
    """The path is a place for reports and caches, or lies in one."""
    places = _report_places()
    return path is not None and (_lies_in(places, path) or (isinstance(path, Glob) and places.matches(path.base)))


@cache
def _report_places() -> GlobSet:
    return GlobSet(Glob.parse(text) for text in programs().reports)


def _lies_in(allowed: GlobSet, path: str | Glob | None) -> bool:
    """The path is certainly one of these; what a program does in the workspace unsaid, only if all of it is."""
    if path is None:
        return allowed.includes(EVERYTHING)
    return allowed.matches(path) if isinstance(path, str) else allowed.includes(path)


def _reads_file(touch: Touch, path: str | Glob | None, allowed: GlobSet | None) -> bool:
    """`git diff src/a.py` under `read: [src/*.py]`: what has such a name is a file."""
    if allowed is None or touch.effect != "read" or not isinstance(path, Glob) or touch.path.glob:
        return False
    return "." in path.base.rpartition("/")[2][1:] and allowed.matches(path.base)


def _is_folder_of(allowed: GlobSet | None, touch: Touch, path: str | Glob | None) -> bool:
    """`cd src` under `read: [src/**]`: all that lies in the folder may be read, and only that it is there is."""
    return (
        allowed is not None and touch.shows == "itself" and isinstance(path, str) and allowed.includes(Glob.below(path))
    )


def _subcommands(act: Act) -> list[tuple[str, ...]]:
    """The subcommand with the word that follows it, for `run build`; with each, where it has several objects."""
    if act.program not in OBJECTS:
        return [act.sub + tuple(word.text or "" for word in act.targets[:1])]
    return [(*act.sub, word.text or "") for word in act.targets] or [act.sub]


def _subcommands_in(words: tuple[str, ...]) -> list[tuple[str, ...]] | None:
    """The subcommand that a whole command names; None if its program has none, or it names none."""
    at, profile = 1, profile_of(words[0])
    while profile is not None and at < len(words) and words[at] in profile.sub:
        profile, at = profile.sub[words[at]], at + 1
    return [words[1:at]] if at > 1 else None


def _named(program: str, sub: str) -> tuple[str, ...]:
    """The words of a subcommand in a rule; `kubectl: [get pods]` means what `get po` means."""
    words = sub.split()
    if program not in OBJECTS:
        return (*words,)
    at, profile = 1, (known.sub.get(words[0]) if (known := profile_of(program)) is not None and words else None)
    while profile is not None and at < len(words) and words[at] in profile.sub:
        profile, at = profile.sub[words[at]], at + 1  # `rollout status` is one subcommand, about nothing yet
    return (*words[:at], *(name for word in words[at:] for name in resources(word)))


def _all_among(words: tuple[Word, ...], wanted: frozenset[str]) -> bool:
    return bool(words) and all(word.text in wanted for word in words)


def _all_hosts(act: Act, wanted: frozenset[str]) -> bool:
    """Every host that the command names, alone (`ssh host`), in a place (`host:path`) or in a URL, is one of these."""
    words = (*act.hosts, *act.urls)
    return bool(words) and all(word.text is not None and _is_host(word.text, wanted) for word in words)


def _is_host(text: str, wanted: frozenset[str]) -> bool:
    """A host is one of these; `*.x.example` stands for every host below x.example. Letters count in either case."""
    try:
        host = parse_url(text).host if "://" in text else host_in(text)
    except UrlError:
        return False
    if host is None:
        return False
    for name in map(str.lower, wanted):
        below = name[:2] == "*." and host.endswith(name[1:]) and len(host) >= len(name)
        if below or name in (host, text.lower()):
            return True
    return False


def _within_urls(word: Word, urls: UrlSet) -> bool:
    try:
        return word.text is not None and urls.matches(parse_url(word.text))
    except UrlError:
        return False


_KEYS = {"sub": "", "module": "-m", "url": "to", "host": "on", "db": "of", "meta": "commands"}
"""How the limits of a program are introduced, where not by their key."""
_MOST = 20_000
_BRIEF = 40
"""Characters of one entry in a table."""


def _run_in_full(program: str, limits: Any) -> str:
    """`git status, log (effects read)`: a program with every limit of its entry."""
    data = limits if isinstance(limits, dict) else {"sub": limits}
    found = []
    for key, value in data.items():
        if key == "unsafe_any_arguments":
            found.append("any arguments" if value else "")
        elif key == "sql":
            found.append(SqlMatcher(value).in_full())
        else:
            texts = [str(text) for text in (value if isinstance(value, list | tuple) else [value])]
            found.append(f"{_KEYS.get(key, key)} {', '.join(texts) or 'none'}".strip())
    inside = "; ".join(filter(None, found))
    return f"{program} ({inside})" if inside else program


def _brief(texts: list[str], limit: int = 8) -> str:
    """A list for people, shortened."""
    more = f" and {len(texts) - limit} more" if len(texts) > limit else ""
    return ", ".join(texts[:limit]) + more


def _options(program: str, value: Any) -> frozenset[str] | None:
    """The options that an entry names; where long ones have one dash or two, each means both."""
    found = _set(value)
    profile = profile_of(program)
    if found is None or profile is None or profile.dashes != "one":
        return found
    return found | {f"-{name}" for name in found if not name.startswith("--")}


def _set(value: Any) -> frozenset[str] | None:
    return None if value is None else frozenset(_texts(value))


def _texts(value: Any) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else [str(item) for item in value]
