"""Looking what a git command would change, by asking git itself before it runs.

A text such as `git switch main` doesn't tell which files it changes; the repository does. Every answer here names at
least the paths that the command would change. Whatever is odd, slow or not certain is no answer: a person is asked.

INVARIANT: nothing that the repository names is run. Work trees are compared only where no filter is configured, other
comparisons are between trees, and a repository that fetches missing objects by itself is not looked at.
"""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from remit.model.pattern import compile_later
from remit.model.system_programs import SYSTEM_PATH, find_program
from remit.scopes.path import relative_to
from remit.scopes.shell.sole import Sole

SECONDS = 1.0
"""For the whole look."""
MAX_OUTPUT = 1_000_000
MAX_PATHS = 5_000
MAX_REMOTES = 8
"""Where git is looked for: no place that a workspace could put its own one."""
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "diff.external=",
    "safe.directory=*",  # whether git works there is the user's configuration to say; nothing is run here in any case
)
_ENVIRONMENT = {
    "PATH": SYSTEM_PATH,
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "XDG_CONFIG_HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    "GIT_PAGER": "cat",
}
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE")
"""Variables that make git work on something else than what lies in its directory."""
_ODD_SECTIONS = ("filter.", "extensions.", "include.", "includeif.")
_ODD_KEYS = frozenset(("core.worktree", "core.sparsecheckout", "submodule.recurse"))
_SHOW_MORE = frozenset(("log.follow", "stash.showincludeuntracked", "diff.submodule"))
"""Settings, also of the user, with which git shows more than the words say."""
_PLAIN_EXTENSIONS = frozenset(("extensions.objectformat", "extensions.refstorage", "extensions.worktreeconfig"))
_UNDER_WAY = (
    "MERGE_HEAD",
    "MERGE_AUTOSTASH",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
)
_GOES_ON = (["--abort"], ["--continue"], ["--skip"], ["--quit"])
"""Words that are about what is under way. Where nothing is, git says so."""
_NAME = compile_later(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:[./][A-Za-z0-9_-]+)*(?:[~^][0-9]*)*")
"""The name of a commit, and no range, path or search."""
_BRANCHES = "refs/heads/"
_FETCHES = compile_later(r"remote\..*\.fetch")
_LINK, _MODULE = "120000", "160000"
_MOVED = ("R", "C")
"""How what differs begins if it has two names, the former first."""


EVERYWHERE = frozenset(("post-index-change", "pre-auto-gc", "reference-transaction"))
"""Hooks that nearly every subcommand runs."""


class NoAnswer(Exception):
    """Nobody can tell what the command would change."""


class Absent(NoAnswer):
    """Git says that there is no such thing."""


class Fails(Exception):
    """The command surely fails before it changes anything: it names a commit that is not there."""


class Change(NamedTuple):
    """A path that differs between two states: `A` added, `D` deleted, anything else changed."""

    status: str
    path: str


class Words(NamedTuple):
    """What a subcommand was given."""

    options: dict[str, str]
    plain: list[str]
    paths: list[str] | None
    """What stands behind `--`; None without it."""


def changes_of(sole: Sole, root: str) -> tuple[str, ...] | None:
    """The paths that the command would change, below the root or absolute; None where nobody can tell."""
    return _asked(sole, root, _LOOKS)


def read_by(sole: Sole, root: str) -> tuple[str, ...] | None:
    """The paths that the command would show, or search, or put into the index, likewise."""
    return _asked(sole, root, _READS)


def _asked(sole: Sole, root: str, known: Mapping[str, Look]) -> tuple[str, ...] | None:
    words = sole.words[1:]
    if sole.words[:1] != ("git",) or any(os.environ.get(name) for name in _ELSEWHERE):
        return None
    while words[:1] and words[0] in ("-P", "--no-pager"):
        words = words[1:]
    looks = known.get(words[0]) if words else None
    if looks is None or any(word.startswith(":(") and "attr" in word for word in words):
        return None  # the user's own files of attributes are not looked at here
    try:
        repository = Repository(os.path.join(root, sole.base), root)
        if known is _READS and repository.shows_more():
            return None
        found = _found(repository, looks, list(words[1:]))
        if len(found) > MAX_PATHS:
            return None
        top = repository.top
        return tuple(sorted(relative_to(os.path.normpath(os.path.join(top, path)), root) for path in found))
    except (NoAnswer, OSError, ValueError, subprocess.SubprocessError):
        return None


