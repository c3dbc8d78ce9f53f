"""bubblewrap: mounts and namespaces made by one small program, live on the host's own files."""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from remit.confine.call_filter import program
from remit.confine.environment import home_of, variables
from remit.confine.first_process import FILE
from remit.confine.interface import Change, Launch, Place, Unconfinable
from remit.confine.mounts import TEMPORARY, Mount, Plan, plan
from remit.confine.placeholders import Placeholders
from remit.confine.trial import Trial, run_once, session_trial, system_program, tried
from remit.model.profile import HOLDS, Limits, Profile
from remit.model.system_programs import find_program
from remit.model.text import shown

FLAGS = (
    *("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"),
    *("--cap-drop", "ALL", "--new-session", "--die-with-parent"),
)
FILTER = ("--seccomp", "8", "--info-fd", "9")
"""A shell opens both: see `_opened`."""
CALLS = "filter"
NOBODY = "65534"
SWAPPED = 126


class Bubblewrap:
    """Commands run by `bwrap`."""

    name = "bubblewrap"

    def __init__(self, state: Path) -> None:
        """`state` is Remit's own folder, where it is kept whether the trial worked."""
        self.state = state
        self.binary = find_program("bwrap")

    def holds(self) -> frozenset[str]:
        if not self.trial().works:
            return frozenset()
        return frozenset(HOLDS) if session_trial(self.state).works else frozenset(HOLDS) - {"hosts"}

    def lacking(self) -> Sequence[str]:
        trial = self.trial()
        if not trial.works:
            return trial.lines()
        return (*(f"only some hosts: {line}" for line in session_trial(self.state).lines()), *_always())

    def trial(self) -> Trial:
        """Whether the flags of every run work here, for a command that does nothing."""
        if self.binary is None:
            return Trial(works=False, said="bubblewrap is not installed", help="apt install bubblewrap")
        base = (Mount("/", "ro"), Mount(TEMPORARY[0], "tmpfs"))
        mounts = _mount_words(base, Path("/"))
        words = [self.binary, *FLAGS, "--unshare-net", *_root_flags(), *mounts, *FILTER, "--", "true"]

        def run() -> Trial:
            try:
                self.state.mkdir(mode=0o700, parents=True, exist_ok=True)
                with tempfile.TemporaryDirectory(dir=self.state, prefix="trial-") as folder:
                    return run_once([*_opened(Path(folder)), *words])
            except (Unconfinable, OSError) as error:
                return Trial(works=False, said=str(error))

        return tried(self.name, self.binary, words, self.state, run)

    def refuses_setuid(self) -> bool:
        return True  # by the filter of system calls

    def prepare(self, profile: Profile, place: Place, environment: Mapping[str, str]) -> Launch:
        binary = self._usable(profile, place)
        directory = new_launch(place)
        placeholders = Placeholders(place.state, place.root)
        try:
            with placeholders.held():
                placeholders.tidy()
                mounts = plan(profile, place, environment)
                placeholders.claim(directory.name, mounts.folders, mounts.files)
            (directory / "empty").touch(0o644)
            (directory / "dot").write_bytes(b".\n")
            words = [binary, *FLAGS]
            if profile.network.mode != "open" and not place.join:
                words.append("--unshare-net")
            words += [*_root_flags(), *_mount_words(mounts.mounts, directory)]
            words += [*_unknown_to_git(profile, place, mounts, directory, environment), *FILTER]
            words += ["--chdir", str(place.cwd), "--", *_unswapped(mounts), *limits(profile.limits)]
            opened = _opened(directory)
            words = [*timeout(profile.limits), *place.join, *words]
        except OSError as error:
            self.finish(profile, place, Launch((), {}, directory))
            raise Unconfinable(f"can't prepare confinement: {error}") from error
        except Unconfinable:
            self.finish(profile, place, Launch((), {}, directory))
            raise
        return Launch(
            words=(*opened, *words),
            environment=variables(profile, place, environment),
            behind=tuple(words),
            filter=str(directory / CALLS),
            first=str(directory / FILE),
            directory=directory,
            fragile=mounts.fragile,
            narrower=mounts.narrower,
        )

    def finish(self, profile: Profile, place: Place, launch: Launch) -> Sequence[Change] | None:
        placeholders = Placeholders(place.state, place.root)
        with placeholders.held():
            placeholders.release(launch.directory.name)
        shutil.rmtree(launch.directory, ignore_errors=True)
        return None

    def _usable(self, profile: Profile, place: Place) -> str:
        trial = self.trial()
        if self.binary is None or not trial.works:
            raise Unconfinable(f"bubblewrap does not work here: {trial.said}", help=trial.help or None)
        check_place(profile, place)
        return self.binary


def check_place(profile: Profile, place: Place) -> None:
    """What every backend with namespaces needs of a place. Raises Unconfinable."""
    if profile.network.mode == "hosts" and not place.join:
        raise Unconfinable("only some hosts are allowed, and no session connects to them")
    if str(place.root) == "/" or not os.path.isdir(place.root) or os.path.realpath(place.root) != str(place.root):
        raise Unconfinable(f"`{shown(str(place.root))}` can't be the root of a confined command")
    if not f"{place.cwd}/".startswith(f"{place.root}/"):
        raise Unconfinable(f"`{shown(str(place.cwd))}` is not below `{shown(str(place.root))}`")
    owner = os.stat(place.root).st_uid
    if os.geteuid() == 0 and owner != 0:
        raise Unconfinable(
            f"root does not run confined commands in a project of user {owner}",
            help=f"run Remit as that user: setpriv --reuid {owner} --clear-groups",
        )


