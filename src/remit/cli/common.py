"""What most commands share: finding and loading the policy, and the names and moments that people write."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from remit.cli.output import err, out, paint
from remit.compile.load import load_file as load
from remit.model.errors import InputError as InputError
from remit.model.moments import moment, read_moment
from remit.model.rulebook import Rulebook
from remit.model.text import shown

NAME = "remit.yaml"
FINE, BAD_POLICY, BAD_INPUT, REFUSED = 0, 1, 2, 3


class LoadedPolicy(msgspec.Struct, frozen=True):
    """A policy file and its rulebook."""

    path: Path
    rulebook: Rulebook


def find_policy(option: Path | None) -> Path:
    """The policy of `--policy`, or of the folder that it names, or the nearest remit.yaml, here or above.

    Raises InputError.
    """
    if option is not None:
        return option / NAME if option.is_dir() else option
    try:
        here = Path.cwd()
    except OSError:
        raise InputError("the working directory does not exist any more") from None
    for folder in (here, *here.parents):
        if os.path.lexists(folder / NAME):
            return folder / NAME if folder != here else Path(NAME)
    help = "draft one with `remit init`, or name one with --policy FILE"
    other = _misnamed(here)
    if other is not None:
        help = f"`{shown(other, 100)}` is here: rename it to {NAME}, or say --policy {shown(other, 100)}"
    raise InputError(f"no {NAME} in {shown(here, 200)} or above it", help=help)


def _misnamed(folder: Path) -> str | None:
    """A file that is nearly called as a policy is."""
    near = (name for name in _names_in(folder) if name.lower().removesuffix(".txt") in _NEARLY)
    return next((name for name in near if name != "remit.yaml"), None)


def _names_in(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


_NEARLY = frozenset(("remit.yml", "remit.yaml", ".remit.yaml", ".remit.yml", "remit.json", "remit.yaml.yaml"))


def why(error: OSError | UnicodeDecodeError) -> str:
    """Why a file can't be read or written, without its name, which the message has already."""
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8, at byte {error.start}"
    return shown(error.strerror or error, 200)


def open_policy(option: Path | None, *, machine: bool) -> LoadedPolicy:
    """The policy, loaded; says which one it is, on stderr where stdout is for a program.

    Raises PolicyError with everything that is wrong, and InputError.
    """
    path = find_policy(option)
    say_policy(path, machine=machine)
    return LoadedPolicy(path, load(path))


def say_policy(path: Path, *, machine: bool) -> None:
    """Which policy this is about."""
    line = f"policy: {shown(path, 300)}"
    if machine:
        err(line)
    else:
        out(paint(line, "dim") + "\n")


def write_file(option: str, path: Path, text: str) -> None:
    """Writes a file that an option names, whole or not at all; a device or a pipe as it is. Raises InputError."""
    from remit.store.files import write_whole  # here: few commands write any

    try:
        if path.is_char_device() or path.is_fifo():  # `/dev/stdout`, `>(less)`: a new file must not take its place
            path.write_text(text, "utf-8")
        else:
            write_whole(path, text.encode())
    except OSError as error:
        raise InputError(f"{option}: can't write `{shown(path, 200)}`: {error.strerror or error}") from None


def clock() -> str:
    """This moment."""
    return moment(time.time())


def moment_of(text: str) -> str:
    """The moment that `--now` names. Raises InputError."""
    found = read_moment(text)
    if found is None:
        raise InputError(f"--now: `{shown(text)}` is not a moment", help="write 2026-11-15 or 2026-11-15T12:00:00Z")
    return found


def listed(text: str | None) -> list[str] | None:
    """The words of `a,b`."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]
