"""Shell text → acts: every command that would run, what it does, and how well that is known.

for act in understand("git diff HEAD~1 | head").acts: ...
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from posixpath import normpath
from typing import NamedTuple

from remit.languages.bash.builtins import DECLARES
from remit.languages.bash.follow import (
    HARMLESS_OPTIONS,
    STRICT,
    Bases,
    Budget,
    Follower,
    State,
    bare,
    given_names,
    is_still,
    join,
    union,
)
from remit.languages.bash.lexer import is_pattern
from remit.languages.bash.reader import read_script
from remit.languages.bash.reading import FILE_EFFECTS, Reading, Touch, Word
from remit.languages.bash.script import Command, Redirect, Script
from remit.languages.bash.values import Items, Piece
from remit.languages.programs.client import Input, read_client
from remit.languages.programs.derived import HERE
from remit.languages.programs.interpret import Interpreter
from remit.languages.programs.outputs import fed_commands, names_of, output_of
from remit.languages.programs.profiles import Profile, is_telling, profile_of, programs
from remit.languages.sql.statement import SqlStatement
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later
from remit.model.terms import PROJECT, UNDERSTOOD, UNKNOWN

MAX_DEPTH = 8
_STORES = frozenset(("git", "hg", "svn"))
"""Programs that show files as they were."""
_ABOUT_ITSELF = frozenset(("alias", "shopt"))
"""Builtins that change nothing but how the shell takes what follows."""
_ASSIGNMENT = compile_later(r"([A-Za-z_][A-Za-z0-9_]*)=")
_PARTS = compile_later(r"[=,:;@]")
"""What stands between the parts of a word that may each be a path."""
_PLAIN_NAME = compile_later(r"[A-Za-z0-9_][A-Za-z0-9._-]*")
_FILE = compile_later(r"(?!.*\.\.)[^~^@]*[./][^~^@]*")
CACHE = 512
MAX_PLACES = 512
"""Paths of one command times the directories it may run in; beyond, its place isn't told."""
SYSTEM = frozenset(("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"))
CODE_PATHS = frozenset(("PYTHONPATH", "NODE_PATH"))
NOTHING = Input()
UNTOLD = Word(None, "")
_LINES = frozenset(("read", "mapfile", "readarray"))


class Local(NamedTuple):
    """A program that a wrapper takes from the project, if it is installed there: `npx tsc`."""

    path: str
    """From the working directory, or from the root."""
    doubt: str = ""
    """What nobody knows otherwise."""
    spares: frozenset[str] = frozenset(("install", "network"))
    """Effects that it doesn't have then."""


