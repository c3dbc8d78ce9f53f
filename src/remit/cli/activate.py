"""`remit activate`: a person puts the policy, as it is now, in force."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec

from remit.cli.check import as_json
from remit.cli.check import as_text as checked_text
from remit.cli.common import BAD_POLICY, FINE, InputError, find_policy, say_policy
from remit.cli.differences import as_text as difference_text
from remit.cli.ledger.user import user_name
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import err, out, out_json, paint
from remit.cli.parameters import Option
from remit.cli.person import read_secret
from remit.cli.replay import as_data, replay_lines
from remit.cli.stdin import answer, person_there
from remit.compile.hashing import grant_digest
from remit.enforce.in_force import (
    InForce,
    finish_activation,
    ledger_settings,
    look_up_in_force,
    put_in_force,
    read_in_force,
    repair_rulebook,
)
from remit.grant.authority import Authority
from remit.grant.credential import is_set
from remit.grant.errors import GrantError
from remit.grant.person import Signatory, needs_none, prove_person, without_credential
from remit.grant.reviews import make_due
from remit.grant.standing import unapproved
from remit.model.errors import RemitError
from remit.model.people import OWNER
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.record.anchor import configured
from remit.record.open import Opened, open_ledger, open_log
from remit.record.startup import check_anchors, forget_anchors
from remit.service.activation import Difference
from remit.service.replay import Replayed, replay_recent
from remit.store.interface import Store, Transaction
from remit.testing.check import examine


def command(
    policy: PolicyOption = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would change.")] = False,
    ref: Annotated[
        str | None,
        Option(
            "--ref", metavar="ID", help="The document behind a change of a role; its agents are then due for review."
        ),
    ] = None,
    who_: AsOption = None,
    json: JsonOption = False,
) -> int:
    """Put the policy in force: check it, show what changes, and ask for confirmation.

    Examples: `remit activate`, `remit activate --dry-run`, `remit activate --ref PRD-7`
    """
    path = find_policy(policy)
    say_policy(path, machine=json)
    checked = examine(path)
    if checked.rulebook is None or not checked.fine:
        if json:
            out_json({"state": "refused", **as_json(checked)})
        else:
            out(checked_text(checked, quiet=True))
        err("remit: not activated; what was in force stays in force")
        return BAD_POLICY
    root = path.absolute().parent
    if dry_run:
        return _dry_run(root, checked.rulebook, json=json)

    with open_ledger(root, point="activate", settings=ledger_settings(root, checked.rulebook)) as opened:
        for warning in opened.warnings:
            err(f"remit: {warning}")
        return _activate(opened, root, checked.rulebook, yes=yes, json=json, ref=ref, who=who_)


def _dry_run(root: Path, rulebook: Rulebook, *, json: bool) -> int:
    force = look_up_in_force(root)
    difference = Difference.between(force, rulebook)
    found = None
    if force.rulebook is not None and not difference.same:
        with open_log(root) as opened:
            found = _replayed(opened.store, root, force, rulebook)
    if json:
        out_json({"state": "dry-run", **difference.as_json(), **_replay_data(found)})
    else:
        out(difference_text(difference) + _replay_text(found) + "nothing was activated (--dry-run)\n")
    return FINE


def _replayed(store: Store, root: Path, force: InForce, rulebook: Rulebook) -> Replayed | None:
    """What the new policy changes for the newest calls; None without any, or if the ledger can't be read."""
    if force.rulebook is None:
        return None
    try:
        with store.read() as view:
            found = replay_recent(view, force.rulebook, rulebook, str((root / rulebook.book.root).resolve()))
    except RemitError as error:
        err(f"remit: past calls can't be replayed: {error}")
        return None
    return found if found.calls else None


def _replay_text(found: Replayed | None) -> str:
    lines = replay_lines(found, "of the ledger's end", most=10) if found is not None else ()
    return "".join(f"{line}\n" for line in lines)


def _replay_data(found: Replayed | None) -> dict[str, Any]:
    return {"replay": msgspec.to_builtins(as_data(found))} if found is not None else {}


