"""`remit uninstall HOST`: everything that install touched is as it was, and nothing of it is left."""

from __future__ import annotations

from remit.adapters.install.removal import prepare_removal
from remit.cli.common import BAD_INPUT, FINE, find_policy
from remit.cli.install.command import DryRunOption, HostArgument, YesOption
from remit.cli.install.prompt import at_terminal, check_allowed, confirmed
from remit.cli.install.report import diff_text, server_text
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, out_json


def command(
    host: HostArgument,
    policy: PolicyOption = None,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> int:
    """Remove Remit from a host. Restores the original files; if one has changed since, removes only Remit's parts.

    Examples: `remit uninstall claude-code`, `remit uninstall claude-code --dry-run`
    """
    removal = prepare_removal(host, find_policy(policy))
    if removal is None:
        if json:
            out_json({"host": host, "files": [], "kept": [], "written": False})
        else:
            out(f"{host}: nothing is installed for this project\n")
        return FINE
    if not json:
        out("".join(diff_text(change, removal.place.root) for change in removal.changes))
        out(server_text(removal.server))
        out("".join(f"note: {line}\n" for line in removal.kept))
    if not dry_run:
        asking = at_terminal() and not json and not yes
        check_allowed(yes=yes, asking=asking)
        if not yes and not confirmed("write these changes?"):
            out("nothing was written\n")
            return BAD_INPUT
        removal.write()
    if json:
        files = [{"path": str(change.path), "change": change.word} for change in removal.changes]
        out_json({"host": host, "files": files, "kept": removal.kept, "written": not dry_run})
    else:
        out("dry run: nothing was written\n" if dry_run else f"{host}: uninstalled\n")
    return FINE
