"""`remit install HOST`: the host asks Remit before each tool call, and its own settings say the same as the policy."""

from __future__ import annotations

from typing import Annotated, Any

from remit.adapters.install.edits import Edits, Wanted, prepare
from remit.cli.common import BAD_INPUT, FINE, clock, find_policy
from remit.cli.install.prompt import at_terminal, check_allowed, confirmed, main_agent
from remit.cli.install.report import closing, edits_text
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out, out_json
from remit.cli.parameters import Argument, Option

HostArgument = Annotated[
    str, Argument(metavar="HOST", help="claude-code, copilot-cli, opencode, codex, gemini-cli or cursor.")
]
YesOption = Annotated[bool, Option("--yes", help="Write without asking.")]
DryRunOption = Annotated[bool, Option("--dry-run", help="Only show what would change.")]


def command(
    host: HostArgument,
    policy: PolicyOption = None,
    main: Annotated[
        str | None, Option("--main", metavar="AGENT", help="The main agent, if the policy does not name it.")
    ] = None,
    local: Annotated[
        bool, Option("--local", help="Put the host's own rules into the project's unshared settings.")
    ] = False,
    shared: Annotated[
        bool,
        Option("--shared", help="Also put hooks into the project's settings; a clone refuses work until installed."),
    ] = False,
    managed: Annotated[
        bool, Option("--managed", help="Also put hooks into this machine's managed settings, if you may write them.")
    ] = False,
    daemon: Annotated[
        bool,
        Option("--daemon", help="Hooks that find no daemon start one, which ends when idle: the default."),
    ] = False,
    no_daemon: Annotated[bool, Option("--no-daemon", help="Hooks never start a daemon.")] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> int:
    """Install Remit's hooks in a host's settings. Shows changes first, keeps existing settings, and is idempotent.

    Examples: `remit install claude-code`, `remit install claude-code --main builder`
    """
    asking = at_terminal() and not json and not yes
    ask = main_agent(host) if asking else None
    wanted = Wanted(local, shared, managed, False if no_daemon else daemon or None)
    edits = prepare(host, find_policy(policy), main=main, wanted=wanted, now=clock(), ask=ask)
    if edits.stale is not None:
        err(f"remit: {edits.stale}")
    if not json:
        out(edits_text(edits))
    write = not edits.nothing and not dry_run
    if write:
        check_allowed(yes=yes, asking=asking)
        if not yes and not confirmed("write these changes?"):
            out("nothing was written\n")
            return BAD_INPUT
        edits.write()
    if json:
        out_json(_json(edits, write))
    else:
        out(closing(edits, write))
    return FINE


def _json(edits: Edits, written: bool) -> dict[str, Any]:
    return {
        "host": edits.place.name,
        "settings": edits.record.settings,
        "hooks": [{"where": one.where, "path": one.path} for one in edits.record.copies],
        "main": edits.main.name,
        "policy_lines": edits.main.lines or None,
        "files": [{"path": str(change.path), "change": change.word} for change in edits.needed],
        "unknown_agents": edits.unknown_agents,
        "unknown_tools": edits.unknown_tools,
        "undefined_agents": edits.undefined_agents,
        "pins": edits.record.agents,
        "pins_changed": edits.pins,
        "server": str(edits.served) if edits.served is not None else None,
        "warnings": edits.warnings,
        "written": written,
    }
