"""`remit ledger keys`: the keys that sign the log."""

from __future__ import annotations

from typing import Annotated

from remit.cli.common import FINE
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import StateOption, find_ledger, ledger_to_change
from remit.cli.ledger.user import user_name
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out
from remit.cli.parameters import Option
from remit.record.rotate import rotate as rotate_keys


def list_(policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """List every public key that has signed the log, newest last.

    Example: `remit ledger keys list`
    """
    with find_ledger(policy, state) as opened:
        keys = [verifier.vkey for verifier in opened.log.verifiers]
    if json:
        out_ascii(keys)
    else:
        out("".join(f"{key}\n" for key in keys))
    return FINE


def show(policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Show the current public key, for people who check receipts and for witnesses.

    Example: `remit ledger keys show > ledger.vkey`
    """
    with find_ledger(policy, state) as opened:
        key = opened.log.verifiers[-1].vkey
    if json:
        out_ascii({"vkey": key})
    else:
        out(f"{key}\n")
    return FINE


def rotate(
    days: Annotated[int, Option("--days", metavar="N", min=0, max=3650, help="How long both keys sign.")] = 7,
    who: Annotated[
        str | None, Option("--who", metavar="NAME", help="The person responsible; default: the user.")
    ] = None,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Create a new key. The old key signs an entry that names it, and keeps signing for a while.

    Example: `remit ledger keys rotate`
    """
    with ledger_to_change(policy, state) as opened:
        opened.checkpoint()
        new = rotate_keys(opened.store, opened.keys, days=days, who=user_name(who))
    with find_ledger(policy, state) as opened:
        opened.checkpoint()
    if json:
        out_ascii({"vkey": new.vkey, "days": days})
    else:
        out(f"{new.vkey}\n")
        err(f"both keys sign for {days} days; give the new one to witnesses and to those who check receipts")
    return FINE