class Act(NamedTuple):
    """One command, understood as far as it can be."""

    program: str | None
    sub: tuple[str, ...]
    effects: frozenset[str]
    own: frozenset[str]
    """The effects of the program itself, without its redirections."""
    base: frozenset[str]
    """The effects that naming the program or subcommand admits."""
    grade: str
    command: Command
    touches: tuple[Touch, ...] = ()
    redirected: tuple[Touch, ...] = ()
    """What its redirections read and write, `/dev/null` aside."""
    urls: tuple[Word, ...] = ()
    hosts: tuple[Word, ...] = ()
    targets: tuple[Word, ...] = ()
    modules: tuple[Word, ...] = ()
    sqls: tuple[Word, ...] = ()
    databases: tuple[Word, ...] = ()
    unknown: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    dynamic: tuple[str, ...] = ()
    loose: tuple[str, ...] = ()
    """Words that are not literal, but mere text whatever they are."""
    bases: tuple[str | None, ...] = (".",)
    """Directories that it may run in, below the shell's own; None is one that the text doesn't tell."""
    via: tuple[str, ...] = ()
    """The wrappers that run it."""
    stdin: str = "data"
    fed: str | None = None
    """The literal text on its standard input, where the text shows it."""
    is_fed: bool = False
    """Something is on its standard input: a pipe, a file or a here-document."""
    feeds: str | None = None
    """The program that reads its output through a pipe; empty if that isn't one simple command."""
    statements: tuple[SqlStatement, ...] = ()
    """The SQL that it runs, in order, and what else it does to tables (`.dump`); one that is unknown is not shown."""
    metas: tuple[str, ...] = ()
    """Meta-commands of a database client that it runs, as `.tables` and `\\d`."""
    branches: tuple[Word, ...] = ()
    """Branches that it changes, by name; a word without text stands for any."""
    contexts: tuple[Word, ...] = ()
    """Clusters, accounts and projects that it works on, likewise."""
    asked: frozenset[str] = frozenset()
    """The effects that are its SQL's alone: a `sql:` scope judges them."""
    options: frozenset[str] = frozenset()
    """The options that it has, by the names that its profile gives them."""
    brings: bool = False
    """Among what it writes below a folder may be links, which nobody has seen."""
    stands: tuple[str | None, ...] | None = None
    """The same for its redirections, which its shell opens: `git -C` moves git alone. None: `bases`."""
    declared: tuple[str, ...] | None = None
    """It installs only what files of the project say, these among them; None: something else, or nothing."""
    taken: tuple[Word, ...] = ()
    """Words of git that were taken for files by how they look: if none of them is one, they are revisions."""
    from_store: bool = False
    """What it reads below the paths that it is told may come from a store such as git's, and not be on the disk."""
    revisions: tuple[Word, ...] = ()
    """Words that git takes for commits; what the store has under such a name, only whoever looks there can see."""
    code: tuple[Word, ...] = ()
    """Where the code lies that it runs; whether that is the workspace's, one can tell only from its place."""
    works: tuple[str | None, ...] | None = None
    """Where it works if it doesn't go there: what no word says lies there, and its words count from the shell's own
    directory too."""
    local: Local | None = None
    """What it would be if a program is there that only whoever looks at the disk can see."""
    handed: tuple[Word, ...] = ()
    """What code of the workspace gets as arguments, as far as it may name a path that no other word tells."""

    @property
    def names(self) -> frozenset[str]:
        """Names by which a program that it runs is known: its own, `python -m` modules, and in doubt every word."""
        texts = [word.text for word in self.modules]
        found = {text.partition(".")[0] for text in texts if text is not None}
        words = self.command.words if self.grade == UNKNOWN else self.command.words[:1]
        found.update(word.text.rpartition("/")[2] for word in words if word.text is not None)
        return frozenset(found)


class Understanding(NamedTuple):
    """All acts of a text, or why there are none."""

    text: str
    acts: tuple[Act, ...]
    problem: str | None = None

    @property
    def grade(self) -> str:
        """The worst grade of any act."""
        grades = {act.grade for act in self.acts}
        if self.problem is not None or UNKNOWN in grades:
            return UNKNOWN
        return PROJECT if PROJECT in grades else UNDERSTOOD


_cache: OrderedDict[tuple[str, bool], Understanding] = OrderedDict()


def understand(text: str, *, new_shell: bool = False) -> Understanding:
    """What the text would do. Never raises; repeated texts are remembered, up to a bound.

    `new_shell`: it runs in a shell of its own, whose variables no call before it has set.
    """
    found = _cache.get((text, new_shell))
    if found is not None:
        return found
    found = _understand(text, new_shell)
    if len(text) <= 4096:
        _cache[text, new_shell] = found
        while len(_cache) > CACHE:
            try:
                _cache.popitem(last=False)
            except KeyError:
                break  # another thread emptied it
    return found


def forget() -> None:
    """Drops what is remembered, to measure what a new text costs."""
    _cache.clear()


def _understand(text: str, new_shell: bool) -> Understanding:
    state = State()
    if new_shell:
        state.passing = True
        state.vars["@"] = (Items(()),)
        state.given = frozenset(name for name in given_names(text) if not is_telling(name))
    state.vars.update((name, (Piece(place), Piece(""))) for name, place in programs().places.items())
    try:
        acts = _acts(text, 0, (), state, Budget(len(text)))
        if state.tainted and not state.passing and acts:
            left = (*acts[-1].unknown, "it changes what later commands in this shell do")
            acts[-1] = acts[-1]._replace(unknown=left, grade=UNKNOWN)
        return Understanding(text, tuple(acts))
    except NotUnderstood as error:
        return Understanding(text, (), str(error))
    except RecursionError:
        return Understanding(text, (), "nested too deeply")


