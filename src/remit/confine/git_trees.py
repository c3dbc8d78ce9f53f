"""What a run did to a git repository that a person's next `git checkout`, `stash` or `merge` would bring to light.

Before a run its references and index are noted. Afterwards the trees of new commits, the index and the objects are
looked at: nothing in them may say anything about a protected path but what the first parent says or what lies there.
That holds for commits that no reference leads to, too: a log, a rebase or a bisection that goes on may name them.

INVARIANT: nothing that the repository names is run: git gets plumbing commands only, its hooks and monitors are off,
and a repository whose configuration, hooks or `commondir` are not as they were is not asked at all.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import time
import weakref
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from remit.confine.protected import Protected
from remit.model.system_programs import SYSTEM_PATH, find_program

SECONDS = 60.0
MAX_COMMITS = 100_000
MAX_INDEX = 256_000_000
MAX_LOG = 100_000
"""Bytes of a log, the last ones."""
_SETTINGS = (
    *("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "diff.external="),
    *("core.commitGraph=false", "core.multiPackIndex=false", "core.quotePath=false", "gc.auto=0"),
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
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": "/dev/null",
    "GIT_PAGER": "cat",
}
_OID = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
_ABSENT = ("000000", "")
STASH_LOG = "logs/refs/stash"
_SLACK = 2_000_000_000
"""Nanoseconds: the clock of files ticks coarsely."""
_SHALLOW = "shallow"
"""Where git takes history to begin."""
_ELSEWHERE = "leads git to objects or a history of another place"
_REMOTE = "leads git to another place to fetch from and push to"
_RUNS = "has git run a program when a person continues"
_CONTENT = "changes what git writes into files when it checks them out"
_APPLIES = "has git change something protected when a person continues"
_STRATEGY = rb"[ \t]*(ort|recursive|resolve|octopus|ours|subtree)?[ \t]*\n?"
_WHAT = {
    "objects/info/alternates": (_ELSEWHERE, re.compile(rb"")),
    "info/grafts": (_ELSEWHERE, re.compile(rb"")),
    _SHALLOW: (_ELSEWHERE, re.compile(rb"")),
    "info/attributes": (_CONTENT, re.compile(rb"")),
    "rebase-merge/git-rebase-todo": (_RUNS, re.compile(rb"^[ \t]*(exec|x)[ \t]", re.MULTILINE)),
    "rebase-merge/strategy": (_RUNS, re.compile(rb"\A(?!%b\Z)" % _STRATEGY)),
    "sequencer/opts": (_RUNS, re.compile(rb"(?i)strategy[ \t]*=(?!%b(\n|\Z))" % _STRATEGY)),
}
"""Files of git's that a person's next command believes: what is wrong with one that is new or other than before, if its
content is found. A strategy that is not git's own is a program, which may lie anywhere."""
_REMOTES = ("remotes", "branches")
"""Folders from the time before git's configuration named such places; it still reads them."""
_UNFINISHED = ("rebase-merge", "rebase-apply", "sequencer", "BISECT_START")
_NO_FILE = b"\0"


class GitFailed(Exception):
    """git could not be asked, or did not answer."""


class Entry(NamedTuple):
    """What a tree or an index says about one path; without an object if it says that nothing is there."""

    mode: str
    oid: str


class Said(NamedTuple):
    """Something about a protected path that neither a parent nor the disk says."""

    path: str
    """Below the project's root."""
    commit: str
    """Empty: the index."""


class State:
    """A repository as it was before a run."""

    def __init__(self, root: str, path: str, directory: str) -> None:
        """`path` is its `.git` below the root, `directory` where it really lies."""
        self.root, self.path, self.directory = root, path, directory
        self.work = path.rpartition("/")[0]
        self.at = time.time_ns() - _SLACK
        self.references = references(directory)
        self.index = _bytes(f"{directory}/index")
        self.tables = _bytes(f"{directory}/reftable/tables.list")
        self.info = {name: _says(f"{directory}/{name}") for name in _believed(directory)}
        self.logged = _logged(directory)
        self.packs = frozenset(name for name in _names(f"{directory}/objects/pack") if name.endswith(".pack"))

    @classmethod
    def take(cls, root: str, path: str) -> State | None:
        """None for what is no repository with a place of its own below the root."""
        directory = f"{root}/{path}"
        return cls(root, path, directory) if stat.S_ISDIR(_mode(directory)) else None

    def is_repacked(self) -> bool:
        """Whether a pack is gone: objects that were there all the time lie elsewhere now, and look new."""
        paths = [f"{self.directory}/objects/pack/{name}" for name in self.packs]
        return any(not os.path.lexists(path) or _is_new(path, self.at) for path in paths)


