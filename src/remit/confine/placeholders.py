"""Mount points that have to be on the host while commands run: made once, counted, and removed after the last of them.

A mount that keeps a path needs that path to exist. Empty folders are used, for files too, since git shows none.
If one were removed while another run still needs it, its mount would be gone: so all runs of a root are counted.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from remit.confine.below import opened, split
from remit.model.decoding import Decoding

STALE_AFTER = 3600.0


class _Made(msgspec.Struct):
    users: list[str]
    content: bytes | None = None
    """Of a file; None: a folder."""


class _Register(msgspec.Struct):
    boot: str
    made: dict[str, _Made] = {}


_REGISTER = Decoding(_Register)


class Placeholders:
    """Those of one root. Nothing but `held` may change them."""

    def __init__(self, state: Path, root: Path) -> None:
        self.root = str(root)
        self.launches = state / "launches"
        self.register = state / "placeholders.json"
        self.lock = state / "placeholders.lock"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else looks, makes or removes meanwhile."""
        descriptor = os.open(self.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def tidy(self) -> None:
        """Removes what runs have left behind whose end nobody told."""
        if self.register.exists():
            self._write(self._read())

    def claim(self, user: str, folders: Iterable[str], files: Mapping[str, bytes]) -> None:
        """Makes what is missing, and counts one more user of all that there is. Raises OSError."""
        register = self._read()
        try:
            for path in (*folders, *files):
                self._make(path.removeprefix(self.root + "/"), register, content=files.get(path))
            for made in register.made.values():
                made.users.append(user)
        finally:
            self._write(register)

    def release(self, user: str) -> None:
        """One user less; what nobody needs any more goes, unless something has been put there."""
        register = self._read()
        for made in register.made.values():
            made.users = [each for each in made.users if each != user]
        self._remove_unused(register)
        self._write(register)

    def _make(self, path: str, register: _Register, *, content: bytes | None) -> None:
        above, name = split(path)
        if above != "." and not os.path.lexists(f"{self.root}/{above}"):
            self._make(above, register, content=None)
        with opened(self.root, above) as folder:
            owner = os.fstat(folder)
            try:
                if content is not None:
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                    descriptor = os.open(name, flags, 0o644, dir_fd=folder)
                    os.write(descriptor, content)
                    os.close(descriptor)
                else:
                    os.mkdir(name, 0o755, dir_fd=folder)
            except FileExistsError:
                return
            if os.geteuid() == 0:
                os.chown(name, owner.st_uid, owner.st_gid, dir_fd=folder, follow_symlinks=False)
        register.made[path] = _Made([], content)

    def _remove_unused(self, register: _Register) -> None:
        for path in sorted(register.made, key=lambda path: path.count("/"), reverse=True):
            made = register.made[path]
            if made.users:
                continue
            above, name = split(path)
            with suppress(OSError), opened(self.root, above) as folder:
                if made.content is None:
                    os.rmdir(name, dir_fd=folder)
                elif _says(name, folder, made.content):
                    os.unlink(name, dir_fd=folder)
            del register.made[path]

    def _read(self) -> _Register:
        boot = boot_id()
        try:
            register = _REGISTER.decode(self.register.read_bytes())
        except (OSError, msgspec.DecodeError):
            return _Register(boot)
        alive = {user: self._is_alive(user, register) for made in register.made.values() for user in made.users}
        for made in register.made.values():
            made.users = [user for user in made.users if register.boot == boot and alive[user]]
        register.boot = boot
        self._remove_unused(register)
        return register

    def _is_alive(self, user: str, register: _Register) -> bool:
        """A run whose end nobody told is over when no process has its mounts any more."""
        try:
            age = time.time() - os.stat(self.launches / user).st_mtime
        except OSError:
            return False
        return age < STALE_AFTER or any(_is_mounted(f"{self.root}/{path}") for path in register.made)

    def _write(self, register: _Register) -> None:
        scratch = self.register.with_suffix(".new")
        scratch.write_bytes(msgspec.json.encode(register))
        os.replace(scratch, self.register)


def boot_id() -> str:
    """Changes when the machine starts anew."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


def _says(name: str, folder: int, content: bytes) -> bool:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.read(descriptor, len(content) + 1) == content
    finally:
        os.close(descriptor)


def _is_mounted(path: str) -> bool:
    escaped = path.replace("\\", "\\134").replace(" ", "\\040").replace("\t", "\\011").replace("\n", "\\012")
    needle = f" {escaped} ".encode()
    for process in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            if needle in Path("/proc", process, "mountinfo").read_bytes():
                return True
    return False
