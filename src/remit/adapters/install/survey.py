"""What the host has: its definitions, its servers, and settings that switch our hooks off. Looked at, never changed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from remit.adapters.hooks.definitions import read_definitions
from remit.adapters.hosts.setup import Setup
from remit.adapters.install.files import EditError
from remit.adapters.install.place import Place
from remit.model.errors import RemitError
from remit.model.text import shown


class Definition(msgspec.Struct, frozen=True):
    """One file that might define agents."""

    path: Path
    names: frozenset[str]
    """Every name that it might be known by."""
    digest: str
    name: str | None
    """The name that its head gives it, if that is certain."""


class Survey(msgspec.Struct, frozen=True):
    """What was found."""

    folders: tuple[str, ...]
    """The directories that definitions are taken from, the project's own first."""
    definitions: tuple[Definition, ...]
    servers: tuple[str, ...]
    warnings: tuple[str, ...]
    hooked: tuple[Path, ...] = ()
    """Settings files that hold hooks of Remit's already."""

    @property
    def agents(self) -> list[str]:
        """The agents that are defined, each once."""
        return list(dict.fromkeys(one.name for one in self.definitions if one.name))


def survey(place: Place) -> Survey:
    """Raises EditError for a definition that can't be read."""
    folders = place.setup.definition_folders(place.root)
    found = []
    try:
        for file, (names, digest) in read_definitions(folders, place.host.definition_endings).items():
            name = certain_name(place.setup, Path(file))
            found.append(Definition(Path(file), frozenset(names), digest, name))
    except OSError as error:
        name = f"{shown(error.filename, 300)}: " if error.filename else ""
        raise EditError(f"{name}can't be read: {error.strerror or error}") from None
    seen = place.setup.survey(place.root)
    return Survey(folders, tuple(found), seen.servers, seen.warnings, seen.hooked)


def certain_name(setup: Setup, path: Path) -> str | None:
    """The name that a definition gives itself; None if that is not certain, or it can't be read."""
    try:
        return setup.name_in(path.read_bytes().decode("utf-8"))
    except (RemitError, OSError, UnicodeDecodeError):
        return None