def new_launch(place: Place) -> Path:
    """A private folder for one launch, below the state."""
    launches = place.state / "launches"
    try:
        launches.mkdir(mode=0o700, parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix="", dir=launches))
    except OSError as error:
        raise Unconfinable(f"can't make a folder in `{shown(str(place.state))}`: {error.strerror}") from error


def limits(allowed: Limits) -> list[str]:
    """Words that start a command with limits, inside: the number of processes is counted per namespace."""
    words = [
        *([f"--data={allowed.memory}:{allowed.memory}"] if allowed.memory is not None else ()),
        *([f"--nproc={allowed.processes}:{allowed.processes}"] if allowed.processes is not None else ()),
        *([f"--fsize={allowed.file_size}:{allowed.file_size}"] if allowed.file_size is not None else ()),
    ]
    return [system_program("prlimit"), "--core=0:0", *words, "--"] if words else []


def timeout(allowed: Limits) -> list[str]:
    """Words that end a command, with all that it started, after its time."""
    if allowed.seconds is None:
        return []
    return [system_program("timeout"), "--foreground", "--signal=KILL", str(allowed.seconds)]


def _opened(directory: Path) -> list[str]:
    """Words that open for `FILTER` the filter of system calls, and the file that names the first process inside.
    Raises OSError and Unconfinable."""
    (directory / CALLS).write_bytes(program())
    return ["/bin/sh", "-c", f'exec "$@" 8<"$0/{CALLS}" 9>"$0/{FILE}"', str(directory)]


def _root_flags() -> list[str]:
    """Root is nobody inside, without capabilities."""
    return ["--uid", NOBODY, "--gid", NOBODY] if os.geteuid() == 0 else []


def _mount_words(mounts: Sequence[Mount], directory: Path) -> list[str]:
    words: list[str] = []
    for mount in mounts:
        path = mount.path
        match mount.how:
            case "ro":
                words += ["--ro-bind", mount.source or path, path]
            case "rw":
                words += ["--bind", mount.source or path, path]
            case "tmpfs":
                words += ["--tmpfs", path]
            case "sealed":
                words += ["--perms", "0555", "--tmpfs", path]
            case "link":
                words += ["--symlink", mount.source, path]
            case "empty" | "dot":
                words += ["--ro-bind", str(directory / mount.how), path]
    # Root is nobody inside, but files of /proc are still its own: with some it could change the whole machine.
    process = ["--proc", "/proc", *(("--remount-ro", "/proc") if os.geteuid() == 0 else ())]
    return ["--dev", "/dev", *process, *words, "--remount-ro", "/"]


def _unknown_to_git(
    profile: Profile, place: Place, mounts: Plan, directory: Path, environment: Mapping[str, str]
) -> list[str]:
    """Words by which git inside ignores the folders that are there only for mounts: `git clean` and `git stash -u`
    would remove them, and fail. A private home has the file in which git looks for that."""
    home, root = str(home_of(environment)), str(place.root)
    if profile.home != "private" or home == "/" or f"{home}/".startswith(f"{root}/"):
        return []
    below = [path[len(root) :] for path in mounts.folders if "\n" not in path]
    own = f"{home}/.config/git/ignore"
    patterns = b"".join(os.fsencode(f"{_literal(path)}/\n") for path in below)
    with suppress(OSError), open(own, "rb") as file:
        patterns = file.read() + b"\n" + patterns
    if not patterns:
        return []
    (directory / "ignore").write_bytes(patterns)
    return ["--ro-bind", str(directory / "ignore"), own]


def _literal(path: str) -> str:
    """A path as a pattern of git's that means only itself."""
    return "".join(f"\\{char}" if char in "\\*?[ " else char for char in path)


def _unswapped(mounts: Plan) -> list[str]:
    """Words that compare what was mounted with what was looked at, where another run could have replaced it."""
    if not mounts.swappable:
        return []
    found = [os.lstat(path) for path in mounts.swappable]
    wanted = "\n".join(f"{status.st_dev}:{status.st_ino}" for status in found)
    paths = " ".join(map(shlex.quote, mounts.swappable))
    script = (
        f'[ "$({system_program("stat")} -c %d:%i -- {paths})" = {shlex.quote(wanted)} ] && exec "$@"; '
        f"echo 'remit: the project was changed while the command was started; run it again' >&2; exit {SWAPPED}"
    )
    return ["/bin/sh", "-c", script, "sh"]


def _always() -> list[str]:
    """What bubblewrap never holds."""
    found = [
        "while a command runs, a protected file that is replaced from outside loses its mount: hashes are compared",
        "memory is limited for each process, not for all together",
    ]
    if os.geteuid() == 0:
        found.append("as root: processes are not counted, and system files that only root may read are readable")
    return found
