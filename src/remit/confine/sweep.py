"""After a run: what mounts can't hold is looked for, taken out of the way where the run made it, and told.

before = Before.take(profile, place)        # raises Unconfinable if a protected file has another name
…                                           # the run
swept = before.sweep(changes)               # findings, with what was done about each

What was not there before the run, came while it ran, and lies where it could write, the run made: that is moved
aside, and a person can put it back. Whatever else differs may be a person's own work: it is reported, never reverted.
Where the backend has a list of all that the run changed, that list says what it made.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterable, Sequence

import msgspec

from remit.confine import git_trees
from remit.confine.aside import Aside, AsideError, printable
from remit.confine.git_repository import problem, work_tree_problem
from remit.confine.git_trees import GitFailed, State
from remit.confine.hashes import Content, contents, same
from remit.confine.interface import Change, Place, Unconfinable
from remit.confine.inventory import Identity, Inventory, identity, inventory, names_of
from remit.confine.look import plain_paths
from remit.confine.protected import GIT, HELD_IN_GIT, Protected, is_named_like_file
from remit.model.errors import RemitError
from remit.model.profile import Profile
from remit.model.text import shown
from remit.scopes.glob import Glob, fold

MAX_FINDINGS = 200
"""So many are told one by one. All are dealt with, however many: otherwise the last would be out of reach."""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that a sweep found."""

    code: str
    path: str
    what: str
    """In words, after the path: `is protected, and was made by the command`."""
    by_run: bool = False
    """The run made it; otherwise nobody can tell who did."""
    aside: str | None = None
    """As what it lies aside."""
    stops: bool = False
    """A run that goes on is ended for it: what holds the rest may not hold any more."""

    @property
    def message(self) -> str:
        """For the agent and for people."""
        moved = f"; it was moved aside (`remit aside restore {self.aside}` restores it)" if self.aside else ""
        return f"Remit: `{shown(self.path, 200)}` {self.what}{moved}"


class Swept(msgspec.Struct, frozen=True):
    """What came of a sweep."""

    findings: tuple[Finding, ...] = ()
    took: int = 0
    """Microseconds, those of the look before the run included."""
    files: int = 0


