"""Landlock: a process gives up what it may not touch, without namespaces or mounts. It works inside containers.

It only ever allows, below folders: nothing can be forbidden inside of what is allowed. So a folder with something
protected in it is taken apart, and what is in it now is allowed, one by one; nothing new can be made there.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from remit.confine import restrict
from remit.confine.backends.bubblewrap import check_place, limits, new_launch, timeout
from remit.confine.call_filter import program
from remit.confine.environment import caches, home_of, surroundings, variables
from remit.confine.interface import Change, Launch, Place, Unconfinable
from remit.confine.mounts import TEMPORARY, Mount, plan
from remit.confine.placeholders import Placeholders
from remit.confine.trial import Trial, session_trial, tried
from remit.model.profile import Profile

MOST = 5000
"""Rules of one run."""
_DEVICES = ("null", "zero", "full", "random", "urandom")
"""No terminals: one rule would be for all of them, and what a person types in another one could be read."""
_RIGHTS = {"ro": restrict.READ, "rw": restrict.READ + restrict.WRITE}
_ALWAYS = (
    "nothing new is made in a folder that holds something protected: not in the project's own root, and not in `.git`",
    "modes, times and attributes of the user's own files can be changed everywhere",
    "names and sizes of files can be seen, and the command lines of other processes",
    "there are no Unix sockets at all, no terminals, and no `/tmp`: `TMPDIR` is a folder that belongs to the run",
    "what a command leaves running continues after it; the number of processes is not limited",
)


class Landlock:
    """Commands that a launcher restricts before it becomes them."""

    name = "landlock"

    def __init__(self, state: Path) -> None:
        """`state` is Remit's own folder, where it is kept whether the trial worked."""
        self.state = state

    def holds(self) -> frozenset[str]:
        if not self.trial().works:
            return frozenset()
        return frozenset(("write", "read", "network", *(("hosts",) if session_trial(self.state).works else ())))

    def lacking(self) -> Sequence[str]:
        trial = self.trial()
        if not trial.works:
            return trial.lines()
        old = () if restrict.abi() >= 6 else ("other processes of the user can be ended: that needs Linux 6.12",)
        hosts = (f"only some hosts: {line}" for line in session_trial(self.state).lines())
        return (*_ALWAYS, *hosts, *old)

    def trial(self) -> Trial:
        """Whether a process can restrict itself here, and whether that holds."""
        if os.geteuid() == 0:
            return Trial(works=False, said="Landlock does not confine root", help="run Remit as an ordinary user")
        version = restrict.abi()
        if version < restrict.NEEDED:
            said = f"this kernel has version {version} of Landlock" if version else "this kernel has no Landlock"
            return Trial(works=False, said=said, help="this needs Linux 6.2 or newer")
        if not restrict.known_machine():
            return Trial(works=False, said=f"system calls of {os.uname().machine} are not known")
        return tried(self.name, sys.executable, _launcher(), self.state)

    def refuses_setuid(self) -> bool:
        return True  # by the filter of system calls

    def prepare(self, profile: Profile, place: Place, environment: Mapping[str, str]) -> Launch:
        trial = self.trial()
        if not trial.works:
            raise Unconfinable(f"Landlock does not work here: {trial.said}", help=trial.help or None)
        if not profile.needs <= self.holds():
            missing = ", ".join(sorted(profile.needs - self.holds()))
            raise Unconfinable(f"Landlock can't enforce this: {missing}", help="apt install bubblewrap")
        check_place(profile, place)
        directory = new_launch(place)
        placeholders = Placeholders(place.state, place.root)
        try:
            found = variables(profile, place, environment)
            with placeholders.held():
                placeholders.tidy()
                planned = plan(profile, place, environment)
                new = tuple(
                    mount.path for mount in planned.mounts if mount.how == "rw" and mount.path in planned.folders
                )
                placeholders.claim(directory.name, new, {})
            own = _own(profile, place, directory, home_of(environment))
            rules = [*own, *_devices(), restrict.rule("/proc", restrict.READ), *_rules(planned.mounts, str(place.root))]
            if len(rules) > MOST:
                raise Unconfinable(f"{len(rules)} rules would be needed, and {MOST} is the most")
            network = "open" if profile.network.mode == "open" or place.join else "none"
            text = "\0".join((network, program().hex(), *rules))
            (directory / "rules").write_bytes(os.fsencode(text))
        except OSError as error:
            self.finish(profile, place, Launch((), {}, directory))
            raise Unconfinable(f"can't prepare confinement: {error}") from error
        except Unconfinable:
            self.finish(profile, place, Launch((), {}, directory))
            raise
        temporary = str(place.scratch or directory / "tmp")
        found |= dict.fromkeys(("TMPDIR", "TMP", "TEMP"), temporary)
        if profile.home == "private":
            found["HOME"] = str(directory / "home")
        allowed = profile.limits
        words = (*timeout(allowed), *place.join, *_launcher(), str(directory / "rules"), "--")
        return Launch(
            words=(*words, *(word for word in limits(allowed) if not word.startswith("--nproc="))),
            environment=found,
            directory=directory,
            narrower=planned.narrower or ("**",),
        )

    def finish(self, profile: Profile, place: Place, launch: Launch) -> Sequence[Change] | None:
        placeholders = Placeholders(place.state, place.root)
        with placeholders.held():
            placeholders.release(launch.directory.name)
        shutil.rmtree(launch.directory, ignore_errors=True)
        return None


