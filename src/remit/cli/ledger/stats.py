"""`remit ledger stats`: how much of what."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from remit.cli.common import FINE, write_file
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import SinceOption, StateOption, UntilOption, filter_of, ledger_to_look
from remit.cli.ledger.stats_page import stats_page
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.model.moments import seconds_of
from remit.model.text import counted, shown
from remit.record.anchor import configured
from remit.record.append import head_of
from remit.record.log import newest_checkpoint
from remit.record.open import OpenLog
from remit.record.stats import count
from remit.record.timeline import timeline
from remit.store import Transaction


def command(
    since: SinceOption = None,
    until: UntilOption = None,
    top: Annotated[int, Option("--top", metavar="N", min=1, max=10_000, help="How many of each kind.")] = 10,
    policy: PolicyOption = None,
    state: StateOption = None,
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Also write one HTML page, with a timeline.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Count entries by agent, tool, decision, code, rule and day; size, last checkpoint, anchors.

    Examples: `remit ledger stats`, `remit ledger stats --html ledger.html`
    """
    wanted = filter_of(since=since, until=until)
    with ledger_to_look(policy, state) as opened:
        found = gather(opened, wanted)
        line = None
        if html is not None:
            with opened.store.read() as view:
                line = timeline(view, wanted)
    if html is not None:
        write_file("--html", html, stats_page(found, _TITLES, top, line))
    if json:
        out_ascii(found)
    else:
        out(as_text(found, top))
    return FINE


def gather(opened: OpenLog, wanted: Any) -> dict[str, Any]:
    """Everything as plain data."""
    with opened.store.read() as view:
        stats = count(view, wanted)
        newest = newest_checkpoint(view)
        row = view.row("SELECT count(*) FROM secret")
        return {
            "origin": opened.origin,
            "store": opened.store.describe(),
            "size": head_of(view).size,
            "entries": stats.entries,
            "bytes": stats.bytes,
            "first": stats.first,
            "last": stats.last,
            "values": int(row[0]) if row is not None else 0,
            "checkpoint": newest[0] if newest is not None else None,
            "anchors": configured(view),
            "archived": _archived(view),
            "bytes_a_day": _growth(stats.bytes, stats.first, stats.last),
            "store_bytes": opened.store.size(),
            "types": _ordered(stats.types),
            **{name: _ordered(counter) for name, counter in stats.by.items()},
            "results": _ordered(stats.results),
            "would": _ordered(stats.would),
            "days": dict(sorted(stats.days.items())),
        }


def _archived(view: Transaction) -> int:
    row = view.row("SELECT count(*) FROM leaf WHERE length(body) = 0")
    return int(row[0]) if row is not None else 0


def _growth(size: int, first: str | None, last: str | None) -> int | None:
    """Bytes of entries a day, over the days that were looked at; None for less than an hour of them."""
    try:
        span = seconds_of(last or "") - seconds_of(first or "")
    except ValueError:
        return None
    return round(size * 86_400 / span) if span >= 3600 else None


def as_text(found: dict[str, Any], top: int) -> str:
    """The counts for people."""
    signed = counted(found["checkpoint"], "entry") if found["checkpoint"] is not None else "none"
    lines = [
        paint(shown(found["origin"], 255), "bold"),
        f"  {shown(found['store'], 300)}",
        f"  {counted(found['entries'], 'entry')}, {found['bytes']} bytes, {counted(found['values'], 'value')}",
        *_sizes(found),
        f"  from {shown(found['first'] or '-', 30)} to {shown(found['last'] or '-', 30)}",
        f"  last checkpoint: {signed}; anchors: {len(found['anchors'])}",
        *(f"    {shown(spec, 300)}" for spec in found["anchors"]),
    ]
    for name, title in _TITLES.items():
        rows = list(found[name].items())
        if not rows:
            continue
        lines.append(paint(title, "bold"))
        kept = rows[-top:] if name == "days" else rows[:top]
        lines += [f"  {number:>8}  {shown(key, 100)}" for key, number in kept]
        if len(rows) > top:
            lines.append(f"            and {len(rows) - top} more")
    return "".join(f"{line}\n" for line in lines)


def _sizes(found: dict[str, Any]) -> list[str]:
    lines = []
    if found["archived"]:
        lines.append(f"  {found['archived']} older entries are in archives; `remit ledger verify` names them")
    size = f"  the store has {found['store_bytes']} bytes" if found["store_bytes"] is not None else ""
    growth = f"entries grow by {found['bytes_a_day']} bytes a day" if found["bytes_a_day"] is not None else ""
    return lines + ([f"{size}; {growth}" if size and growth else size or f"  {growth}"] if size or growth else [])


_TITLES = {
    "types": "entries",
    "decision": "decisions",
    "agent": "agents",
    "tool": "tools",
    "code": "codes",
    "rule": "rules",
    "results": "outcomes",
    "would": "let through under observe, and what would have been",
    "days": "days",
}


def _ordered(counter: Counter[str]) -> dict[str, int]:
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))