def _acts(
    text: str,
    depth: int,
    via: tuple[str, ...],
    state: State,
    budget: Budget,
    around: Input = NOTHING,
    functions: frozenset[str] = frozenset(),
) -> list[Act]:
    """All acts of a text, in the order of the text; the state becomes what holds after it."""
    if depth > MAX_DEPTH:
        raise NotUnderstood("shell", "commands nested too deeply")
    walk = _Walk(read_script(text), depth, via, budget, around, functions)
    if via[-1:] != ("eval",):
        state.still = is_still(walk.script)
    if walk.script.functions and via[-1:] in (("eval",), ("trap",)):
        state.tainted = True  # names mean something else from here on, also in the text around it
    walk.whole(state)
    walk.found.sort(key=lambda found: found[0])
    return [act for _, act in walk.found]


class _Walk(Follower):
    """Follows one text and makes an act of each command in it."""

    def __init__(
        self,
        script: Script,
        depth: int,
        via: tuple[str, ...],
        budget: Budget,
        around: Input,
        functions: frozenset[str],
    ) -> None:
        super().__init__(script, budget, functions)
        self.depth = depth
        self.via = via
        self.around = around
        self.found: list[tuple[int, Act]] = []
        """Acts, with the place of their command in the script."""
        self._outputs: dict[int, Input] = {}
        commands = script.commands
        self._readers = {c.piped_from: c.program or "" for c in commands if c.piped_from is not None}

    def run(self, command: Command, place: int, state: State) -> None:
        source = command.piped_from
        given = self.around if source is None else self._outputs.get(source, Input(None, present=True))
        acts = _command(command, self.depth, self.via, state, self.budget, given, self.functions)
        acts[0] = acts[0]._replace(feeds=self._readers.get(place))
        self.found.extend((place, act) for act in acts)
        if place not in self._readers:
            return
        printed = Input(self.output(command), present=True, names=names_of(command, given))
        before = self._outputs.get(place, printed)
        self._outputs[place] = printed if before == printed else Input(None, present=True)

    def output(self, command: Command) -> str | None:
        return output_of(command, posix=bool(self.via) and self.via[-1] != "bash")

    def taints(self, command: Command, names: Iterable[str]) -> bool:
        words = bare(command.words)
        name = words[0].text if words else ""
        if name == "set":
            return not all(word.text in STRICT for word in words[1:]) and words[1].text != "--"
        if name == "shopt":
            return not all(word.text in ("-s", "-u", "-q") or word.text in HARMLESS_OPTIONS for word in words[1:])
        if name in ("alias", "enable", "hash") and len(words) > 1:
            return True
        if name in DECLARES and any((word.text or "").startswith("BASHOPTS") for word in words[1:]):
            return True  # exported, it hands options on to other shells
        assigned = dict(command.assigns)
        if name in ("export", "readonly"):
            names = assigned.keys()  # without a value nothing changes
        return any(_matters(one, assigned.get(one, UNTOLD)) for one in names)


