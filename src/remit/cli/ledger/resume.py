"""`remit ledger resume`: a person lets a stopped ledger go on."""

from __future__ import annotations

from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import StateOption, find_ledger
from remit.cli.living import Living, find_project
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import err, out, paint
from remit.cli.parameters import Option
from remit.enforce.in_force import read_in_force
from remit.grant.authority import Authority
from remit.model.people import OPERATOR
from remit.model.text import shown
from remit.record.resume import look, resume

_LOST = (
    "everything is as the log has it now: whoever was halted since, which tasks ended and which approvals were used is"
    " lost; look at `remit incidents`, `remit capsule list` and `remit approvals`"
)


def command(
    because: Annotated[
        str, Option("--because", metavar="REASON", help="Why it may resume; recorded in the ledger.")
    ] = "",
    accept_loss: Annotated[
        bool, Option("--accept-loss", help="Continue from the log as it is, although entries were lost or changed.")
    ] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Resume a stopped ledger, with a recorded reason; needs a person's confirmation.

    Example: `remit ledger resume --because 'disk replaced'`
    """
    if not because.strip():
        raise InputError("say why it may resume: --because REASON")
    with find_ledger(policy, state) as opened:
        found = look(opened)
        for line in dict.fromkeys((found.mark and found.mark.message, found.fault and str(found.fault))):
            if line is not None and not json:
                err(f"remit: {shown(line, 500)}")
        path, root = find_project(policy)
        force = read_in_force(root, opened.store)
        living = Living(path, root, opened, Authority(opened.store, opened.vault))
        book = force.rulebook.book if force.rulebook is not None else None
        who = living.person(book, "resume the ledger", may=OPERATOR, who=who_, yes=yes).name
        seq = resume(opened, because=because.strip()[:1000], who=who, accept_loss=accept_loss)
    if json:
        out_ascii({"resumed": seq, "by": who})
    else:
        out(f"{paint('✅', 'green')} the ledger is resumed, by {shown(who)}; entry {seq} says why\n")
        if found.fault is not None:
            err(f"remit: {_LOST}")
    return FINE
