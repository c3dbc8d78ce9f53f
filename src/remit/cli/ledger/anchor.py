"""`remit ledger anchor`: where copies of the log's checkpoints are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import NOT_VERIFIED, StateOption, find_ledger
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.model.text import shown
from remit.record.anchor import configure, configured
from remit.record.anchors import open_anchor
from remit.record.startup import AnchorReply, ask_anchors, compare

SpecArgument = Annotated[
    str,
    Argument(metavar="ANCHOR", help="file:/PATH, git:/PATH#BRANCH, syslog:, https://…, or witness:https://…+VKEY."),
]


def add(spec: SpecArgument, policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Add an anchor: compare what it keeps already with the log, and give it the newest checkpoint."""
    with find_ledger(policy, state) as opened:
        with opened.store.read() as view:
            specs = configured(view)
        if spec in specs:
            raise InputError("this anchor is there already")
        anchor = open_anchor(spec, opened.log)
        note = opened.checkpoint()
        kept = anchor.last()
        if kept is not None:
            with opened.store.read() as view:
                compare(view, opened.log, kept, anchor.describe(), full=True)
        anchor.push(note)
        configure(opened.store, [*specs, spec])
        return _say([AnchorReply(anchor.describe(), opened.log.read(note))], json=json)


def list_(policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """List the anchors, and what each of them keeps."""
    with find_ledger(policy, state) as opened:
        with opened.store.read() as view:
            specs = configured(view)
        return _say(ask_anchors(opened.log, specs), json=json)


def remove(spec: SpecArgument, policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Remove an anchor. What it keeps stays there."""
    with find_ledger(policy, state) as opened:
        with opened.store.read() as view:
            specs = configured(view)
        if spec not in specs:
            raise InputError("there is no such anchor", help="`remit ledger anchor list` names them")
        configure(opened.store, [other for other in specs if other != spec])
    if json:
        out_ascii({"removed": spec})
    else:
        out("removed\n")
    return FINE


def push(policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Sign the head of the log, and hand it to every anchor. Exit code 1 if one of them did not get it."""
    with find_ledger(policy, state) as opened:
        return _say(opened.push(), json=json)


def _say(asked: Sequence[AnchorReply], *, json: bool) -> int:
    if json:
        out_ascii(
            [
                {
                    "anchor": one.anchor,
                    "size": one.checkpoint.size if one.checkpoint is not None else None,
                    "error": {"code": one.error.code, "message": str(one.error)} if one.error is not None else None,
                }
                for one in asked
            ]
        )
    else:
        for one in asked:
            size = f"{one.checkpoint.size} entries" if one.checkpoint is not None else "can't be asked, or is empty"
            said = paint(shown(one.error, 300), "red") if one.error is not None else size
            out(f"{shown(one.anchor, 300)}: {said}\n")
        if not asked:
            out("no anchors\n")
    return NOT_VERIFIED if any(one.error is not None for one in asked) else FINE
