"""`remit ledger tail`: the newest entries, and those to come."""

from __future__ import annotations

from typing import Annotated, Any

from remit.cli.common import FINE
from remit.cli.ledger.lines import out_line
from remit.cli.ledger.options import DecisionOption, StateOption, TypeOption, filter_of, find_ledger
from remit.cli.ledger.show import matching
from remit.cli.options import AgentOption, JsonOption, PolicyOption, ToolOption
from remit.cli.output import write
from remit.cli.parameters import Option
from remit.cli.rounds import rounds
from remit.record.append import head_of
from remit.record.export import as_line
from remit.record.reader import Stored, all_said


def command(
    follow: Annotated[bool, Option("--follow", "-f", help="Wait for more, until interrupted.")] = False,
    limit: Annotated[int, Option("--limit", "-n", metavar="N", min=0, help="How many entries to show first.")] = 10,
    interval: Annotated[
        float, Option("--interval", metavar="SECONDS", min=0.05, max=60, help="Seconds between checks for new entries.")
    ] = 0.5,
    agent: AgentOption = None,
    tool: ToolOption = None,
    decision: DecisionOption = None,
    type: TypeOption = None,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Show the newest entries; with -f, keep showing new ones.

    Examples: `remit ledger tail`, `remit ledger tail -f --agent builder`
    """
    wanted = filter_of(type=type, agent=agent, tool=tool, decision=decision)

    def say(stored: Stored, data: dict[str, Any]) -> None:
        if json:
            write(as_line({"seq": stored.seq, "entry": data}))
        else:
            out_line(stored.seq, data)

    with find_ledger(policy, state) as opened:
        with opened.store.read() as view:
            at = head_of(view).size
            if limit:
                for stored, data in matching(view, wanted, limit):
                    say(stored, data)
        for _ in rounds(interval) if follow else ():
            with opened.store.read() as view:
                for stored, data in all_said(view, at):
                    at = stored.seq + 1
                    if wanted.wants(data):
                        say(stored, data)
    return FINE
