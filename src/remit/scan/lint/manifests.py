"""Findings about manifests: paths that lead nowhere, and plugins that a marketplace leaves out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from remit.scan.inventory import Inventory
from remit.scan.lint.finding import finding, listing
from remit.scan.manifests import Manifest
from remit.scan.model import Finding

_MOST = 6


def manifest_findings(
    manifests: Sequence[Manifest], inventory: Inventory, exists: Callable[[str, str], bool]
) -> Iterator[Finding]:
    """What manifests name and is not there, and what is there and a marketplace does not offer."""
    for one in manifests:
        lost = [named for named in one.paths if not any(way == "" or exists(way, "") for way in named.ways)]
        if lost:
            names = list(dict.fromkeys(named.written for named in lost))
            text = f"a manifest names {listing(names, _MOST)}, which {'does' if len(names) == 1 else 'do'} not exist"
            yield finding("missing-file", text, *(named.place for named in lost[:_MOST]))
        offered = set(one.plugins)
        folders: dict[str, set[str]] = {}
        for thing in inventory.things.get("plugins", ()):
            folders.setdefault(thing.folder, set()).add(thing.path)
        for folder, members in sorted(folders.items()):
            absent = sorted(path.rpartition("/")[2] for path in members - offered)
            if absent and len(members & offered) >= max(3, 0.7 * len(members)):
                text = f"a marketplace offers the plugins of `{folder}`; not {listing(absent, _MOST)}"
                them = "it" if len(absent) == 1 else "them"
                yield finding("no-section/things", text, one.place, file=one.place.file, them=them)
