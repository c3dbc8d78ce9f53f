"""`remit ledger archive`: old entries into a folder of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from remit.cli.common import FINE, InputError, find_policy
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import NOT_VERIFIED, StateOption, find_ledger, ledger_to_change, moment_option
from remit.cli.ledger.progress import progress_bar
from remit.cli.ledger.streams import streams_in_force
from remit.cli.ledger.user import user_name
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out
from remit.cli.parameters import Option
from remit.model.text import counted, shown
from remit.record.archive import Archived, end_for, interrupted, prune, write_archive
from remit.record.open import OpenLog
from remit.record.reader import archives
from remit.record.stream import known_streams, undelivered


def command(
    to: Annotated[Path, Option("--to", metavar="DIR", help="The folder for archives; each gets its own folder there.")],
    before: Annotated[str | None, Option("--before", metavar="MOMENT", help="Entries from before then.")] = None,
    keep: Annotated[int | None, Option("--keep", metavar="N", min=0, help="All but the newest N entries.")] = None,
    who: Annotated[
        str | None, Option("--who", metavar="NAME", help="The person responsible; default: the user.")
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show which entries would be moved.")] = False,
    compact: Annotated[bool, Option("--compact", help="Return the space to the disk afterwards.")] = False,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Move old entries into a folder that `remit ledger verify DIR` can verify without the log.

    The log keeps their hashes. Only entries that are signed, anchored and streamed are moved. Those that describe
    current state also stay in the store.

    Exit code 1: an anchor did not take the newest checkpoint, so nothing was archived.

    Example: `remit ledger archive --to archive-2026 --before 2027-01-01`
    """
    if (before is None) == (keep is None):
        raise InputError("say what to archive: --before MOMENT, or --keep N")
    moment = moment_option(before, "--before")
    with (find_ledger if dry_run else ledger_to_change)(policy, state) as opened:
        streams = _streams(opened, policy, state)
        with opened.store.read() as view:
            left = interrupted(view)
        if left is not None and not dry_run:
            err(f"going on with {shown(left, 300)}, which was interrupted")
            prune(opened.store, opened.log, left, user_name(who))
        first, end, why = _range(opened, streams, before=moment, keep=keep)
        if end <= first or dry_run:
            return _say_nothing(first, end, why, json=json)
        for reply in opened.push():
            if reply.error is not None:
                err(f"{shown(reply.anchor, 300)}: {shown(reply.error, 300)}: nothing is archived that is not anchored")
                return NOT_VERIFIED
        with opened.store.read() as view, progress_bar("archiving", end - first, quiet=json) as progress:
            folder = write_archive(view, opened.log, to.absolute(), end, progress)
        with progress_bar("pruning", end - first, quiet=json) as progress:
            done = prune(opened.store, opened.log, folder, user_name(who), progress)
        opened.checkpoint()
        held = opened.store.settle(shrink=True) if compact else []
    return _say(done, held, json=json)


def _streams(opened: OpenLog, policy: Path | None, state: Path | None) -> list[str]:
    """The streams that hold archiving back: those of the policy in force, or, without one, those that ever ran."""
    if policy is not None or state is None:
        found = streams_in_force(find_policy(policy).absolute().parent, opened.store)
        if found is not None:
            return [one.name for one in found]
    with opened.store.read() as view:
        return known_streams(view)


def _range(opened: OpenLog, streams: list[str], *, before: str | None, keep: int | None) -> tuple[int, int, str | None]:
    with opened.store.read() as view:
        known = archives(view)
        end, why = end_for(view, keep=keep, before=before), None
        behind = undelivered(view, streams)
        if behind is not None and behind[1] < end:
            end = behind[1] // 256 * 256
            why = f"the stream `{behind[0]}` has delivered only the first {counted(behind[1], 'entry')}"
        return known[-1].end if known else 0, end, why


def _say_nothing(first: int, end: int, why: str | None, *, json: bool) -> int:
    count = max(0, end - first)
    if json:
        out_ascii({"first": first, "end": max(first, end), "entries": count, "folder": None, "because": why})
    else:
        said = (
            f"{counted(count, 'entry')} would be archived, from {first} on" if count else "there is nothing to archive"
        )
        out(said + (f": {shown(why, 300)}" if why else "") + "\n")
        if not count and why is None:
            err("entries are archived 256 at a time")
    return FINE


def _say(done: Archived, held: list[str], *, json: bool) -> int:
    if json:
        found: dict[str, Any] = {**done._asdict(), "folder": str(done.folder), "entries": done.end - done.first}
        out_ascii({**found, "may_still_hold": held})
    else:
        kept = f"; {done.kept} of them also stay here, since something depends on them" if done.kept else ""
        out(f"archived entries {done.first} to {done.end - 1} in {shown(done.folder, 300)}{kept}\n")
        err("check it with: remit ledger verify " + shown(done.folder.parent, 300))
        for one in held:
            err(f"this may still hold bytes of them: {shown(one, 300)}")
    return FINE
