"""`remit matrix`: agents × tools, as a table for the terminal or as a document."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, clock, listed, moment_of, open_policy, write_file
from remit.cli.options import Format, JsonOption, NowOption, PolicyOption
from remit.cli.output import columns, out, out_json, paint, symbols, watched, write
from remit.cli.parameters import Option
from remit.cli.quote import quoting
from remit.explain import pages
from remit.explain.cells import LEGEND, MatrixCell
from remit.explain.matrix import Matrix, callers_of, chosen_tools, make_matrix, tools_of
from remit.explain.matrix_page import html_page
from remit.explain.pages import legend
from remit.model.names import known_name
from remit.model.rulebook import Rulebook
from remit.model.text import shown

_NO_LIMIT = 100_000
_GAP = "   "


def command(
    format: Annotated[Format, Option("--format", help="table, md, html, json or csv.")] = Format.table,
    agents: Annotated[str | None, Option("--agents", metavar="A,B", help="Only these callers.")] = None,
    tools: Annotated[
        str | None,
        Option("--tools", metavar="X,Y", help="Only these tools: names, toolsets, patterns."),
    ] = None,
    everyone: Annotated[bool, Option("--all", help="Include roles and runners.")] = False,
    transpose: Annotated[bool, Option("--transpose", help="Agents as rows, tools as columns.")] = False,
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Also write one HTML page that filters and opens cells.")
    ] = None,
    policy: PolicyOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> int:
    """Show who may use what: ✅ allowed, 🔒 allowed with a scope, ✋ must ask, ❌ denied.

    The cells show what the policy says. A single call can still be refused for what it touches or who delegated it.

    Examples: `remit matrix`, `remit matrix --html matrix.html`, `remit matrix --agents builder --tools Bash`
    """
    format = Format.json if json else format
    opened = open_policy(policy, machine=format is not Format.table)
    rulebook = opened.rulebook
    when = moment_of(now) if now is not None else clock()
    callers, chosen = _chosen(rulebook, agents, tools, everyone)
    with watched(machine=False) as progress:
        matrix = make_matrix(rulebook, callers=callers, tools=chosen, now=when, progress=progress)
        page = ""
        if html is not None or format is Format.html:
            quoted = quoting(opened.path)
            page = html_page(matrix, transpose=transpose, rulebook=rulebook, quote=quoted, progress=progress)
    if html is not None:
        write_file("--html", html, page)
    if format is Format.json:
        out_json(matrix.as_json())
    elif format is Format.table:
        out(table(matrix, transpose=transpose))
    elif format is Format.html:
        write(page.encode())
    else:
        written = pages.markdown if format is Format.md else pages.comma_separated
        write(written(matrix, transpose=transpose).encode())
    return FINE


def _chosen(rulebook: Rulebook, agents: str | None, tools: str | None, everyone: bool) -> tuple[list[str], list[str]]:
    names = listed(agents)
    callers = callers_of(rulebook, everyone=everyone)
    if names is not None:
        callers = [known_name(name, list(rulebook.book.callers), "agent") for name in dict.fromkeys(names)]
    words = listed(tools)
    if words is None:
        return callers, tools_of(rulebook)
    found, unknown = chosen_tools(rulebook, words)
    for word in unknown:
        known_name(word, [*tools_of(rulebook), *rulebook.book.toolsets], "tool")
    return callers, found


def table(matrix: Matrix, *, transpose: bool) -> str:
    """The matrix for a terminal; where it is too wide, in several tables below each other."""
    corner, heads, rows = matrix.lines(transpose)
    wide = shutil.get_terminal_size().columns if sys.stdout is not None and sys.stdout.isatty() else _NO_LIMIT
    first = max([len(corner), *(len(name) for name, _ in rows)])
    texts = []
    for start, end in _blocks(heads, first, wide):
        texts.append(_table(corner, heads[start:end], [(name, cells[start:end]) for name, cells in rows]))
    texts.append(symbols(legend()) + "\n")
    scoped = matrix.scoped()
    if scoped:
        lines = [f"  {c} {t} {cell.symbol} {shown('; '.join(cell.scopes), 400)}\n" for c, t, cell in scoped]
        texts.append("scopes:\n" + "".join(lines))
    texts.extend(f"note: {shown(note, 400)}\n" for note in matrix.notes)
    return "\n".join(texts)


def _blocks(heads: list[str], first: int, wide: int) -> list[tuple[int, int]]:
    """Columns that fit beside each other: (from, to) of each table."""
    blocks, start, used = [], 0, first
    for index, head in enumerate(heads):
        width = max(len(head), 5) + 3
        if index > start and used + width > wide:
            blocks.append((start, index))
            start, used = index, first
        used += width
    return [*blocks, (start, len(heads))]


def _table(corner: str, heads: list[str], rows: list[tuple[str, list[MatrixCell]]]) -> str:
    """As wide as needed: names are never cut or folded, and whoever reads a pipe has no width."""
    words = {symbol: symbols(symbol) for symbol in LEGEND}
    sizes = {word: columns(word) for word in words.values()}
    first = max([len(corner), *(len(name) for name, _ in rows)])
    widest = max(sizes.values())
    widths = [max(len(head), widest) for head in heads]
    bold = [paint(head, "bold") + " " * (wide - len(head)) for head, wide in zip(heads, widths, strict=True)]
    lines = [_GAP.join([paint(corner, "bold") + " " * (first - len(corner)), *bold]).rstrip()]
    lines.append(symbols("─") * (first + sum(len(_GAP) + wide for wide in widths)))
    for name, cells in rows:
        shown_ = []
        for cell, wide in zip(cells, widths, strict=True):
            word = words[cell.symbol]
            rest = wide - sizes[word]
            shown_.append(" " * (rest // 2) + word + " " * (rest - rest // 2))
        lines.append(_GAP.join([name.ljust(first), *shown_]).rstrip())
    return "".join(f"{line}\n" for line in lines)