class Judgement(NamedTuple):
    """What is wrong with a repository after a run."""

    commits: dict[str, list[Said]]
    """By reference that leads to them."""
    moved: list[Said]
    """The current branch was put on a commit that was there before, and that says something else."""
    staged: list[Said]
    loose: list[Said]
    """In new commits to which no reference leads but `ORIG_HEAD` and its kin, which are not put back."""
    info: dict[str, str]
    """Files of git's that are new or other than before, and lead it elsewhere or have it run something: in words."""
    objects: list[str]
    """Files in which objects are not what their names say."""
    replaced: list[str]
    """References by which git takes one object for another."""


def judge(before: State, protected: Protected, *, fetched: bool) -> Judgement:
    """What is wrong now. `fetched`: the run could fetch from elsewhere, so new remote branches are others' work.

    Raises GitFailed.
    """
    if _bytes(f"{before.directory}/reftable/tables.list") != before.tables:
        raise GitFailed("its references are kept in tables, which are not read here")
    now = references(before.directory)
    others = (oid for name, oid in now.items() if fetched and name.startswith(("refs/remotes/", "FETCH_HEAD")))
    ask = _Asking(before.directory, (*before.references.values(), *others))
    info = _leading(before, ask, fetched=fetched)
    info |= _mails(before, ask, protected)
    if _SHALLOW in info:
        ask.begin_as(before.info.get(_SHALLOW, b""))
    changed = {name: oid for name, oid in now.items() if before.references.get(name) != oid}
    replaced = sorted(name for name in changed if name.startswith("refs/replace/"))
    tips = {
        name: oid
        for name, oid in changed.items()
        if name not in replaced and not (fetched and name.startswith("refs/remotes/")) and name != "FETCH_HEAD"
    }
    objects = _false_objects(before, ask)
    commits: dict[str, list[Said]] = {}
    loose: list[Said] = []
    if not objects and (new := {*tips.values(), *_made_commits(before, ask)}):
        said = _new_commits(ask, before, protected, new)
        for name, tip in tips.items():
            found = [one for one in said if one.commit == tip or ask.leads(tip, one.commit)] if said else []
            if found:
                commits[name] = found
        for name, trees in _new_trees(ask, before, protected, tips).items():
            commits[name] = trees
        named = {one for name, found in commits.items() if not name.endswith("_HEAD") for one in found}
        loose = [one for one in said if one not in named]
    moved: list[Said] = []
    if "HEAD" in changed and not commits and not objects and before.references.get("HEAD"):
        moved = _differing(ask, before, protected, before.references["HEAD"], changed["HEAD"])
    index = _bytes(f"{before.directory}/index")
    staged: list[Said] = []
    if index != before.index and not objects:
        staged = _staged(ask, before, protected)
    return Judgement(commits, moved, staged, loose, info, objects, replaced)


def _believed(directory: str) -> list[str]:
    """The files that `_WHAT` is about, and those that name places to fetch from."""
    return [*_WHAT, *(f"{folder}/{name}" for folder in _REMOTES for name in _names(f"{directory}/{folder}"))]


def _leading(before: State, ask: _Asking, *, fetched: bool) -> dict[str, str]:
    """Which of these files lead git somewhere, and did not before. A link counts: git follows it."""
    found: dict[str, str] = {}
    for name in _believed(before.directory):
        now, old = _says(f"{before.directory}/{name}"), before.info.get(name, b"")
        what, pattern = _WHAT.get(name, (_REMOTE, re.compile(rb"")))
        if now in (old, b"") or not (now == _NO_FILE or pattern.search(now)):
            continue
        if name == _SHALLOW and fetched and not _hides(ask, set(now.split()) - set(old.split())):
            continue  # as `git fetch --depth` leaves it
        found[name] = what
    return found


