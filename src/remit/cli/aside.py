"""`remit aside`: what confined commands made in protected places, and a sweep moved out of the way."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.answer import YesOption
from remit.cli.common import FINE
from remit.cli.living import must_look, out_data, to_change, to_look
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.confine.aside import Aside, Kept
from remit.confine.interface import state_for
from remit.explain.visible import bounded
from remit.model.moments import moment
from remit.model.people import OPERATOR

AsideArgument = Annotated[str, Argument(metavar="ID", help="Such as Q-1f3a.")]


def list_(policy: PolicyOption = None, json: JsonOption = False) -> int:
    """List what was moved aside because a confined command made it in a protected place.

    Example: `remit aside`
    """
    with to_look(policy) as living:
        found = Aside(state_for(living.opened.state)).kept() if living is not None else []
    if json:
        out_data(found)
        return FINE
    for one in found:
        out(f"{one.id}  {moment(one.at)}  {bounded(one.agent, 80)}  {bounded(one.path, 200)}\n")
        out(f"    {bounded(one.why, 300)}\n")
    if not found:
        out("nothing lies aside\n")
    return FINE


def restore(
    name: AsideArgument,
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Put something back that was moved aside. Nothing that lies there now is overwritten.

    Example: `remit aside restore Q-1f3a`
    """
    return _done(name, "restored", yes=yes, who=who_, policy=policy, json=json)


def forget(
    name: AsideArgument,
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Delete something that was moved aside, for good.

    Example: `remit aside forget Q-1f3a`
    """
    return _done(name, "forgotten", yes=yes, who=who_, policy=policy, json=json)


def _done(name: str, what: str, *, yes: bool, who: str | None, policy: Path | None, json: bool) -> int:
    with to_look(policy) as found:
        aside = Aside(state_for(must_look(found, "aside", name).opened.state))
        one = aside.find(name)
    with to_change(policy) as living:
        book = living.book(machine=json)
        if not json:
            out(f"{one.id}  {bounded(one.path, 200)}: {bounded(one.why, 300)}\n")
        doing = f"{'put back' if what == 'restored' else 'delete'} {one.id}"
        by, _ = living.person(book, doing, may=OPERATOR, who=who, yes=yes)
        _do(aside, one, what)
        living.record("confined", {"what": what, "aside": one.id, "path": one.path[:300], "by": by})
    if json:
        out_data(one)
    else:
        out(f"{paint('✅', 'green')} {one.id} is {what}, by {by}\n")
    return FINE


def _do(aside: Aside, one: Kept, what: str) -> None:
    if what == "restored":
        aside.restore(one)
    else:
        aside.forget(one)
