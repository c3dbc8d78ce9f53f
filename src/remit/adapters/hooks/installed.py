"""What an installation in a host has put where: written by `remit install`, read by the hook and by `remit status`.

It lies in the state directory, outside the workspace, so that no agent can point the hook at another policy or store.
"""

from __future__ import annotations

import os
import shlex
import stat
from pathlib import Path
from typing import Literal

import msgspec

from remit.adapters.hooks.client import MAGIC, SIDECAR
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import OUTSIDE, Host, Where
from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.store.files import write_whole

VERSION = 1
_MAX_SIZE = 4 * 1024 * 1024


class InstallError(RemitError):
    """An installation that is missing, or can't be read or trusted."""

    code = "not-installed"


class Copy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One place where hooks of ours stand in the host's settings."""

    where: Where
    path: str
    """The settings file, absolute."""
    command: str
    """What the host runs."""


class Installed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One host of one project."""

    version: Literal[1]
    host: str
    root: str
    """The directory of the policy, absolute, with symlinks followed; `.remit/rulebook` lies in it."""
    policy: str
    """The policy file, absolute."""
    settings: str
    """The settings file of the project that holds the host's own rules, absolute."""
    at: str
    """Since when."""
    definitions: tuple[str, ...] = ()
    """The directories that the host takes agents' definitions from."""
    agents: dict[str, dict[str, str]] = {}
    """By the host's name of an agent: its definition files and their SHA-256. Empty for one that is built in."""
    store: str | None = None
    """The URL of the store, as REMIT_STORE was then; None: the SQLite file in the state directory."""
    copies: tuple[Copy, ...] = ()
    """Where our hooks stand; none in a record of before they were kept."""
    daemon: bool = False
    """A hook that finds no daemon starts one."""

    present: tuple[str, ...] = ()
    """The host's agents that were defined then, whether or not the policy knows them."""

    @property
    def outside(self) -> tuple[Copy, ...]:
        """Those that no command in the project reaches."""
        return tuple(one for one in self.copies if one.where in OUTSIDE)


_INSTALLED = Decoding(Installed)


def installed_path(state: Path, host: str) -> Path:
    """Where the record of an installation lies."""
    return state / "hooks" / f"{host}.json"


def read_installed(state: Path, host: str) -> Installed:
    """The record of an installation. Raises InstallError."""
    path = installed_path(state, host)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise InstallError(f"Remit is not installed in {host} for this project") from None
    except OSError as error:
        raise InstallError(f"{path}: can't be read: {error.strerror}") from None
    with os.fdopen(descriptor, "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > _MAX_SIZE:
            raise InstallError(f"{path}: not a record of an installation")
        if about.st_uid != os.geteuid() or about.st_mode & 0o077:
            raise InstallError(f"{path}: others may read or write it", help=f"chmod 600 {shlex.quote(str(path))}")
        data = file.read(_MAX_SIZE)
    try:
        found = _INSTALLED.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InstallError(f"{path}: can't be read: {error}", help=f"run `remit install {host}` again") from None
    if found.host != host:
        raise InstallError(f"{path}: belongs to another host", help=f"run `remit install {host}` again")
    return found


def client_path(state: Path, host: str) -> Path:
    """Where the hook's client finds how to refuse when nothing else works."""
    return state / (SIDECAR % host)


def client_file(host: Host) -> bytes:
    """What `client.py` must know of a host, in lines that it can read without any library."""
    found = host.last_resort
    lines = [MAGIC]
    for name, reply in (("refusal", found.refusal), ("silence", found.silence)):
        lines += [_line(f"{name}.out", reply.out), _line(f"{name}.err", reply.err)]
        lines.append(_line(f"{name}.code", str(reply.code).encode()))
    lines += [_line("question", mark.encode()) for mark in found.questions]
    lines += [_line("report", mark.encode()) for mark in found.reports]
    if found.unattended is not None:
        lines.append(_line("unattended", "=".join(found.unattended).encode()))
    lines.append(b"end %d" % (len(lines) + 1))
    return b"".join(line + b"\n" for line in lines)


def _line(key: str, value: bytes) -> bytes:
    return key.encode() + b" " + value.replace(b"%", b"%25").replace(b"\n", b"%0A")


def client_is_current(state: Path, host: Host) -> bool:
    """Whether the file for the client is there, for its owner only, and as it must be."""
    path = client_path(state, host.name)
    try:
        about = os.lstat(path)
        return stat.S_ISREG(about.st_mode) and not about.st_mode & 0o077 and path.read_bytes() == client_file(host)
    except OSError:
        return False


def remove_installed(state: Path, host: str) -> None:
    """Nothing says any more that Remit is installed. Raises InstallError."""
    for path in (installed_path(state, host), client_path(state, host)):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InstallError(f"{path}: can't be removed: {error.strerror}") from None


def write_installed(state: Path, installed: Installed) -> None:
    """Afterwards the record is there, and the file for the client, both for their owner only. Raises InstallError."""
    record = msgspec.json.format(msgspec.json.encode(installed), indent=2) + b"\n"
    files = {
        client_path(state, installed.host): client_file(registry.find(installed.host)),
        installed_path(state, installed.host): record,
    }
    for path, data in files.items():
        try:
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_whole(path, data)
        except OSError as error:
            raise InstallError(f"{path}: can't be written: {error.strerror}") from None
