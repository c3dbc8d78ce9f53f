"""Program profiles, as the catalog has them: read once from their compiled form."""

from functools import cache

import msgspec

from remit.model.decoding import Decoding
from remit.model.shipped import shipped


class Option(msgspec.Struct, frozen=True, omit_defaults=True):
    """One option: the kind of its value (none: a flag), and what it changes."""

    kind: str | None = None
    glued: bool = False
    """The value exists only glued to it."""
    apart: bool = False
    """The value is always the next word, never the rest of a cluster."""
    adds: tuple[str, ...] = ()
    sets: tuple[str, ...] | None = None
    refuse: str | None = None
    values: tuple[str, ...] = ()
    """The values that are known, where others would change more; none: any."""
    touches: dict[str, tuple[str, ...] | None] = {}
    """As a profile's: with this option the effect is on other files."""
    links: str = ""
    """As a profile's."""
    next: bool = False
    """The next word is its value, unless that is an option."""
    beyond: bool = False
    """With it the command reads something that no path beside it limits: all tags, the names that a file had before."""


class Declared(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a command installs only what files of the project say."""

    arguments: str
    """Which arguments add nothing to that: `none`, `paths` of the workspace, or `any`."""
    unless: tuple[str, ...] = ()
    """Options with which it installs something else."""


class Finds(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a program looks first for the one that it runs."""

    folder: str
    """From the working directory, or from the root."""
    unless: tuple[str, ...] = ()
    """Options with which it looks elsewhere."""


class Profile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known about a program or one of its subcommands."""

    effects: tuple[str, ...] = ()
    options: dict[str, Option] = {}
    args: tuple[str, ...] = ("text...",)
    args_with: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    sub: "dict[str, Profile]" = {}
    bare: "Profile | None" = None
    modules: "dict[str, Profile]" = {}
    any: str | None = None
    grade: str = "understood"
    lends: bool = False
    """A file of the workspace can name code that it runs beside what it does itself."""
    special: str | None = None
    """Which reader looks at its words; `checked`: the shell's reader has done so (`bash/builtins.py`)."""
    stdin: str = "data"
    abbreviates: bool = True
    dashes: str = "gnu"
    plus: bool = False
    numbers: bool = False
    shared: bool = False
    words: dict[str, tuple[str, ...]] = {}
    """Effects that these arguments add wherever they stand: `deploy` of `make deploy`."""
    reaches: tuple[str, ...] | None = None
    """`branch`, `context`: what it works on even where no word names it; None: as above it."""
    touches: dict[str, tuple[str, ...] | None] = {}
    """By effect on files (read, write, delete): where it goes if no word of the command says so. Paths and `DIR/**`
    from the working directory, none of them for an effect on no file of the workspace (git's store, a cache, a record
    elsewhere); None, or an effect that isn't here: the text doesn't tell, so it could be anywhere. What a subcommand
    doesn't say is as above it."""
    looks: dict[str, tuple[str, ...] | None] = {}
    """Effects that replace its own where one of these words stands before the options: `list`, `describe-*`; None:
    the word keeps them, whatever others there are."""
    helps: tuple[str, ...] = ()
    """Options with which it only says how it is used, wherever they stand; a word (`help`) does so as the last one."""
    verb: int | None = None
    """Which of these words counts; None: any."""
    at_files: bool = False
    """`@file` among its words is replaced by options from that file."""
    pathspecs: bool = False
    """Its paths are git's patterns, with magic such as `:/x`."""
    revisions: bool = False
    """Of git: before `--` its words are revisions, and without that they may be."""
    settings: tuple[str, ...] = ()
    """Settings that can name no program, as patterns."""
    ends: bool = False
    """Its first argument ends its options."""
    links: str = ""
    """What becomes of links among what it works on: `all` are followed, those that it finds below a folder too; each is
    copied as a link (`copy`); or `none`. Empty: it follows what it is told by name or by pattern, and no others."""
    folders: str = ""
    """What is read of a folder that is named: `none` of what lies in it, only that it is there `itself`, the `names` of
    what lies in it; empty: all below it."""
    reports: bool = False
    """What its options have it write are reports and caches, which belong in places for these."""
    edits: bool = False
    """It changes files in place, without arguments those below the working directory."""
    in_place: bool = False
    """It changes the files that it is told, and makes no others of these names."""
    writes: tuple[str, ...] = ()
    """What it writes itself in the working directory, whatever code of the workspace does besides."""
    alone: tuple[str, ...] | None = None
    """Its effects when it is given no arguments: `git branch` only lists."""
    declared: Declared | None = None
    """It can install what files of the project say, and nothing else; never taken over by `same`."""
    besides: tuple[str, ...] = ()
    """Effects that each of its subcommands has besides its own, unless it runs code of the workspace."""
    finds: Finds | None = None
    """Of one that runs another: what lies in this folder is installed already, and code of the workspace."""
    at_most: tuple[str, ...] | None = None
    """All effects that it can have, whatever its words are: a word that is not literal could be any option. None: some
    option runs a program or connects somewhere, or nobody has looked."""


class Meta(msgspec.Struct, frozen=True, omit_defaults=True):
    """A meta-command of a database client, such as `.tables`."""

    does: str
    """`show`, `data`, `shell`, `script`, `output`, `write`, `copy`, `import` or `refuse`."""
    only: tuple[str, ...] = ()
    """The first words with which it does just that; none: any."""
    without: tuple[str, ...] = ()
    """First words with which it does nothing that matters."""
    words: int | None = None
    """How many words it may have at most."""
    reason: str = ""

    @property
    def harmless(self) -> bool:
        """True if it can only show something."""
        return self.does in ("show", "data")


class Programs(msgspec.Struct, frozen=True):
    """All profiles, the command sets, and the names of environment variables that change what programs do."""

    programs: dict[str, int]
    """By name, the line of the compiled form that has the profile."""
    aliases: dict[str, str]
    sets: dict[str, list[object]]
    environment: tuple[str, ...] = ()
    harmless: dict[str, tuple[str, ...]] = {}
    """Values of such variables that change nothing that matters, as patterns."""
    plain: tuple[str, ...] = ()
    """Names of variables that change nothing that matters."""
    metas: dict[str, dict[str, Meta]] = {}
    """Meta-commands of database clients, by the name of their reader."""
    reports: tuple[str, ...] = ()
    """Where reports and caches belong, as globs."""
    places: dict[str, str] = {}
    """Variables that, where they are set, name a place outside of every workspace."""
    files: tuple[str, ...] = ()
    """How the names of files of code and text end."""


@cache
def _lines() -> list[bytes]:
    """The compiled form, as JSON: first what is known of all programs, then one profile a line, to be read alone."""
    return shipped("catalog/programs.jsonl").split(b"\n")


_PROGRAMS, _PROFILE = Decoding(Programs), Decoding(Profile)


@cache
def programs() -> Programs:
    """The catalog's programs. Reading them parses no YAML."""
    return _PROGRAMS.decode(_lines()[0])


@cache
def _names(which: str) -> tuple[frozenset[str], tuple[str, ...]]:
    """The names of variables in one of the lists, and what others begin with."""
    names: tuple[str, ...] = getattr(programs(), which)
    return frozenset(names), tuple(name[:-1] for name in names if name.endswith("*"))


def is_telling(name: str) -> bool:
    """True for a variable that changes what programs do."""
    names, starts = _names("environment")
    return name in names or name.startswith(starts)


def is_plain(name: str) -> bool:
    """True for a variable that changes nothing that matters."""
    names, starts = _names("plain")
    return name in names or name.startswith(starts)


@cache
def profile_of(name: str) -> Profile | None:
    """The profile of a program by the name it is called by."""
    known = programs()
    if name.startswith("python3."):
        name = "python3"
    line = known.programs.get(known.aliases.get(name, name))
    return _PROFILE.decode(_lines()[line]) if line is not None else None