def _mails(before: State, ask: _Asking, protected: Protected) -> dict[str, str]:
    """Patches that `git am` has yet to apply, and that change something protected: read as git reads them."""
    folder = f"{before.directory}/rebase-apply"
    names = [name for name in _names(folder) if name.isdigit() or name == "patch"]
    new = [name for name in names if _is_new(f"{folder}/{name}", before.at)]
    if not new or os.path.lexists(f"{folder}/rebasing"):
        return {}  # a rebase takes commits, which are judged as such
    found: dict[str, str] = {}
    for name in new:
        try:
            patch = _bytes(f"{folder}/{name}")
            if name != "patch":
                patch = _patch_of(ask, patch)
            paths = _patched(ask, patch, _text(f"{folder}/apply-opt"))
        except (GitFailed, OSError, ValueError):
            paths = None  # nobody knows what it changes
        if paths is None or any((f"{before.work}/{path}" if before.work else path) in protected for path in paths):
            found[f"rebase-apply/{name}"] = _APPLIES
    return found


def _patch_of(ask: _Asking, mail: bytes) -> bytes:
    """Of a mail, whatever its coding. Raises GitFailed and OSError."""
    import tempfile  # here: few runs leave mails

    with tempfile.TemporaryDirectory(prefix="remit-mail-") as here:
        ask.run("mailinfo", f"{here}/message", f"{here}/patch", text=mail)
        return _bytes(f"{here}/patch")


def _patched(ask: _Asking, patch: bytes, options: str) -> set[str]:
    """The paths that a patch changes, both of those that it renames. Raises GitFailed and ValueError."""
    import shlex

    found: set[str] = set()
    for way in ((), ("--reverse",)) if patch.strip() else ():
        out = ask.run("apply", "--numstat", "-z", *way, *shlex.split(options), "-", text=patch)
        found |= {line.split("\t", 2)[2] for line in out.decode("utf-8", "surrogateescape").split("\0")[:-1]}
    return found


def _hides(ask: _Asking, commits: set[bytes]) -> bool:
    """Whether history is said to begin with a commit although what came before it is there."""
    for oid in commits:
        try:
            lines = ask.run("cat-file", "commit", oid.decode("ascii", "replace")).split(b"\n\n")[0].splitlines()
        except GitFailed:
            continue
        for line in lines:
            if line.startswith(b"parent ") and ask.has(line[7:].decode("ascii", "replace")):
                return True
    return False


def put_back(before: State, name: str, now: str, keep: str) -> None:
    """Points a reference to where it pointed before, and keeps the commit under another name. Raises GitFailed."""
    ask = _Asking(before.directory, before.references.values())
    if now:
        ask.run("update-ref", f"refs/remit/aside/{keep}", now)
    if name.startswith(STASH_LOG):
        return  # an entry of a list
    old = before.references.get(name)
    if old is None and is_current(before.directory, name):
        old = before.references.get("HEAD")  # without a commit of its own, a person's `git reset` would empty the tree
    if old is None:
        ask.run("update-ref", "--no-deref", "-d", name, *([now] if now else ()))
    else:
        ask.run("update-ref", "--no-deref", name, old, *([now] if now else ()))


