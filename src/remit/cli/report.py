"""`remit report`: what one agent can use, by layer, tool by tool."""

from __future__ import annotations

from typing import Annotated

from remit.cli.common import FINE, InputError, clock, moment_of, open_policy
from remit.cli.options import JsonOption, NowOption, PolicyOption
from remit.cli.output import out, out_json
from remit.cli.parameters import Argument, Option
from remit.explain.access import instructions_text, make_report, report_text, stats_text
from remit.explain.matrix import callers_of
from remit.model.names import known_name


def command(
    agent: Annotated[str | None, Argument(metavar="AGENT", help="An agent, role or runner.")] = None,
    stats: Annotated[bool, Option("--stats", help="Only the totals.")] = False,
    instructions: Annotated[
        bool, Option("--instructions", help="Text for the agent's prompt: what it may, must ask about, and may not.")
    ] = False,
    everyone: Annotated[bool, Option("--all", help="For every agent, role and runner.")] = False,
    policy: PolicyOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> int:
    """Report the tools that an agent can use, with totals by layer and scopes.

    Examples: `remit report builder`, `remit report builder --instructions`, `remit report --all --json`
    """
    if (agent is None) is not everyone:
        raise InputError("name one AGENT, or say --all" if agent is None else "either AGENT or --all, not both")
    if instructions and (stats or json):
        raise InputError("--instructions is a text of its own: without --stats and --json")
    opened = open_policy(policy, machine=json)
    rulebook = opened.rulebook
    when = moment_of(now) if now is not None else clock()
    known = list(rulebook.book.callers)
    names = callers_of(rulebook, everyone=True) if agent is None else [known_name(agent, known, "agent")]
    reports = [make_report(rulebook, name, when) for name in names]
    if json:
        found = [report.stats() if stats else report.as_json() for report in reports]
        out_json(found if everyone else found[0])
    else:
        text = instructions_text if instructions else stats_text if stats else report_text
        out("\n".join(map(text, reports)))
    return FINE
