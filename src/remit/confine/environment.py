"""What a confined command finds around it: variables, a home of its own, caches; known from `catalog/confine.json`."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from remit.confine.interface import Place
from remit.model.decoding import Decoding
from remit.model.profile import Profile
from remit.model.shipped import shipped
from remit.model.system_programs import SYSTEM_PATH, find_program


class Surroundings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The catalog's file."""

    about: str
    system: tuple[str, ...]
    etc: tuple[str, ...]
    tools: tuple[str, ...]
    prefixes: tuple[str, ...]
    parts: tuple[str, ...]
    caches: dict[str, tuple[str, ...]]
    secrets: tuple[str, ...]
    variables: tuple[str, ...]
    never: tuple[str, ...]


_FILE = Decoding(Surroundings)


@functools.cache
def surroundings() -> Surroundings:
    """What the catalog says."""
    return _FILE.decode(shipped("catalog/confine.json"))


def home_of(environment: Mapping[str, str]) -> Path:
    """The home of whoever runs this, links followed."""
    return Path(os.path.realpath(environment.get("HOME") or os.path.expanduser("~")))


def variables(profile: Profile, place: Place, environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a confined command: known and named variables, git's, the proxy; never tokens."""
    known = surroundings()
    wanted = (*known.variables, *profile.environment)
    found = {
        name: value
        for name, value in environment.items()
        if _listed(name, wanted) and not _listed(name, known.never) and "\0" not in value
    }
    found.setdefault("PATH", "/usr/local/bin:/usr/bin:/bin")
    found["HOME"] = str(home_of(environment))
    found.update(place.proxy)
    for name, value in author(place.root, environment).items():
        found.setdefault(name, value)
    found["GIT_DISCOVERY_ACROSS_FILESYSTEM"] = "1"  # a folder that may be written is often a file system of its own
    return found


def author(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Git's author and committer as its configuration has them: inside, the home has no configuration."""
    program = find_program("git")
    if program is None:
        return {}
    command = (program, "-C", str(root), "config", "--null", "--get-regexp", r"^user\.(name|email)$")
    plain = {name: value for name, value in environment.items() if name in ("HOME", "XDG_CONFIG_HOME")}
    plain["PATH"] = SYSTEM_PATH
    try:
        output = subprocess.run(command, env=plain, capture_output=True, timeout=10, check=False).stdout  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return {}
    found: dict[str, str] = {}
    for line in os.fsdecode(output).split("\0"):
        key, _, value = line.partition("\n")
        name = key.rpartition(".")[2].upper()
        if name in ("NAME", "EMAIL") and value:
            found[f"GIT_AUTHOR_{name}"] = found[f"GIT_COMMITTER_{name}"] = value
    return found


def caches(profile: Profile, home: Path) -> list[Path]:
    """The folders of the caches that a profile names."""
    known = surroundings().caches
    return [home / folder for name in profile.caches for folder in known.get(name, ())]


def _listed(name: str, patterns: Iterable[str]) -> bool:
    return any(name.startswith(each[:-1]) if each.endswith("*") else name == each for each in patterns)
