"""`remit install HOST`: the host asks Remit before each tool call, and its own settings say the same as the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from remit.cli.options import JsonOption, PolicyOption

if TYPE_CHECKING:
    from remit.cli.install.main_agent import Main
    from remit.cli.install.place import Place
    from remit.cli.install.plan import Plan
    from remit.model.rulebook import Rulebook

HostArgument = Annotated[str, typer.Argument(metavar="HOST", help="The host: claude-code.")]
YesOption = Annotated[bool, typer.Option("--yes", help="Write without asking.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


def command(
    host: HostArgument,
    policy: PolicyOption = None,
    main: Annotated[
        str | None, typer.Option("--main", metavar="AGENT", help="Who the main agent is, if the policy doesn't say.")
    ] = None,
    local: Annotated[
        bool, typer.Option("--local", help="Write to settings.local.json, which is not shared with others.")
    ] = False,
    yes: YesOption = False,
    dry_run: DryRunOption = False,
    json: JsonOption = False,
) -> int:
    """Put Remit's hooks into a host's settings. Shows the change first, keeps what is there, and can be repeated."""
    from remit.cli.common import BAD_INPUT, FINE, clock
    from remit.cli.install.main_agent import find_main
    from remit.cli.install.place import find_place
    from remit.cli.install.plan import make_plan
    from remit.cli.install.prompt import at_terminal, confirmed
    from remit.cli.output import err, out, out_json
    from remit.enforce.in_force import look_up_in_force

    place = find_place(host, policy, policy_needed=True)
    rulebook = look_up_in_force(place.root).usable()
    asking = at_terminal() and not json and not yes
    who = find_main(place, rulebook, main, asking=asking)
    plan = make_plan(place, rulebook, who, local=local, now=clock())
    stale = _stale(place, rulebook) if not who.lines else None
    if stale is not None:
        err(f"remit: {stale}")
    if not json:
        out(_text(place, rulebook, plan, who))
    write = not plan.nothing and not dry_run
    if write:
        check_allowed(yes=yes, asking=asking)
        if not yes and not confirmed("write these changes?"):
            out("nothing was written\n")
            return BAD_INPUT
        _write(place, plan)
    if json:
        out_json(_json(place, rulebook, plan, who, write))
    else:
        out(_last(place, plan, who, write))
    return FINE


def _stale(place: Place, rulebook: Rulebook) -> str | None:
    """What to say if the policy is not the one that was activated."""
    from remit.compile import load_rulebook
    from remit.model.errors import RemitError
    from remit.model.text import shown

    name = shown(place.policy.name)
    try:
        same = load_rulebook(place.policy).hash == rulebook.hash
    except RemitError:
        return f"{name} does not load; what was activated counts: see `remit check`"
    return None if same else f"{name} has changed since it was activated; run `remit activate`, then this again"


def check_allowed(*, yes: bool, asking: bool) -> None:
    """Raises InputError if nobody has agreed and nobody can be asked."""
    from remit.cli.common import InputError

    if not yes and not asking:
        raise InputError("nobody can be asked here, and nothing was written", help="write with --yes", code="needs-yes")


def _write(place: Place, plan: Plan) -> None:
    """Originals first; then definitions; the record, which pins them; then the settings, which start to ask."""
    from remit.adapters.hooks.installed import write_installed
    from remit.cli.install.changes import check_unchanged, make_changes, make_directories
    from remit.cli.install.originals import write_originals
    from remit.cli.install.plan import final

    check_unchanged(plan.changes, place.root)
    write_originals(place.state, plan.originals)
    make_directories(plan.originals.directories)
    hooks = place.root / ".claude"
    first = [change for change in plan.changes if change.path.parent != hooks and change.path != place.policy]
    make_changes(first)
    write_installed(place.state, plan.record)
    make_changes([change for change in plan.changes if change not in first])
    write_originals(place.state, final(plan.originals, plan.changes))


def _text(place: Place, rulebook: Rulebook, plan: Plan, who: Main) -> str:
    """What is found and what would change."""
    from remit.cli.install.changes import diff
    from remit.cli.install.report import found_text
    from remit.cli.output import paint
    from remit.model.text import shown

    lines = [paint(f"policy: {shown(place.policy, 300)}", "dim"), f"main agent: {shown(who.name)}"]
    if who.lines and not who.wanted and not who.written:
        lines += ["the policy must say so; add to it:", f"    {shown(who.lines.rstrip(), 300)}"]
    text = "".join(f"{line}\n" for line in lines)
    text += "".join(diff(change, place.root) for change in plan.needed)
    text += "".join(f"{shown(line, 600)}\n" for line in plan.pins)
    return text + found_text(rulebook, plan, who)


def _last(place: Place, plan: Plan, who: Main, written: bool) -> str:
    from remit.model.text import shown

    if plan.nothing:
        text = f"{place.host}: nothing to be done\n"
    elif written:
        text = f"{place.host}: installed; hooks in {shown(plan.record.settings, 300)}\n"
    else:
        text = "dry run: nothing was written\n"
    if who.lines:
        file = shown(place.policy.name)
        said = f"{file} names the main agent now" if who.wanted or who.written else f"{file} must name the main agent"
        text += f"{said}: run `remit activate`; until then every call of the main agent is denied\n"
    return text


def _json(place: Place, rulebook: Rulebook, plan: Plan, who: Main, written: bool) -> dict[str, Any]:
    from remit.exchange.claude import agents

    return {
        "host": place.host,
        "settings": plan.record.settings,
        "main": who.name,
        "policy_lines": who.lines or None,
        "files": [{"path": str(change.path), "change": change.word} for change in plan.needed],
        "unknown_agents": agents.unknown_agents(rulebook, plan.survey.agents),
        "unknown_tools": agents.unknown_tools(rulebook, plan.survey.servers),
        "undefined_agents": agents.undefined_agents(rulebook, plan.survey.agents, who.name),
        "pins": plan.record.agents,
        "pins_changed": plan.pins,
        "warnings": plan.warnings,
        "written": written,
    }
