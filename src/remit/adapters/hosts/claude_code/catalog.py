"""What ships as data about Claude Code, besides what every host has."""

from __future__ import annotations

from functools import cache
from typing import Literal

import msgspec

from remit.adapters.hosts.catalog import HostCatalog, built_in_catalog
from remit.adapters.hosts.claude_code.hook import NAME

Whose = Literal["project", "user", "managed"]


class Files(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings that it reads, by whose they are."""

    project: tuple[str, ...]
    user: tuple[str, ...]
    managed: tuple[str, ...]


class ClaudeCatalog(HostCatalog, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The file says what each of these is for."""

    settings: dict[str, Literal["object", "text", "flag"]]
    permissions: tuple[str, ...]
    handlers: tuple[str, ...]
    files: Files
    managed: dict[str, str]
    wanted: dict[str, str]
    switches: dict[str, tuple[Whose, ...]]
    variables: dict[str, str]
    injected: tuple[str, ...]


@cache
def catalog() -> ClaudeCatalog:
    """The data. Raises CatalogError."""
    return built_in_catalog(NAME, ClaudeCatalog)
