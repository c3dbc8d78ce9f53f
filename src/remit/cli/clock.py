"""`remit clock`: what the clock of authority shows, whether it is in doubt, and how a person repairs it."""

from __future__ import annotations

import time
from typing import Annotated, Any

from remit.cli.common import FINE
from remit.cli.living import out_data, to_change, to_look
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.explain.visible import bounded
from remit.grant.clock import Clock, lasting
from remit.grant.errors import GrantError
from remit.model.moments import moment
from remit.model.people import OPERATOR
from remit.record.reader import all_said
from remit.store.interface import Store

SHOWN = 10
"""Events of the ledger."""
IN_DOUBT = 1


def look(policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Show the clock that ends approvals, tickets and tasks: whether it is in doubt, and what happened to it.

    Example: `remit clock`
    """
    events: list[dict[str, Any]] = []
    with to_look(policy) as living:
        if living is None:
            found = Clock().read()
        else:
            with living.opened.store.read() as view:
                found = living.authority.clock.read(view)
            events = _events(living.opened.store)
    code = FINE if found.doubt is None else IN_DOUBT
    if json:
        out_data({"now": found.now, "doubt": found.doubt._asdict() if found.doubt else None, "events": events})
        return code
    out(f"the clock shows {found.now}\n")
    if found.doubt is None:
        out(f"{paint('✅', 'green')} it is not in doubt\n")
    else:
        out(f"{paint('⚠️', 'yellow')} {found.doubt.reason}\n")
        out("  until then nothing that expires can be issued or used, and no date in the policy counts\n")
        if found.doubt.gap:
            out("  nobody knows how much time has passed: repairing ends everything that expires\n")
    for event in events:
        out(f"  {event['at']}  {_told(event)}\n")
    return code


def repair(
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Confirm that the wall clock is correct. Whatever is still open keeps the time it has left, and gets no more.

    Example: `remit clock repair`
    """
    with to_change(policy) as living:
        book = living.book(machine=json)
        with living.opened.store.read() as view:
            found = living.authority.clock.read(view)
        if found.doubt is None:
            raise GrantError("the clock is not in doubt: there is nothing to repair", code="clock-sound")
        if not json:
            out(f"{found.doubt.reason}\n")
        by, sign = living.person(
            book, f"set the clock from {found.now} to {moment(time.time())}", may=OPERATOR, who=who_, yes=yes
        )
        done = living.authority.repair_clock(by=by, sign=sign)
    if json:
        out_data({**done._asdict(), "by": by})
        return FINE
    what = "everything that expires has ended" if done.gap else f"moved along: {done.moved}"
    out(f"{paint('✅', 'green')} the clock shows {done.now}, by {by}; {what}\n")
    return FINE


def _events(store: Store) -> list[dict[str, Any]]:
    """What the ledger says about the clock, the newest last."""
    with store.read() as view:
        found = [data for _, data in all_said(view) if data.get("type") == "clock"]
    return found[-SHOWN:]


def _told(event: dict[str, Any]) -> str:
    what, machine = str(event.get("what")), bounded(str(event.get("machine")), 40)
    if what == "repaired":
        return f"repaired by {bounded(str(event.get('by')), 120)}: from {event.get('was')} to {event.get('now')}"
    by = event.get("by")
    size = f" by {lasting(abs(by))}" if isinstance(by, int) else ""
    texts = {
        "jumped-forwards": f"jumped forwards{size}",
        "in-doubt": f"behind{size}, in doubt",
        "recovered": "right again",
    }
    return f"{texts.get(what, bounded(what, 40))}, on machine {machine}"
