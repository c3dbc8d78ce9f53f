"""Follows a script step by step: what its variables hold, where it is, and whether names still mean what they meant.

Values join where ways meet: a variable has a few possible values, or none that is known. What a loop changes is unknown
in it and after it. A command with variables is given on once for each way its words can come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import NamedTuple

from remit.languages.bash import lexer
from remit.languages.bash.builtins import DECLARES, counted
from remit.languages.bash.numbers import changed
from remit.languages.bash.reader import read_script
from remit.languages.bash.reading import GIVEN, Word
from remit.languages.bash.script import Command, Redirect, Script, Step
from remit.languages.bash.values import Expander, Items, Piece, Value
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_VALUES = 16
MAX_BASES = 16
MAX_CALLS = 8
MAX_PATTERNS = 4
MAX_GIVEN = 4
"""More variables of the host in one command are unknown words."""
_REFERENCE = compile_later(r"\$\{?#?([A-Za-z_][A-Za-z0-9_]*)")
_USE = compile_later(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_ANY_NAME = compile_later(r"[A-Za-z_][A-Za-z0-9_]*")
_GIVEN = compile_later(
    r"""(?:[A-Za-z0-9_./:@%+,=-]|'[^'$]*'|"(?:[^"$`\\]|\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\})*"|"""
    r"""\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\})+"""
)
"""A word of plain characters and variables, with quotes or without."""
_REVISION = r"[A-Za-z0-9_]+(?:[./-][A-Za-z0-9_]+)*(?:[~^][0-9]*|@\{[0-9]+\})*"
_MOMENT = r"%-?[CFGHIMNSTUVWYdjmsuy]|[A-Za-z0-9_.:]"
_PRINTED = (
    rf"\$\((?:(?:nproc|uname(?: -[mrs])?|date(?: -u)? \+(?:{_MOMENT})(?:{_MOMENT}|-)*)|git (?:merge-base {_REVISION} "
    rf"{_REVISION}|rev-parse(?: --verify)?(?: --short(?:=[0-9]+)?)? {_REVISION}))(?: 2>/dev/null)?\)"
)
"""What prints one plain word, which is no option, or nothing: a number, a date, a commit. `git rev-parse` prints what
it doesn't know as it is."""
_PRINTERS = ("date", "git", "nproc", "uname")
_WITH_PRINTED = compile_later(rf"(?:[A-Za-z0-9_./:@%+,=~^-]|{_PRINTED}|\"(?:[A-Za-z0-9_./:@%+,=~^ -]|{_PRINTED})*\")+")
_PLAIN_NAME = compile_later(r"[A-Za-z_][A-Za-z0-9_]*")
_OWN = frozenset({
    "COLUMNS", "COPROC", "DIRSTACK", "EPOCHREALTIME", "EPOCHSECONDS", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "IFS",
    "LINENO", "LINES", "MAPFILE", "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "PIPESTATUS", "PPID", "PS4", "PWD", "RANDOM",
    "READLINE_LINE", "READLINE_POINT", "REPLY", "SECONDS", "SHELLOPTS", "SHLVL", "SRANDOM", "UID", "_",
})  # fmt: skip
"""Variables that bash itself sets; so are all that begin with BASH and COMP_."""
_SETTERS = frozenset({"read", "mapfile", "readarray", "getopts", "wait", "unset", "printf", "let"})
_RUNNERS = frozenset({"eval", ".", "source"})
_VALUED = frozenset({"-p", "-t", "-n", "-N", "-d", "-u", "-i"})
"""Options of `read` whose value is mere text."""
_BACK = ("$OLDPWD", "${OLDPWD}", '"$OLDPWD"', '"${OLDPWD}"')
_MOVERS = frozenset({"cd", "pushd", "popd"})
_STRICT = ("-e", "-u", "-x", "-eu", "-ex", "-ux", "-eux", "-euo", "-eo", "-euxo", "-exo", "-uo", "-o", "+e", "+u", "+x")
STRICT = frozenset((*_STRICT, "pipefail", "errexit", "nounset", "xtrace"))
"""Words of `set` that change when a script stops and what it prints, but not how it is read."""
HARMLESS_OPTIONS = frozenset(
    """
    autocd checkhash checkjobs checkwinsize cmdhist direxpand dirspell execfail failglob globstar gnu_errfmt histappend
    histreedit histverify hostcomplete huponexit inherit_errexit lithist mailwarn no_empty_cmd_completion nullglob
    progcomp shift_verbose
    """.split()  # noqa: SIM905  a list of names reads better so
)
"""Options of `shopt` that change nothing that matters, or are followed (`nullglob`); `**` is any depth in any case."""

Bases = tuple[str | None, ...]


class Budget:
    """How much work a text may cause: a small multiple of its length."""

    def __init__(self, length: int) -> None:
        self.limit = 4_000 + 8 * length
        self.spent = 0

    def spend(self, steps: int = 1) -> None:
        """Raises NotUnderstood where it is used up."""
        self.spent += steps
        if self.spent > self.limit:
            raise NotUnderstood("shell", "it takes too many steps to follow")


