"""`remit people`: who may do what under their own name, and inviting them."""

from __future__ import annotations

from typing import Annotated, Any

from remit.cli.common import FINE
from remit.cli.ledger.user import user_name
from remit.cli.living import out_data, to_change, to_look
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.cli.person import read_secret
from remit.explain.visible import bounded
from remit.grant.credential import invite as make_invitation
from remit.grant.credential import status
from remit.grant.person import PersonError, known_person, named_people, prove_person, prove_project
from remit.model.people import OWNER
from remit.record.people import people_of


def list_(policy: PolicyOption = None, json: JsonOption = False) -> int:
    """List the people whom the policy in force names: their roles, and whether they have set a passphrase.

    Example: `remit people`
    """
    found: list[dict[str, Any]] = []
    with to_look(policy) as living:
        if living is not None:
            book = living.book(machine=json)
            with living.opened.store.read() as view:
                people = people_of(view)
            for name, roles in (people.now or {}).items():
                kept = status(living.opened.store, name)
                person = book.people.get(name) if book is not None else None
                said = {"name": name, "roles": list(roles), "contact": person.contact if person is not None else None}
                found.append({**said, "since": kept.set_at if kept else None, "invited": name in people.invitations})
    if json:
        out_data(found)
        return FINE
    for one in found:
        set_ = f"passphrase since {one['since']}" if one["since"] else "no passphrase yet"
        more = ", invited" if one["invited"] else ""
        contact = f", {bounded(one['contact'], 200)}" if one["contact"] else ""
        out(f"{paint(bounded(one['name'], 100), 'bold')}  {', '.join(one['roles'])}: {set_}{more}{contact}\n")
    if not found:
        out("the policy in force names no people: whoever has the passphrase may do everything\n")
    return FINE


def invite(
    name: Annotated[str, Argument(metavar="NAME", help="As the policy in force names them.")],
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Invite somebody to set their own passphrase, with a code that is valid once, for a week.

    To replace a lost passphrase, invite the person again. With --as, an owner invites; without it, anyone who has the
    project's passphrase.

    Example: `remit people invite ann`
    """
    with to_change(policy) as living:
        store, login = living.opened.store, user_name(None)
        people = named_people(store)
        if people is None:
            raise PersonError("the policy in force names no people", code="no-people", help="name them under `people:`")
        known_person(people, name)
        doing = f"invite {name}"
        if who_ is None:
            by = prove_project(store, name=login, doing=doing, read=read_secret)
        else:
            by = prove_person(store, None, name=login, doing=doing, read=read_secret, may=OWNER, who=who_)
        code = make_invitation(store, name, by=by.name, sign=by.sign)
    if json:
        out_data({"invited": name, "by": by.name, "code": code})
        return FINE
    out(f"{paint('✅', 'green')} {name} is invited, by {by.name}. The code, for {name} alone: {code}\n")
    out(f"{name} runs `remit credential set --as {name}` within a week\n")
    return FINE
