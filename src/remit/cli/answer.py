"""`remit approve` and `remit refuse`: a person's answer to one call that waits."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from remit.cli.approvals.show import AskArgument, FullOption, seen, seen_json
from remit.cli.common import FINE, InputError
from remit.cli.living import out_data, to_change
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.grant.asks import AskState
from remit.grant.errors import GrantError
from remit.model.people import APPROVER

LONGEST = 4_000
"""Characters of a reason."""
YesOption = Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")]


def approve(
    name: AskArgument,
    because: Annotated[str | None, Option("--because", metavar="TEXT", help="The reason.")] = None,
    full: FullOption = False,
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Approve one waiting call, exactly as shown, once.

    Examples: `remit approve A-17`, `remit approve A-17 --because 'checked with ann'`
    """
    return _answer(name, "approve", because, full=full, yes=yes, who_=who_, policy=policy, json=json)


def refuse(
    name: AskArgument,
    because: Annotated[str, Option("--because", metavar="TEXT", help="The reason; the agent may see it.")],
    full: FullOption = False,
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Refuse a call that is waiting, or one that was approved and has not run yet. A refusal overrides an approval.

    Example: `remit refuse A-17 --because 'not on a Friday'`
    """
    return _answer(name, "refuse", because, full=full, yes=yes, who_=who_, policy=policy, json=json)


def _answer(
    name: str,
    verdict: Literal["approve", "refuse"],
    because: str | None,
    *,
    full: bool,
    yes: bool,
    who_: str | None,
    policy: Path | None,
    json: bool,
) -> int:
    if because is not None:
        check_reason(because)
    with to_change(policy) as living:
        book = living.book(machine=json)
        asked = living.authority.asked(name)
        _answerable(asked, verdict)
        if not json:
            out(seen(living, asked, full=full))
        person = living.person(book, f"{verdict} {asked.id}", may=APPROVER, who=who_, yes=yes)
        answered = living.authority.answer(asked.id, verdict, by=person.name, because=because, sign=person.sign)
        if json:
            out_data(seen_json(living, answered))
        else:
            out(told(answered))
    return FINE


def told(answered: AskState) -> str:
    """What became of a question by an answer."""
    if answered.state == "open":
        have, wanted = len(answered.approved), answered.ask.approvals
        by = ", ".join(answered.approved)
        return f"{paint('☑', 'green')} {answered.id} has {have} of {wanted} approvals, by {by}\n"
    mark = paint("❌", "red") if answered.state == "refused" else paint("✅", "green")
    more = f"; it counts once, until {answered.expires}" if answered.state == "approved" else ""
    return f"{mark} {answered.id} is {answered.state}, by {answered.by}{more}\n"


def check_reason(because: str) -> None:
    """Raises InputError for a reason that says nothing, or too much."""
    if not because.strip() or len(because) > LONGEST:
        raise InputError(f"--because: say why, in up to {LONGEST} characters")


def _answerable(asked: AskState, verdict: str) -> None:
    """Raises GrantError for what can't be answered any more, before anybody is asked for a passphrase."""
    if asked.state == "open" or (asked.state == "approved" and verdict == "refuse"):
        return
    by = f" by {asked.by}" if asked.by and asked.state in ("approved", "refused", "used") else ""
    code = "approval-expired" if asked.state == "expired" else "approval-closed"
    raise GrantError(f"{asked.id} is {asked.state} already{by}", code=code)