class HostVariables(NamedTuple):
    """Variables of the host that a command uses."""

    set: frozenset[str] = frozenset()
    missing: frozenset[str] = frozenset()
    """Not set, or empty."""


class State:
    """What is known at one point of a script."""

    __slots__ = (
        "bases",
        "deaf",
        "exits",
        "fixed",
        "frozen",
        "given",
        "passing",
        "previous",
        "still",
        "tainted",
        "unmoved",
        "vanishing",
        "vars",
    )

    def __init__(self, bases: Bases = (".",)) -> None:
        self.vars: dict[str, tuple[Value, ...]] = {}
        """The possible values of each variable that is known; `@` are the arguments."""
        self.frozen: frozenset[str] = frozenset()
        """Variables that can't be followed."""
        self.fixed: frozenset[str] = frozenset()
        """Variables that are read-only: an assignment to one fails, or does not."""
        self.bases = bases
        """Directories that it may be in, below the shell's own; None is one that the text doesn't tell."""
        self.unmoved: Bases = ()
        """Where it still is if the last `cd` failed."""
        self.previous: Bases = (None,)
        """Directories that `cd -` may lead to."""
        self.vanishing = False
        """A pattern that matches nothing may become no word at all (`shopt -s nullglob`)."""
        self.passing = False
        """The shell ends with the text: what it is told about itself matters to nobody else."""
        self.tainted = False
        """Names may no longer mean what they meant."""
        self.still = False
        """Nothing in the text changes the directory."""
        self.exits = False
        """It stops where a command fails."""
        self.deaf = False
        """Something that runs at any time could change every value."""
        self.given: frozenset[str] = frozenset()
        """Variables that a new shell has from its environment, or lacks: nothing in the text can have set them."""

    def copy(self) -> State:
        new = State(self.bases)
        new.vars = dict(self.vars)
        new.frozen, new.fixed = self.frozen, self.fixed
        new.unmoved, new.tainted = self.unmoved, self.tainted
        new.still, new.exits, new.deaf = self.still, self.exits, self.deaf
        new.given, new.previous, new.vanishing = self.given, self.previous, self.vanishing
        new.passing = self.passing
        return new

    def join(self, other: State) -> None:
        """Either this or the other."""
        found = {}
        for name, values in self.vars.items():
            both = tuple(dict.fromkeys((*values, *other.vars.get(name, ()))))
            if name in other.vars and len(both) <= MAX_VALUES:
                found[name] = both
        self.vars = found
        self.frozen |= other.frozen
        self.fixed |= other.fixed
        self.bases = union(self.bases, other.bases)
        self.unmoved = union(self.unmoved, other.unmoved)
        self.previous = union(self.previous, other.previous)
        self.vanishing = self.vanishing or other.vanishing
        self.tainted = self.tainted or other.tainted
        self.exits = self.exits and other.exits
        self.deaf = self.deaf or other.deaf
        self.given &= other.given

    def settle(self) -> None:
        """What follows runs whether or not `cd` worked."""
        if self.unmoved:
            self.bases = union(self.unmoved, self.bases)
            self.unmoved = ()
            self.previous = union(self.previous, (None,))

    def give(self, name: str, values: tuple[Value, ...] | None) -> None:
        """A variable gets one of these values; None is one that isn't known."""
        self.given -= {name}
        known = name not in self.frozen and name not in self.fixed and not _own(name)
        if values and len(values) <= MAX_VALUES and known and not self.deaf:
            self.vars[name] = values
        else:
            self.vars.pop(name, None)

    def late(self, other: State) -> None:
        """Something else may happen at any time from here on, with this outcome."""
        self.lose(None)
        self.deaf = True
        self.still = False
        self.tainted = self.tainted or other.tainted
        self.vanishing = self.vanishing or other.vanishing
        if other.bases != self.bases or other.unmoved:
            self.lose_place()

    def lose_place(self) -> None:
        """It may have gone somewhere."""
        self.bases = union(self.bases, (None,))
        self.previous = (None,)

    def lose(self, names: Iterable[str] | None) -> None:
        """These variables, or all, have values that aren't known."""
        if names is None:
            self.vars.clear()
            self.given = frozenset()
        else:
            names = set(names)
            self.given -= names
            for name in names:
                self.vars.pop(name, None)


def union(one: Bases, other: Bases) -> Bases:
    both = tuple(dict.fromkeys((*one, *other)))
    return both if len(both) <= MAX_BASES else (None,)


def _own(name: str) -> bool:
    return name in _OWN or name.startswith(("BASH", "COMP_"))


def given_names(text: str) -> frozenset[str]:
    """Variables that the text uses and surely doesn't set: nowhere but as `$name` or `${name}` does the name occur."""
    used: dict[str, int] = {}
    for found in _USE.finditer(text):
        name = found[1] or found[2]
        used[name] = used.get(name, 0) + 1
    named: dict[str, int] = {}
    for found in _ANY_NAME.finditer(text):
        named[found[0]] = named.get(found[0], 0) + 1
    return frozenset(name for name, count in used.items() if count == named[name] and not _own(name))


