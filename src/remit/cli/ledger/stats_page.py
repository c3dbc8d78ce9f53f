"""The counts of the ledger as one HTML page, with a timeline. Names in it come from agents: all is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from remit.explain.chart import DECISIONS, WORDS, svg
from remit.model.html import html_file, text
from remit.model.moments import seconds_of
from remit.model.text import counted, shown
from remit.record.timeline import Timeline

_SHOWN = ("seq", "at", "type")


def stats_page(found: Mapping[str, Any], titles: Mapping[str, str], top: int, line: Timeline | None) -> str:
    """The page. `found` is what `remit ledger stats --json` prints, `titles` names its counts."""
    key = "".join(
        f'<span class="key" style="background:{colour}"></span>{WORDS[word]}' for word, colour in DECISIONS.items()
    )
    signed = f"{counted(found['checkpoint'], 'entry')}" if found["checkpoint"] is not None else "none"
    facts = (
        f"{counted(found['entries'], 'entry')}, {found['bytes']} bytes, {counted(found['values'], 'value')}",
        f"from {found['first'] or '-'} to {found['last'] or '-'}",
        f"last checkpoint: {signed}; anchors: {len(found['anchors'])}",
    )
    return html_file(
        "stats",
        title=f"Ledger {shown(found['origin'], 200)}",
        origin=text(found["origin"]),
        facts="".join(f"<li>{text(fact)}</li>" for fact in facts),
        key=f"{key}; ▾ marks an event" if line is not None else "",
        timeline=_drawn(line) if line is not None else '<p class="none">no entries</p>',
        events=_table(("when", "what", "details"), [_event(data) for data in line.events] if line is not None else ()),
        denied=_table(
            ("when", "agent", "tool", "code", "rule"),
            [_denied(data) for data in line.denied] if line is not None else (),
        ),
        tables="".join(
            _counted(title, list(found[name].items()), top) for name, title in titles.items() if found[name]
        ),
    )


def _drawn(line: Timeline) -> str:
    marks: dict[int, list[str]] = {}
    for data in line.events:
        span = int((seconds_of(str(data["at"])) - seconds_of(line.start)) // line.seconds)
        marks.setdefault(min(max(0, span), line.spans - 1), []).append(" ".join(_event(data)[:2]))
    cut = 10 if line.seconds >= 86_400 else 16 if line.seconds >= 60 else 19
    when = {span: line.moment(span)[:cut].replace("T", " ") for span in range(line.spans)}
    return svg(line.calls, spans=line.spans, lanes=line.agents, when=when.__getitem__, marks=marks)


def _event(data: Mapping[str, Any]) -> list[str]:
    more = [f"{key}: {value}" for key, value in data.items() if key not in _SHOWN and isinstance(value, str | int)]
    return [str(data.get("at", ""))[:19].replace("T", " "), str(data.get("type")), "; ".join(more)]


def _denied(data: Mapping[str, Any]) -> list[str]:
    return [
        str(data.get("at", ""))[:19].replace("T", " "),
        *(str(data.get(key) or "") for key in ("agent", "tool", "code", "rule")),
    ]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return '<p class="none">none</p>'
    body = "".join(f"<tr>{''.join(f'<td>{text(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{"".join(f"<th>{head}</th>" for head in heads)}</tr>{body}</table></div>'


def _counted(title: str, counted: Sequence[tuple[str, int]], top: int) -> str:
    rows = "".join(f'<tr><td class="n">{number}</td><td>{text(name, 100)}</td></tr>' for name, number in counted[:top])
    more = f"<p><small>and {len(counted) - top} more</small></p>" if len(counted) > top else ""
    return f"<section><h3>{text(title)}</h3><table>{rows}</table>{more}</section>"
