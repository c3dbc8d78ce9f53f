"""`remit grant --standing`: adds a standing grant to the policy file, and shows what that changes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError, find_policy, say_policy
from remit.cli.living import Living, out_data, to_change
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.compile.hashing import grant_digest
from remit.compile.load import load_file
from remit.enforce.in_force import read_in_force
from remit.explain.extent import rule_text
from remit.grant.person import Signatory, named_people
from remit.grant.standing import approve_grant
from remit.model.people import APPROVER
from remit.model.policy import Grant
from remit.model.rulebook import Book
from remit.model.text import shown, suggestion
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
    """Add a standing grant to the policy file, with an approver and an end date; `remit activate` puts it in force.

    Example: `remit grant --standing --agent builder --tool Write --path 'docs/**' --until 2027-06-30 --adr ADR-12
    --approved-by ann`
    """
    if not standing:
        raise InputError(
            "a grant for one task belongs in the task",
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
        named = named_people(living.opened.store) is not None
        doing = f"grant {shown(', '.join(tool or []))} to {shown(agent)}"
        person = living.person(book, doing, may=APPROVER, who=approved_by if named else None, yes=yes)
        by = person.name
        if named:
            _approve(living, edit.grant, person)
        edit.write()
    if json:
        about = {"policy": load_file(file).hash, "was": edit.before.hash, "by": by}
        out_data({"state": "written", "entry": edit.entry, "difference": difference, **about})
    else:
        out(f"{paint('✅', 'green')} written, by {by}; it is not in force yet: `remit activate` puts it in force\n")
    return FINE


def approve(
    adr: Annotated[str, Argument(metavar="ADR", help="The document that the grant in the policy file names.")],
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Approve a standing grant as the policy file has it, as the person whom it names (`approved_by`).

    Example: `remit grant approve ADR-12 --as ann`
    """
    with to_change(policy) as living:
        grants = load_file(living.path).book.grants
        found = [grant for grant in grants if grant.adr == adr]
        if not found:
            known = suggestion(adr, [grant.adr for grant in grants if grant.adr])
            raise InputError(f"the policy has no grant with the document `{shown(adr)}`{known}", code="unknown-grant")
        if named_people(living.opened.store) is None:
            help_ = "whoever activates it approves its grants; `people:` names others"
            raise InputError("the policy in force names no people", code="no-people", help=help_)
        rulebook = load_file(living.path)
        if not json:
            for grant in found:
                what = "; ".join(rule_text(rule) for rule in grant.rules)
                out(f"{grant.at}: {shown(grant.agent)} may {what}, until {grant.until} ({shown(adr)})\n")
        person = living.person(None, f"approve {shown(adr)}", may=APPROVER, who=who_)
        for grant in found:
            _approve(living, grant, person)
    if json:
        out_data({"approved": adr, "by": person.name, "policy": rulebook.hash})
    else:
        out(f"{paint('✅', 'green')} {shown(adr)} is approved, by {person.name}; `remit activate` puts it in force\n")
    return FINE


def _approve(living: Living, grant: Grant, person: Signatory) -> None:
    authority = living.authority
    scribe = authority.scribe._replace(sign=person.sign)
    with living.opened.store.write() as change:
        now = authority.clock.tick(change)
        approve_grant(change, grant, grant_digest(grant), by=person.name, now=now, scribe=scribe)


def _activated(root: Path, store: Store) -> Book | None:
    """The book in force, which alone can say that no passphrase is needed."""
    rulebook = read_in_force(root, store).rulebook
    return rulebook.book if rulebook is not None else None