class Follower:
    """Walks a script; `run` is told each command with its words as far as they are known."""

    def __init__(self, script: Script, budget: Budget, functions: frozenset[str] = frozenset()) -> None:
        self.script = script
        self.budget = budget
        self.functions = script.functions | functions
        self.defined: dict[str, Step] = {}
        """Functions that are surely the ones of that name from here on."""
        self.called: set[str] = set()
        self.calls: list[str] = []
        self.guarded = 0
        """How many conditions it is in: a command that fails there ends nothing."""
        self.locals: list[dict[str, tuple[Value, ...] | None]] = []

    def run(self, command: Command, place: int, state: State) -> None:
        """One command as it would run."""
        raise NotImplementedError

    def taints(self, command: Command, names: Iterable[str]) -> bool:
        """True if names no longer mean what they meant after the command, which sets these variables."""
        raise NotImplementedError

    def output(self, command: Command) -> str | None:
        """What a command prints."""
        raise NotImplementedError

    # ---------------------------------------------------------------------------------------------------- walking

    def whole(self, state: State) -> None:
        """The whole script, then the functions of which it isn't known how they are called."""
        state.vanishing = state.vanishing or any(map(_drops_patterns, self.script.commands))
        first = state.copy()
        self.walk(self.script.steps, state, top=True)
        exported = any(_exports(command) for command in self.script.commands)
        for step in _functions(self.script.steps):
            if step.name in self.called and not exported:
                continue
            other = State(first.bases if state.still else union(first.bases, (None,)))
            other.tainted = state.tainted or any(self._tainting(c) for c in self.script.commands)
            other.fixed = state.fixed | state.frozen | self._marked()
            other.vanishing, other.passing = state.vanishing, state.passing
            self.walk(step.parts[0], other)

    def _marked(self) -> frozenset[str]:
        """Names that get an attribute anywhere: whoever assigns to one elsewhere can't tell what it becomes."""
        found: set[str] = set()
        for command in self.script.commands:
            words = [word.text or "-" for word in command.words[1:]]
            program = _program(command)
            if program == "readonly" or (program in DECLARES and any(word[:1] in ("-", "+") for word in words)):
                found |= sets_of(command) or set()
        return frozenset(found)

    def walk(self, steps: Sequence[Step], state: State, *, top: bool = False) -> None:
        """Steps one after the other; the state becomes what holds after them."""
        for step in steps:
            self.budget.spend()
            state.settle()
            self.step(step, state, top)

    def step(self, step: Step, state: State, top: bool) -> None:
        kind = step.kind
        if kind == "command":
            self.command(step.place, state)
        elif kind == "hides":
            state.lose((step.name,))
        elif kind == "sets":
            state.lose((step.name,))
            state.tainted = state.tainted or self.taints(Command(()), (step.name,))
        elif kind in ("subshell", "output"):
            inner = state.copy()
            inner.exits = inner.exits and kind == "subshell"  # bash takes `set -e` back in a substitution
            self.walk(step.parts[0], inner)
        elif kind == "later":
            inner = state.copy()
            inner.vars.clear()
            if not inner.still:
                inner.lose_place()
            self.walk(step.parts[0], inner)
        elif kind == "not":
            self.guarded += 1
            self.walk(step.parts[0], state)
            self.guarded -= 1
            state.settle()
        elif kind in ("and", "or"):
            self.either(step, state)
        elif kind == "if":
            condition, then, other = step.parts
            self.guarded += 1
            self.walk(condition, state)
            self.guarded -= 1
            away = state.copy()
            if not _is_cd(condition, self.script):
                state.settle()
            away.settle()
            state.unmoved = ()
            self.walk(then, state)
            self.walk(other, away)
            state.settle()
            away.settle()
            state.join(away)
        elif kind == "case":
            for part in step.parts:
                branch = state.copy()
                self.walk(part, branch)
                branch.settle()
                state.join(branch)
        elif kind in ("loop", "for"):
            self.loop(step, state)
        elif kind == "function" and top and sum(one.name == step.name for one in _functions(self.script.steps)) == 1:
            self.defined[step.name] = step

    def either(self, step: Step, state: State) -> None:
        """`left && right` or `left || right`."""
        left, right = step.parts
        self.guarded += 1
        self.walk(left, state)
        self.guarded -= 1
        lone = _is_cd(left, self.script)
        branch = state.copy()
        if step.kind == "and":
            branch.unmoved = ()
            self.walk(right, branch)
            failed = union(state.unmoved, () if lone else state.bases)
            bases, failed = branch.bases, union(failed, branch.unmoved)
        else:
            branch.settle()
            branch.bases = state.unmoved if lone and state.unmoved else branch.bases
            self.walk(right, branch)
            if _ends(right, self.script):
                state.unmoved = ()
                return
            bases, failed = union(state.bases, branch.bases), branch.unmoved
        state.join(branch)
        state.bases, state.unmoved = bases, failed

    def loop(self, step: Step, state: State) -> None:
        """The body with all unknown that it changes, and afterwards the same."""
        body = step.parts[0]
        changes = Changes(self.script, self)
        changes.add(body)
        values: tuple[Value, ...] | None = None
        if step.kind == "for":
            if not state.tainted and not changes.taints:
                values = self.each(step, state)
            if self.taints(Command(()), (step.name,)):
                changes.taints = True
            changes.names.add(step.name)
        state.lose(None if changes.everything else changes.names)
        state.tainted = state.tainted or changes.taints
        state.deaf = state.deaf or changes.traps
        if changes.moves:
            state.lose_place()
        state.vanishing = state.vanishing or changes.drops
        if values is not None:
            state.give(step.name, values)
        inner = state.copy()
        self.walk(body, inner)
        inner.settle()
        state.join(inner)
        state.lose(None if changes.everything else changes.names)

    def each(self, step: Step, state: State) -> tuple[Value, ...] | None:
        """The values that the variable of `for` takes."""
        if step.words is None:
            arguments = state.vars.get("@", ())
            if len(arguments) != 1 or not isinstance(arguments[0], Items):
                return None
            return tuple(dict.fromkeys(arguments[0].items))
        words = self.listed(step.words, state)
        patterns = [word for word in words if word.glob or (word.text is None and lexer.is_pattern(word.raw))]
        if patterns:
            command = Command((Word("", "for"), *patterns), joined=frozenset(("loop",)), raw=f"for {step.name} in …")
            self.run(command, -1, state)
        found = dict.fromkeys(Piece(word.text, word.glob, word.deep) for word in words if word.text is not None)
        return tuple(found) if len(found) <= MAX_VALUES and None not in [word.text for word in words] else None

    def listed(self, raws: Iterable[str], state: State) -> list[Word]:
        """The words that the values of `for` come from."""
        found: dict[Word, None] = {}
        for raw in raws:
            for values in self.ways([raw], state):
                words = self.expander(state, values).words(raw)
                if words is None:
                    words = [Word(None, raw)] if "$" in raw or "`" in raw else lexer.words(raw)
                self.budget.spend(len(words))
                found.update(dict.fromkeys(words))
        return list(found)

    # --------------------------------------------------------------------------------------------------- commands

    def command(self, place: int, state: State) -> None:
        """One command: told in each way its words come out, then what it changes."""
        command = self.script.commands[place]
        variants = [command] if state.tainted else self.variants(command, state)
        if len(variants) > 1 and any(_program(variant) == "eval" for variant in variants):
            variants = [command]
        before = state.bases
        moved: Bases | None = None
        for variant in variants:
            self.budget.spend(1 + len(variant.words))
            if variant.program and variant.program in self.defined:
                self.call(variant, place, state)
                continue
            program = _program(variant)
            if program == "eval" and (self.guarded or self.locals):
                state.exits = False  # where no failure ends the script, none does in a text that it evaluates
            self.run(variant, place, state)
            if program in _MOVERS:
                target = self.moved(bare(variant.words), state)
                moved = target if moved is None else union(moved, target)
            elif program in self.functions and not state.still:
                state.lose_place()
        if moved is not None:
            state.unmoved = () if state.exits and not self.guarded and not self.locals else before
            state.bases, state.previous = moved, before
        self.changes(variants, state)

    def changes(self, variants: list[Command], state: State) -> None:
        """What a command sets for those after it."""
        names: set[str] = set()
        for variant in variants:
            program = _program(variant)
            state.tainted = state.tainted or self._tainting(variant)
            found = sets_of(variant)
            if found is None or (program in self.functions and program not in self.defined):
                if program != "eval":  # what that changes is known by now
                    state.lose(None)
                    return
            else:
                names |= found
        program = _program(variants[0])
        words = [word.text or "" for word in variants[0].words[1:]]
        if program in DECLARES:
            self.declared(variants, names, words, str(program), state)
        elif program == "set":
            if words and set(words) <= STRICT and any(word[0] == "+" for word in words):
                state.exits = False
            elif words and set(words) <= STRICT:
                state.exits = state.exits or "errexit" in words or any(w[0] == "-" and "e" in w for w in words)
            if "@" in names:
                arguments = _literal(variants, start=2) if words[:1] == ["--"] else None
                state.lose(("@",))
                if arguments is not None and not state.tainted:
                    state.vars["@"] = (Items(arguments),)
        elif program == "shift":
            self.shift(variants, state)
        elif variants[0].words:
            state.lose(names)
            value = self.read(variants, str(program))
            names.discard("REPLY")
            if value is not None and len(names) == 1 and not state.tainted:
                state.give(names.pop(), (value,))
        else:
            values = {} if state.tainted else self.assigned(variants, state)
            for name in names:
                state.give(name, values.get(name))

    def declared(self, variants: list[Command], names: set[str], words: list[str], program: str, state: State) -> None:
        """`export`, `local` and the like: values, and attributes that change what later values become."""
        letters = set("".join(word[1:] for word in words if word[:1] == "-"))
        if self.locals and (program == "local" or (program in ("declare", "typeset") and "g" not in letters)):
            for name in names:
                self.locals[-1].setdefault(name, state.vars.get(name))
                state.lose((name,))
        if letters - set("xgar") or any(word[:1] == "+" for word in words):
            state.frozen |= names
            state.lose(names)
            return
        values = {} if state.tainted else self.assigned(variants, state)
        given = {name for variant in variants for name, _ in variant.assigns}
        for name in given:
            state.give(name, values.get(name))
        if program == "readonly" or "r" in letters:
            state.fixed |= names

    def assigned(self, variants: list[Command], state: State) -> dict[str, tuple[Value, ...]]:
        """The values that assignments give, from all ways the command comes out."""
        found: dict[str, dict[Value, None]] = {}
        lost: set[str] = set()
        for variant in variants:
            last = dict(variant.assigns)
            for name, word in last.items():
                value: Value | None = None
                if word.text is not None and ":~" not in word.text:
                    value = Piece(word.text, word.glob, word.deep)
                if word.text is None and word.raw.startswith("(") and len(variants) == 1:
                    value = _items(word.raw, self.expander(state, {}).without(set(last) - {name}))
                if value is None or sum(name == other for other, _ in variant.assigns) > 1:
                    lost.add(name)
                else:
                    found.setdefault(name, {})[value] = None
        return {name: tuple(values) for name, values in found.items() if name not in lost}

    def read(self, variants: list[Command], program: str) -> Value | None:
        """The value that `read x <<< text` or `printf -v x …` gives."""
        if len(variants) != 1 or variants[0].assigns:
            return None
        command = variants[0]
        words = [word.text for word in bare(command.words)]
        if program == "printf" and words[1:2] == ["-v"] and not command.redirects:
            rest = bare(command.words)[3:]
            text = self.output(Command((Word("printf", "printf"), *rest)))
            return None if text is None or "~" in text else Piece(text)
        if program != "read" or len(command.redirects) != 1 or len([w for w in words[1:] if w != "-r"]) != 1:
            return None
        body = command.redirects[0].body if command.redirects[0].op == "<<<" else None
        if body is None or "~" in body or ("\\" in body and "-r" not in words):
            return None
        return Piece(body.split("\n")[0].strip(" \t"))

    def shift(self, variants: list[Command], state: State) -> None:
        arguments = state.vars.get("@", ())
        state.lose(("@",))
        if len(variants) == 1 and len(arguments) == 1 and isinstance(arguments[0], Items):
            words = [word.text for word in bare(variants[0].words)]
            count = int(words[1] or "x") if len(words) == 2 and (words[1] or "x").isdigit() else 1
            if len(words) <= 2 and count <= len(arguments[0].items) and (len(words) == 1 or str(count) == words[1]):
                state.vars["@"] = (Items(arguments[0].items[count:]),)

    def call(self, command: Command, place: int, state: State) -> None:
        """A function of the text, with its body in the place of the call."""
        name = str(command.program)
        if name in self.calls or len(self.calls) >= MAX_CALLS:
            raise NotUnderstood("shell", f"`{name}` calls itself")
        self.called.add(name)
        if command.assigns or command.redirects:
            self.run(command._replace(words=()), place, state)
        outer = state.vars.pop("@", None)
        arguments = _literal([command], start=1)
        if arguments is not None:
            state.vars["@"] = (Items(arguments),)
        state.lose(name for name, _ in command.assigns)
        state.tainted = state.tainted or self.taints(Command(()), [name for name, _ in command.assigns])
        body = self.defined[name].parts[0]
        changes = Changes(self.script, self)
        changes.add(body)
        bases = state.bases
        self.calls.append(name)
        self.locals.append({})
        self.walk(body, state)
        state.settle()
        self.calls.pop()
        if changes.returns:
            state.lose(None if changes.everything else changes.names)
            if changes.moves:
                state.bases = union(state.bases, bases)
                state.lose_place()
        for local, values in self.locals.pop().items():
            state.lose((local,)) if values is None else state.give(local, values)
        state.lose(("@",))
        if outer is not None:
            state.vars["@"] = outer

    def moved(self, words: Sequence[Word], state: State) -> Bases:
        """The directories that `cd`, `pushd` or `popd` leads to."""
        name, bases = words[0].text, state.bases
        rest = [word for word in words[1:] if word.text not in ("--", "-P", "-L", "-e")]
        if name == "cd" and len(rest) == 1 and (rest[0].text == "-" or rest[0].raw in _BACK):
            return state.previous
        target = rest[0].text if len(rest) == 1 and not rest[0].glob and not rest[0].deep else None
        if name == "popd" or (name == "pushd" and target is not None and target[:1] in "+-"):
            target = None
        return tuple(dict.fromkeys(join(base, target) for base in bases))

    def _tainting(self, command: Command) -> bool:
        names, words = sets_of(command), bare(command.words)
        more = counted(words[1:]) if words and words[0].text == "printf" else set()
        return more is None or self.taints(command, (names or set()) | more)

    # ------------------------------------------------------------------------------------------------------ values

    def variants(self, command: Command, state: State) -> list[Command]:
        """The command in each way its words can come out."""
        raws = [word.raw for word in command.words if word.text is None]
        raws += [word.raw for _, word in command.assigns if word.text is None]
        raws += [redirect.target.raw for redirect in command.redirects if redirect.target and not redirect.target.text]
        raws += [redirect.raw for redirect in command.redirects if redirect.raw]
        if not raws:
            return _without_patterns([command]) if state.vanishing else [command]
        found = []
        for values in self.ways(raws, state):
            for there in self.hosts_ways(command, state):
                self.budget.spend(1 + sum(map(len, raws)) // 16)
                absent = dict.fromkeys(there.missing, Piece(""))
                variant = self.resolved(command, self.expander(state, {**values, **absent}))
                if there.set:
                    variant = variant._replace(words=tuple(_with_given(word, there.set) for word in variant.words))
                for printed in self._printed(variant):
                    if printed not in found:
                        found.append(printed)
        return _without_patterns(found) if state.vanishing else found

    def _printed(self, command: Command) -> list[Command]:
        """The command with what is surely one word and no option: `$(git merge-base main HEAD)`. If nothing is printed
        and there are no quotes, there is no such word."""
        if not self.functions.isdisjoint(_PRINTERS):
            return [command]
        words = tuple(map(_with_printed, command.words))
        if words == command.words:
            return [command]
        there = tuple(word for word in words if word.start != GIVEN or '"' in word.raw or not _is_printed(word))
        return [command._replace(words=words), *([command._replace(words=there)] if there != words else [])]

    def hosts_ways(self, command: Command, state: State) -> list[HostVariables]:
        """Which variables of the host a command's words use, each once as set and once as not set or empty."""
        raws = [word.raw for word in command.words if word.text is None] if state.given else []
        names = sorted({found[1] or found[2] for raw in raws for found in _USE.finditer(raw)} & state.given)
        if len(names) > MAX_GIVEN:
            return [HostVariables()]
        choices = product((True, False), repeat=len(names))
        ways = ({name for name, is_set in zip(names, choice, strict=True) if is_set} for choice in choices)
        return [HostVariables(frozenset(one), frozenset(names) - one) for one in ways]

    def ways(self, raws: Iterable[str], state: State) -> list[dict[str, Value]]:
        """Each choice of one value for the variables that these words name; too many: none is known."""
        names = dict.fromkeys(name for raw in raws for name in _REFERENCE.findall(raw))
        several = {name: state.vars[name] for name in names if len(state.vars.get(name, ())) > 1}
        count = 1
        for values in several.values():
            count *= len(values)
            if count > MAX_VALUES:
                return [{}]
        return [dict(zip(several, choice, strict=True)) for choice in product(*several.values())]

    def expander(self, state: State, chosen: dict[str, Value]) -> Expander:
        def lookup(name: str) -> Value | None:
            if name in chosen:
                return chosen[name]
            values = state.vars.get(name, ())
            if len(values) == 1:
                return values[0]
            if name == "HOME":
                return Piece("~")
            return Piece("~+") if name == "PWD" and state.still else None

        def output(text: str) -> str | None:
            self.budget.spend(1 + len(text) // 16)
            if text.strip() == "pwd":
                return "~+" if state.still and "pwd" not in self.functions else None
            try:
                script = read_script(text.strip())
            except NotUnderstood:
                return None
            if len(script.commands) != 1 or script.steps != (Step("command", 0),):
                return None
            command = self.resolved(script.commands[0], Expander(lookup, lambda _: None))
            if command.program in self.functions:
                return None
            return self.output(command)

        return Expander(lookup, output)

    def resolved(self, command: Command, expander: Expander) -> Command:
        """The command with the words that can be told."""
        words: list[Word] = []
        for word in command.words:
            found = expander.words(word.raw) if word.text is None else None
            words.extend([word] if found is None else found)
        if words and words[0].deep:
            words[0] = Word(None, words[0].raw)
        redirects = tuple(_redirected(redirect, expander) for redirect in command.redirects)
        assigns: list[tuple[str, Word]] = []
        for name, word in command.assigns:
            given = {other for other, _ in assigns}
            assigns.append((name, _assigned(name, word, expander.without(given) if given else expander)))
        return command._replace(words=tuple(words), redirects=redirects, assigns=tuple(assigns))


def _with_given(word: Word, given: frozenset[str]) -> Word:
    """A word whose variables all come from the host: it stays one word, and is an option only if it begins so."""
    if word.text is not None or word.is_pipe or not _GIVEN.fullmatch(word.raw):
        return word
    if not all((found[1] or found[2]) in given for found in _USE.finditer(word.raw)):
        return word
    return Word(None, word.raw, start=_unquoted(word.raw.partition("$")[0]) or GIVEN)


def _is_printed(word: Word) -> bool:
    return word.text is None and _WITH_PRINTED.fullmatch(word.raw) is not None


def _with_printed(word: Word) -> Word:
    """A word of plain characters and what certain programs print stays one, and is an option only if it begins so."""
    if word.text is not None or word.is_pipe or not _is_printed(word):
        return word
    return Word(None, word.raw, start=_unquoted(word.raw.partition("$")[0]) or GIVEN)


def _without_patterns(variants: list[Command]) -> list[Command]:
    """The commands, each also without patterns that it may lose: `find *.d -delete` becomes `find -delete`."""
    found = list(variants)
    for variant in variants:
        places = [place for place, word in enumerate(variant.words) if word.glob]
        if len(places) > MAX_PATTERNS:
            raise NotUnderstood("shell", "too many patterns, each of which may become no word")
        for kept in product((True, False), repeat=len(places)):
            lost = {place for place, keeps in zip(places, kept, strict=True) if not keeps}
            words = tuple(word for place, word in enumerate(variant.words) if place not in lost)
            if lost and words:
                found.append(variant._replace(words=words))
    return found


def _drops_patterns(command: Command) -> bool:
    """True if after it a pattern that matches nothing may become no word."""
    words = [word.text for word in bare(command.words)]
    return words[:1] == ["shopt"] and "nullglob" in words


def _unquoted(raw: str) -> str:
    """The beginning of a word without its quotes; `"` within `'` stays."""
    found, quote = "", ""
    for char in raw:
        if char == (quote or char) and char in "'\"":
            quote = "" if quote else char
        else:
            found += char
    return found


class Changes:
    """What steps may change, found without following them."""

    def __init__(self, script: Script, follower: Follower) -> None:
        self.script = script
        self.follower = follower
        self.names: set[str] = set()
        self.everything = False
        self.moves = False
        self.taints = False
        self.returns = False
        self.traps = False
        """Something could be set to run at any time."""
        self.drops = False
        """Patterns may become no word from here on."""
        self._seen: set[str] = set()

    def add(self, steps: Iterable[Step]) -> None:
        """What stands in a subshell leaves nothing behind."""
        for step in steps:
            self.follower.budget.spend()
            if step.kind == "command":
                self._command(self.script.commands[step.place])
            elif step.kind in ("subshell", "output", "later", "function"):
                continue
            elif step.kind == "hides":
                self.names.add(step.name)
            elif step.name:
                self.names.add(step.name)
                self.taints = self.taints or self.follower.taints(Command(()), (step.name,))
            for part in step.parts:
                self.add(part)

    def _command(self, command: Command) -> None:
        names = sets_of(command)
        words = bare(command.words)
        program = words[0].text if words else ""
        if names is None or program is None or program == "trap":
            self.everything = self.moves = True
            self.taints = self.taints or program is None or program == "trap"
            self.traps = True
        else:
            self.names |= names
        if program == "eval":
            self._evaluated(words[1:])
        self.drops = self.drops or _drops_patterns(command)
        self.moves = self.moves or program in _MOVERS
        self.returns = self.returns or program in ("return", "break", "continue")
        self.taints = self.taints or self.follower._tainting(command)
        if program in self.follower.functions and program not in self._seen:
            self._seen.add(str(program))
            bodies = [step for step in _functions(self.script.steps) if step.name == program]
            if not bodies:
                self.everything = self.moves = True
            for body in bodies:
                self.add(body.parts[0])

    def _evaluated(self, words: Sequence[Word]) -> None:
        """The text that `eval` runs changes what its commands change."""
        text = " ".join(word.text or "" for word in words)
        self.follower.budget.spend(1 + len(text))
        try:
            script = read_script(text)
        except NotUnderstood:
            self.taints = True
            return
        inner = Changes(script, self.follower)
        inner.add(script.steps)
        self.drops = self.drops or inner.drops
        self.taints = self.taints or inner.taints or bool(script.functions) or any(w.text is None for w in words)


def _program(command: Command) -> str | None:
    """What a command runs; None if it isn't known, empty for assignments alone."""
    words = bare(command.words)
    return words[0].text if words else ""


def bare(words: Sequence[Word]) -> Sequence[Word]:
    """The words without `command` and `builtin` before them."""
    at = 0
    while at < len(words) and words[at].text in ("command", "builtin", "--"):
        at += 1
    return words[at:]


def sets_of(command: Command) -> set[str] | None:
    """The variables that a command could set for those after it; None: any."""
    words = bare(command.words)
    program = words[0].text if words else ""
    names = {redirect.fd[1:-1] for redirect in command.redirects if redirect.fd.startswith("{")}
    rest = [word.text for word in words[1:]]
    if not words or program in DECLARES:
        names |= {name for name, _ in command.assigns}
    if program in DECLARES or program in _SETTERS:
        more = counted(words[1:]) if program == "printf" else set()
        if more is None:
            return None
        names |= more
        if program == "printf" and "-v" not in rest[:1]:
            return names if rest[:1] != [None] else None
        if None in rest and program not in ("printf", "let", "wait"):
            return None
        if program == "let":
            return names.union(*(changed(text or "") for text in rest))
        if program == "printf":
            rest = rest[1:2]
        if program == "read":
            rest = [text for before, text in zip(["", *rest], rest, strict=False) if before not in _VALUED]
        for text in rest:
            found = _PLAIN_NAME.match((text or "").lstrip("-")) if text else None
            if found is not None:
                names.add(found[0])
                if (text or "").startswith("-") and len(text or "") > 2:
                    names.add((text or "")[2:])
        if program == "read":
            names.add("REPLY")
        return {"OPTARG", "OPTIND", *names} if program == "getopts" else names
    if program == "set" and (len(rest) != len([text for text in rest if text in STRICT]) or None in rest):
        return names | {"@"}
    if program == "shift":
        return names | {"@"}
    if program in _RUNNERS or (program is None and words):
        return None
    return names


def join(base: str | None, text: str | None) -> str | None:
    """A directory from another."""
    if base is None or text is None or text.startswith("~") or text in ("-", ""):
        return text if text is not None and text.startswith("/") else None
    return text if text.startswith("/") or base == "." else f"{base}/{text}"


def _functions(steps: Iterable[Step]) -> list[Step]:
    found = []
    for step in steps:
        if step.kind == "function":
            found.append(step)
        for part in step.parts:
            found.extend(_functions(part))
    return found


def _exports(command: Command) -> bool:
    """True if functions could be handed on to another shell."""
    words = [word.text for word in bare(command.words)]
    if words[:1] == ["set"]:
        return any(word is None or (word not in STRICT and word != "--") for word in words[1:2])
    return words[:1] != [] and words[0] in DECLARES and any(word is None or word[:1] == "-" for word in words[1:])


def _is_cd(steps: Sequence[Step], script: Script) -> bool:
    if len(steps) != 1 or steps[0].kind != "command":
        return False
    words = bare(script.commands[steps[0].place].words)
    return bool(words) and words[0].text in _MOVERS


def is_still(script: Script) -> bool:
    """True if no command of the script could change its directory."""
    return not any(_program(one) is None or _program(one) in _MOVERS | _RUNNERS | {"trap"} for one in script.commands)


def _ends(steps: Sequence[Step], script: Script) -> bool:
    """True if the script, or the function, surely ends with these steps."""
    last = steps[-1] if steps else None
    return last is not None and last.kind == "command" and script.commands[last.place].program in ("exit", "return")


def _literal(variants: list[Command], start: int) -> tuple[Piece, ...] | None:
    """The words of a command as arguments, if each is known and stays one word."""
    if len(variants) != 1:
        return None
    words = variants[0].words[start:]
    if any(word.text is None or word.glob for word in words) or variants[0].words[0].text not in (
        "set",
        variants[0].program,
    ):
        return None
    return tuple(Piece(word.text or "", deep=word.deep) for word in words)


def _assigned(name: str, word: Word, expander: Expander) -> Word:
    if word.text is not None:
        return word
    raw = word.raw
    if raw.startswith(("(", f"{name}=", f"{name}[")):
        return word
    if raw.startswith(f"{name}+="):
        before = expander.lookup(name)
        added = expander.value(raw[len(name) + 2 :])
        if not isinstance(before, Piece) or added is None or before.glob or added.glob or before.deep or added.deep:
            return word
        return Word(before.text + added.text, raw) if "~" not in added.text else word
    value = expander.value(raw)
    return word if value is None else Word(value.text, raw, value.glob, value.deep)


def _items(raw: str, expander: Expander) -> Items | None:
    """The elements of `(a "$b" c)`, if all are known and stay one word each."""
    inner = raw[1:-1]
    if "#" in inner or "[" in inner or "\\" in inner:
        return None
    try:
        script = read_script(f": {' '.join(inner.split(chr(10)))}")
    except NotUnderstood:
        return None
    if len(script.commands) != 1 or script.commands[0].redirects or script.commands[0].assigns:
        return None
    found: list[Piece] = []
    for word in script.commands[0].words[1:]:
        words = expander.words(word.raw) if word.text is None else [word]
        if words is None or any(one.text is None or one.glob for one in words):
            return None
        found.extend(Piece(one.text or "", deep=one.deep) for one in words)
    return Items(tuple(found))


def _redirected(redirect: Redirect, expander: Expander) -> Redirect:
    target = redirect.target
    if target is not None and target.text is None:
        words = expander.words(target.raw)
        if words is not None and all(word.text == "" for word in words):
            redirect = redirect._replace(target=Word("/dev/null", target.raw))  # bash opens no file without a name
        elif words is not None and len(words) == 1 and not words[0].glob:
            redirect = redirect._replace(target=words[0])
    if redirect.raw is not None and redirect.body is None:
        body = expander.document(redirect.raw) if redirect.op == "<<" else _string(redirect.raw, expander)
        if body is not None:
            redirect = redirect._replace(body=body)
    return redirect


def _string(raw: str, expander: Expander) -> str | None:
    value = expander.value(raw)
    return None if value is None or value.glob or value.deep or "~" in value.text else value.text + "\n"
