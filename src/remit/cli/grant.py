"""`remit grant --standing`: adds a standing grant to the policy file, and shows what that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError, find_policy, say_policy
from remit.cli.living import out_data, to_change
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.compile.load import load_file
from remit.enforce.in_force import read_in_force
from remit.model.rulebook import Book
from remit.model.text import shown
from remit.service.standing_grant import StandingGrant, add_grant
from remit.store import Store


def command(
    standing: Annotated[bool, Option("--standing", help="A grant in the policy, with an end date.")] = False,
    agent: Annotated[
        str | None, Option("--agent", metavar="NAME", help="The agent or role that gets the grant.")
    ] = None,
    tool: Annotated[list[str] | None, Option("--tool", metavar="NAME", help="The tool; can be repeated.")] = None,
    path: Annotated[list[str] | None, Option("--path", metavar="GLOB", help="Only these paths.")] = None,
    url: Annotated[list[str] | None, Option("--url", metavar="PATTERN", help="Only these URLs.")] = None,
    until: Annotated[str | None, Option("--until", metavar="MOMENT", help="When the grant ends.")] = None,
    adr: Annotated[str | None, Option("--adr", metavar="ID", help="The document that records the reason.")] = None,
    approved_by: Annotated[str | None, Option("--approved-by", metavar="NAME", help="Who approved it.")] = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would change.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Add a standing grant to the policy file, with an approver and an end date; `remit activate` puts it in force."""
    if not standing:
        raise InputError(
            "a grant for one task comes with the task, not from here",
            help="put it under `grants:` of a task and run `remit capsule new`; --standing adds one to the policy",
        )
    given = {"--agent": agent, "--tool": tool, "--until": until, "--adr": adr, "--approved-by": approved_by}
    missing = [name for name, value in given.items() if not value]
    if missing:
        raise InputError(f"a standing grant needs {', '.join(missing)}")
    file = find_policy(policy)
    say_policy(file, machine=json)
    edit = add_grant(
        file,
        StandingGrant(
            agent=agent or "",
            tools=tool or [],
            paths=path,
            urls=url,
            until=until or "",
            adr=adr or "",
            approved_by=approved_by or "",
        ),
    )
    difference = edit.difference
    if not json:
        out("".join(f"{line}\n" for line in difference))
    if dry_run:
        if json:
            out_data({"state": "dry-run", "entry": edit.entry, "difference": difference})
        else:
            out("nothing was changed (--dry-run)\n")
        return FINE
    with to_change(policy) as living:
        book = _activated(living.root, living.opened.store)
        by = living.person(book, f"grant {shown(', '.join(tool or []))} to {shown(agent)}", yes=yes).name
        edit.write()
    if json:
        about = {"policy": load_file(file).hash, "was": edit.before.hash, "by": by}
        out_data({"state": "written", "entry": edit.entry, "difference": difference, **about})
    else:
        out(f"{paint('✅', 'green')} written, by {by}; it is not in force yet: `remit activate` puts it in force\n")
    return FINE


def _activated(root: Path, store: Store) -> Book | None:
    """The book in force, which alone can say that no passphrase is needed."""
    rulebook = read_in_force(root, store).rulebook
    return rulebook.book if rulebook is not None else None