def _command(
    command: Command,
    depth: int,
    via: tuple[str, ...],
    state: State,
    budget: Budget,
    given: Input,
    functions: frozenset[str],
) -> list[Act]:
    """The act of one command, followed by those of the commands that it runs."""
    bases = state.bases
    out = Reading()
    reader = Interpreter(out)
    program = command.program
    profile = profile_of(program) if program else None
    if profile is None and program and "/" in program:
        profile = _system_program(program)
    if program is None:
        out.unknown.append(f"the program `{command.words[0].raw}` is not literal")
    elif program and program in functions:
        out.unknown.append(f"`{program}` is a function of the text itself")
    elif profile is not None:
        reader.run(profile, command.words[1:])
    elif program:
        _path_program(command, out, reader)
    if state.passing and program in _ABOUT_ITSELF:
        out.unknown.clear()  # what follows it in the text is not understood
        out.refused.clear()
    if state.tainted and program:
        out.unknown.append("a variable or alias set before changes what programs do")
    given = _input(command, given, out)
    asked = read_client(profile.special if profile is not None else None, out, reader.seen, command, given)
    own = frozenset(out.effects)
    implied = {**reader.implied, **reader.opted}
    name = (program or "").rpartition("/")[2]
    if not out.project or "execute" not in own:  # what code of the workspace does is not the program's to say
        sure = reader.has_paths if reader.pathspecs else None
        if reader.profile.revisions and own == {"read"} and implied.get("read") == ():
            _show_names(out)
        touch_implied(
            out,
            own - asked,
            implied,
            sure=sure,
            store=name == "git",
        )
    for path in reader.profile.writes:
        out.touch("write", Word(path, path))
    _expanded(command.words, out)
    for _, value in command.assigns:
        if value.text is None and value.raw.startswith("("):
            _expanded((value, *(_element(raw) for raw in value.raw[1:-1].split())), out)
    if out.project:
        out.touches.append(Touch("read", HERE, deep=True, taken="workplace"))
    mark = len(out.touches)
    for redirect in command.redirects:
        _redirect(_as_output(redirect, command), out)
    if given.present and reader.stdin == "code":
        out.unknown.append(f"`{program}` runs what it reads")
    if reader.stdin == "commands":
        out.commands[:] = fed_commands(out.commands, command, reader.seen, given)
    for name, value in command.assigns:
        if command.words and name in CODE_PATHS and _local(value):
            out.project = True
        elif command.words and _matters(name, value) and not (name == "IFS" and program in _LINES):
            out.unknown.append(f"`{name}` changes what programs do")
        if value.text is None:
            out.dynamic.append(value.raw)
    unknown = bool(out.unknown or out.refused)
    own_touches = [touch._replace(links=out.links or touch.links) for touch in out.touches[:mark]]
    touches, redirected = tuple(dict.fromkeys(own_touches)), tuple(dict.fromkeys(out.touches[mark:]))
    within = _within(bases, out.directory, stays=out.stays)
    works = _within(bases, out.directory, stays=False) if out.stays else None
    if len(within) * (len(touches) + len(redirected)) > MAX_PLACES:
        within = bases = (None,)
        works = None
    budget.spend(len(within) * (len(touches) + len(redirected)))
    act = Act(
        program,
        reader.sub,
        frozenset(out.effects),
        own,
        reader.base,
        UNKNOWN if unknown else PROJECT if out.project or out.lends else UNDERSTOOD,
        command,
        touches,
        redirected,
        tuple(out.urls),
        tuple(out.hosts),
        tuple(out.targets),
        tuple(out.modules),
        tuple(out.sqls),
        tuple(out.databases),
        tuple(out.unknown),
        tuple(out.refused),
        tuple(out.dynamic),
        tuple(out.loose),
        within,
        via,
        reader.stdin,
        given.text,
        given.present,
        statements=tuple(out.statements),
        metas=tuple(out.metas),
        branches=tuple(out.branches),
        contexts=tuple(out.contexts),
        asked=asked,
        options=frozenset(reader.seen),
        brings=out.brings,
        taken=tuple(out.taken),
        from_store=name in _STORES and implied.get("read") is None,
        revisions=tuple(out.revisions),
        code=(HERE, *out.code) if out.project else (),
        stands=bases if redirected and within != bases else None,
        declared=None if unknown else reader.declared,
        works=works,
        handed=_handed(command, out, reader) if out.project or out.unknown else (),
    )
    before = reader.seen if reader.finding is None else reader.finding
    finds = reader.finds if reader.finds is not None and before.isdisjoint(reader.finds.unless) else None
    if finds is not None and not out.commands:
        act = act._replace(local=_local_program(act, finds.folder, own=reader.profile.finds is not None))
    acts = [act]
    label = program or "?"
    # Of several commands that read the same input, none is sure to see it from its beginning.
    shared = Input(None, given.present)
    alone = len(out.commands) == 1 and not out.shells and program != "find"
    inherited = NOTHING if reader.stdin == "commands" else given if alone else shared
    if not out.commands and not out.shells:
        return acts
    inside = state.copy()
    inside.bases = act.bases
    for inner in out.commands:
        budget.spend(1 + len(inner))
        nested = _nested(inner, command)
        same = state if program in ("command", "builtin") else inside
        run = _command(nested, depth + 1, (*via, label), same, budget, inherited, functions)
        if finds is not None and run[0].program is not None and _PLAIN_NAME.fullmatch(run[0].program):
            doubt = _not_known(run[0].program)
            local = Local(f"{finds.folder}/{run[0].program}", doubt) if doubt in run[0].unknown else None
            run[0] = run[0]._replace(local=local)
        acts.extend(run)
    for text in out.shells:
        acts.extend(_shell(text, depth, (*via, label), (state, act.bases), budget, shared, functions))
    return acts


