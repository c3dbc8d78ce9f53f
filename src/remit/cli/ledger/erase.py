"""`remit ledger erase`: values go, proofs stay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import StateOption, find_ledger, ledger_to_change, moment_option
from remit.cli.ledger.user import user_name
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out
from remit.cli.parameters import Option
from remit.cli.stdin import person_there
from remit.model.text import shown
from remit.record.erase import Which, elsewhere, erase, selected


def command(
    seq: Annotated[
        list[int] | None, Option("--seq", metavar="N", min=0, help="The values of this entry; can be repeated.")
    ] = None,
    call: Annotated[str | None, Option("--call", metavar="ID", help="The values of this call.")] = None,
    agent: Annotated[str | None, Option("--agent", metavar="NAME", help="All values of this agent.")] = None,
    before: Annotated[
        str | None, Option("--before", metavar="MOMENT", help="Values from before this time; alone, all of them.")
    ] = None,
    who: Annotated[
        str | None, Option("--who", metavar="NAME", help="The person responsible; default: the user.")
    ] = None,
    archive: Annotated[
        list[Path] | None,
        Option("--archive", metavar="DIR", help="Also erase in this archive; with --seq. Can be repeated."),
    ] = None,
    leave: Annotated[
        bool, Option("--no-checkpoint", help="Leave what was erased in the store's log until it is overwritten.")
    ] = False,
    compact: Annotated[
        bool, Option("--compact", help="Rewrite the store, so that its free space holds nothing; writers wait.")
    ] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show how many entries it would affect.")] = False,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Erase values permanently: arguments and statements. Entries and proofs stay; the ledger records the erasure.

    Afterwards it empties the store's own log, and says what may still hold the values.

    Examples: `remit ledger erase --seq 42`, `remit ledger erase --agent builder --before 2026-01-01`
    """
    named = [bool(seq), call is not None, agent is not None or before is not None]
    if sum(named) != 1:
        raise InputError("name what to erase: by --seq, by --call, or by --agent and --before")
    if archive and not seq:
        raise InputError("--archive goes with --seq: an archive is not searched for calls and agents")
    which = Which(tuple(seq or ()), call, agent, moment_option(before, "--before"))
    with (find_ledger if dry_run else ledger_to_change)(policy, state) as opened:
        with opened.store.read() as view:
            count = len(selected(view, which, archived=bool(archive)))
        held: list[str] = []
        if dry_run:
            entries, values = count, None
        else:
            if count and not yes:
                if not person_there():
                    raise InputError("erasing can't be undone: add --yes")
                typer.confirm(f"erase the values of {count} entries, for good?", abort=True)
            entries, values = erase(opened.store, which, user_name(who), archive or ()) if count else (0, 0)
            held = [] if leave and values else opened.store.settle(shrink=compact)
            if leave and values:
                held = ["the store's write-ahead log, until it is overwritten"]
            held += elsewhere(opened.store)
    if json:
        out_ascii({"entries": entries, "values": values, "dry_run": dry_run, "may_still_hold": held})
    elif dry_run:
        out(f"the values of {entries} entries would be erased\n")
    else:
        out(f"erased {values} values of {entries} entries\n")
        for one in held:
            err(f"may still hold them: {shown(one, 300)}")
    return FINE