Look = Callable[["Repository", list[str]], list[Change]]


def _found(repository: Repository, looks: Look, words: list[str]) -> set[str]:
    try:
        return {change.path for change in looks(repository, words)}
    except Fails:
        return set()


def workspace_hooks(directory: str, root: str) -> frozenset[str] | None:
    """The hooks of the repository of a directory, if they lie below the root and in no `.git`; perhaps there is none
    yet. None: git runs no code of the workspace there.

    Unlike the rest of this module it asks with the configuration that git has when the agent runs it.
    """
    at, top = os.path.realpath(directory), os.path.realpath(root)
    while not os.path.isdir(at):
        at = os.path.dirname(at)
    try:
        asked = subprocess.run(  # noqa: S603 -- it prints a path, and runs nothing
            [find_program("git") or "/usr/bin/git", "rev-parse", "--git-path", "hooks"],
            cwd=at,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
        )
        if asked.returncode != 0:
            return None  # no repository, or one that git doesn't work in
        folder = os.path.join(at, os.fsdecode(asked.stdout.removesuffix(b"\n")))
        names = os.listdir(folder) if os.path.isdir(folder) else []
    except (OSError, subprocess.SubprocessError):
        return EVERYWHERE  # nobody can tell
    found = frozenset(name for name in names if not name.endswith(".sample"))
    if _in_workspace(folder, top):
        return found
    return frozenset(name for name in found if _in_workspace(os.path.join(folder, name), top)) or None


