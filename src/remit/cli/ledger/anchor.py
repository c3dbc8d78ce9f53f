"""`remit ledger anchor`: where copies of the log's checkpoints are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import NOT_VERIFIED, StateOption, find_ledger, ledger_to_change
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.model.text import counted, shown
from remit.record.anchor import configure, configured
from remit.record.anchors import open_anchor
from remit.record.memory import Handed
from remit.record.startup import AnchorReply, ask_anchors, compare, forget_anchors, named

SpecArgument = Annotated[
    str,
    Argument(metavar="ANCHOR", help="file:/PATH, git:/PATH#BRANCH, syslog:, https://…, or witness:https://…+VKEY."),
]


def add(spec: SpecArgument, policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Add an anchor: compare what it already keeps with the log, and send it the newest checkpoint.

    Example: `remit ledger anchor add file:/mnt/backup/remit.anchor`
    """
    with ledger_to_change(policy, state) as opened:
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
        head = opened.log.read(note)
        opened.memory.keep_anchored({**opened.memory.anchored(), anchor.describe(): Handed(head.size, head.root)})
        return _say([AnchorReply(anchor.describe(), head)], json=json)


def list_(policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """List the anchors and what each one keeps.

    Example: `remit ledger anchor list`
    """
    with find_ledger(policy, state) as opened:
        return _say(ask_anchors(opened.log, named(opened.log, opened.settings.anchors)), json=json)


def remove(spec: SpecArgument, policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Remove an anchor. The checkpoints it keeps stay there.

    Example: `remit ledger anchor remove file:/mnt/backup/remit.anchor`
    """
    with ledger_to_change(policy, state) as opened:
        with opened.store.read() as view:
            specs = configured(view)
        if spec not in specs:
            by_policy = spec in opened.settings.anchors
            help_ = "the policy names it: remove it there" if by_policy else "`remit ledger anchor list` names them"
            raise InputError("there is no such anchor in the store", help=help_)
        configure(opened.store, [other for other in specs if other != spec])
        if spec not in opened.settings.anchors:
            forget_anchors(opened.log, opened.memory, [spec])
    if json:
        out_ascii({"removed": spec})
    else:
        out("removed\n")
    return FINE


def push(policy: PolicyOption = None, state: StateOption = None, json: JsonOption = False) -> int:
    """Sign the head of the log and send it to every anchor. Exit code 1: an anchor did not receive it.

    Example: `remit ledger anchor push`
    """
    with ledger_to_change(policy, state) as opened:
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
            size = (
                f"{counted(one.checkpoint.size, 'entry')}"
                if one.checkpoint is not None
                else "can't be asked, or is empty"
            )
            said = paint(shown(one.error, 300), "red") if one.error is not None else size
            out(f"{shown(one.anchor, 300)}: {said}\n")
        if not asked:
            out("no anchors\n")
    return NOT_VERIFIED if any(one.error is not None for one in asked) else FINE
