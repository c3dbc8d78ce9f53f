"""`remit ledger show`: what the ledger says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from remit.cli.common import FINE
from remit.cli.ledger.lines import entry_text, out_line
from remit.cli.ledger.options import (
    CapsuleOption,
    DataTierOption,
    DecisionOption,
    SinceOption,
    StateOption,
    TypeOption,
    UntilOption,
    filter_of,
    ledger_to_look,
)
from remit.cli.options import AgentOption, JsonOption, PolicyOption, ToolOption
from remit.cli.output import err, out, write
from remit.cli.parameters import Argument, Option
from remit.record.append import head_of
from remit.record.archive import archived_entry, archived_values
from remit.record.export import as_line
from remit.record.reader import FOREIGN, UNREADABLE, Filter, Stored, all_said, entry_at, said, values_of
from remit.store import Transaction

_CHUNK = 2_000
Said = tuple[Stored, dict[str, Any]]


def command(
    seq: Annotated[int | None, Argument(metavar="[N]", min=0, help="One entry, in full.")] = None,
    agent: AgentOption = None,
    tool: ToolOption = None,
    decision: DecisionOption = None,
    capsule: CapsuleOption = None,
    type: TypeOption = None,
    data_tier: DataTierOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    limit: Annotated[int, Option("--limit", "-n", metavar="N", min=0, help="Only the newest N; 0 shows all.")] = 50,
    archive: Annotated[
        Path | None, Option("--archive", metavar="DIR", help="The folder with archives, for an entry that is in one.")
    ] = None,
    values: Annotated[bool, Option("--values", help="Include the values, which are stored separately.")] = False,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Show one entry in full, or the newest entries that match the options.

    Examples: `remit ledger show`, `remit ledger show 42`,
    `remit ledger show --agent builder --decision deny --since 2026-11-01`
    """
    wanted = filter_of(
        type=type,
        agent=agent,
        tool=tool,
        decision=decision,
        capsule=capsule,
        since=since,
        until=until,
        data_tier=data_tier,
    )
    with ledger_to_look(policy, state) as opened, opened.store.read() as view:
        if seq is None:
            found = matching(view, wanted, limit)
        else:
            one = archived_entry(view, archive, seq) if archive is not None else entry_at(view, seq)
            found = iter([(one, said(view, one))])
        any_ = False
        for stored, data in found:
            any_ = True
            kept = values_of(view, stored) if values and data.get("type") not in (UNREADABLE, FOREIGN) else None
            if kept is not None and archive is not None and seq is not None:
                kept |= archived_values(archive, seq)
            if json:
                line = {"seq": stored.seq, "entry": data}
                write(as_line(line if kept is None else {**line, "values": kept}))
            elif seq is not None or values:
                out(entry_text(stored.seq, data, kept))
            else:
                out_line(stored.seq, data)
    if not any_ and not json:
        err("no entry matches")
    return FINE


def matching(view: Transaction, wanted: Filter, limit: int) -> Iterator[Said]:
    """The newest entries that are wanted, the oldest of them first; all of them for 0."""
    if not limit:
        yield from (one for one in all_said(view) if wanted.wants(one[1]))
        return
    kept: list[Said] = []
    end = head_of(view).size
    while end > 0 and len(kept) < limit:
        start = max(0, end - _CHUNK)
        chunk = [one for one in all_said(view, start, end) if wanted.wants(one[1])]
        kept = chunk + kept
        end = start
    yield from kept[-limit:]
