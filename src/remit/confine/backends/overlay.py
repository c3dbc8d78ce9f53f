"""An overlay: a command writes to a layer of its own; what it changed is judged by the policy's matcher, and then made.

It needs no package: Perl, and a kernel that lets ordinary users mount overlays (5.11).
Globs are exact, and no mount can get lost, since nothing of the host's is written while the command runs.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from remit.confine.backends.bubblewrap import NOBODY, check_place, limits, new_launch, timeout
from remit.confine.bounds import Bounds
from remit.confine.call_filter import program
from remit.confine.commit import alone, commit, judge
from remit.confine.environment import variables
from remit.confine.interface import Change, Launch, Place, Unconfinable
from remit.confine.journal import LEFT, open_journals, remove_launch
from remit.confine.launcher import QUIET, SCRIPT, write_plan
from remit.confine.layers import Table, hidden_layer, mask, write_bases
from remit.confine.look import look
from remit.confine.mounts import Mount, system
from remit.confine.trial import Trial, run_once, session_trial, system_program, tried
from remit.confine.upper import NotCommitted, Step, steps
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.errors import RemitError
from remit.model.profile import HOLDS, Profile
from remit.model.shipped import shipped
from remit.model.text import shown

DEVICES = ("null", "zero", "full", "random", "urandom")
MOST_KEPT = 60
"""More folders and files that can't be written while a command runs are only judged afterwards."""


class _Memo(msgspec.Struct):
    """What `finish` must know."""

    bases: list[str]
    sealed: list[str]


_MEMO = Decoding(_Memo)


class Overlay:
    """Commands run in namespaces that `unshare` makes, on an overlay of the project."""

    name = "overlay"

    def __init__(self, state: Path) -> None:
        """`state` is Remit's own folder, where it is kept whether the trial worked."""
        self.state = state

    def holds(self) -> frozenset[str]:
        if not self.trial().works:
            return frozenset()
        return frozenset(HOLDS) if session_trial(self.state).works else frozenset(HOLDS) - {"hosts"}

    def lacking(self) -> Sequence[str]:
        trial = self.trial()
        if not trial.works:
            return trial.lines()
        left = [
            f"a commit was cut off and could not be undone whole: `{one}`" for one in open_journals(self.state, LEFT)
        ]
        return (*_ALWAYS, *left)

    def trial(self) -> Trial:
        """Whether a whole run works here: one that writes a file in an empty project."""
        try:
            binary = system_program("perl")
        except Unconfinable as error:
            return Trial(works=False, said=str(error), help="apt install perl-base")
        words = (sha256(shipped(SCRIPT)).hexdigest(), _file_system(self.state))
        return tried(self.name, binary, words, self.state, self._try)

    def refuses_setuid(self) -> bool:
        return True  # none is committed

    def prepare(self, profile: Profile, place: Place, environment: Mapping[str, str]) -> Launch:
        trial = self.trial()
        if not trial.works:
            raise Unconfinable(f"the overlay does not work here: {trial.said}", help=trial.help or None)
        return self._prepare(profile, place, environment)

    def _prepare(self, profile: Profile, place: Place, environment: Mapping[str, str]) -> Launch:
        check_place(profile, place)
        if open_journals(place.state):
            with alone(place.state):
                pass  # what was cut off is undone: a command must not see half of it
        directory = new_launch(place)
        try:
            words = _build(profile, place, environment, directory)
            found = variables(profile, place, environment)
        except OSError as error:
            remove_launch(directory)
            raise Unconfinable(f"can't prepare confinement: {error}") from error
        except BaseException:
            remove_launch(directory)
            raise
        return Launch(words=words, environment={**found, **QUIET}, directory=directory)

    def finish(self, profile: Profile, place: Place, launch: Launch) -> Sequence[Change] | None:
        directory = launch.directory
        bounds = Bounds(profile)
        try:
            memo = _MEMO.decode((directory / "memo.json").read_bytes())
            since = os.stat(directory / "since").st_ctime_ns
            with alone(place.state):
                found = [
                    step for index, base in enumerate(memo.bases) for step in _steps(directory, index, base, place)
                ]
                judge(found, bounds, memo.sealed, since)
                (directory / "aside").mkdir(mode=0o700)
                return commit(found, place.root, directory / "aside")
        except (OSError, msgspec.DecodeError) as error:
            raise NotCommitted(f"it is unclear what the command changed: {error}") from error
        finally:
            remove_launch(directory)

    def _try(self) -> Trial:
        import tempfile  # here: a trial is run once

        try:
            self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=self.state, prefix="trial-") as folder:
                state, root = Path(folder, "state"), Path(os.path.realpath(folder), "root")
                state.mkdir(mode=0o700)
                root.mkdir()
                place, profile = Place(root, root, state), Profile("trial", (), ())
                launch = self._prepare(profile, place, {"HOME": f"{folder}/home"})
                done = run_once([*launch.words, "/bin/sh", "-c", "echo works > it"])
                self.finish(profile, place, launch)
                if done.works and not (root / "it").exists():
                    return Trial(works=False, said="what the trial wrote was not there afterwards")
                return done
        except (RemitError, OSError) as error:
            return Trial(works=False, said=str(error))