class Before:
    """A root as it was before a run."""

    def __init__(self, profile: Profile, place: Place, *, modes: bool = True) -> None:
        began = time.perf_counter_ns()
        self.profile, self.place, self.root = profile, place, str(place.root)
        self.protected = Protected(profile)
        self.modes = modes and _is_open_to_others(self.root)
        self.seen = inventory(self.root, self.protected, modes=self.modes)
        self.contents = contents(self.root, self.seen.tops)
        self.above = {path: found for path in _parents(self.seen.tops) if (found := _identity(f"{self.root}/{path}"))}
        self.work_trees = _work_trees(self.root, self.seen.repositories)
        self.states = self._states() if profile.git else []
        self.took = (time.perf_counter_ns() - began) // 1_000
        self._writes = _Writable(profile)

    @classmethod
    def take(cls, profile: Profile, place: Place, *, modes: bool = True) -> Before:
        """`modes`: the run could make a setuid file. Raises Unconfinable where a protected file could be written by
        another of its names."""
        before = cls(profile, place, modes=modes)
        shared = {(c.identity.device, c.identity.inode): path for path, c in before.contents.items() if c.names > 1}
        for name, inode in names_of(before.root, shared, before.protected).items() if shared else ():
            one, other = shown(shared[inode], 200), shown(name, 200)
            raise Unconfinable(
                f"`{one}` is protected and has another name, `{other}`: a write to that would change it",
                help="make one of them a copy",
            )
        return before

    def sweep(self, changes: Sequence[Change] | None = None) -> Swept:
        """Looks, and takes out of the way what the run made."""
        began = time.perf_counter_ns()
        after = inventory(self.root, self.protected, modes=self.modes)
        made = _Made(self._writes, changes)
        aside = Aside(self.place.state)
        found = [_done(act, aside) for act in list(self._differences(after, made))]
        for state in self.states:
            found += self._git(state, after, made, aside)
        if len(found) > MAX_FINDINGS:
            more = found[MAX_FINDINGS:]
            what = f"has {len(more)} more such things in it, which were dealt with in the same way"
            found[MAX_FINDINGS:] = [Finding("more", ".", what, by_run=any(one.by_run for one in more))]
        took = (time.perf_counter_ns() - began) // 1_000
        return Swept(tuple(found), took + self.took, after.files)

    def alarm(self) -> Finding | None:
        """A quick look while the run goes on: the first thing for which it must end. Nothing is touched."""
        after = inventory(self.root, self.protected, modes=False)
        for act in self._differences(after, _Made(self._writes, None)):
            found = act(None)
            if found.stops:
                return found
        return None

    # What differs. Each difference is something to do, given where things are put aside; None: only say it.

    def _differences(self, after: Inventory, made: _Made) -> Iterable[_Act]:
        yield from self._new(after, made)
        yield from self._changed(after)
        yield from self._repositories(after, made)
        for path, what in after.links.items():
            if self.seen.links.get(path) != what and (target := self._protected_target(path)) is not None:
                how = f"is a new link to `{shown(target, 120)}`, which is protected"
                yield self._out_of_the_way("link", path, how, made)
        for path, mode in after.setuid.items():
            if path not in self.seen.setuid:
                yield _Setuid(self.root, path, mode)
        for path, why in after.unreadable.items():
            if path not in self.seen.unreadable:
                yield _Told(Finding("unreadable", printable(path), f"can't be looked into: {why}"))

    def _new(self, after: Inventory, made: _Made) -> Iterable[_Act]:
        """Protected names where there were none."""
        outer: list[str] = []
        for path in sorted(after.tops):
            if path in self.seen.tops or any(path.startswith(f"{one}/") for one in outer):
                continue
            if self._is_in_new_repository(path) or self._is_copy(path):
                continue
            outer.append(path)
            if self._is_held(path):
                yield _Told(Finding("protected-changed", printable(path), "is protected, and appeared meanwhile"))
            else:
                yield self._out_of_the_way("protected-made", path, "is protected, and the command made it", made)

    def _changed(self, after: Inventory) -> Iterable[_Act]:
        """Protected things that were there."""
        now = contents(self.root, (path for path in self.seen.tops))
        replaced: list[str] = []
        for path, folder in self.above.items():
            if _identity(f"{self.root}/{path}") != folder:
                replaced.append(path)
                what = "is no longer the directory that was there before the run, and something protected lies in it"
                yield _Told(Finding("protected-moved", printable(path), what, stops=True))
        for path, old in self.contents.items():
            new = now.get(path)
            if any(path.startswith(f"{one}/") for one in replaced):
                continue
            if new is None:
                yield _Told(_changed(path, "is protected, and was removed meanwhile", old, new))
                replaced.append(path)
            elif not same(old, new):
                yield _Told(_changed(path, "is protected, and was changed meanwhile", old, new))
            elif old.identity != new.identity:
                yield _Told(_changed(path, "is protected, and was replaced by an identical one meanwhile", old, new))
        for path in now.keys() - self.contents.keys():
            yield _Told(Finding("protected-changed", printable(path), "is protected, and appeared meanwhile"))
        linked = {(c.identity.device, c.identity.inode): p for p, c in now.items() if c.names > 1}
        for name, inode in names_of(self.root, linked, self.protected).items() if linked else ():
            what = f"is another name of `{shown(linked[inode], 120)}`, which is protected"
            yield self._out_of_the_way("hard-link", name, what, _Made(self._writes, None), stops=True)

    def _repositories(self, after: Inventory, made: _Made) -> Iterable[_Act]:
        known = frozenset(self.seen.repositories)
        for path, found in after.repositories.items():
            old = self.seen.repositories.get(path)
            if old is None:
                why = problem(self.root, path, known)
                if why is not None:
                    what = f"is a repository that may run programs when a person works in it: {why}"
                    yield self._out_of_the_way("git-repository", path, what, made)
            elif old != found:
                what = "is no longer the repository that was there before the run"
                yield _Told(Finding("git-repository", printable(path), what, stops=True))
        for path in _work_trees(self.root, after.repositories) - self.work_trees:
            git, _, name = path.rpartition("/worktrees/")
            why = work_tree_problem(f"{self.root}/{git}", name)
            if why is not None and git in self.seen.repositories:
                yield self._out_of_the_way("git-repository", path, f"is a work tree: {why}", made)

    def _git(self, state: State, after: Inventory, made: _Made, aside: Aside) -> Iterable[Finding]:
        """What a repository says that was there before.

        INVARIANT: what can't be judged does not stay. A run that makes judging fail gains nothing by it.
        """
        held = [path for path in self.contents if path.startswith(f"{state.path}/")]
        now = contents(self.root, (path for path in self.seen.tops if path.startswith(f"{state.path}/")))
        new = [path for path in after.tops if path.startswith(f"{state.path}/") and path not in self.seen.tops]
        odd = [path for path in held if path not in now or not same(self.contents[path], now[path])]
        odd += [path for path in new if os.path.lexists(f"{self.root}/{path}")]  # it could not be moved aside
        if odd or now.keys() - self.contents.keys():
            what = "was not asked about new commits: what git runs there is not as it was"
            yield Finding("git-unknown", printable(state.path), what)
            return
        try:
            found = self._asked(state)
            for name in found.objects:
                what = "is not the object that its name promises"
                yield _done(self._out_of_the_way("git-objects", f"{state.path}/{name}", what, made), aside)
            if found.objects:  # they stood in the way of all other questions
                found = self._asked(state)
                if found.objects:
                    raise GitFailed(f"`{found.objects[0]}` is in the way")
        except (GitFailed, OSError, ValueError) as error:
            yield from (_done(act, aside) for act in self._unjudged(state, made, str(error)))
            return
        yield from [_done(act, aside) for act in self._judged(state, found, made)]

    def _asked(self, state: State) -> git_trees.Judgement:
        return git_trees.judge(state, self.protected, fetched=self.profile.network.mode != "none")

    def _unjudged(self, state: State, made: _Made, why: str) -> Iterable[_Act]:
        """New commits that nobody can judge: references and index say what they said before, and nothing goes on."""
        what = f"could not be asked about new commits: {shown(why, 200)}"
        yield _Told(Finding("git-unknown", printable(state.path), what, by_run=True))
        undone = "was put back, since nobody could judge the commits that it leads to"
        for name, oid in git_trees.references(state.directory).items():
            if state.references.get(name) == oid or (name == "HEAD" and not git_trees.is_detached(state.directory)):
                continue
            if name.endswith("_HEAD"):
                yield self._out_of_the_way("git-unknown", f"{state.path}/{name}", undone, made, stops=False)
            else:
                yield _Reference(self, state, name, Finding("git-unknown", printable(name), undone, by_run=True))
        for name in git_trees.unfinished(state):
            what = "would continue with commits that nobody could judge"
            yield self._out_of_the_way("git-unknown", f"{state.path}/{name}", what, made, stops=False)
        yield _WholeIndex(state)

    def _judged(self, state: State, found: git_trees.Judgement, made: _Made) -> Iterable[_Act]:
        for name, said in found.commits.items():
            if name == "HEAD" and not git_trees.is_detached(state.directory):
                continue  # its branch is a reference of its own
            paths = shown(", ".join(sorted({printable(one.path) for one in said})), 200)
            what = f"is protected, and commit {said[0].commit[:12]} on {shown(name)} changes it"
            finding = Finding("git-commit", paths, what, by_run=not name.endswith("_HEAD"))
            yield _Reference(self, state, name, finding, {one.commit for one in said})
        for name in found.replaced:
            finding = Finding("git-objects", name, "has git take one object for another", by_run=True)
            yield _Reference(self, state, name, finding)
        for one in found.moved:
            what = f"is protected, and commit {one.commit[:12]}, which is checked out now, has another version of it"
            yield _Told(Finding("git-moved", printable(one.path), what))
        if found.staged:
            yield _Index(state, found.staged)
        for one in found.loose:
            yield self._loose(state, one, made)
        for name, what in found.info.items():
            yield self._out_of_the_way("git-objects", f"{state.path}/{name}", what, made)

    # Helpers

    def _states(self) -> list[State]:
        paths = sorted(path for path in self.seen.repositories if fold(path.rpartition("/")[2]) == GIT)
        found = (State.take(self.root, path) for path in paths)
        return [state for state in found if state is not None]

    def _loose(self, state: State, one: git_trees.Said, made: _Made) -> _Act:
        """A commit to which no reference leads: its object is taken away, unless it lies in a pack with others."""
        path = f"{state.path}/objects/{one.commit[:2]}/{one.commit[2:]}"
        changed = shown(printable(one.path), 120)
        what = f"is a commit that no branch leads to, and it changes `{changed}`, which is protected"
        # Where git has packed everything anew, old commits look new, too: nobody can tell whose they are.
        by_run = not state.is_repacked()
        if os.path.lexists(f"{self.root}/{path}"):
            move = self._out_of_the_way("git-commit", path, what, made, stops=False)
            return move if by_run else lambda aside: msgspec.structs.replace(move(aside), by_run=False)
        return _Told(Finding("git-commit", printable(path), what, by_run=by_run))

    def _out_of_the_way(self, code: str, path: str, what: str, made: _Made, *, stops: bool = True) -> _Act:
        return _Move(self, code, path, what, made(path), stops)

    def _is_in_new_repository(self, path: str) -> bool:
        """What a new repository has in it is looked at as a whole."""
        parts = path.split("/")
        for count, part in enumerate(parts, 1):
            if fold(part) == GIT:
                return "/".join(parts[:count]) not in self.seen.repositories
        return False

    def _is_copy(self, path: str) -> bool:
        """Whether all that is new there lay in the root under that name, to the byte: it governs nothing otherwise.

        So a clone of the project stays.
        """
        above, _, name = path.rpartition("/")
        start = len(above) + 1 if above else 0
        new = contents(self.root, [path])
        if not all(_is_open(f"{self.root}/{one}") for one, found in new.items() if stat.S_ISDIR(found.identity.kind)):
            return False  # nobody knows what is in it
        files = {one: found for one, found in new.items() if not stat.S_ISDIR(found.identity.kind)}
        same_here = (self.contents.get(one[start:]) for one in files)
        pairs = zip(files.values(), same_here, strict=True)
        return bool(name) and all(old is not None and old.digest and old.digest == found.digest for found, old in pairs)

    def _is_held(self, path: str) -> bool:
        """Whether a backend holds this very path although nothing lay there: then the run can't have made it.

        It holds what the profile names without wildcards, spelled like that (`.REMIT` is another folder here, and
        the same on other systems), but for files, and what lay there already. Nobody but a
        program that wants to lead git elsewhere writes a `commondir`, and `config.worktree` is held only where git
        reads it.
        """
        if path.endswith(("/commondir", "/config.worktree")):
            return False
        parts = path.split("/")
        git = parts[0] == GIT and (not self.profile.git or parts[1:2] == [] or parts[1] in (*HELD_IN_GIT, "modules"))
        plain = path in self._spelled() and not is_named_like_file(path)
        return git or plain or path in self.seen.silent

    def _spelled(self) -> set[str]:
        """What the profile names without wildcards, to the letter."""
        globs = (Glob.parse(text) for text in self.profile.protected_paths)
        return {*self.profile.protected_names, *(path for glob in globs for path in plain_paths(glob))}

    def _protected_target(self, path: str) -> str | None:
        """Where a link leads, if that is something protected below the root."""
        real = os.path.realpath(f"{self.root}/{path}")
        if not real.startswith(f"{self.root}/"):
            return None
        target = real[len(self.root) + 1 :]
        return target if target in self.protected else None