def _handed(command: Command, out: Reading, reader: Interpreter) -> tuple[Word, ...]:
    """What the arguments may name that nothing is known of: whole words, the values of options and assignments, and
    parts of words that have a slash. Subcommands, targets, modules and texts (`-k deploy`) are no paths."""
    texts = {word.raw for kind, word in reader.named if kind == "text" and "/" not in word.raw}
    names = {word.raw for word in (*out.targets, *out.modules)}
    known = {touch.path.raw for touch in out.touches} | names | texts | {*reader.sub}
    found: dict[str, Word] = {}
    for word in command.words[1:]:
        if word.glob or (word.raw in known and "=" not in word.raw):
            continue
        if word.text is None:
            parts = [(word.start or "").rpartition("/")[0]]  # `private/$x`
        elif "://" in word.text:
            parts = [word.text.partition("file://")[2]]
        else:
            value = word.text.partition("=")[2]
            split = (*_PARTS.split(word.text), word.text[2:] if word.text[:1] == "-" else "")
            parts = ["" if word.text[:1] == "-" else word.text, value, *(part for part in split if "/" in part)]
        found.update((text, Word(text, word.raw)) for text in parts if text)
    for name, assigned in command.assigns:
        if name not in CODE_PATHS and not name.endswith("PATH") and "/" in (assigned.text or ""):
            found[assigned.text or ""] = assigned
    return tuple(found.values())


def _expanded(words: Sequence[Word], out: Reading) -> None:
    """Afterwards each pattern that bash replaces by names is read: by what the command does to these files, or else as
    it lists them (`echo docs/*`)."""
    touched = {touch.path.text for touch in out.touches}
    for word in words[1:]:
        odd = word.text is not None and (word.text.startswith("-") or "://" in word.text or _is_index(word.text))
        lists = word.glob and not word.found and not odd and word.text not in touched
        if lists or (word.text is None and is_pattern(word.raw)):
            out.show(word, "itself")


def _is_index(text: str) -> bool:
    """`.packages[0].name`: to bash a pattern for hardly more than one name here, and meant for jq."""
    return set(text).isdisjoint("*?/")


def _element(raw: str) -> Word:
    """An element of an array, as it stands there: a plain pattern, or something that nobody looks into."""
    plain = is_pattern(raw) and not set(raw) & set("'\"\\$`{}")
    return Word(raw, raw, glob=True) if plain else Word(None, raw)


def _local_program(act: Act, folder: str, *, own: bool) -> Local | None:
    """What `npx NAME` runs: a program that has a profile there, or the one that is not known."""
    if act.sub and not own and _PLAIN_NAME.fullmatch(act.sub[-1]):
        profile = profile_of(act.sub[-1])
        both = profile is not None and "network" not in profile.effects
        return Local(f"{folder}/{act.sub[-1]}", spares=frozenset(("install", "network") if both else ("install",)))
    doubts = [text for text in act.unknown if text.startswith("runs `")]
    name = doubts[0].removeprefix("runs `").removesuffix("`") if len(doubts) == 1 else ""
    return Local(f"{folder}/{name}", doubts[0]) if _PLAIN_NAME.fullmatch(name) else None


def _not_known(program: str) -> str:
    return f"`{program}` isn't known"


def _name_files(words: list[Word]) -> bool:
    """Words that are files or revisions, as git takes them, look like a file, and like no file of a revision."""
    texts = [word.text or ":" for word in words]
    return not any(":" in text for text in texts) and any(_FILE.fullmatch(text) for text in texts)


