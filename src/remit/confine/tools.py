"""Programs that lie outside of system and home: what of the machine a command must be able to read to run them.

What the environment names (`PATH`, `VIRTUAL_ENV`, …) was put there by whoever started the host, and is believed. What
the project says (a link out of `.venv/bin`, the `home` of a `pyvenv.cfg`) may be the work of an agent, who would name
any folder that it wants to read: so only what really is an installation of Python or a virtual environment is shown,
and of that only the parts that every such thing has.
"""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from remit.confine.environment import surroundings
from remit.confine.interface import Place
from remit.model.profile import PRIVATE

_LONGEST = 16
"""Links from one to the next."""
_PYTHONS = ("python", "python3")
_KERNELS = ("/proc", "/sys", "/dev")


def tool_folders(environment: Mapping[str, str], place: Place, home: Path) -> list[str]:
    """Folders and files to show read-only, none in another: for every program that the environment or a virtual
    environment of the project leads to. Nothing of Remit's own, and no known secret, is among them."""
    found: dict[str, None] = {}
    for name in surroundings().prefixes:
        if (prefix := environment.get(name, "")).startswith("/"):
            found[os.path.normpath(prefix)] = None
    search = [os.path.normpath(each) for each in environment.get("PATH", "").split(":") if each.startswith("/")]
    for folder in dict.fromkeys(search):
        if os.path.isdir(folder):
            found.update(dict.fromkeys((*_of_program_folder(folder), *_behind_links(folder))))
            found.update(dict.fromkeys(_of_python(os.path.dirname(folder), set())))
    for folder in _environments(environment.get("VIRTUAL_ENV", ""), place):
        found.update(dict.fromkeys(_of_python(folder, set())))
    barred = _Barred(place, home)
    open_ = [path for path in found if os.path.exists(path) and path not in barred]
    return [path for path in open_ if not any(_below(path, other) for other in open_)]


class _Barred:
    """What is never shown as a tool: the system, which is there anyhow, and what is somebody's own."""

    def __init__(self, place: Place, home: Path) -> None:
        known = surroundings()
        own = (str(place.root), *map(str, place.unseen))
        self._inside = (*known.system, *_KERNELS, *own, *(f"{home}/{name}" for name in known.secrets))
        self._around = (*own, str(home), *PRIVATE)

    def __contains__(self, path: str) -> bool:
        return self._bars(path) or self._bars(os.path.realpath(path), known=False)

    def _bars(self, path: str, *, known: bool = True) -> bool:
        inside = self._inside if known else self._inside[len(surroundings().system) :]
        if any(path == each or _below(path, each) for each in inside):
            return True
        return any(path == each or _below(each, path) for each in self._around)


def _of_program_folder(folder: str) -> Iterator[str]:
    """A folder of programs, and beside a `bin` what its programs load."""
    for tool in surroundings().tools:  # somebody else's home has them, too
        before, found, _ = f"{folder}/".partition(f"/{tool}/")
        if found and tool.startswith("."):
            yield f"{before}/{tool}"
            return
    above, name = os.path.split(folder)
    if name in ("bin", "sbin") and not os.path.lexists(f"{above}/.git"):
        yield from _parts(above)
    elif not os.path.lexists(f"{folder}/.git"):
        yield folder


def _parts(prefix: str) -> Iterator[str]:
    """What an installation consists of; the whole folder, if nothing else is in it. Of a link both ends."""
    known, real = surroundings().parts, os.path.realpath(prefix)
    try:
        with os.scandir(real) as entries:
            here = {entry.name: entry.is_file(follow_symlinks=False) and not entry.stat().st_size for entry in entries}
    except OSError:
        return
    for folder in dict.fromkeys((real, prefix)):
        if all(name in known or empty for name, empty in here.items()):
            yield folder
        else:
            yield from (f"{folder}/{name}" for name in known if name in here and not os.path.islink(f"{real}/{name}"))


def _behind_links(folder: str) -> Sequence[str]:
    """What links in a folder of programs lead to, if that is in a folder of programs, too."""
    try:
        return _behind_links_at(folder, os.stat(folder).st_mtime_ns)
    except OSError:
        return ()


@functools.lru_cache(maxsize=256)
def _behind_links_at(folder: str, changed: int) -> tuple[str, ...]:
    targets: dict[str, None] = {}
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink() and os.path.isabs(os.readlink(entry.path)):
                target = os.path.dirname(os.path.realpath(entry.path))
                if os.path.basename(target) in ("bin", "sbin"):
                    targets[target] = None
    shown = surroundings().system
    outside = [one for one in targets if not any(_below(one, each) for each in shown)]
    return tuple(path for one in outside for path in _of_program_folder(one))


def _environments(active: str, place: Place) -> Iterator[str]:
    """The virtual environment that is active, and those in the project: in its root, where the command stands, and of
    tox and nox."""
    if active.startswith("/"):
        yield os.path.normpath(active)
    for folder in dict.fromkeys((str(place.root), str(place.cwd))):
        for pattern in ("*/pyvenv.cfg", ".*/pyvenv.cfg", ".tox/*/pyvenv.cfg", ".nox/*/pyvenv.cfg"):
            for path in glob.iglob(f"{glob.escape(folder)}/{pattern}"):
                yield os.path.dirname(path)


def _of_python(prefix: str, before: set[str]) -> Iterator[str]:
    """An environment or installation, and all that it rests on; nothing, if it is none."""
    if prefix in before or len(before) > _LONGEST or not (_is_environment(prefix) or _is_installation(prefix)):
        return
    before.add(prefix)
    yield from _parts(prefix)
    for name in _PYTHONS:
        link = f"{prefix}/bin/{name}"
        for _ in range(_LONGEST):
            if not os.path.islink(link):
                break
            link = os.path.normpath(os.path.join(os.path.dirname(link), os.readlink(link)))
            yield from _of_python(os.path.dirname(os.path.dirname(link)), before)
    if home := _base(prefix):
        yield from _of_python(os.path.dirname(os.path.normpath(home)), before)


def _is_environment(prefix: str) -> bool:
    return os.path.isfile(f"{prefix}/pyvenv.cfg") and bool(
        glob.glob(f"{glob.escape(prefix)}/lib/python3*/site-packages")
    )


def _is_installation(prefix: str) -> bool:
    libraries = glob.glob(f"{glob.escape(prefix)}/lib*/python3*/os.py")
    return bool(libraries) and any(os.access(f"{prefix}/bin/{name}", os.X_OK) for name in _PYTHONS)


def _base(prefix: str) -> str:
    """Where a virtual environment says that its Python lies; empty if it says nothing."""
    try:
        with open(f"{prefix}/pyvenv.cfg", encoding="utf-8", errors="surrogateescape") as file:
            lines = file.read(10_000).splitlines()
    except OSError:
        return ""
    said = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    home = said.get("home", "")
    return home if home.startswith("/") and "\0" not in home else ""


def _below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