def _activate(
    opened: Opened, root: Path, rulebook: Rulebook, *, yes: bool, json: bool, ref: str | None, who: str | None
) -> int:
    if finish_activation(opened, root):
        err("remit: an activation had been interrupted; it is finished now")
    force = read_in_force(root, opened.store)
    difference = Difference.between(force, rulebook)
    if difference.same:
        return _done("unchanged", difference, json=json)
    if (
        force.activation is not None
        and force.activation.policy == rulebook.hash
        and repair_rulebook(opened, root, rulebook)
    ):
        return _done("repaired", difference, json=json)
    found = _replayed(opened.store, root, force, rulebook)
    if not json:
        out(difference_text(difference) + _replay_text(found))
    _check_ref(difference, ref)
    with opened.store.read() as view:
        _check_grants(rulebook, view)
    by = _consent(opened, force, rulebook, yes=yes, who=who)
    before, after = _anchors(force.rulebook), _anchors(rulebook)
    check_anchors(opened.log, opened.memory, also=(*before, *after))
    also = partial(_also, opened, difference, by, ref)
    activation = put_in_force(opened, root, rulebook, after=force.activation, by=by, also=also)
    with opened.store.read() as view:
        forget_anchors(opened.log, opened.memory, set(before) - {*after, *configured(view)})
    _sign(opened)
    about = {"by": by.name, "at": activation.at, "digest": activation.digest, "activation": activation.seq}
    about |= _replay_data(found)
    _done("activated", difference, json=json, **about)
    if not json and not is_set(opened.store) and not needs_none(rulebook.book):
        out(_PASSPHRASE)
    return FINE


_PASSPHRASE = """\
   From now on, activating and answering need a passphrase, so that no agent
   can do either. Set it now, in a terminal: remit credential set
"""


def _check_ref(difference: Difference, ref: str | None) -> None:
    """Raises InputError for a change of a reviewed role without a document that explains it."""
    if difference.roles and (ref is None or not ref.strip() or len(ref) > 200):
        what = f"the role {', '.join(difference.roles)} is changed, and its agents are reviewed"
        raise InputError(what, code="reference-missing", help="name the document behind it: --ref PRD-7")


def _check_grants(rulebook: Rulebook, view: Transaction) -> None:
    """Raises GrantError if a standing grant names an approver who has not approved it."""
    digests = {grant_digest(grant): grant for grant in rulebook.book.grants}
    for grant in unapproved(view, rulebook.book, digests):
        what = f"{grant.at}: {grant.approved_by} has not approved this grant to {grant.agent} ({grant.adr})"
        help_ = f"{grant.approved_by} runs `remit grant approve {grant.adr}`"
        raise GrantError(what, code="grant-unapproved", help=help_)


def _also(opened: Opened, difference: Difference, by: Signatory, ref: str | None, change: Transaction) -> None:
    """People have approved the grants, and the agents of changed roles are to be reviewed."""
    _check_grants(difference.new, change)
    if not difference.roles:
        return
    authority = Authority(opened.store, opened.vault, writer=opened.ledger.writer)
    now, scribe = authority.clock.tick(change), authority.scribe
    make_due(change, difference.new.book, difference.roles, by=by.name, ref=ref or "", now=now, scribe=scribe)


def _anchors(rulebook: Rulebook | None) -> tuple[str, ...]:
    settings = rulebook.book.ledger if rulebook is not None else None
    return settings.anchors if settings is not None else ()


def _consent(opened: Opened, force: InForce, rulebook: Rulebook, *, yes: bool, who: str | None) -> Signatory:
    """Who agreed. Raises RemitError if nobody did.

    What the new policy says of credentials counts for nothing here: it is not in force yet.
    """

    book = force.rulebook.book if force.rulebook is not None else None
    first = force.activation is None and not is_set(opened.store)
    if not first and not needs_none(book):
        doing = f"activate {shown(rulebook.book.name)}"
        login = user_name(None)
        return prove_person(opened.store, book, name=login, doing=doing, read=read_secret, may=OWNER, who=who)
    if not yes:
        if not person_there():
            raise InputError("nobody can be asked here: add --yes")
        err("activate? [y/N] ", end="")
        if answer().strip().lower() not in ("y", "yes"):
            raise InputError("not activated", code="not-activated")
    return without_credential(user_name(None))


def _sign(opened: Opened) -> None:
    """The activation is under a signature at once, and the anchors have it. It stands without that, too."""
    try:
        for reply in opened.push():
            if reply.error is not None:
                err(f"remit: {reply.error}")
    except RemitError as error:
        err(f"remit: the policy is in force, but the ledger could not be signed: {error}")


def _done(state: str, difference: Any, *, json: bool, **about: Any) -> int:
    if json:
        out_json({"state": state, **difference.as_json(), **about})
        return FINE
    mark, name = paint("✅", "green"), difference.new.hash[:19]
    same = f"{mark} nothing changed: {name}… is in force"
    texts = {
        "unchanged": f"{same}\n",
        "repaired": f"{same}; its file was missing or damaged, and is written again\n",
        "activated": f"{mark} activated {name}…, by {about.get('by')}\n",
    }
    out(texts[state])
    return FINE
