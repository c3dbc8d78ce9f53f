"""The interface of kinds: what an argument can be, the units it falls into, and what a scope says about them.

A kind (`path`, `url`, `shell` …) is one module with a Kind and, where rules can limit it, a Matcher; `kinds.py` lists
them. A matcher answers two questions about a unit. `covers`: does it certainly lie within? (for `may`). `touches`:
might it lie within? (for `may_not` and `must_ask`). Where a unit stands for many things, a glob or a fixed reach, the
first means all of them and the second any of them. The rest of the interface says the same to people and to proofs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from remit.model.terms import PARTICULAR, UNKNOWN, Taken

if TYPE_CHECKING:
    from remit.forms.shapes import Shape
    from remit.model.call import Call, Context
    from remit.model.facts import Facts
    from remit.model.policy import Scalar, Tool
    from remit.scopes.glob import Glob
    from remit.scopes.shell.sole import Sole

FOR_LABELS = frozenset(("table", "host", "branch", "context"))
"""Kinds of derived units that only labels look at; rules look at the command or statement itself. (Of hosts, a
prohibition on hosts does too.)"""
NO_EFFECTS: frozenset[str] = frozenset()
Values = dict[str, list[Any]]
"""The values of a call by declared argument; of a list of objects, `payments[]`, each object in the same form."""


Untold = Literal["", "place", "target"]
"""What a text leaves open: nothing, the place of something (`~/x`, `../x`), or what it is (`$f`, `git stash`)."""


class Misnamed(NamedTuple):
    """A name in a scope that nothing known has."""

    problem: str
    near: str | None
    """The known name that it is probably meant to be: then it is a slip, and the policy does not load."""
    help: str = ""
    """What to do; where it is no slip, what follows for a `may`."""
    fatal: Literal["", "always", "prohibition"] = ""
    """Where the policy does not load, whatever was meant: in any rule, since there are no other names than those known;
    in a prohibition, since the part concerns nothing at all, and that would never apply."""
    name: str = ""
    """The entry that it stands in, as the policy writes it."""


class Unit(msgspec.Struct, frozen=True):
    """What a call falls into: one path, one URL, one name, one reach, or the call itself."""

    kind: str
    """`path`, `url`, `agent`, `skill`, `records`, `shell` (one command), `sql` (one statement), what only labels look
    at (`table`, `host`, `branch`, `context`), or `call` where nothing else is there."""
    arg: str
    """The argument that it comes from; empty for a fixed reach and for the call itself."""
    value: Any
    """A normalised path, a Glob, a Url, a UrlPattern, or a name."""
    effects: frozenset[str] = NO_EFFECTS
    wide: bool = False
    """True when `value` is a pattern that stands for all it could match."""
    also: tuple[str, ...] = ()
    """Other spellings of the same path that a prohibition must look at: as given, before symlinks."""
    text: str = ""
    """As given, for messages."""
    real: str = ""
    """The resolved path that must be used, where that is not what the text says."""
    grade: str = "understood"
    """How well a command is known; everything but a command is understood."""
    derived: bool = False
    """True for what a command touches: the command's own rule covers it, prohibitions look at its paths and URLs."""
    untold: Untold = ""
    """What the text leaves open. Then `value` is everything, also outside the root: it could be any of it; `also` has
    what is written, as far as it goes."""
    seen: tuple[str, ...] | None = None
    """Of what the text leaves open, the paths that it is, as whoever enforces has seen: prohibitions judge these."""
    implied: bool = False
    """True for a target that no word of the command stands for, as the work tree of `git stash`."""
    literal: bool = True
    """False where a word of the command stands for it that is not literal at all, as `$f`."""
    some: bool = False
    """Of all that `value` stands for only some is touched, and the text doesn't tell which."""
    found: bool = False
    """True for files that a search finds: they are there already, and whoever enforces can look which these are."""
    sweeps: bool = False
    """True for a folder outside the root of which a command reads all that lies in it, more than the names."""
    itself: bool = False
    """True for the folder, or the file, whose contents a command touches: `src` of `rm -r src`."""
    nested: bool = False
    """True for a file that is only touched if another target turns out to be a directory: `b/a` of `mv a b`."""
    declared: bool = False
    """True for what a package manager writes by itself while it installs what the project declares."""
    whole: bool = False
    """True for a table all of whose rows a statement changes or deletes at once."""
    taken: Taken = ""
    """What a path of a command is taken for, if for no plain one."""
    args: tuple[str, ...] = ()
    """Of the call itself: the arguments that are there and that its effects are on."""


