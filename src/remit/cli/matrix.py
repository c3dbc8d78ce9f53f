"""`remit matrix`: agents × tools, as a table for the terminal or as a document."""

from __future__ import annotations

import io
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from remit.cli.common import FINE, clock, listed, moment_of, open_policy, write_file
from remit.cli.options import Format, NowOption, PolicyOption
from remit.cli.output import coloured, out, out_json, symbols, unicode_output, write
from remit.cli.parameters import Option
from remit.cli.quote import quote
from remit.explain import pages
from remit.explain.cells import MatrixCell
from remit.explain.matrix import Matrix, callers_of, chosen_tools, make_matrix, tools_of
from remit.explain.matrix_page import html_page
from remit.explain.pages import legend
from remit.model.names import known_name
from remit.model.rulebook import Rulebook
from remit.model.text import shown

_NO_LIMIT = 100_000


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
) -> int:
    """Show who may use what: ✅ allowed, 🔒 allowed with a scope, ✋ must ask, ❌ denied.

    The cells show what the policy says. A single call can still be refused for what it touches or who delegated it.

    Examples: `remit matrix`, `remit matrix --html matrix.html`, `remit matrix --agents builder --tools Bash`
    """
    opened = open_policy(policy, machine=format is not Format.table)
    rulebook = opened.rulebook
    when = moment_of(now) if now is not None else clock()
    callers, chosen = _chosen(rulebook, agents, tools, everyone)
    matrix = make_matrix(rulebook, callers=callers, tools=chosen, now=when)
    if html is not None:
        page = html_page(matrix, transpose=transpose, rulebook=rulebook, quote=partial(quote, opened.path))
        write_file("--html", html, page)
    if format is Format.json:
        out_json(matrix.as_json())
    elif format is Format.table:
        out(table(matrix, transpose=transpose))
    elif format is Format.html:
        quoted = partial(quote, opened.path)
        write(html_page(matrix, transpose=transpose, rulebook=rulebook, quote=quoted).encode())
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
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1), header_style="bold")
    grid.add_column(Text(corner), no_wrap=True)
    for head in heads:
        grid.add_column(Text(head), justify="center", no_wrap=True)
    for name, cells in rows:
        grid.add_row(Text(name), *(Text(symbols(cell.symbol)) for cell in cells))
    # As wide as needed: names are never cut or folded, and whoever reads a pipe has no width.
    size = sum(max(len(head), 5) + 3 for head in heads) + max([len(corner), *(len(name) for name, _ in rows)]) + 3
    file = io.StringIO()
    console = Console(
        file=file,
        width=size,
        force_terminal=coloured(),
        color_system="standard" if coloured() else None,
        markup=False,
        highlight=False,
        emoji=False,
        safe_box=not unicode_output(),
    )
    console.print(grid)
    return "".join(f"{line.rstrip()}\n" for line in file.getvalue().splitlines())
