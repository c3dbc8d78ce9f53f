"""`remit uninstall HOST`: everything that install touched is as it was, and nothing of it is left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from remit.cli.install.command import DryRunOption, HostArgument, YesOption
from remit.cli.options import JsonOption, PolicyOption

if TYPE_CHECKING:
    from remit.cli.install.changes import Change
    from remit.cli.install.originals import Originals
    from remit.cli.install.place import Place


def command(
    host: HostArgument,
    policy: PolicyOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> int:
    """Take Remit out of a host. Files are put back as they were; from those changed since, only our parts are taken."""
    from remit.cli.common import BAD_INPUT, FINE
    from remit.cli.install.changes import diff
    from remit.cli.install.command import check_allowed
    from remit.cli.install.originals import read_originals
    from remit.cli.install.place import find_place
    from remit.cli.install.prompt import at_terminal, confirmed
    from remit.cli.output import out, out_json

    place = find_place(host, policy, policy_needed=False)
    originals = read_originals(place.state, host)
    if originals is None and not _recorded(place):
        if json:
            out_json({"host": host, "files": [], "kept": [], "written": False})
        else:
            out(f"{host}: nothing is installed for this project\n")
        return FINE
    changes, kept = _plan(place, originals)
    if not json:
        out("".join(diff(change, place.root) for change in changes))
        out("".join(f"note: {line}\n" for line in kept))
    if not dry_run:
        asking = at_terminal() and not json and not yes
        check_allowed(yes=yes, asking=asking)
        if not yes and not confirmed("write these changes?"):
            out("nothing was written\n")
            return BAD_INPUT
        _write(place, originals, changes)
    if json:
        files = [{"path": str(change.path), "change": change.word} for change in changes]
        out_json({"host": host, "files": files, "kept": kept, "written": not dry_run})
    else:
        out("dry run: nothing was written\n" if dry_run else f"{host}: uninstalled\n")
    return FINE


def _recorded(place: Place) -> bool:
    import os

    from remit.adapters.hooks.installed import installed_path

    return os.path.lexists(installed_path(place.state, place.host))


def _plan(place: Place, originals: Originals | None) -> tuple[list[Change], list[str]]:
    """The changes that are needed, and what is said about files that people have changed since."""
    from remit.cli.install.changes import Change, relative
    from remit.cli.install.files import read_file
    from remit.cli.install.originals import is_untouched, without_ours

    changes, kept = [], []
    for path, original in (originals.files if originals is not None else {}).items():
        now = read_file(Path(path), place.root)
        wanted = without_ours(path, now, original, original.kind)
        name = relative(Path(path), place.root)
        if now is None and original.before is not None:
            kept.append(f"{name}: was removed since, and stays so")
        elif not is_untouched(now, original):
            did = "nothing of ours was found in it" if now == wanted else "only our own parts are taken out"
            kept.append(f"{name}: was changed since the installation; {did}")
        change = Change(Path(path), now, wanted)
        changes.extend([change] if change.needed else [])
    return changes, kept


def _write(place: Place, originals: Originals | None, changes: list[Change]) -> None:
    """The settings first, so that no hook asks without a record; what is kept goes last."""
    from remit.adapters.hooks.installed import remove_installed
    from remit.cli.install.changes import check_unchanged, make_changes, remove_directories
    from remit.cli.install.originals import forget_originals
    from remit.store.files import sweep

    check_unchanged(changes, place.root)
    for path in originals.files if originals is not None else ():
        sweep(Path(path))
    make_changes(sorted(changes, key=lambda change: change.path.parent != place.root / ".claude"))
    if originals is not None:
        remove_directories(originals.directories)
    remove_installed(place.state, place.host)
    forget_originals(place.state, place.host)
    remove_directories([str(place.state / "hooks")])