_Act = Callable[[Aside | None], Finding]


def _done(act: _Act, aside: Aside) -> Finding:
    """What came of it; that it could not be done is a finding, and keeps nobody from the rest."""
    try:
        return act(aside)
    except (RemitError, OSError, ValueError) as error:
        what = f"could not be swept after the run: {type(error).__name__}: {shown(str(error), 200)}"
        return Finding("unswept", ".", what)


class _Told:
    """Something that is only said."""

    def __init__(self, finding: Finding) -> None:
        self._finding = finding

    def __call__(self, aside: Aside | None) -> Finding:
        return self._finding


class _Move:
    """Something that is moved aside if the run made it."""

    def __init__(self, before: Before, code: str, path: str, what: str, by_run: bool, stops: bool) -> None:
        self._before, self._path, self._by_run = before, path, by_run
        self._finding = Finding(code, printable(path), what, by_run, stops=stops and by_run)

    def __call__(self, aside: Aside | None) -> Finding:
        found, before = self._finding, self._before
        if aside is None or not self._by_run:
            return found
        try:
            kept = aside.move(before.root, self._path, why=found.what, agent=before.profile.agent)
        except AsideError as error:
            return msgspec.structs.replace(found, what=f"{found.what}; {error}")
        return msgspec.structs.replace(found, aside=kept.id)