def other_objects(directory: str, words: Sequence[str]) -> frozenset[str]:
    """Of words that git would take for commits, those that name a file or a folder in its store, and not a commit, or
    a range from or to one; all of them if nobody can tell."""
    named = [(word, end) for word in words if word[:1] != "-" for end in _ends(word)]
    every, ends = frozenset(word for word, _ in named), [end for _, end in named]
    if any("\n" in end for end in ends) or any(os.environ.get(name) for name in _ELSEWHERE):
        return every
    if not ends or not os.path.isdir(directory):
        return frozenset()
    options = [part for setting in _SETTINGS for part in ("-c", setting)]
    try:
        asked = subprocess.run(  # noqa: S603 -- one of git's own commands, without a shell; names are its input
            [find_program("git") or "/usr/bin/git", "--no-pager", *options, "cat-file", "--batch-check"],
            cwd=directory,
            env=_ENVIRONMENT,
            input="".join(f"{end}^{{}}\n" for end in ends).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return every
    if asked.returncode != 0:
        return frozenset() if b"not a git repository" in asked.stderr else every
    lines = asked.stdout.decode("utf-8", "replace").split("\n")[:-1]
    if len(lines) != len(ends):
        return every
    pairs = zip(named, lines, strict=True)
    return frozenset(word for (word, _), line in pairs if not _is_commit_or_none(line))


def _ends(word: str) -> list[str]:
    """The names in a word such as `main`, `^main`, `main..dev`."""
    return [end.removeprefix(".").removeprefix("^") for end in word.split("..") if end]


def _is_commit_or_none(line: str) -> bool:
    return line.endswith(" missing") or line.split(" ")[1:2] == ["commit"]


def _in_workspace(path: str, top: str) -> bool:
    real = os.path.realpath(path)
    return f"{real}/".startswith(f"{top.rstrip('/')}/") and ".git" not in real[len(top) :].split("/")


class Repository:
    """A repository to look at, from one of its directories. Raises NoAnswer for one that is not to be looked at."""

    def __init__(self, directory: str, root: str) -> None:
        self.until = time.monotonic() + SECONDS
        self.directory = os.path.realpath(directory)
        self.program = find_program("git") or "/usr/bin/git"
        self.top = _top(self.directory)
        real = os.path.realpath(root)
        if not (f"{real}/".startswith(f"{self.top.rstrip('/')}/") and f"{self.directory}/".startswith(f"{real}/")):
            raise NoAnswer
        under_way = [part for name in _UNDER_WAY for part in ("--git-path", name)]
        found = self.lines("rev-parse", "--show-toplevel", *under_way)
        if found[:1] != [self.top] or len(found) != 1 + len(_UNDER_WAY) or os.path.lexists(f"{self.top}/.gitmodules"):
            raise NoAnswer
        if any(os.path.lexists(os.path.join(self.directory, place)) for place in found[1:]):
            raise NoAnswer
        for key in self.fields("config", "--list", "--name-only"):
            key = key.lower()
            if key.endswith((".promisor", ".partialclonefilter")) or key in _ODD_KEYS:
                raise NoAnswer
            if key.startswith(_ODD_SECTIONS) and key not in _PLAIN_EXTENSIONS:
                raise NoAnswer
        self.head = self.sure("HEAD")

    # Asking git

    def shows_more(self) -> bool:
        """The configuration that git has when the agent runs it says so."""
        names = self.run("config", "-z", "--list", "--name-only", environment=None).decode("utf-8").split("\0")
        return not _SHOW_MORE.isdisjoint(name.lower() for name in names)

    def run(self, *words: str, environment: Mapping[str, str] | None = _ENVIRONMENT) -> bytes:
        """What git prints. Raises NoAnswer if it fails, takes too long or prints too much."""
        left = self.until - time.monotonic()
        if left <= 0:
            raise NoAnswer
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        with subprocess.Popen(  # noqa: S603 -- one of git's own commands, without a shell; names follow `--end-of-options`
            [self.program, "--no-pager", *options, *words],
            cwd=self.directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            late = threading.Timer(left, process.kill)
            late.start()
            try:
                out = process.stdout.read(MAX_OUTPUT + 1) if process.stdout is not None else b""
                if len(out) > MAX_OUTPUT:
                    process.kill()
                process.wait()
            finally:
                late.cancel()
        if process.returncode != 0:
            raise Absent if process.returncode == 1 else NoAnswer
        return out

    def fields(self, command: str, *words: str) -> list[str]:
        """What git prints, by its NUL bytes."""
        return self.run(command, "-z", *words).decode("utf-8").split("\0")[:-1]

    def lines(self, *words: str) -> list[str]:
        return self.run(*words).decode("utf-8").splitlines()

    def commit(self, name: str) -> str | None:
        """The commit of that name; None if there is none."""
        if not name or name.startswith(("-", ":")) or "\n" in name:  # `:/text` ends where the name does
            raise NoAnswer
        try:
            found = self.lines("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except Absent:
            return None
        return found[0] if len(found) == 1 else None

    def exists(self, name: str) -> bool:
        """The store has something of that name, perhaps not a commit."""
        try:
            return bool(self.lines("rev-parse", "--verify", "--quiet", "--end-of-options", name))
        except Absent:
            return False

    def sure(self, name: str) -> str:
        """The same, and NoAnswer if there is none."""
        found = self.commit(name)
        if found is None:
            raise NoAnswer
        return found

    def file(self, name: str) -> Change:
        """The file that a name such as `main:src/a.py` stands for, as it is in that commit."""
        commit, _, path = name.partition(":")
        if not _NAME.fullmatch(commit) or not {"", ".", ".."}.isdisjoint(path.split("/")):
            raise NoAnswer
        if self.lines("cat-file", "-t", f"{self.sure(commit)}:{path}") != ["blob"]:
            raise NoAnswer
        return Change("M", path)

    def named(self, name: str) -> str:
        """The same; raises Fails for a plain name if there is none."""
        found = self.commit(name)
        if found is None and _NAME.fullmatch(name):
            raise Fails
        return self.sure(name) if found is None else found

    def could_be(self, name: str) -> list[str]:
        """Every commit that `git switch NAME` could mean: a branch, or one of a remote."""
        if name == "-":
            name = "@{-1}"
        own = [self.commit(form) for form in (name, f"refs/heads/{name}")]
        if own == [None, None]:
            own += [self.commit(ref) for ref in self._of_remotes(name)]
        return list(dict.fromkeys(found for found in own if found is not None))

    def _of_remotes(self, name: str) -> list[str]:
        settings = [field.partition("\n") for field in self.fields("config", "--list")]
        if not all(_keeps_names(spec) for key, _, spec in settings if _FETCHES.fullmatch(key.lower())):
            raise NoAnswer
        ends = self.lines("for-each-ref", "--format=%(refname)")
        found = [ref for ref in ends if ref.endswith(f"/{name}")]
        if len(found) > MAX_REMOTES:
            raise NoAnswer
        return found

    def fetched_one(self) -> bool:
        """True if `git merge FETCH_HEAD` would merge one commit, the first of those that were fetched."""
        [place] = self.lines("rev-parse", "--git-path", "FETCH_HEAD")
        with open(os.path.join(self.directory, place), encoding="utf-8") as file:
            lines = [line.split("\t") for line in file.read(MAX_OUTPUT).splitlines()]
        return [len(line) > 1 and not line[1] for line in lines] == [True] + [False] * (len(lines) - 1)

    # What differs

    def between(self, one: str, other: str, paths: Iterable[str] = ()) -> list[Change]:
        """Two trees."""
        options = ("-r", "--raw", "--no-renames", "--end-of-options")
        return _changes(self.fields("diff-tree", *options, one, other, "--", *paths))

    def commits(self, since: str, until: str) -> list[Change]:
        """Everything that the commits between the two change, each for itself."""
        return self.history(since, until)

    def history(
        self,
        since: str | None,
        until: str,
        most: str | None = None,
        paths: Iterable[str] = (),
        *,
        renames: str = "--no-renames",
    ) -> list[Change]:
        """The same of all commits up to one, or of the last few of these, as far as they change something there."""
        options = ("--format=", "-m", "--raw", renames, "--no-ext-diff", "--no-textconv", "--no-show-signature")
        count = () if most is None else (f"--max-count={most}",)
        span = until if since is None else f"{since}..{until}"
        return _changes(self.fields("log", *options, *count, "--end-of-options", span, "--", *paths))

    def shown(self, commit: str, paths: Iterable[str] = ()) -> list[Change]:
        """What one commit changes, beside each of its parents."""
        options = ("-r", "-m", "--root", "--raw", "--no-renames", "--no-commit-id", "--end-of-options")
        return _changes(self.fields("diff-tree", *options, commit, "--", *paths))

    def kept(self, commit: str | None, paths: Iterable[str] = ()) -> list[Change]:
        """All files of a commit; without one, of the index."""
        if commit is not None:
            return self.between(self.lines("hash-object", "-t", "tree", "--stdin")[0], commit, paths)
        return [Change("M", path) for path in self.fields("ls-files", "--full-name", "--", *paths)]

    def work_tree(self, tree: str, paths: Iterable[str] = ()) -> list[Change]:
        """The files and the index beside a tree, and beside each other; what only seems to differ counts too."""
        options = ("--raw", "--no-renames", "--ignore-submodules=all")
        behind = ("--", *paths)
        return [
            *_changes(self.fields("diff-index", *options, "--end-of-options", tree, *behind)),
            *_changes(self.fields("diff-index", "--cached", *options, "--end-of-options", tree, *behind)),
            *_changes(self.fields("diff-files", *options, *behind)),
        ]

    def untracked(self, paths: Iterable[str] = (), *, ignored: bool) -> list[Change]:
        """Files that git doesn't keep. Raises NoAnswer if another repository is among them."""
        options = ("--others", "--full-name", *(() if ignored else ("--exclude-standard",)))
        found = self.fields("ls-files", *options, "--", *paths)
        if any(path.endswith("/") for path in found):
            raise NoAnswer
        return [Change("D", path) for path in found]

    def merged(self, base: str, ours: str, theirs: str) -> list[Change]:
        """All that changes if what leads from the base to theirs is merged into ours, whichever way renames go."""
        own, other = self.between(base, ours), self.between(base, theirs)
        found = list(other)
        if any(change.status == "D" for change in own):
            found += [change for change in own if change.status == "A"]
        for mover, adder in ((own, other), (other, own)):
            found += _moved_along(mover, adder)
        return found


def _keeps_names(spec: str) -> bool:
    """True if what is fetched so ends in the name that its branch has on the other side, or is no branch there."""
    source, _, target = spec.removeprefix("+").partition(":")
    if source.startswith("^") or not target:
        return True
    start, star, _ = source.partition("*")
    if not star:
        return not source.startswith(_BRANCHES) or target.endswith(f"/{source.removeprefix(_BRANCHES)}")
    if not start.startswith(_BRANCHES) and not _BRANCHES.startswith(start):
        return True
    return source in (f"{_BRANCHES}*", "refs/*") and target.endswith("/*")


def _top(directory: str) -> str:
    """The nearest directory above with a repository or a work tree of one; a link doesn't count."""
    at = directory
    while not os.path.lexists(f"{at}/.git"):
        if at == "/":
            raise NoAnswer
        at = os.path.dirname(at)
    if os.path.islink(f"{at}/.git"):
        raise NoAnswer
    return at


def _changes(fields: list[str]) -> list[Change]:
    """From git's raw form, `:100644 100755 b1 b2 M` and a path. Raises NoAnswer for links and repositories within."""
    found: list[Change] = []
    rest = iter(fields)
    for field in rest:
        old, new, _, _, status = field.lstrip("\n").removeprefix(":").split(" ")
        if _MODULE in (old, new) or new == _LINK:
            raise NoAnswer
        names = [name for _ in range(2 if status[:1] in _MOVED else 1) if (name := next(rest, ""))]
        if not names or len(found) > MAX_PATHS:
            raise NoAnswer
        found += [Change(status[:1], name) for name in names]
    return found


def _moved_along(mover: list[Change], adder: list[Change]) -> list[Change]:
    """Where files that one side adds may land because the other renamed their directory."""
    left = {_folder(change.path) for change in mover if change.status == "D"}
    into = {_folder(change.path) for change in mover if change.status == "A"}
    found = []
    for change in adder:
        parts = change.path.split("/")
        for count in range(len(parts)) if change.status == "A" and left and into else ():
            if any(f"{folder}/".startswith("/".join((*parts[:count], ""))) for folder in left):
                found += [Change("A", "/".join(filter(None, (folder, *parts[count:])))) for folder in into]
            if len(found) > MAX_PATHS:
                raise NoAnswer
    return found


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


# ---- What each subcommand changes ---------------------------------------------------------------------------------


def _read(words: list[str], flags: str = "", values: str = "") -> Words:
    """Options and what else there is. Raises NoAnswer for an option that is in neither list."""
    known, valued = set(flags.split()), set(values.split())
    options: dict[str, str] = {}
    plain: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        at += 1
        if word == "--":
            return Words(options, plain, words[at:])
        name, equals, value = word.partition("=")
        if word == "-" or not word.startswith("-"):
            plain.append(word)
        elif word in known:
            options[word] = ""
        elif equals and name in valued and name.startswith("--"):
            options[name] = value
        elif word in valued and at < len(words):
            options[word] = words[at]
            at += 1
        elif word[:2] in valued and word[2:].isdigit():
            options[word[:2]] = word[2:]
        elif not word.startswith("--") and len(word) > 2 and all(f"-{letter}" in known for letter in word[1:]):
            options.update((f"-{letter}", "") for letter in word[1:])
        else:
            raise NoAnswer
    return Words(options, plain, None)


def _one(names: list[str], instead: str) -> str:
    if len(names) > 1:
        raise NoAnswer
    return names[0] if names else instead


_QUIET = "-q --quiet --progress --no-progress"
_SWITCH = f"{_QUIET} -d --detach --guess --no-guess -t --track --no-track -f --force --discard-changes"


def _switch(git: Repository, words: list[str]) -> list[Change]:
    given = _read(words, _SWITCH, "-c --create -C --force-create")
    if given.paths:
        raise NoAnswer
    return _switched(git, given, new=not given.options.keys().isdisjoint(("-c", "--create", "-C", "--force-create")))


def _switched(git: Repository, given: Words, *, new: bool) -> list[Change]:
    name = _one(given.plain, "HEAD" if new else "")
    found = git.could_be(name)
    if not found and _NAME.fullmatch(name):
        raise Fails
    if not found:
        raise NoAnswer
    changes = [change for commit in found for change in git.between(git.head, commit)]
    if not given.options.keys().isdisjoint(("-f", "--force", "--discard-changes")):
        changes += git.work_tree(git.head)
    return changes


def _checkout(git: Repository, words: list[str]) -> list[Change]:
    given = _read(words, f"{_SWITCH} --ours --theirs --overlay", "-b -B")
    if "-b" in given.options or "-B" in given.options:
        return _switched(git, given, new=True)
    if given.paths is not None and (given.paths or not given.plain):
        return git.work_tree(git.sure(_one(given.plain, "HEAD")), given.paths)
    if not given.plain:
        return git.work_tree(git.head)
    commits = git.could_be(given.plain[0])
    if not commits and git.exists(given.plain[0]):
        raise NoAnswer  # a folder of a commit: `main^{tree}`
    if not commits:
        return git.work_tree(git.head, given.plain)
    if len(given.plain) > 1:
        return [change for commit in commits for change in git.work_tree(commit, given.plain[1:])]
    beside = git.work_tree(git.head, given.plain) if given.paths is None else []
    return [*_switched(git, given, new=False), *beside]


def _restore(git: Repository, words: list[str]) -> list[Change]:
    given = _read(words, f"{_QUIET} -S --staged -W --worktree --overlay --no-overlay", "-s --source")
    source = git.sure(given.options.get("-s") or given.options.get("--source") or "HEAD")
    paths = [*given.plain, *(given.paths or ())]
    if not paths:
        raise NoAnswer
    return git.work_tree(source, paths) + git.work_tree(git.head, paths)


def _reset(git: Repository, words: list[str]) -> list[Change]:
    given = _read(words, f"{_QUIET} --hard --merge --keep --soft --mixed")
    name = _one(given.plain, "HEAD")
    target = git.named(name) if "--hard" in given.options else git.sure(name)  # else it may be a file
    return git.between(git.head, target) + git.work_tree(target) + git.work_tree(git.head)


def _stash(git: Repository, words: list[str]) -> list[Change]:
    action = words[0] if words and not words[0].startswith("-") else "push"
    rest = words[1:] if words[:1] == [action] else words
    if action in ("pop", "apply"):
        given = _read(rest, "-q --quiet --index")
        name = _one(given.plain, "0")
        stash = git.sure(f"stash@{{{name}}}" if name.isdigit() else name)
        base = git.sure(f"{stash}^1")
        found = git.merged(base, git.head, stash) + git.between(base, git.sure(f"{stash}^2"))
        other = git.commit(f"{stash}^3")
        if other is not None:
            found += _changes(git.fields("diff-tree", "-r", "--root", "--raw", "--no-commit-id", other))
        return found
    if action not in ("push", "save"):
        raise NoAnswer
    flags = f"{_QUIET} -k --keep-index --no-keep-index -u --include-untracked -a --all -S --staged"
    given = _read(rest, flags, "-m --message")
    every = "-a" in given.options or "--all" in given.options
    found = git.work_tree(git.head)
    if every or "-u" in given.options or "--include-untracked" in given.options:
        found += git.untracked(ignored=every)
    return found


def _merge(git: Repository, words: list[str]) -> list[Change]:
    if words in _GOES_ON:
        return []
    flags = (
        "--ff --no-ff --ff-only --no-edit --no-commit --commit --squash --stat --no-stat -n -v --verbose --no-verify"
    )
    given = _read(words, f"{_QUIET} {flags} --no-squash --signoff", "-m --message")
    name = _one(given.plain, "@{upstream}")
    if name.upper() == "FETCH_HEAD" and not git.fetched_one():
        raise NoAnswer
    theirs = git.named(name)
    return _joined(git, git.head, theirs) + git.work_tree(git.head)


def _joined(git: Repository, ours: str, theirs: str) -> list[Change]:
    """A merge of two commits, over each of their best common ancestors."""
    bases = git.lines("merge-base", "--all", ours, theirs)
    if not bases:
        raise NoAnswer
    return [change for base in bases[:8] for change in git.merged(base, ours, theirs)]


def _rebase(git: Repository, words: list[str]) -> list[Change]:
    if words in _GOES_ON:
        return []
    given = _read(words, f"{_QUIET} --stat --no-stat -n --no-verify -v --verbose --autostash --no-autostash", "--onto")
    upstream = git.named(_one(given.plain, "@{upstream}"))
    onto, head = git.named(given.options.get("--onto", upstream)), git.head
    picked = git.commits(upstream, head)
    found = [*git.between(head, onto), *picked, *_joined(git, onto, head), *_joined(git, head, onto)]
    return [*found, *_moved_along(git.commits(head, onto), picked), *git.work_tree(git.head)]


def _pick(git: Repository, words: list[str], *, back: bool) -> list[Change]:
    if words in _GOES_ON:
        return []
    given = _read(
        words, "-n --no-commit --commit -x -s --signoff --ff --no-edit --allow-empty --keep-redundant-commits"
    )
    name = _one(given.plain, "")
    if back and ".." in name:
        return _taken_back(git, name)
    commit = git.named(name)
    if git.commit(f"{commit}^2") is not None:
        raise NoAnswer
    before = git.sure(f"{commit}^1")
    base, theirs = (commit, before) if back else (before, commit)
    return git.merged(base, git.head, theirs)


def _taken_back(git: Repository, span: str) -> list[Change]:
    """`git revert SINCE..HEAD` of plain commits, the newest first: each meets the very state that it made."""
    since, _, until = span.partition("..")
    if git.sure(until or "HEAD") != git.head or git.fields("diff-index", "--cached", "--raw", "HEAD"):
        raise NoAnswer
    start = git.sure(since)
    if git.lines("rev-list", "--merges", "--end-of-options", f"{start}..{git.head}"):
        raise NoAnswer
    return git.commits(start, git.head)


def _clean(git: Repository, words: list[str]) -> list[Change]:
    given = _read(words, "-d -f --force -q --quiet -x -X", "-e --exclude")
    paths = [*given.plain, *(given.paths or ())]
    return git.untracked(paths, ignored=not given.options.keys().isdisjoint(("-x", "-X")))


def _remove(git: Repository, words: list[str]) -> list[Change]:
    given = _read(words, "-f --force -r -q --quiet --ignore-unmatch")
    paths = [*given.plain, *(given.paths or ())]
    return [Change("D", path) for path in git.fields("ls-files", "--full-name", "--", *paths)]


def _apply(git: Repository, words: list[str]) -> list[Change]:
    flags = "--index -3 --3way -R --reverse -v --verbose -q --quiet --recount --reject --ignore-whitespace"
    given = _read(words, flags, "-p --whitespace --directory")
    files = [*given.plain, *(given.paths or ())]
    if not files or "-" in files or git.directory != git.top:
        raise NoAnswer
    kept = [part for name in ("-p", "--directory") if name in given.options for part in (name, given.options[name])]
    kept = [f"{kept[at]}{'=' if kept[at].startswith('--') else ''}{kept[at + 1]}" for at in range(0, len(kept), 2)]
    places = [os.path.join(git.directory, file) for file in files]
    if len(places) == 1 and not os.path.lexists(places[0]):
        raise Fails
    summary = git.lines("apply", "--summary", *kept, "--", *places)
    if any(f" {mode}" in line for line in summary for mode in (_LINK, _MODULE)):
        raise NoAnswer
    found = []
    for way in ((), ("-R",)):  # the names after it, and those before it
        for field in git.fields("apply", "--numstat", *way, *kept, "--", *places):
            found.append(Change("M", field.split("\t", 2)[2]))
    return found


def _am(git: Repository, words: list[str]) -> list[Change]:
    if words in _GOES_ON:
        return []
    raise NoAnswer


def _add(git: Repository, words: list[str]) -> list[Change]:
    flags = "-A --all -u --update -v --verbose -N --intent-to-add --no-all --ignore-removal --no-ignore-removal"
    given = _read(words, f"{flags} -n --dry-run")
    if given.plain not in ([], ["."]) or given.paths not in (None, ["."]):
        raise NoAnswer
    return git.work_tree(git.head) + git.untracked(ignored=False)


def _commit(git: Repository, words: list[str]) -> list[Change]:
    flags = "-a --all -q --quiet -s --signoff -n --no-verify --no-edit --amend --allow-empty --dry-run"
    given = _read(words, flags, "-m --message -am")
    if given.plain or given.paths:
        raise NoAnswer
    return git.work_tree(git.head)


_SHOWING = (
    "-p -u --patch --stat --shortstat --numstat --summary --name-only --name-status --raw --color --no-color"
    " --color-words --word-diff -w -b --ignore-all-space --ignore-space-change --ignore-blank-lines --minimal"
    " --patience --histogram -M --find-renames --no-renames -W --function-context --no-ext-diff --no-textconv -a"
    " --text --binary --full-index --check --exit-code --quiet -R -z -U0 -U1 -U2 -U3 -U5 -U10 --oneline --graph"
    " --decorate --no-decorate"
)
_SHOWN = "--unified --word-diff-regex --format --pretty"
_FILTERS = "--diff-filter -S -G"


def _parted(git: Repository, given: Words) -> tuple[list[str], list[str]]:
    """Revisions, and paths."""
    if given.paths is not None:
        return given.plain, given.paths
    for at, name in enumerate(given.plain):
        if ".." not in name and ":" not in name and git.commit(name) is None:
            # Git takes it for a file if it is one, and for nothing else; of what is both it says that it can't tell.
            if not all(os.path.lexists(os.path.join(git.directory, path)) for path in given.plain[at:]):
                raise NoAnswer
            return given.plain[:at], given.plain[at:]
    return given.plain, []


def _diff(git: Repository, words: list[str]) -> list[Change]:
    names, paths = _parted(git, _read(words, f"{_SHOWING} --cached --staged", f"{_SHOWN} {_FILTERS}"))
    if len(names) == 2:
        return git.between(git.sure(names[0]), git.sure(names[1]), paths)
    name = _one(names, "HEAD")
    one, dots, other = name.partition("..")
    if not dots:
        return git.work_tree(git.sure(name), paths)
    ours, theirs = git.sure(one or "HEAD"), git.sure(other.removeprefix(".") or "HEAD")
    if not other.startswith("."):
        return git.between(ours, theirs, paths)
    bases = git.lines("merge-base", "--all", ours, theirs)
    if not bases:
        raise NoAnswer
    return [change for base in bases[:8] for change in git.between(base, theirs, paths)]


def _show(git: Repository, words: list[str]) -> list[Change]:
    names, paths = _parted(git, _read(words, _SHOWING, f"{_SHOWN} {_FILTERS}"))
    found = []
    for name in names or ["HEAD"]:
        found += [git.file(name)] if ":" in name else git.shown(git.sure(name), paths)
    return found


def _log(git: Repository, words: list[str]) -> list[Change]:
    counts = " ".join(f"-{count}" for count in range(1, 21))
    given = _read(words, f"{_SHOWING} {counts} --reverse --follow", f"{_SHOWN} -n --max-count")
    names, paths = _parted(git, given)
    one, dots, other = _one(names, "HEAD").partition("..")
    if other.startswith("."):
        raise NoAnswer
    until = git.sure(other or "HEAD") if dots else git.sure(one)
    renames = "--follow" if "--follow" in given.options else "--no-renames"
    return git.history(git.sure(one or "HEAD") if dots else None, until, _count(given), paths, renames=renames)


def _count(given: Words) -> str | None:
    """How many commits at most."""
    said = [given.options.get("-n"), given.options.get("--max-count")]
    said += [option[1:] for option in given.options if option[1:].isdigit()]
    found = [one for one in said if one is not None]
    if len(found) > 1 or not all(one.isdigit() for one in found):
        raise NoAnswer
    return found[0] if found else None


def _show_stash(git: Repository, words: list[str]) -> list[Change]:
    if words[:1] != ["show"]:
        raise NoAnswer
    flags = " ".join(flag for flag in _SHOWING.split() if flag != "-u")  # here it is `--include-untracked`
    name = _one(_read(words[1:], flags, _SHOWN).plain, "0")
    stash = git.sure(f"stash@{{{name}}}" if name.isdigit() else name)
    return git.between(git.sure(f"{stash}^1"), stash)


def _grep(git: Repository, words: list[str]) -> list[Change]:
    flags = (
        "-n --line-number -i --ignore-case -w --word-regexp -l --files-with-matches --name-only -L -c --count -h -H -o"
        " --only-matching -v --invert-match -E --extended-regexp -F --fixed-strings -P --perl-regexp -G --basic-regexp"
        " -I -a --text -q --quiet --break --heading --column --color --no-color -p --show-function -W"
        " --function-context --full-name --cached"
    )
    given = _read(words, flags, "-e -A -B -C --context --after-context --before-context -m --max-count")
    if "-e" not in given.options:
        if not given.plain:
            raise NoAnswer
        del given.plain[0]  # what it looks for
    names, paths = _parted(git, given)
    return [change for name in names or [None] for change in git.kept(name and git.sure(name), paths)]


_READS: dict[str, Look] = {
    "add": _add,
    "stage": _add,
    "commit": _commit,
    "diff": _diff,
    "show": _show,
    "log": _log,
    "grep": _grep,
    "stash": _show_stash,
}
_LOOKS: dict[str, Look] = {
    "switch": _switch,
    "checkout": _checkout,
    "restore": _restore,
    "reset": _reset,
    "stash": _stash,
    "merge": _merge,
    "rebase": _rebase,
    "cherry-pick": lambda git, words: _pick(git, words, back=False),
    "revert": lambda git, words: _pick(git, words, back=True),
    "clean": _clean,
    "rm": _remove,
    "apply": _apply,
    "am": _am,
}
