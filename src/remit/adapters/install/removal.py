"""What uninstalling changes: everything that install touched is as it was, and nothing of it is left."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from remit.adapters.hooks.installed import installed_path, remove_installed
from remit.adapters.hooks.roots import change_roots, read_roots, without_root
from remit.adapters.install.changes import Change, check_unchanged, make_changes, relative, remove_directories
from remit.adapters.install.files import read_file
from remit.adapters.install.originals import (
    Originals,
    forget_originals,
    is_untouched,
    originals_path,
    read_originals,
    without_ours,
)
from remit.adapters.install.own_server import Registration, removal
from remit.adapters.install.place import Place
from remit.store.files import sweep
from remit.store.place import hosts_directory


class Removal(msgspec.Struct, frozen=True):
    """Everything that one `remit uninstall` would do."""

    place: Place
    originals: Originals | None
    changes: tuple[Change, ...]
    outside: Originals | None
    """What is kept of settings that belong to all projects, if this is the last one: then they are as they were."""
    kept: tuple[str, ...]
    """What is said about files that people have changed since."""
    server: Registration | None = None
    """Remit's own MCP server, taken out."""

    def write(self) -> None:
        """The settings first, so that no hook asks without a record; what is kept goes last.

        Raises EditError and InstallError.
        """
        place, originals = self.place, self.originals
        check_unchanged(self.changes, place.root)
        for kept in (originals, read_originals(hosts_directory(), place.name)):
            for path in kept.files if kept is not None else ():
                sweep(Path(path))  # also where nothing is to be changed
        sweep(originals_path(hosts_directory(), place.name))
        make_changes(sorted(self.changes, key=lambda change: change.kind != "settings"))
        if self.server is not None:
            self.server.write()
        for kept in (originals, self.outside):
            if kept is not None:
                remove_directories(kept.directories)
        change_roots(place.host, lambda roots: without_root(roots, place.root))
        if self.outside is not None:
            forget_originals(hosts_directory(), place.name)
        remove_installed(place.state, place.name)
        forget_originals(place.state, place.name)
        remove_directories([str(installed_path(place.state, place.name).parent)])


def prepare_removal(host: str, policy: Path) -> Removal | None:
    """What uninstalling would do; None if nothing is installed. Raises RemitError."""
    place = Place(host, policy)
    originals = read_originals(place.state, place.name)
    if originals is None and not os.path.lexists(installed_path(place.state, place.name)):
        return None
    together = read_originals(hosts_directory(), place.name)
    last = not without_root(read_roots(place.name), place.root)
    outside = together if last else None
    changes, kept = [], []
    files = [*(originals.files.items() if originals is not None else ())]
    for path, original in [*files, *(outside.files.items() if outside is not None else ())]:
        now = read_file(Path(path), place.base(Path(path)))
        wanted = without_ours(place.setup, path, now, original, original.kind)
        name = relative(Path(path), place.root)
        if now is None and original.before is not None:
            kept.append(f"{name}: was removed since, and stays removed")
        elif not is_untouched(now, original):
            did = "nothing of Remit's was found in it" if now == wanted else "only Remit's own parts are removed"
            kept.append(f"{name}: was changed since the installation; {did}")
        change = Change(original.kind, Path(path), now, wanted)
        changes.extend([change] if change.needed else [])
    if together is not None and not last:
        kept.append("the hooks in settings outside the project stay, since other projects use them")
    return Removal(place, originals, tuple(changes), outside, tuple(kept), removal(place))
