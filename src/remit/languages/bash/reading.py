"""A reading: what one command was found to do, gathered option by option and word by word."""

from __future__ import annotations

from typing import NamedTuple

from remit.languages.sql.statement import SqlStatement
from remit.model.terms import Taken

FILE_EFFECTS = ("read", "write", "delete")
PIPE = "/dev/fd/"
"""What `<(…)` and `>(…)` begin with: each is a pipe to commands that are judged by themselves."""


GIVEN = "…"
"""What a word begins with that begins with a value of the environment: one word, and no option."""


class Word(NamedTuple):
    """One word of a command after bash's quoting and expansion rules.

    `text` is the literal value, or None where it depends on something that the text doesn't show (a variable, a
    substitution). `glob` is true where an unquoted `*`, `?` or `[` makes it stand for files that match. `deep` is true
    where it stands for `text` or something below it: what `find src` finds. `some` is true where it stands for a part
    of what matches, and the text doesn't tell which. `start` is what a word without text
    begins with, if it stays one word whatever its parts turn out to be: `src/` of `"src/$x"`, nothing of `"$x"`; None
    if it could become several words, or none. `found` is true where it stands for files that a search finds, so that
    they are there; without a text, for what becomes of a found name with blanks or quotes in it. `through` says which
    of the links that it may match are followed by who opens what it names: `all`, those that it ends in (`last`: find
    goes through no others), or `none` (find -type f).
    """

    text: str | None
    raw: str
    glob: bool = False
    deep: bool = False
    some: bool = False
    start: str | None = None
    found: bool = False
    through: str = "all"

    @property
    def is_pipe(self) -> bool:
        """It is a process substitution: no file."""
        return self.start == PIPE and self.raw[1:2] == "("


class Names(NamedTuple):
    """Names of files, as `find src -print0` writes them."""

    words: tuple[Word, ...]
    """What they are: a path, a pattern, something below a path."""
    ends: str = "line"
    """What ends each: `line`, or `nul`, which no name can contain."""


class Touch(NamedTuple):
    """A path that is read, written or deleted; `deep` with all below it; `glob` where it is a pattern."""

    effect: str
    path: Word
    deep: bool = False
    some: bool = False
    """Of all below it only some, and the text doesn't tell which: what an archive contains, what `find` finds."""
    nested: bool = False
    """It is touched only if another target turns out to be a directory: `b/a` of `mv a b`."""
    links: str = "none"
    """What becomes of links among all that it stands for: `all` are followed, or the `last` part of a name, or `none`;
    or each is copied as a link (`copy`)."""
    report: bool = False
    """An option names it as the place of a report or a cache."""
    shows: str = ""
    """What reading it shows, if not what is in it: the `names` of what lies in a folder (`ls`), or that it is there
    `itself` (a test, a pattern that bash replaces by what matches). Of what is written or deleted, `itself` says that
    it is a folder, if it is there: the target of `cp`, what `mkdir` makes."""
    taken: Taken = ""
    """`workplace` or `new_folder`, if it is one."""
    unsaid: bool = False
    """No word of the command says so, but the profile."""
    store: bool = False
    """It is a store such as git's: in the workspace none of its files, elsewhere a change there."""
    new: bool = False
    """It is touched only if nothing is there yet: a folder that is copied then takes its name."""

    @property
    def implied(self) -> bool:
        """No word of the command stands for it, and nobody knows which it is."""
        return self.path.text is None and not self.path.raw


class Reading:
    """Collects what a command does. Nothing is taken back: effects, touches and doubts only add up."""

    def __init__(self) -> None:
        self.effects: set[str] = set()
        self.touches: list[Touch] = []
        self.urls: list[Word] = []
        """URLs, and addresses that are not quite one."""
        self.hosts: list[Word] = []
        self.branches: list[Word] = []
        """Branches that it changes, by name; a word that is not literal stands for any."""
        self.contexts: list[Word] = []
        """Clusters, accounts and projects that it works on, likewise."""
        self.commands: list[list[Word]] = []
        """Commands that this one runs, as words."""
        self.shells: list[Word] = []
        """Texts that a shell runs."""
        self.sqls: list[Word] = []
        self.databases: list[Word] = []
        self.statements: list[SqlStatement] = []
        """SQL that it runs, and what else it does to tables; SQL that the text doesn't show is one that is unknown."""
        self.metas: list[str] = []
        """Meta-commands of a database client, as `.tables` and `\\d`."""
        self.targets: list[Word] = []
        """make targets, npm scripts: names of what the project defines."""
        self.modules: list[Word] = []
        self.unknown: list[str] = []
        """What could not be followed; each makes the command not understood."""
        self.refused: list[str] = []
        """Options that no rule admits by naming the program, with the reason."""
        self.dynamic: list[str] = []
        """Words that are not literal, and globs that could turn into options."""
        self.loose: list[str] = []
        """Words that are not literal, but mere text wherever they end up."""
        self.project = False
        """It runs code of the workspace, if that is where the code lies."""
        self.lends = False
        """It may run such code beside what it does itself: a file there can name some."""
        self.code: list[Word] = []
        """The files and folders that this code is in, besides the working directory."""
        self.directory: Word | None = None
        """Where it works, if not where the shell is."""
        self.stays = False
        """It doesn't go there: its other words count from where the shell is."""
        self.links = ""
        """What the command does with links below a folder, where its profile or an option says so."""
        self.taken: list[Word] = []
        """Words that were taken for files by how they look."""
        self.beside: list[Word] = []
        """Files that options of git name: they limit nothing."""
        self.revisions: list[Word] = []
        """Words that git takes for commits, or for other things in its store."""
        self.beyond = False
        """An option has it read something that no path beside it limits."""
        self.brings = False
        """Among what it writes below a folder may be links: it unpacks an archive, or clones a repository."""

    def show(self, path: Word, shows: str) -> None:
        """A path of which less is read than what is in it."""
        self.touch("read", path)
        if not path.is_pipe:
            self.touches[-1] = self.touches[-1]._replace(shows=shows)

    def touch(self, effect: str, path: Word, *, deep: bool = False, some: bool = False, nested: bool = False) -> None:
        """A path with an effect; writing and deleting add the effect. A pipe to other commands is no path."""
        if path.is_pipe:
            return
        links = path.through if path.glob or path.deep else "none"
        self.touches.append(Touch(effect, path, deep or path.deep, some or path.some or path.deep, nested, links))
        if effect != "read":
            self.effects.add(effect)

    def revision(self, word: Word) -> None:
        """What git takes for a commit. Of one file or folder of a commit (`main:src`), no path that stands beside it
        tells which that is."""
        if word.text is None or ":" in word.text:
            self.touches.append(Touch("read", Word(None, "")))
        else:
            self.revisions.append(word)

    def as_folder(self, taken: Taken = "") -> None:
        """What was touched last is a folder, if it is there: it may be touched where all below it may be."""
        if self.touches and not self.touches[-1].path.glob and not self.touches[-1].deep:
            self.touches[-1] = self.touches[-1]._replace(shows="itself", taken=taken)

    def as_new(self) -> None:
        """What was touched last is touched only if it is not there yet."""
        if self.touches and self.touches[-1].deep:
            self.touches[-1] = self.touches[-1]._replace(new=True)

    def url(self, word: Word) -> None:
        """A URL: adds network. With the scheme `file` it is a file, which one is not looked into."""
        if "file:" in (word.text or "").lower():
            self.touch("read", Word(None, word.raw))
        self.urls.append(word)
        self.effects.add("network")

    def host(self, word: Word) -> None:
        """A host name: adds network."""
        self.hosts.append(word)
        self.effects.add("network")
