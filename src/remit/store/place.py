"""The state directory: one for each project, outside of its workspace, closed to everyone else."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from remit.model.digest import sha256
from remit.store.errors import StoreMisconfigured, StoreUnsafe, from_os_error


def known_state(root: Path) -> Path | None:
    """The state directory of a project if there is one; nothing is made."""
    try:
        place = Path(os.path.realpath(_home())) / "remit" / _name(Path(os.path.realpath(root)))
        return place if place.is_dir() else None
    except (OSError, ValueError, StoreUnsafe, StoreMisconfigured):
        return None


def state_directory(root: Path) -> Path:
    """Where the state of the project with this policy root is kept; made if it is not there yet.

    `$XDG_STATE_HOME/remit/NAME-HASH`, or the same below `~/.local/state`. Raises StoreError if it is open to others, or
    would lie in the workspace, where agents write.
    """
    try:
        workspace = Path(os.path.realpath(root))
        place = Path(os.path.realpath(_home())) / "remit" / _name(workspace)
    except (OSError, ValueError) as error:
        raise StoreMisconfigured(f"can't resolve the paths of the state directory: {error}") from error
    if place == workspace or workspace in place.parents:
        raise StoreUnsafe(
            f"the state directory `{place}` would lie inside the workspace `{workspace}`",
            help="set XDG_STATE_HOME to a directory outside of it",
        )
    make_private(place)
    return place


def hosts_directory() -> Path:
    """Where it is kept which projects Remit was installed for, beside their states; made if it is not there yet.

    Raises StoreError if it is open to others.
    """
    try:
        place = Path(os.path.realpath(_home())) / "remit" / "hosts"
    except (OSError, ValueError) as error:
        raise StoreMisconfigured(f"can't resolve the paths of the state directory: {error}") from error
    make_private(place)
    return place


def make_private(path: Path) -> None:
    """The directory exists and is private. What is missing is made, for its owner only; what is there isn't changed."""
    missing = [path]
    try:
        while not os.path.lexists(missing[-1]) and missing[-1] != missing[-1].parent:
            missing.append(missing[-1].parent)
        for directory in reversed(missing):
            try:
                os.mkdir(directory, 0o700)
            except FileExistsError:
                continue
            os.chmod(directory, 0o700)  # whatever the umask took away
    except OSError as error:
        help = "set XDG_STATE_HOME to a directory that you may write to"
        raise from_os_error(error, f"make the state directory `{path}`", help=help) from error
    check_private(path)


def check_private(path: Path) -> None:
    """Raises StoreUnsafe unless only its owner, who runs this, can get at a directory or replace it."""
    found = _look(path)
    if not stat.S_ISDIR(found.st_mode):
        raise StoreUnsafe(f"`{path}` is not a directory of its own, but a link or a file")
    _check_owner(path, found)
    _check_mode(path, found, 0o700)
    parents = Path(os.path.realpath(path)).parents
    for parent in parents:
        above = _look(parent)
        if above.st_uid not in (0, os.geteuid()):
            raise StoreUnsafe(f"`{parent}`, which contains the state directory, belongs to another user")
        if above.st_mode & stat.S_IWOTH and not above.st_mode & stat.S_ISVTX:
            raise StoreUnsafe(
                f"everyone can replace what is in `{parent}`, which contains the state directory",
                help=f"chmod o-w {_quoted(parent)}",
            )


def check_private_file(path: Path) -> os.stat_result | None:
    """The same for a file; None if there is none."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise from_os_error(error, f"look at `{path}`") from error
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnsafe(f"`{path}` is not a plain file of its own, but a link or something else")
    _check_owner(path, found)
    _check_mode(path, found, 0o600)
    return found


def _home() -> Path:
    """XDG: a relative path is ignored."""
    given = os.environ.get("XDG_STATE_HOME", "")
    if os.path.isabs(given):
        return Path(given)
    try:
        home = Path.home()
    except RuntimeError as error:
        raise StoreMisconfigured("there is no home directory; set XDG_STATE_HOME") from error
    if not home.is_absolute():
        raise StoreMisconfigured("HOME is not an absolute path; set XDG_STATE_HOME")
    return home / ".local" / "state"


def _name(workspace: Path) -> str:
    """For people the name of the project, for certainty a hash of where it is."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", workspace.name)[:40].strip("-.") or "project"
    return f"{name}-{sha256(os.fsencode(workspace)).hexdigest()[:16]}"


def _quoted(path: Path) -> str:
    """For a shell."""
    from shlex import quote  # here: only advice needs it

    return quote(str(path))


def _look(path: Path) -> os.stat_result:
    try:
        return os.lstat(path)
    except OSError as error:
        raise from_os_error(error, f"look at `{path}`") from error


def _check_owner(path: Path, found: os.stat_result) -> None:
    if found.st_uid != os.geteuid():
        raise StoreUnsafe(f"`{path}` belongs to user {found.st_uid}, and this runs as user {os.geteuid()}")


def _check_mode(path: Path, found: os.stat_result, wanted: int) -> None:
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o777 != wanted:
        raise StoreUnsafe(
            f"`{path}` has mode {mode:04o}, and must have {wanted:04o}",
            help=f"chmod {wanted:o} {_quoted(path)}",
        )