class _Setuid:
    """A file that would run with somebody's rights: it does no more."""

    def __init__(self, root: str, path: str, mode: int) -> None:
        self._root, self._path, self._mode = root, path, mode

    def __call__(self, aside: Aside | None) -> Finding:
        what = "would run with the rights of its owner"
        if aside is not None:
            try:
                handle = os.open(f"{self._root}/{self._path}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                try:
                    os.fchmod(handle, stat.S_IMODE(self._mode) & ~(stat.S_ISUID | stat.S_ISGID))
                    what += "; that was removed"
                finally:
                    os.close(handle)
            except OSError as error:
                what += f", and that can't be taken from it: {error.strerror}"
        return Finding("setuid", printable(self._path), what, by_run=True)


class _Reference:
    """A reference of git that points somewhere it must not: it points where it pointed before."""

    def __init__(self, before: Before, state: State, name: str, finding: Finding, commits: Iterable[str] = ()) -> None:
        self._before, self._state, self._name, self._finding = before, state, name, finding
        self._commits = frozenset(commits)

    def __call__(self, aside: Aside | None) -> Finding:
        found, state, name = self._finding, self._state, self._name
        if aside is None or not found.by_run:
            return found
        try:
            now = git_trees.references(state.directory).get(name, "")
            kept = aside.new_reference(
                root=self._before.root,
                path=printable(name),
                raw=os.fsencode(name).hex() if printable(name) != name else "",
                why=found.what,
                agent=self._before.profile.agent,
                git=state.directory,
                before=state.references.get(name, ""),
                after=now,
            )
            if name.startswith((git_trees.STASH_LOG, "refs/stash")):
                git_trees.drop_stashes(state, self._commits | {now})
            git_trees.put_back(state, name, now, kept.id)
            if now:
                aside.note(kept)
        except (GitFailed, AsideError) as error:
            return self._by_its_file(aside, str(error))
        return msgspec.structs.replace(found, aside=kept.id if now else None)

    def _by_its_file(self, aside: Aside, why: str) -> Finding:
        """git won't touch a reference with such a name or content: the file that holds it is moved aside."""
        found, before = self._finding, self._before
        try:
            path = f"{self._state.path}/{self._name}"
            kept = aside.move(before.root, path, why=found.what, agent=before.profile.agent)
        except AsideError:
            return msgspec.structs.replace(found, what=f"{found.what}; it can't be put back: {why}")
        return msgspec.structs.replace(found, aside=kept.id)


class _WholeIndex:
    """An index that nobody could judge: it is the one from before the run."""

    def __init__(self, state: State) -> None:
        self._state = state

    def __call__(self, aside: Aside | None) -> Finding:
        what = "is again as it was before the run, since nobody could judge what it says now; files are as they are"
        found = Finding("git-index", printable(f"{self._state.path}/index"), what, by_run=True)
        if aside is not None:
            try:
                git_trees.restore_index(self._state)
            except GitFailed as error:
                return msgspec.structs.replace(found, what=f"could not be put back: {error}")
        return found


class _Index:
    """An index that says something about protected paths: about these it says what it said before."""

    def __init__(self, state: State, said: Sequence[git_trees.Said]) -> None:
        self._state, self._said = state, said

    def __call__(self, aside: Aside | None) -> Finding:
        text = shown(", ".join(sorted(printable(one.path) for one in self._said)), 200)
        found = Finding("git-index", text, "is protected, and the index of git has another version of it", by_run=True)
        if aside is None:
            return found
        try:
            git_trees.unstage(self._state, self._said)
        except GitFailed as error:
            return msgspec.structs.replace(found, what=f"{found.what}; that can't be put back: {error}")
        return msgspec.structs.replace(found, what=f"{found.what}; that was unstaged")


class _Made:
    """Whether the run made what lies at a path and was not there before."""

    def __init__(self, writes: _Writable, changes: Sequence[Change] | None) -> None:
        self._writes = writes
        self._changed = None if changes is None else {change.path for change in changes}

    def __call__(self, path: str) -> bool:
        if self._changed is None:
            return self._writes(path)
        return path in self._changed or any(one.startswith(f"{path}/") for one in self._changed)


class _Writable:
    """Whether a profile lets something be written at a path, its protection aside."""

    def __init__(self, profile: Profile) -> None:
        self._regions = [
            ([Glob.parse(text) for text in region.may], [Glob.parse(text) for text in region.except_])
            for region in profile.write
        ]
        self._git = profile.git

    def __call__(self, path: str) -> bool:
        if GIT in path.split("/"):
            return self._git or all(self._admits(region, path) for region in self._regions)
        return all(self._admits(region, path) for region in self._regions)

    @staticmethod
    def _admits(region: tuple[list[Glob], list[Glob]], path: str) -> bool:
        may, never = region
        forms = (path, f"{path}/x")  # a directory, or all that is in it
        return any(glob.matches(form) for glob in may for form in forms) and not any(g.matches(path) for g in never)


def _changed(path: str, what: str, old: Content, new: Content | None) -> Finding:
    """A mount holds a file as long as that is the same file: of another one nobody knows."""
    detached = new is None or old.identity != new.identity
    return Finding("protected-changed", printable(path), what, stops=detached)


def _is_open(directory: str) -> bool:
    try:
        os.listdir(directory)
    except OSError:
        return False
    return os.access(directory, os.X_OK)


def _identity(full: str) -> Identity | None:
    try:
        return identity(os.lstat(full))
    except OSError:
        return None


def _parents(paths: Iterable[str]) -> list[str]:
    """The directories between the root and these paths."""
    found: dict[str, None] = {}
    for path in paths:
        parts = path.split("/")[:-1]
        found.update(("/".join(parts[:count]), None) for count in range(1, len(parts) + 1))
    return list(found)


def _work_trees(root: str, repositories: Iterable[str]) -> frozenset[str]:
    found = set()
    for path in repositories:
        folder = f"{root}/{path}/worktrees"
        if os.path.isdir(folder):
            found |= {f"{path}/worktrees/{name}" for name in os.listdir(folder)}
    return frozenset(found)


def _is_open_to_others(root: str) -> bool:
    """Whether somebody else on this machine can get at files below the root: then a setuid file lends its owner's
    rights to them."""
    here = root
    while True:
        try:
            status = os.stat(here)
        except OSError:
            return True
        if not status.st_mode & (stat.S_IXOTH | stat.S_IXGRP):
            return False
        if here == "/":
            return True
        here = os.path.dirname(here)
