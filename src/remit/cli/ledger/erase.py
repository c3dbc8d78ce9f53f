"""`remit ledger erase`: values go, proofs stay."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import StateOption, find_ledger, moment_option
from remit.cli.ledger.user import user_name
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out
from remit.cli.parameters import Option
from remit.record.erase import Which, erase, selected


def command(
    seq: Annotated[
        list[int] | None, Option("--seq", metavar="N", min=0, help="The values of this entry; can be repeated.")
    ] = None,
    call: Annotated[str | None, Option("--call", metavar="ID", help="The values of this call.")] = None,
    agent: Annotated[str | None, Option("--agent", metavar="NAME", help="All values of this agent.")] = None,
    before: Annotated[str | None, Option("--before", metavar="MOMENT", help="Only, or all, before then.")] = None,
    who: Annotated[str | None, Option("--who", metavar="NAME", help="Who has it done; default: the user.")] = None,
    yes: Annotated[bool, Option("--yes", help="Without asking.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only say how many entries it would concern.")] = False,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Erase values for good: arguments and statements. Entries and proofs stay; that it was done is recorded."""
    named = [bool(seq), call is not None, agent is not None or before is not None]
    if sum(named) != 1:
        raise InputError("name what is to go by --seq, by --call, or by --agent and --before")
    which = Which(tuple(seq or ()), call, agent, moment_option(before, "--before"))
    with find_ledger(policy, state) as opened:
        with opened.store.read() as view:
            count = len(selected(view, which))
        if dry_run:
            entries, values = count, None
        else:
            if count and not yes:
                if not sys.stdin.isatty():
                    raise InputError("erasing can't be undone: say --yes")
                typer.confirm(f"erase the values of {count} entries, for good?", abort=True)
            entries, values = erase(opened.store, which, user_name(who)) if count else (0, 0)
    if json:
        out_ascii({"entries": entries, "values": values, "dry_run": dry_run})
    elif dry_run:
        out(f"{entries} entries have values that would be erased\n")
    else:
        out(f"erased {values} values of {entries} entries\n")
    return FINE
