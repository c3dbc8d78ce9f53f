"""`remit clock`: what the clock of authority shows, whether it is in doubt, and how a person repairs it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from remit.cli.options import JsonOption, PolicyOption

if TYPE_CHECKING:
    from remit.store.interface import Store

app = typer.Typer(
    name="clock",
    help="The clock by which approvals, tickets and tasks end: look at it, repair it.",
    rich_markup_mode=None,
)
SHOWN = 10
"""Events of the ledger."""


@app.callback(invoke_without_command=True)
def look(context: typer.Context, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Show the clock, whether it is in doubt, and what happened to it."""
    from remit.cli.common import FINE, InputError
    from remit.cli.living import out_data, to_look
    from remit.cli.output import out, paint
    from remit.grant.clock import Clock

    if context.invoked_subcommand is not None:
        if json or policy is not None:
            raise InputError(f"options of `{context.invoked_subcommand}` stand behind it")
        return FINE
    events: list[dict[str, Any]] = []
    with to_look(policy) as living:
        if living is None:
            found = Clock().read()
        else:
            with living.opened.store.read() as view:
                found = living.authority.clock.read(view)
            events = _events(living.opened.store)
    if json:
        doubt = found.doubt._asdict() if found.doubt is not None else None
        out_data({"now": found.now, "doubt": doubt, "events": events})
        return FINE if doubt is None else 1
    out(f"the clock shows {found.now}\n")
    if found.doubt is None:
        out(f"{paint('✅', 'green')} it is not in doubt\n")
    else:
        out(f"{paint('⚠️', 'yellow')} {found.doubt.reason}\n")
        out("  until then nothing that ends by itself can be given or used, and no date in the policy counts\n")
        if found.doubt.gap:
            out("  nobody knows how long the machine was off: repairing ends everything that ends by itself\n")
    for event in events:
        out(f"  {event['at']}  {_told(event)}\n")
    return FINE if found.doubt is None else 1


@app.command()
def repair(
    yes: Annotated[
        bool, typer.Option("--yes", help="Without asking, where no passphrase is needed. It replaces none.")
    ] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Say that the clock of this machine is right. What still lasts ends after the time it has left, not later."""
    from remit.cli.common import FINE
    from remit.cli.living import out_data, to_change
    from remit.cli.output import out, paint
    from remit.grant.errors import GrantError

    with to_change(policy) as living:
        book = living.book(machine=json)
        with living.opened.store.read() as view:
            found = living.authority.clock.read(view)
        if found.doubt is None:
            raise GrantError("the clock is not in doubt: there is nothing to repair", code="clock-sound")
        if not json:
            out(f"{found.doubt.reason}\n")
        wall = _wall()
        by = living.person(book, f"set the clock from {found.now} to {wall}", yes=yes)
        done = living.authority.repair_clock(by=by)
    if json:
        out_data({**done._asdict(), "by": by})
        return FINE
    what = "everything that ends by itself has ended" if done.gap else f"moved along: {done.moved}"
    out(f"{paint('✅', 'green')} the clock shows {done.now}, by {by}; {what}\n")
    return FINE


def _wall() -> str:
    import time

    from remit.grant.clock import written

    return written(time.time())


def _events(store: Store) -> list[dict[str, Any]]:
    """What the ledger says about the clock, the newest last."""
    from remit.record.reader import entries

    with store.read() as view:
        found = [stored.data for stored in entries(view) if stored.data.get("type") == "clock"]
    return found[-SHOWN:]


def _told(event: dict[str, Any]) -> str:
    from remit.explain.visible import bounded
    from remit.grant.clock import lasting

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