def is_for_labels(unit: Unit) -> bool:
    """True for what a command or statement works on, where rules look at that itself."""
    return unit.derived and unit.kind in FOR_LABELS


class Given(NamedTuple):
    """What a call's context and task say, where a scope leaves a value to them: `{task: customer}`."""

    context: Context
    values: dict[str, list[Any]]
    """The values of the call; those of its task stand under `task:NAME`."""

    def value(self, whose: str, name: str) -> Scalar | None:
        """What the task or the context says; None if it says nothing."""
        if whose == "context":
            found: Scalar | None = getattr(self.context, name)
            return found
        said = self.values.get(f"task:{name}")
        return said[0] if said else None


class Declared(msgspec.Struct, frozen=True):
    """One declared argument of a tool, with all that its kind needs to read a value."""

    name: str
    kind: str
    tool: Tool
    effects: frozenset[str] = NO_EFFECTS
    below: frozenset[str] = NO_EFFECTS
    """Effects on all below it."""
    base: str | None = None
    """The argument that its values are relative to."""
    serves: tuple[str, ...] = ()
    """Arguments that are relative to this one, where it serves for nothing else: they stand for it."""


class Matcher:
    """What one part of a scope, such as `path:`, says about a unit of its kind."""

    __slots__ = ()
    obliges = False
    """True if covering a unit can oblige the enforcement point to something."""
    empty = False
    """True if it names nothing at all, so that it covers nothing."""
    open = False
    """True if it covers less than it names until `given` has filled in what only a call's task or context tells."""

    def covers(self, unit: Unit) -> bool:
        """True only if the unit certainly lies within."""
        raise NotImplementedError

    def touches(self, unit: Unit) -> bool:
        """False only if the unit certainly lies outside."""
        raise NotImplementedError

    def describe(self) -> str:
        """For people: `research/*.yaml`."""
        raise NotImplementedError

    def brief(self) -> str:
        """The same in a few words, for a table."""
        return self.describe()

    def in_full(self) -> str:
        """The same with every limit that was written, however long, for a report."""
        return self.describe()

    def refuses(self, unit: Unit) -> str | None:
        """Why a unit is not covered, where there is more to say than what would be; None if it is."""
        return None

    def given(self, given: Given) -> Matcher:
        """The same, for calls with this task and context."""
        return self

    def held(self, *, read: bool) -> Matcher:
        """The same, where the kernel keeps what a command writes, and perhaps what it reads, to the rules."""
        return self

    def concerns(self, unit: Unit) -> bool:
        """True if it is about what the unit is, so that its reason for refusing is the one to tell."""
        return False

    def obligation(self, unit: Unit) -> str | None:
        """What the enforcement point must do for the cover of this unit to hold."""
        return None

    def samples(self) -> list[Any]:
        """Values that it may cover, to look for counterexamples."""
        return []

    def reach(self) -> Iterator[tuple[Any, str]]:
        """Wide values that together stand for all it covers, each with its text."""
        return iter(())

    def excludes(self, unit: Unit) -> bool:
        """True if a tool that always has this fixed reach can never do with this scope."""
        return False

    def effects(self) -> tuple[frozenset[str], bool]:
        """In a language: the effects that covered texts can show, and whether they run code that could do anything."""
        raise NotImplementedError


