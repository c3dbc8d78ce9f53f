"""What the host has: its definitions, its servers, and settings that switch our hooks off. Looked at, never changed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from remit.adapters.hooks.definitions import read_definitions
from remit.adapters.hosts import registry
from remit.cli.common import InputError
from remit.cli.install.place import Place
from remit.exchange.claude import frontmatter, settings
from remit.exchange.claude.frontmatter import HeadError
from remit.exchange.json_text import JsonError
from remit.model.text import shown

_MAX_SIZE = 4 * 1024 * 1024


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
    """Raises InputError for a definition that can't be read."""
    found = []
    try:
        for file, (names, digest) in read_definitions(
            place.definitions, registry.find(place.host).definition_endings
        ).items():
            found.append(Definition(Path(file), frozenset(names), digest, _name(Path(file))))
    except OSError as error:
        name = f"{shown(error.filename, 300)}: " if error.filename else ""
        raise InputError(f"{name}can't be read: {error.strerror or error}") from None
    servers: list[str] = []
    warnings: list[str] = []
    hooked: list[Path] = []
    for path in (*_settings(place), place.root / ".mcp.json", _global(place)):
        text = _text(path)
        try:
            if text is not None:
                servers.extend(settings.servers(text))
                servers.extend(settings.project_servers(text, str(place.root)))
                hooked.extend([path] if settings.holds_hooks(text) else [])
                if settings.switched_off(text):
                    warnings.append(f"{shown(path, 300)}: `disableAllHooks` is true, so no hook runs: remove it")
        except JsonError as error:
            warnings.append(f"{shown(path, 300)}: {error}; the host may ignore this file")
    return Survey(tuple(found), tuple(dict.fromkeys(servers)), tuple(warnings), tuple(hooked))


def _settings(place: Place) -> list[Path]:
    local = [place.settings(False), place.settings(True)]
    return list(dict.fromkeys([*local, place.user / "settings.json"]))


def _global(place: Place) -> Path:
    """Where the host keeps servers that were added by its own command."""
    inside = place.user / ".claude.json"
    return inside if inside.is_file() else place.user.parent / ".claude.json"


def _text(path: Path) -> str | None:
    """The text of a small file; None if there is none or it can't be read."""
    try:
        if not path.is_file() or path.stat().st_size > _MAX_SIZE:
            return None
        return path.read_text("utf-8", "replace")
    except OSError:
        return None


def _name(path: Path) -> str | None:
    try:
        head = frontmatter.head_of(frontmatter.decode(path.read_bytes()))
    except (HeadError, OSError):
        return None
    return frontmatter.name_of(head) if head is not None else None