def _file_system(path: Path) -> str:
    """On which a folder lies, or will lie: not every one can have the layers of an overlay."""
    for folder in (path, *path.parents):
        try:
            return str(os.stat(folder).st_dev)
        except OSError:
            continue
    return ""


def _steps(directory: Path, index: int, base: str, place: Place) -> list[Step]:
    """The changes in one base, and before them the folders that lead there."""
    upper = f"{directory}/upper-{index}"
    found = steps(upper, str(place.root), base)
    if not found:
        return []
    parts = base.split("/") if base != "." else []
    way = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    missing = [path for path in way if not os.path.lexists(place.root / path)]
    return [*(Step(path, "folder", None, upper) for path in missing), *found]


def _build(profile: Profile, place: Place, environment: Mapping[str, str], directory: Path) -> tuple[str, ...]:
    """Everything that a launch needs, on disk; its words."""
    for path in (str(directory), str(place.root)):
        if any(char in path for char in ',:\\"\n'):
            raise Unconfinable(f"an overlay can't have `{shown(path)}` in it: it has one of , : \\ \" in its name")
    root = str(place.root)
    sealed = [str(path)[len(root) + 1 :] for path in place.sealed if str(path).startswith(root + "/")]
    bounds = Bounds(profile)
    seen = look(bounds, place.root, tuple(sealed), aliases=False)
    bases = write_bases(profile, place.root)
    table = Table(directory)
    _system(table, profile, place, environment)
    hide = hidden_layer(bounds, place, seen, bases, directory / "hide")
    table.project(root, hide, bases)
    kept = [path for path in seen.keep if _is_plain(f"{root}/{path}")]
    for path in kept[:MOST_KEPT]:
        table.keep(f"{root}/{path}")
    for path in seen.write:  # taken out of something protected again
        if any(path.startswith(each + "/") for each in kept):
            raise Unconfinable(f"the overlay can't enforce `{shown(path)}`, an exception from something protected")
    (directory / "memo.json").write_bytes(msgspec.json.encode(_Memo(bases, sealed)))
    nobody = os.geteuid() == 0
    start = write_plan(
        directory,
        table.steps,
        root=str(table.root),
        cwd=str(place.cwd),
        identity=(int(NOBODY), int(NOBODY)) if nobody else (os.geteuid(), os.getegid()),
        alone=profile.network.mode != "open" and not place.join,
        calls=program(),
    )
    (directory / "since").touch(0o600)
    return (*timeout(profile.limits), *place.join, *start, *limits(profile.limits))


def _system(table: Table, profile: Profile, place: Place, environment: Mapping[str, str]) -> None:
    mounts = system(profile, place, environment)
    table.devices(DEVICES)
    for mount in mounts:
        if mount.how in ("sealed", "empty"):
            mask(table, mounts, mount)
        elif mount.how == "ro" and mount.path.startswith("/run/") and os.path.isfile(mount.path):
            mask(table, mounts, Mount("/etc/resolv.conf", "empty"), content=Path(mount.path).read_bytes())
    shared = [mount.path for mount in mounts if mount.how == "rw" and not mount.source]
    for mount in mounts:
        _mount(table, mount, shared)
    for path in _mounted_below([mount.path for mount in mounts if mount.how == "ro"]):
        if os.path.isdir(path):
            table.read_only(path)
        elif os.path.isfile(path) and os.access(path, os.R_OK):
            mask(table, mounts, Mount(path, "empty"), content=Path(path).read_bytes())


def _mount(table: Table, mount: Mount, shared: Sequence[str]) -> None:
    match mount.how:
        case "ro" if not (mount.path.startswith("/run/") and os.path.isfile(mount.path)):
            table.read_only(mount.path)
        case "rw":
            table.shared(mount.source or mount.path, mount.path)
        case "tmpfs":
            table.temporary(mount.path)
        case "link":
            table.link(mount.path, mount.source)
        case "sealed" | "empty" if any(mount.path.startswith(f"{each}/") for each in shared):
            table.cover(mount.path)
        case _:
            pass  # masked


def _mounted_below(folders: Iterable[str]) -> list[str]:
    """Mounts inside of these folders: an overlay shows only the file system that its folder lies on."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    found = {line.split(" ")[4].replace("\\040", " ") for line in lines}
    return sorted(path for path in found if any(path.startswith(folder + "/") for folder in folders))


def _is_plain(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)


_ALWAYS = (
    "people see what a command writes when it has ended, and a running one does not see what they change",
    "a folder that existed before can't be renamed, only copied",
    "memory is limited for each process, not for all together",
)
