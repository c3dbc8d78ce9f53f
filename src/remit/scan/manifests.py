"""Manifests of plugins and of their marketplaces: what their descriptions count, and the files and plugins they name."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from remit.scan.counts import Count, counts_in
from remit.scan.files import Text
from remit.scan.model import Place

_PATHS = ("agents", "commands", "skills", "hooks", "mcpServers")
"""Keys under which a manifest names files or folders."""
_MOST = 300


class Named(msgspec.Struct, frozen=True):
    """A path that a manifest names, in every way to read it from the root of the repository."""

    written: str
    ways: tuple[str, ...]
    place: Place


class Manifest(msgspec.Struct, frozen=True):
    """What one manifest says."""

    counts: tuple[Count, ...]
    paths: tuple[Named, ...]
    plugins: tuple[str, ...]
    """The folders of the plugins that a marketplace offers from this repository."""
    place: Place


def read_manifest(text: Text) -> Manifest | None:
    """What a manifest says; None if it can't be read."""
    try:
        found = json.loads(text.text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    folder = posixpath.dirname(text.path)
    home = re.sub(r"(?:^|/)(?:\.[\w-]+-plugin|\.github/plugin)$", "", folder)
    offered = found.get("plugins")
    entries = [one for one in offered if isinstance(one, dict)][:_MOST] if isinstance(offered, list) else []
    metadata = found.get("metadata")
    counts = [*_counts(text, found, home), *_counts(text, metadata if isinstance(metadata, dict) else {}, home)]
    paths = list(_paths(text, found, (home, folder))) if not entries and "package" not in text.path else []
    plugins = []
    for entry in entries:
        source = entry.get("source")
        if not isinstance(source, str):
            continue  # from another repository
        own = _joined(home, source)
        if own is None:
            continue
        paths += [_named(text, source, (own,)), *_paths(text, entry, (own,))]
        plugins += [own] if own != home else []
        if own != home or len(entries) == 1:
            counts += _counts(text, entry, own)
    return Manifest(tuple(counts), tuple(paths[:_MOST]), tuple(plugins), Place(text.path, 1))


def _counts(text: Text, found: dict[str, Any], home: str) -> Iterator[Count]:
    """The numbers of a description: they count what lies in the folder that it describes."""
    said = found.get("description")
    if not isinstance(said, str):
        return
    place = Place(text.path, _line(text, said))
    for one in counts_in(text.path, said):
        yield msgspec.structs.replace(one, place=place, home=home)


def _paths(text: Text, found: dict[str, Any], folders: tuple[str, ...]) -> Iterator[Named]:
    for key in _PATHS:
        said = found.get(key)
        for one in said if isinstance(said, list) else [said]:
            if isinstance(one, str) and re.fullmatch(r"(?:\./)?[\w.-]+(?:/[\w.-]+)*/?", one):
                ways = tuple(way for folder in folders if (way := _joined(folder, one)) is not None)
                if ways:
                    yield _named(text, one, ways)


def _named(text: Text, written: str, ways: tuple[str, ...]) -> Named:
    return Named(written, ways, Place(text.path, _line(text, written)))


def _joined(folder: str, path: str) -> str | None:
    """A path below a folder, from the root; None if it leads out of the repository."""
    found = posixpath.normpath(posixpath.join(folder, path.lstrip("/") or "."))
    return None if found.startswith("..") else "" if found == "." else found


def _line(text: Text, said: str) -> int:
    spellings = (json.dumps(said, ensure_ascii=False), json.dumps(said))
    at = next((at for one in spellings if (at := text.text.find(one)) >= 0), 0)
    return text.text.count("\n", 0, at) + 1
