"""The survey as one HTML file: no network, no script from elsewhere; a filter, and cells that open."""

from __future__ import annotations

from remit.model.html import html_file
from remit.model.html import text as _t
from remit.model.pattern import compile_later
from remit.model.text import counted
from remit.scan.board import COLUMNS, SIGNS, Line, board
from remit.scan.model import Entry, Finding, Mark, Survey

_SPAN = compile_later(r"`([^`]+)`")
_SIGNS = {**SIGNS, Mark.UNCLEAR: "❓"}
"""A browser may have no glyph for the wide question mark that keeps columns of a terminal in line."""


def html_page(survey: Survey) -> str:
    """The whole page."""
    heads = "".join(f"<th>{column}</th>" for column in COLUMNS)
    return html_file(
        "scan",
        title="What this repository says about its agents",
        summary=f"{counted(len(survey.agents), 'agent')}; {counted(len(survey.findings), 'finding')}; "
        f"{survey.read:,} of {survey.files:,} files read.",
        findings="".join(map(_finding, survey.findings)) or "<p>None.</p>",
        matrix=f"<tr><th>agent</th><th>source</th>{heads}</tr>" + "".join(map(_row, board(survey))),
        enforced="".join(f"<li>{_t(who)}: {count} of {total}</li>" for who, count, total in survey.enforced),
    )


def _row(line: Line) -> str:
    cells = "".join(f"<td class=c>{_opens(_SIGNS[cell.mark], cell.entries)}</td>" for cell in line.cells)
    words = f"{line.agent} {line.account.place} {line.account.kind}".lower()
    source = f"<code>{_t(str(line.account.place))}</code><br><small>{line.account.kind}, {line.account.extent}</small>"
    return f"<tr data-f='{_t(words)}'><td class=agent>{_t(line.agent)}</td><td>{source}</td>{cells}</tr>"


def _finding(one: Finding) -> str:
    places = " · ".join(f"<code>{_t(str(place))}</code>" for place in one.places[:6])
    words = f"{one.code} {one.weight} {one.agent or ''} {one.text}".lower()
    who = f"<b>{_t(one.agent)}</b>: " if one.agent else ""
    return (
        f"<div class={one.weight} data-f='{_t(words)}'>{who}{_prose(one.text)} "
        f"<small>[{_t(one.code)}]</small><br>{places}<br>"
        f"<small>{_prose(one.why)}. Fix: {_prose(one.fix)}.</small></div>"
    )


def _prose(words: str) -> str:
    """A sentence with its names as code. What they stand between survives being escaped."""
    return _SPAN.sub(r"<code>\1</code>", _t(words))


def _opens(sign: str, entries: tuple[Entry, ...]) -> str:
    if not entries:
        return sign
    tools = [f"{entry.tool}: {entry.scope}" if entry.scope else entry.tool for entry in entries[:200]]
    items = "<br>".join(f"<code>{_t(tool)}</code>" for tool in tools)
    return f"<details><summary>{sign}</summary>{items}</details>"