def in_process(launch: Launch) -> tuple[Callable[[], None], Callable[[], None]]:
    """The same limits without a launcher, for a parent in Python: what its child calls between `fork` and `exec`
    (`preexec_fn`), and what the parent calls afterwards. Limits of time and memory, and joining a session, are words.
    Raises Unconfinable."""
    if launch.words[0] != sys.executable or launch.words[-1] != "--":
        raise Unconfinable("the limits of this launch need its words")
    sockets, calls, *paths = os.fsdecode((launch.directory / "rules").read_bytes()).split("\0")
    try:
        rules = restrict.Rules(sockets, paths, bytes.fromhex(calls))
    except OSError as error:
        raise Unconfinable(f"the command could not be confined: {error}") from error
    return rules.restrict, rules.close


def _launcher() -> tuple[str, ...]:
    return sys.executable, "-I", "-S", restrict.__file__


def _own(profile: Profile, place: Place, directory: Path, home: Path) -> Iterator[str]:
    """Folders of the run's own: for temporary files, and a home with links to the tools and caches of the real one."""
    for name in ("tmp", "home"):
        (directory / name).mkdir(mode=0o700)
        yield restrict.rule(str(directory / name), restrict.READ + restrict.WRITE)
    if place.scratch is not None:
        yield restrict.rule(str(place.scratch), restrict.READ + restrict.WRITE)
    if profile.home == "private":
        for real in (*(home / name for name in surroundings().tools), *caches(profile, home)):
            link = directory / "home" / real.relative_to(home)
            if real.exists() and not real.is_symlink() and not link.exists():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(real)


def _devices() -> Iterator[str]:
    for name in _DEVICES:
        if os.path.exists(f"/dev/{name}"):
            yield restrict.rule(os.path.realpath(f"/dev/{name}"), restrict.DEVICE)


def _rules(mounts: Sequence[Mount], root: str) -> Iterator[str]:
    """What these mounts show and let be written, as rules: each path with the rights that all below it has."""
    table = {mount.path: _RIGHTS.get(mount.how, "") for mount in mounts if mount.how != "link"}
    for path in TEMPORARY:
        table[path] = ""
    found: dict[str, str] = {}
    for right in (restrict.READ, restrict.WRITE):
        for path in (path for path, rights in table.items() if right in rights and os.path.exists(path)):
            weaker = [other for other, rights in table.items() if right not in rights and other.startswith(path + "/")]
            if right == restrict.READ:
                weaker = [other for other in weaker if os.path.lexists(other)]
            for part in _parts(path, weaker, table):
                found[part] = found.get(part, "") + right
            if weaker and right == restrict.READ and f"{path}/".startswith(f"{root}/"):
                found[path] = found.get(path, "") + restrict.LIST
    for path, rights in found.items():
        if os.path.exists(path) and not os.path.islink(path):
            yield restrict.rule(path, rights)


def _parts(path: str, weaker: Sequence[str], table: Mapping[str, str]) -> Iterator[str]:
    """The path, or if something below it has fewer rights, what is in it now, but for that."""
    if not any(other.startswith(path + "/") for other in weaker):
        yield path
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.path not in table and not entry.is_symlink():
                yield from _parts(entry.path, weaker, table)
