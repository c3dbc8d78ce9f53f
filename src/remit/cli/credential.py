"""`remit credential`: the passphrase by which a person activates and answers."""

from __future__ import annotations

import os
from pathlib import Path

from remit.cli.common import FINE, InputError, find_policy
from remit.cli.ledger.user import user_name
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import err, out, out_json
from remit.cli.person import read_secret
from remit.enforce.in_force import ledger_settings
from remit.grant.credential import CredentialError, accept, is_set, set_passphrase, unfit
from remit.grant.credential import status as look
from remit.grant.person import PersonError, known_person, named_people
from remit.model.text import shown
from remit.record.errors import LedgerError
from remit.record.open import open_ledger, open_log
from remit.record.people import PERSON, people_of
from remit.store import Store


def set_(who_: AsOption = None, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Set or change the passphrase: the project's, or with --as your own. Remit reads it only from the terminal.

    Examples: `remit credential set`, `remit credential set --as ann`
    """
    root = _root(policy)
    with open_ledger(root, point="credential", settings=ledger_settings(root)) as opened:
        for warning in opened.warnings:
            err(f"remit: {warning}")
        name = who_ if who_ is not None else PERSON
        if who_ is not None:
            known_person(named_people(opened.store) or {}, who_)
        invited = who_ is not None and _is_invited(opened.store, who_)
        known = is_set(opened.store, name) and not invited
        old = read_secret("the passphrase until now: ") if known else None
        code = read_secret("the code of your invitation: ") if who_ is not None and not known else None
        new = read_secret("new passphrase: ")
        fault = unfit(new)
        if fault is not None:
            raise CredentialError(f"this passphrase can't be used: {fault}", code="unfit-passphrase")
        if read_secret("the new one again: ") != new:
            raise PersonError("the two are not the same; nothing was set", code="not-the-same")
        if code is not None:
            accept(opened.store, name, code, new, who=user_name(None))
        else:
            set_passphrase(opened.store, new, old=old, who=user_name(None), name=name)
    what = "set" if old is None else "changed"
    if json:
        out_json({"what": what} | ({"who": who_} if who_ is not None else {}))
    else:
        out(f"the passphrase{f' of {who_}' if who_ is not None else ''} is {what}\n")
    return FINE


def _is_invited(store: Store, name: str) -> bool:
    with store.read() as view:
        return name in people_of(view).invitations


def status(who_: AsOption = None, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Show whether a passphrase is set, since when, and how many wrong attempts followed the last good one.

    Example: `remit credential status`
    """
    try:
        with open_log(_root(policy)) as opened:
            found = look(opened.store, who_ if who_ is not None else PERSON)
    except LedgerError as error:
        if error.code != "no-ledger":
            raise
        found = None
    if json:
        out_json({"set": found is not None, **(found._asdict() if found is not None else {})})
    elif found is None:
        more = f" --as {who_}" if who_ is not None else ""
        out(f"no passphrase is set; run `remit credential set{more}` in a terminal\n")
    else:
        wrong = f"; wrong ones since the last right one: {found.failures}" if found.failures else ""
        out(f"a passphrase is set, since {found.set_at}{wrong}\n")
    return FINE


def _root(policy: Path | None) -> Path:
    """The folder of the policy. Raises InputError."""
    path = find_policy(policy)
    if not os.path.lexists(path):
        raise InputError(f"{shown(path, 300)}: no such file", code="no-policy")
    return path.absolute().parent