class Kind:
    """What an argument can be. Subclasses override what is different for them."""

    name: str
    noun = "value"
    """One of its units, in words for people."""
    about = ""
    """What its part of a scope is for, in the format's description; empty if a scope has no such part."""
    unit = ""
    """The kind of the units that its values fall into; empty if its values are only tested."""
    argument = True
    """False for what is only found inside other texts."""
    limited_by: tuple[str, ...] = ()
    """The parts of a scope that can limit such an argument."""
    must_be_mentioned = False
    """True if a `may` with a scope on arguments covers such an argument only where it mentions it."""
    language = False
    """True if only the text of a call tells what it does, so that the tool doesn't declare it."""
    on_disk = False
    """True if a value is a path, which whoever enforces resolves first."""
    goes_below = False
    """True if effects on all below a value are a unit of their own."""
    graded = False
    """True if each of its units has a grade that gives it a tier."""
    conditional = False
    """True if its part of a scope may stand in a `where` condition."""
    tests: frozenset[str] = frozenset(("value", "regex", "length"))
    """The tests that `where` may put on the bare value: `value` (equals, one_of), `regex`, `range`, `length`."""
    instead = "an argument of text"
    """What a condition needs where such a test is not possible."""
    touched: frozenset[str] = frozenset()
    """Parts of a scope, besides its own, that one of its values could lie within for a prohibition."""
    requires: tuple[tuple[str, str], ...] = ()
    """Keys that the declaration of a tool with such an argument needs, each with help."""
    judges: frozenset[str] = frozenset()
    """Effects on files, the network and other agents that can be judged on such an argument."""
    usual_effect = "read"
    """What a tool mostly does with it."""
    unscoped = ""
    """What `assuming: [sandbox]` assumes of texts that no scope limits; empty if it assumes nothing."""
    no_scope = "let a person do it"
    """The remedy where no scope could cover a unit."""
    schema: Mapping[str, Any] = MappingProxyType({"type": "string"})
    """A value in JSON Schema."""

    def bears(self, effect: str) -> bool:
        """True if a tool's effect on such an argument can be judged."""
        return effect in self.judges or effect not in PARTICULAR

    def problem(self, value: Any) -> str | None:
        """What a value must be instead, in words; None if it is of this kind."""
        return None if type(value) is str else "text"

    def harmless(self) -> Any:
        """A value that could do no harm."""
        return "x"

    def check_default(self, value: Any) -> None:
        """Raises ValueError for a value of this kind that can't be the default of such an argument."""

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        """The units of one value; never empty. Raises NotUnderstood for one that can't be read."""
        return (Unit(self.unit, arg.name, value, arg.effects | arg.below, text=value),)

    def paths(self, text: str, cwd: str | None, root: str | None) -> Iterable[str]:
        """The normal paths that a text in a language names: whoever looks at the disk follows these."""
        return ()

    def local_programs(self, text: str, cwd: str | None, root: str | None) -> Iterable[str]:
        """Programs that a text takes from the project if they are there: whoever looks at the disk can tell."""
        return ()

    def patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        """The patterns among whose matches links matter: whoever looks at the disk looks for some."""
        return ()

    def moved_folders(self, text: str, cwd: str | None, root: str | None) -> Iterable[tuple[Glob, str]]:
        """What a text deletes or copies with a folder, and the folder that tells which files these are."""
        return ()

    def taken_for_files(self, text: str, cwd: str | None, root: str | None) -> Iterable[tuple[str, ...]]:
        """By command, paths that were taken for files by how they look: whoever looks at the disk sees if any is."""
        return ()

    def expanded_patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        """The patterns that stand for files which are there, and which a text changes."""
        return ()

    def standing_patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        """The patterns that stand for nothing but files which are there before, and which a text changes or deletes."""
        return ()

    def standing_places(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        """Patterns, and all below a folder, of which a text touches what is there before, and nothing else."""
        return ()

    def changed_patterns(self, text: str, cwd: str | None, root: str | None) -> Iterable[Glob]:
        """The patterns whose matches a text changes: whoever looks at the disk can tell which there are."""
        return ()

    def databases(self, text: str, cwd: str | None, root: str | None) -> Iterable[str]:
        """The normal paths of SQLite databases that a text runs SQL on: who looks at the disk reads their schemas."""
        return ()

    def sole_change(self, text: str, cwd: str | None, root: str | None) -> Sole | None:
        """The one command of a text that changes files which no word tells: whoever enforces can look which."""
        return None

    def revisions(self, text: str, cwd: str | None, root: str | None) -> Iterable[tuple[str, str]]:
        """Directories below the root, each with a word that git takes there for a commit: git can tell if it is one."""
        return ()

    def git_reads(self, text: str, cwd: str | None, root: str | None) -> Iterable[Sole]:
        """The commands of a text by which git shows what has changed, or puts it into its index, if whoever looks can
        tell what that is."""
        return ()

    def found_files(self, text: str, cwd: str | None, root: str | None) -> tuple[Glob, ...]:
        """Patterns of the files that a text finds by a search: whoever enforces can look which there are."""
        return ()

    def sole_search(self, text: str, cwd: str | None, root: str | None) -> Sole | None:
        """The one search that finds them, in words that only look: whoever enforces can run it."""
        return None

    def form(self) -> Shape:
        """How its part of a scope is written in a policy, and what is wrong with another."""
        raise NotImplementedError

    def matcher(self, data: Any) -> Matcher:
        """The matcher of a part of a scope, from what its form has read."""
        raise NotImplementedError

    def misnamed(self, data: Any) -> Iterable[Misnamed]:
        """Names in a part of a scope that nothing known has."""
        return ()

    def unknown_to(self, tool: Tool, data: Any) -> Iterable[Misnamed]:
        """Names in a part of a scope of this tool that nothing it works on has."""
        return ()

    def callers(self, data: Any) -> Sequence[str]:
        """Agents, roles and runners that a part of a scope names: the policy must know them."""
        return ()

    def might(self, unit: Unit, part: str, matcher: Matcher) -> bool:
        """For prohibitions: a unit of this kind could lie within a part of another kind."""
        return False

    def beyond(self, unit: Unit) -> bool:
        """True if the unit lies where a rule reaches only by naming it: outside the root."""
        return False

    def grade(self, unit: Unit) -> str | None:
        """The grade by which the unit has at least some tier."""
        return UNKNOWN if unit.grade == UNKNOWN else None

    def declared_files(self, unit: Unit) -> tuple[str, ...] | None:
        """The files that the unit names of those that say what it installs; None if something else says it."""
        return None

    def to_own_branch(self, unit: Unit) -> bool:
        """True if the unit publishes nothing but branches that its text names, without force, to the usual place."""
        return False

    def target(self, unit: Unit) -> str | None:
        """The unit as a decision shows it; None for what is shown by what it touches."""
        return str(unit.value.text) if unit.wide and type(unit.value) is not str else str(unit.value)

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        """The smallest part of a scope that covers the unit, as a policy has it; empty: none is needed or there is
        none; None: no scope could, or only one that gives up a limit of `beside`, the part that refused it."""
        return ""

    def samples(self) -> list[Any]:
        """Values to try where no scope limits them."""
        return [self.harmless()]

    def reach(self, labelled: Sequence[str]) -> Iterator[tuple[Any, str]]:
        """Wide values that together stand for all that there is, each with its text; `labelled` are named by labels.

        None in place of a value: the text alone says that it could be any."""
        yield None, ""


def in_quotes(text: str, *, ascii: bool = True) -> str:
    """The text in double quotes, for a policy."""
    from json import encoder  # here: only what is refused gets a remedy

    return encoder.encode_basestring_ascii(text) if ascii else encoder.encode_basestring(text)