def _show_names(out: Reading) -> None:
    """Afterwards git reads nothing of the paths that it is told, and shows commits, names and numbers about them."""
    out.touches[:] = [
        touch._replace(deep=False, shows="names")
        if touch.effect == "read" and touch.path.text is not None and touch.path not in out.beside
        else touch
        for touch in out.touches
    ]


def touch_implied(
    out: Reading,
    effects: frozenset[str],
    implied: Mapping[str, tuple[str, ...] | None],
    *,
    sure: bool | None,
    store: bool,
) -> None:
    """Afterwards every effect on files has a touch, or the profile says that it is on none.

    To git, paths are all that it touches of what could be anything; `sure`: they certainly are paths. None: the words
    of other programs say nothing about what else could be touched. `store`: what is on no file is on git's store.

    INVARIANT: an effect whose target neither the text nor the profile tells has a touch without text: it is anywhere.
    """
    for effect in FILE_EFFECTS:
        # Where it works, as `git -C .` says, limits nothing.
        works = [out.directory] if out.directory is not None else []
        words = [t.path for t in out.touches if t.effect == effect and not (t.shows == "itself" and t.path in works)]
        words = [word for word in words if sure is None or word not in out.beside]
        if effect == "read" and out.beyond and implied.get(effect) is None:
            out.touch(effect, Word(None, ""))
        if effect not in effects or (words and (implied.get(effect, ()) is not None or sure)):
            continue
        if sure is not None and _name_files(words):
            out.taken.extend(words)
            continue
        places = implied.get(effect)
        if places is None:
            out.touch(effect, Word(None, ""))
            continue
        mark = len(out.touches)
        for place in places:
            base = place.removesuffix("/**").removesuffix("/*")
            out.touch(effect, Word(base, place), deep=place.endswith("/**"))
            if place.endswith("/*"):
                out.touches[-1] = out.touches[-1]._replace(shows="names")
        out.touches[mark:] = [touch._replace(unsaid=True) for touch in out.touches[mark:]]
        if not places and store and effect != "read":
            out.touches.append(Touch(effect, HERE, deep=True, store=True))


def _shell(
    text: Word,
    depth: int,
    via: tuple[str, ...],
    where: tuple[State, Bases],
    budget: Budget,
    given: Input,
    functions: frozenset[str],
) -> list[Act]:
    """The acts of a text that a command has a shell run: this shell now (`eval`) or later (`trap`), or another one."""
    state, bases = where
    if via[-1] == "eval":
        if text.text is None:  # said to be not literal already
            state.lose(None)
            return []
        state.given = frozenset()
        return _acts(text.text, depth + 1, via, state, budget, given, functions)
    inner = State(bases)
    if via[-1] == "trap":
        inner.tainted, inner.vanishing, inner.passing = state.tainted, True, state.passing
        inner.bases = bases if state.still else union(bases, (None,))
        acts = [] if text.text is None else _acts(text.text, depth + 1, via, inner, budget, given, functions)
        state.late(inner)
        return acts
    if text.text is None:
        return []
    inner.passing = True
    return _acts(text.text, depth + 1, via, inner, budget, given, functions)


def _nested(words: list[Word], command: Command) -> Command:
    """The command that a wrapper runs; `env A=b cmd` assigns first."""
    assigns = []
    if words and words[0].deep:
        words = [Word(None, words[0].raw), *words[1:]]
    while words and words[0].text is not None and (found := _ASSIGNMENT.match(words[0].text)):
        assigns.append((found[1], Word(words[0].text[found.end() :], words[0].raw)))
        words = words[1:]
    raw = " ".join(word.raw for word in words)
    return Command(tuple(words), tuple(assigns), joined=command.joined, raw=raw)


def _system_program(program: str) -> Profile | None:
    """The profile of a program that is named by its place among the system's own, as `/usr/bin/git`."""
    where, _, name = normpath(program).replace("//", "/").rpartition("/")
    return profile_of(name) if where in SYSTEM and program.startswith("/") else None


