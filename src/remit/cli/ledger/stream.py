"""`remit ledger stream`: events to the destinations that the policy names."""

from __future__ import annotations

import signal
import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError, find_policy
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import find_ledger
from remit.cli.ledger.progress import progress_bar
from remit.cli.ledger.streams import streams_in_force
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.model.policy import Stream
from remit.model.text import counted, shown, suggestion
from remit.record.errors import LedgerError
from remit.record.open import OpenLog
from remit.record.stream import Backlog, Delivery, Streaming, alone, backlogs
from remit.record.streams import open_destination
from remit.store import Store

FAILED = 1


def command(
    name: Annotated[
        list[str] | None, Option("--name", metavar="NAME", help="Only this stream; can be repeated.")
    ] = None,
    once: Annotated[bool, Option("--once", help="Deliver pending events, then exit.")] = False,
    follow: Annotated[bool, Option("--follow", "-f", help="Keep delivering new entries until interrupted.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Deliver events to the streams of the activated policy, or show the progress of each stream.

    Exit code 1: a destination did not take them. They stay pending, and are delivered next time.

    Examples: `remit ledger stream`, `remit ledger stream --once`
    """
    if once and follow:
        raise InputError("--once stops when everything is delivered, --follow continues: give one of them")
    with find_ledger(policy, None) as opened:
        streams = _streams(find_policy(policy).absolute().parent, opened.store, name)
        delivery = Delivery(opened.store, opened.origin, opened.state, open_destination)
        if follow:
            _follow(delivery, streams)
        elif once:
            for one in streams:
                _deliver(opened, delivery, one, quiet=json)
        with opened.store.read() as view:
            found = backlogs(view, streams)
    if json:
        out_ascii([one._asdict() for one in found])
    else:
        out(
            "".join(f"{line(one)}\n" for one in found)
            or "the activated policy has no streams (`ledger: {streams: …}`)\n"
        )
    return FAILED if any(one.error is not None for one in found) else FINE


def line(one: Backlog) -> str:
    """One stream for people."""
    last = f", last on {shown(one.at, 30)}" if one.at else ", nothing delivered yet"
    waiting = f"{counted(one.waiting, 'entry')} waiting" if one.waiting else "all delivered"
    missing = f"; {one.archived} archived entries were never delivered" if one.archived else ""
    error = paint(f"\n    {shown(one.error, 300)}", "red") if one.error else ""
    return f"{shown(one.name)} → {shown(one.to, 300)}: {waiting}{last}{missing}{error}"


def _streams(root: Path, store: Store, names: list[str] | None) -> list[Stream]:
    streams = streams_in_force(root, store)
    if streams is None:
        raise InputError("no policy is in force, so no streams are known", help="run `remit activate`")
    known = [one.name for one in streams]
    for wanted in names or ():
        if wanted not in known:
            raise InputError(f"the activated policy has no stream `{shown(wanted)}`{suggestion(wanted, known)}")
    return [one for one in streams if not names or one.name in names]


def _deliver(opened: OpenLog, delivery: Delivery, stream: Stream, *, quiet: bool) -> None:
    with opened.store.read() as view:
        waiting = backlogs(view, [stream])[0].waiting
    with (
        progress_bar(f"to {shown(stream.name)}", waiting, quiet=quiet) as progress,
        alone(opened.state, stream.name) as mine,
    ):
        if not mine:
            raise InputError(f"the stream `{shown(stream.name)}` is being delivered already, perhaps by `remit serve`")
        with suppress(LedgerError):  # it is kept with the stream, and shown with it
            delivery.drain(stream, threading.Event(), progress)


def _follow(delivery: Delivery, streams: list[Stream]) -> None:
    end = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(name, lambda *_: end.set())
    running = Streaming(delivery, lambda: streams)
    end.wait()
    running.close()