def drop_stashes(before: State, commits: Iterable[str]) -> None:
    """Removes these commits from the list of stashes. Raises GitFailed."""
    path, wrong = Path(before.directory, STASH_LOG), set(commits)
    try:
        lines = path.read_bytes().splitlines(keepends=True)
        left = [line for line in lines if line.split(b" ")[1:2] and line.split(b" ")[1].decode() not in wrong]
        if left != lines:
            fresh = path.with_name("stash.remit")
            fresh.write_bytes(b"".join(left))
            fresh.replace(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise GitFailed(str(error)) from None


def unstage(before: State, said: Iterable[Said]) -> None:
    """Has the index say about these paths what it said before. Raises GitFailed."""
    ask = _Asking(before.directory, before.references.values())
    old = _entries_of(ask, before.index)
    lines = []
    for one in said:
        path = one.path.removeprefix(f"{before.work}/") if before.work else one.path
        entry = old.get(path)
        lines.append(f"0 {'0' * 40}\t{path}\0" if entry is None else f"{entry.mode} {entry.oid} 0\t{path}\0")
    ask.run("update-index", "-z", "--index-info", text="".join(lines).encode("utf-8", "surrogateescape"))


def restore(directory: str, name: str, old: str, new: str, kept: str) -> None:
    """Points a reference that was put back to the commit of the run again. Raises GitFailed if it moved meanwhile."""
    ask = _Asking(directory)
    if name.startswith((STASH_LOG, "refs/stash")):
        ask.run("update-ref", "--create-reflog", "-m", "restored", "refs/stash", new)
    else:
        ask.run("update-ref", "--no-deref", name, new, old or "0" * len(new))
    ask.run("update-ref", "--no-deref", "-d", kept)


# Reading a repository


def references(directory: str) -> dict[str, str]:
    """Every reference with the object that it names, read from git's files; of symbolic ones what they lead to.

    `HEAD` and its kin are among them, those of work trees, and the entries of the list of stashes.
    """
    found: dict[str, str] = {}
    for line in _text(f"{directory}/packed-refs").splitlines():
        word, _, name = line.partition(" ")
        if _OID.fullmatch(word):
            found[name] = word
    for here, _, files in os.walk(f"{directory}/refs"):
        for file in files:
            name = os.path.relpath(f"{here}/{file}", directory)
            found.pop(name, None)
            if oid := _led(directory, _text(f"{here}/{file}"), found):
                found[name] = oid
    for folder in (directory, *_folders(f"{directory}/worktrees")):
        for file in _names(folder):
            if file == "HEAD" or file.endswith("_HEAD"):
                name = os.path.relpath(f"{folder}/{file}", directory)
                if oid := _led(directory, _text(f"{folder}/{file}"), found):
                    found[name] = oid
    for line in _text(f"{directory}/{STASH_LOG}").splitlines():
        oids = line.split(" ")[1:2]
        if oids and _OID.fullmatch(oids[0]):
            found[f"{STASH_LOG}@{oids[0]}"] = oids[0]
    return found


def _logged(directory: str) -> frozenset[str]:
    """What `HEAD` has been lately, by its log: `git gc` packs it anew, and then it looks new."""
    words = (line.split(" ", 2)[:2] for line in _text(f"{directory}/logs/HEAD", last=MAX_LOG).splitlines())
    return frozenset(word for pair in words for word in pair if _OID.fullmatch(word))


def is_detached(directory: str) -> bool:
    """Whether `HEAD` names a commit, and no branch."""
    return not _text(f"{directory}/HEAD").startswith("ref:")


def is_current(directory: str, name: str, depth: int = 5) -> bool:
    """Whether `HEAD` leads there, by one symbolic reference after the other."""
    here = "HEAD"
    for _ in range(depth):
        text = _text(f"{directory}/{here}")
        if not text.startswith("ref:"):
            return False
        here = text.removeprefix("ref:").split("\n")[0].strip()
        if here == name:
            return True
        if ".." in here.split("/") or here.startswith("/"):
            return False
    return False


def unfinished(before: State) -> list[str]:
    """What lies there now of operations that a person could continue or abort."""
    return [name for name in _UNFINISHED if os.path.lexists(f"{before.directory}/{name}")]


def restore_index(before: State) -> None:
    """The index is the one from before. Raises GitFailed."""
    path = Path(before.directory, "index")
    try:
        if _bytes(str(path)) == before.index:
            return
        if not before.index:
            path.unlink(missing_ok=True)
            return
        fresh = path.with_name("index.remit")
        fresh.write_bytes(before.index)
        fresh.replace(path)
    except OSError as error:
        raise GitFailed(str(error)) from None


def _led(directory: str, text: str, known: dict[str, str], depth: int = 5) -> str | None:
    word = text[:200].split("\t")[0].split("\n")[0].strip()
    if _OID.fullmatch(word):
        return word
    name = word.removeprefix("ref:").strip()
    if name == word or not name or not depth or ".." in name.split("/") or name.startswith("/"):
        return None
    return known.get(name) or _led(directory, _text(f"{directory}/{name}"), known, depth - 1)


class _Asking:
    """One repository, asked by git's plumbing."""

    def __init__(self, directory: str, known: Iterable[str] = ()) -> None:
        self._directory, self._old = directory, sorted(set(known))
        self._until = time.monotonic() + SECONDS
        self._above: dict[str, set[str]] = {}
        self._begin: str | None = None

    def begin_as(self, shallow: bytes) -> None:
        """History begins as this content of git's file `shallow` says, whatever that says now. Raises GitFailed."""
        import tempfile  # here: only where somebody has tampered with it

        self._begin = ""
        if shallow:
            with tempfile.NamedTemporaryFile(prefix="remit-shallow-", delete=False) as file:
                file.write(shallow)
            self._begin = file.name
            weakref.finalize(self, os.unlink, file.name)

    def has(self, oid: str) -> bool:
        """Whether there is such an object."""
        with suppress(GitFailed):
            self.run("cat-file", "-e", oid)
            return True
        return False

    def kinds(self, oids: Iterable[str]) -> dict[str, str]:
        """What kinds of objects these are. Raises GitFailed."""
        out = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", text="\n".join(oids).encode())
        pairs = (line.split(" ", 1) for line in out.decode().splitlines())
        return {pair[0]: pair[1] for pair in pairs}

    def peeled(self, oids: Iterable[str], kind: str) -> dict[str, str]:
        """Of these objects those that are of a kind or lead to one, as tags do, with what they lead to."""
        wanted = sorted(set(oids))
        text = "".join(f"{oid}^{{{kind}}}\n" for oid in wanted)
        out = self.run("cat-file", "--batch-check=%(objectname) %(objecttype)", text=text.encode())
        found = (line.split(" ") for line in out.decode().splitlines())
        return {oid: line[0] for oid, line in zip(wanted, found, strict=True) if line[1:] == [kind]}

    def run(self, *words: str, text: bytes = b"", index: str | None = None) -> bytes:
        """What git prints. Raises GitFailed."""
        left = self._until - time.monotonic()
        options = [part for setting in _SETTINGS for part in ("-c", setting)]
        git = [f"--git-dir={self._directory}", "--bare", "--no-pager", *options]
        more = {"GIT_INDEX_FILE": index} if index is not None else {}
        if self._begin is not None:
            more["GIT_SHALLOW_FILE"] = self._begin
        try:
            done = subprocess.run(  # noqa: S603  # git's own plumbing, without a shell
                [_program(), *git, *words],
                cwd="/",
                env={**_ENVIRONMENT, **more},
                input=text,
                capture_output=True,
                timeout=max(left, 0.1),
                check=False,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise GitFailed(f"git {words[0]}: {type(error).__name__}") from None
        if done.returncode != 0:
            reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or [str(done.returncode)]
            raise GitFailed(f"git {words[0]}: {reason[0][:200]}")
        return done.stdout

    def leads(self, tip: str, commit: str) -> bool:
        """Whether the history of a tip has this new commit in it."""
        if tip not in self._above:
            known = self._known()
            out = self.run("rev-list", "--ignore-missing", "--stdin", text=f"{tip}\n{known}".encode())
            self._above[tip] = set(out.decode().split())
        return commit in self._above[tip]

    def new(self, tips: Iterable[str]) -> list[list[str]]:
        """New commits, each with its parents. Raises GitFailed if there are too many."""
        text = "".join(f"{tip}\n" for tip in tips) + self._known()
        most = f"--max-count={MAX_COMMITS + 1}"
        out = self.run("rev-list", "--parents", "--ignore-missing", most, "--stdin", text=text.encode())
        lines = [line.split() for line in out.decode().splitlines()]
        if len(lines) > MAX_COMMITS:
            raise GitFailed(f"more than {MAX_COMMITS} new commits")
        return lines

    def _known(self) -> str:
        return "".join(f"^{oid}\n" for oid in self._old)


def _new_commits(ask: _Asking, before: State, protected: Protected, tips: set[str]) -> list[Said]:
    commits = ask.peeled(tips, "commit").values()  # a tag may name something that is no commit
    lines = ask.new(commits) if commits else []
    text = "".join(" ".join(line[:2]) + "\n" for line in lines)
    if not text:
        return []
    out = ask.run(
        "diff-tree", "--stdin", "-r", "--root", "--raw", "-z", "--no-renames", "--no-abbrev", text=text.encode()
    )
    return [
        Said(path, commit)
        for commit, path, entry in _differences(out, before.work)
        if path in protected and entry != _on_disk(before, path, len(entry.oid))
    ]


def _new_trees(ask: _Asking, before: State, protected: Protected, tips: dict[str, str]) -> dict[str, list[Said]]:
    """What new references say that lead to a tree without a commit: `git checkout TAG -- .` would bring it to light."""
    leading = ask.peeled(tips.values(), "tree").keys() - ask.peeled(tips.values(), "commit").keys() if tips else set()
    found: dict[str, list[Said]] = {}
    for name, tip in tips.items():
        if tip not in leading:
            continue
        lines = ask.run("ls-tree", "-r", "-z", "--full-tree", tip).decode("utf-8", "surrogateescape").split("\0")
        for line in lines[:-1]:
            about, _, path = line.partition("\t")
            mode, _, oid = about.split(" ")
            whole = f"{before.work}/{path}" if before.work else path
            if whole in protected and Entry(mode, oid) != _on_disk(before, whole, len(oid)):
                found.setdefault(name, []).append(Said(whole, tip))
    return found


def _differing(ask: _Asking, before: State, protected: Protected, old: str, new: str) -> list[Said]:
    try:
        out = ask.run("diff-tree", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", old, new)
    except GitFailed:
        return []  # what it was before is gone
    found = _differences(out, before.work)
    return [Said(p, new) for _, p, entry in found if p in protected and entry != _on_disk(before, p, len(entry.oid))]


def _differences(out: bytes, work: str) -> Iterator[tuple[str, str, Entry]]:
    """Commit, path below the root, and what the newer side says, of `--raw -z`."""
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    commit = ""
    for field in fields:
        text = field.lstrip("\n")
        if text.startswith(":"):
            _, mode, _, oid, _ = text.split(" ", 4)
            path = next(fields, "")
            entry = Entry(mode, oid) if mode != _ABSENT[0] else Entry(*_ABSENT)
            yield commit, f"{work}/{path}" if work else path, entry
        elif text:
            commit = text.split()[0]


def _staged(ask: _Asking, before: State, protected: Protected) -> list[Said]:
    """What the index says now about protected paths, and neither said before nor lies there."""
    try:
        old = _entries_of(ask, before.index)
    except GitFailed:
        old = {}
    new = _entries_of(ask, _bytes(f"{before.directory}/index"))
    found = []
    for path in sorted(old.keys() | new.keys()):
        whole = f"{before.work}/{path}" if before.work else path
        if old.get(path) == new.get(path) or whole not in protected:
            continue
        entry = new.get(path, Entry(*_ABSENT))
        if entry != _on_disk(before, whole, len(entry.oid)):
            found.append(Said(whole, ""))
    return found


def _entries_of(ask: _Asking, index: bytes) -> dict[str, Entry]:
    import tempfile  # here: only where an index has changed

    if not index:
        return {}
    with tempfile.NamedTemporaryFile(prefix="remit-index-") as file:
        file.write(index)
        file.flush()
        out = ask.run("ls-files", "--stage", "-z", index=file.name).decode("utf-8", "surrogateescape")
    found: dict[str, Entry] = {}
    for line in out.split("\0")[:-1]:
        about, _, path = line.partition("\t")
        mode, oid, _ = about.split(" ")
        found[path] = Entry(mode, oid)
    return found


def _on_disk(before: State, path: str, length: int) -> Entry:
    """What a tree would say about a path if it said what lies there."""
    full = f"{before.root}/{path}"
    try:
        status = os.lstat(full)
        if stat.S_ISLNK(status.st_mode):
            return Entry("120000", _blob(os.fsencode(os.readlink(full)), length))
        if stat.S_ISREG(status.st_mode):
            mode = "100755" if status.st_mode & stat.S_IXUSR else "100644"
            return Entry(mode, _blob(Path(full).read_bytes(), length))
    except (FileNotFoundError, NotADirectoryError):
        return Entry(*_ABSENT)
    except OSError:
        return Entry("", "unreadable")
    return Entry(*_ABSENT)


def _blob(data: bytes, length: int) -> str:
    from hashlib import new  # here: git chose these functions

    hashed = new("sha256" if length == 64 else "sha1", usedforsecurity=False)
    hashed.update(b"blob %d\0" % len(data) + data)
    return hashed.hexdigest()


# Objects


def _false_objects(before: State, ask: _Asking) -> list[str]:
    """Files among the objects that came or changed since, and are not what their names say. git itself doesn't look."""
    folder = f"{before.directory}/objects"
    found = []
    for name in _names(folder):
        if len(name) == 2:
            for rest in _names(f"{folder}/{name}"):
                path = f"{folder}/{name}/{rest}"
                if _OID.fullmatch(name + rest) and _is_new(path, before.at) and not _is_object(path, name + rest):
                    found.append(f"objects/{name}/{rest}")
    for rest in _names(f"{folder}/pack"):
        path = f"{folder}/pack/{rest}"
        if rest.endswith(".idx") and (_is_new(path, before.at) or _is_new(f"{path[:-4]}.pack", before.at)):
            try:
                ask.run("verify-pack", path)
            except GitFailed:
                found += [f"objects/pack/{rest}", f"objects/pack/{rest[:-4]}.pack"]
    derived = [f"objects/pack/{name}" for name in _names(f"{folder}/pack") if name.startswith("multi-pack-index")]
    derived += [f"objects/info/{name}" for name in _names(f"{folder}/info") if name.startswith("commit-graph")]
    if any(_is_new_below(f"{before.directory}/{path}", before.at) for path in derived):
        for words in (("commit-graph", "verify"), ("multi-pack-index", "verify")):
            try:
                ask.run("-c", "core.commitGraph=true", "-c", "core.multiPackIndex=true", *words)
            except GitFailed:
                found += [path for path in derived if words[0].split("-")[0] in path]
    return sorted(set(found))


def _made_commits(before: State, ask: _Asking) -> list[str]:
    """Commits among the objects that came since, whether anything leads to them or not. Raises GitFailed."""
    folder = f"{before.directory}/objects"
    found: list[str] = []
    for name in _names(folder):
        if len(name) == 2 and _is_new(f"{folder}/{name}", before.at):  # a folder changes with what comes into it
            found += [
                name + rest for rest in _names(f"{folder}/{name}") if _is_new(f"{folder}/{name}/{rest}", before.at)
            ]
    for rest in _names(f"{folder}/pack"):
        path = f"{folder}/pack/{rest}"
        if rest.endswith(".idx") and _is_new(path, before.at):
            out = ask.run("show-index", text=_bytes(path)).decode()
            found += [line.split()[1] for line in out.splitlines()]
    found = [oid for oid in found if _OID.fullmatch(oid) and oid not in before.logged]
    return [oid for oid, kind in ask.kinds(found).items() if kind == "commit"] if found else []


def _is_object(path: str, oid: str) -> bool:
    from hashlib import new  # here: git chose these functions

    hashed, unpacked = new("sha256" if len(oid) == 64 else "sha1", usedforsecurity=False), zlib.decompressobj()
    try:
        with open(path, "rb") as file:
            while data := file.read(1 << 20):
                hashed.update(unpacked.decompress(data))
        hashed.update(unpacked.flush())
    except (OSError, zlib.error):
        return not os.path.lexists(path)
    return hashed.hexdigest() == oid


def _is_new(path: str, since: int) -> bool:
    try:
        return os.lstat(path).st_ctime_ns >= since
    except OSError:
        return False


def _is_new_below(path: str, since: int) -> bool:
    return _is_new(path, since) or any(_is_new(f"{path}/{name}", since) for name in _names(path))


# Files


def _program() -> str:
    found = find_program("git")
    if found is None:
        raise GitFailed("git is not installed")
    return found


def _mode(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _folders(folder: str) -> Iterator[str]:
    return (f"{folder}/{name}" for name in _names(folder) if stat.S_ISDIR(_mode(f"{folder}/{name}")))


def _bytes(path: str) -> bytes:
    try:
        if not stat.S_ISREG(_mode(path)):
            return b""
        with open(path, "rb") as file:
            return file.read(MAX_INDEX)
    except OSError:
        return b""


def _says(path: str) -> bytes:
    """What a file says, nothing if it is not there; `_NO_FILE` for a link and whatever else is no file."""
    return _bytes(path) if _mode(path) == 0 or stat.S_ISREG(_mode(path)) else _NO_FILE


def _text(path: str, *, last: int = MAX_INDEX) -> str:
    """What a file says, or the last of it."""
    return _bytes(path)[-last:].decode("utf-8", "replace")