def _path_program(command: Command, out: Reading, reader: Interpreter) -> None:
    """A program named by a path: a script of the project below the root; any other is not understood.

    It could be the program whose name it has, so what that one would do counts too (`.venv/bin/python -m pytest`).
    """
    program = command.words[0].text or ""
    profile = profile_of(program.rpartition("/")[2]) if "/" in program else None
    if profile is not None:
        reader.run(profile, command.words[1:])
        out.unknown.clear()
        out.refused.clear()
    if "/" in program:
        out.project = True
        out.code.append(command.words[0])
        reader.script_named(command.words[0])
        out.touch("read", Word(program, program))
        out.effects.add("execute")
    else:
        out.unknown.append(_not_known(program))


def _input(command: Command, given: Input, out: Reading) -> Input:
    """What is on standard input: the last redirection of it, else what was there before."""
    for redirect in command.redirects:
        if redirect.op in ("<<", "<<<") and redirect.body is None:
            out.dynamic.append("a here-document that is expanded")
        if redirect.op[:1] != "<" or redirect.fd not in ("", "0"):
            continue
        if redirect.op in ("<<", "<<<"):
            given = Input(redirect.body, True)
        elif redirect.op == "<" and redirect.target is not None and redirect.target.text == "/dev/null":
            given = Input("", True)
        else:
            given = Input(None, True, redirect.target if redirect.op == "<" else None)
    return given


_SETTING = compile_later(r"([A-Za-z_][A-Za-z0-9_]*)=[^\n\r]*\n?")


def _as_output(redirect: Redirect, command: Command) -> Redirect:
    """What is added to the variables of a pipeline's later steps is an output of this one, if it is one literal line
    with a variable that changes nothing about programs."""
    places = programs().places
    target = redirect.target
    if target is None or target.text != places.get("GITHUB_ENV") or redirect.op != ">>":
        return redirect
    printed = output_of(command._replace(redirects=()))
    line = _SETTING.fullmatch(printed) if printed is not None else None
    if line is None or is_telling(line[1]) or is_telling(line[1].upper()):
        return redirect
    return redirect._replace(target=target._replace(text=places["GITHUB_OUTPUT"]))


_OUTPUTS = frozenset(("/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2"))


def _redirect(redirect: Redirect, out: Reading) -> None:
    target = redirect.target
    if target is None or target.is_pipe:
        return
    text = target.text
    if redirect.op in (">&", "<&") and text is not None and (text.isdigit() or text == "-" or text[:-1].isdigit()):
        return
    if text is None:
        out.dynamic.append(target.raw)
        start = target.raw.lstrip("\"'")
        if start.startswith(("/dev/tcp/", "/dev/udp/")):
            out.unknown.append(f"the host in `{target.raw}` is not literal")
        if start.startswith(("$", "`", "/dev/tcp/", "/dev/udp/")):
            out.effects.add("network")  # bash opens a connection for /dev/tcp/HOST/PORT
    elif text.startswith(("/dev/tcp/", "/dev/udp/")):
        out.host(Word(text.split("/")[3] if text.count("/") > 2 else text, target.raw))
    if text == "/dev/null" or (text in _OUTPUTS and redirect.op[:1] != "<"):
        return
    if redirect.op in ("<", "<&"):
        out.touch("read", target)
        if redirect.fd in ("1", "2"):
            out.touch("write", target)  # /dev/stdout is then this file, and can be opened to write it
    else:
        out.touch("write", target)
        if redirect.op == "<>":
            out.touch("read", target)


def _within(bases: tuple[str | None, ...], directory: Word | None, *, stays: bool) -> tuple[str | None, ...]:
    """Where its words count from: that directory; if it doesn't go there, where the shell stands, too."""
    if directory is None:
        return bases
    target = None if directory.deep or directory.glob else directory.text
    return tuple(dict.fromkeys((*(join(base, target) for base in bases), *(bases if stays else ()))))


def _local(value: Word) -> bool:
    """True for a list of directories that lie below the working directory: the project's own code."""
    parts = (value.text or "/").split(":")
    return not any(part == "" or part.startswith(("/", "~")) or ".." in part.split("/") for part in parts)


def _matters(name: str, value: Word) -> bool:
    """True for a variable that changes what programs do, unless to a value that is known to be harmless."""
    if not is_telling(name):
        return False
    harmless = programs().harmless.get(name)
    return harmless is None or value.text is None or not any(fnmatchcase(value.text, text) for text in harmless)
