"""The matrix as one HTML file that filters, groups and opens a cell: why, the line, what passes and what does not.

Without its script the page still shows the table, in symbols and in words, and every scope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from remit.explain.cells import ALLOWED, ASKED, DENIED, LEGEND, SCOPED, MatrixCell
from remit.explain.examples import Example, Examples, examples_of
from remit.explain.matrix import Matrix
from remit.model.html import html_file, text
from remit.model.rulebook import Rulebook
from remit.model.text import shown

_CLASSES = {ALLOWED: "allowed", SCOPED: "scoped", ASKED: "asked", DENIED: "denied"}
_GROUPS = ("layer", "category", "risk")
_LINE, _LONG = 200, 4_000
_STEP = 100

Quote = Callable[[str], list[str]]
"""The lines around a place such as `remit.yaml:12:8`, as they are shown."""


def html_page(
    matrix: Matrix,
    *,
    transpose: bool = False,
    rulebook: Rulebook | None = None,
    quote: Quote = lambda place: [],
    progress: Callable[[str], None] | None = None,
) -> str:
    """The page; with a rulebook a cell has examples that were decided, with `quote` the lines of the policy.

    `progress` is told how far it has come."""
    corner, heads, rows = matrix.lines(transpose)
    columns = "".join(
        f'<th scope="col" data-n="{text(head.lower())}"{_about(rulebook, head)}>{text(head)}</th>' for head in heads
    )
    body = "\n".join(
        f'<tr data-n="{text(name.lower())}"{_about(rulebook, name)}><th scope="row">{text(name)}</th>'
        + "".join(_td(cell, f"{row}-{column}") for column, cell in enumerate(cells))
        + "</tr>"
        for row, (name, cells) in enumerate(rows)
    )
    title = f"Tool access matrix of {shown(matrix.policy, 100)}"
    return html_file(
        "matrix",
        title=title,
        heading=text(title),
        legend="".join(f'<li class="{_CLASSES[symbol]}">{symbol} {text(word)}</li>' for symbol, word in LEGEND.items()),
        notes="".join(f'<p class="alarm">{text(note)}</p>' for note in matrix.notes),
        states="".join(f'<option value="{symbol}">{symbol} {text(word)}</option>' for symbol, word in LEGEND.items()),
        groups="".join(f'<option value="{name}">{name}</option>' for name in _groups(matrix, rulebook)),
        roles="".join(f"<option>{text(name)}</option>" for name in _roles(matrix, rulebook)),
        corner=corner,
        columns=columns,
        body=body,
        scopes=_scopes(matrix),
        hash=text(matrix.hash),
        cells=_embedded(_details(matrix, transpose, rulebook, quote, progress)),
    )


def _groups(matrix: Matrix, rulebook: Rulebook | None) -> list[str]:
    """What tools can be grouped by: whatever some of them say."""
    tools = rulebook.book.tools if rulebook is not None else {}
    return [key for key in _GROUPS if any(getattr(tools[t], key) for t in matrix.tools if t in tools)]


def _roles(matrix: Matrix, rulebook: Rulebook | None) -> list[str]:
    callers = rulebook.book.callers if rulebook is not None else {}
    return list(dict.fromkeys(role for name in matrix.callers if name in callers for role in callers[name].roles))


def _about(rulebook: Rulebook | None, name: str) -> str:
    """What a row or column is filtered and grouped by."""
    if rulebook is None:
        return ""
    found: dict[str, str] = {}
    if (tool := rulebook.book.tools.get(name)) is not None:
        found |= {key: value for key in _GROUPS if (value := getattr(tool, key))}
    if (caller := rulebook.book.callers.get(name)) is not None and caller.roles:
        found["roles"] = " ".join(caller.roles)
    return "".join(f' data-{key}="{text(value)}"' for key, value in found.items())


def _td(cell: MatrixCell, number: str) -> str:
    words = cell.words if not cell.why else f"{cell.words}: {cell.why}"
    shape = f'<span aria-hidden="true">{cell.symbol}</span><span class="words">{text(words)}</span>'
    return f'<td class="{_CLASSES[cell.symbol]}" title="{text(words)}"><button data-c="{number}">{shape}</button></td>'


def _scopes(matrix: Matrix) -> str:
    items = "\n".join(
        f"<li><b>{text(caller)}</b>, {text(tool)} {cell.symbol}: {text('; '.join(cell.in_full), _LONG)}</li>"
        for caller, tool, cell in matrix.scoped()
    )
    return f"<h2>Scopes</h2>\n<ul>\n{items}\n</ul>\n" if items else ""


def _details(
    matrix: Matrix,
    transpose: bool,
    rulebook: Rulebook | None,
    quote: Quote,
    progress: Callable[[str], None] | None,
) -> dict[str, Any]:
    """By cell what its panel shows; the lines of the policy by their place."""
    cells: dict[str, Any] = {}
    lines: dict[str, list[str]] = {}
    every = len(matrix.tools) * len(matrix.callers)
    for row, tool in enumerate(matrix.tools):
        for column, caller in enumerate(matrix.callers):
            if progress is not None and len(cells) % _STEP == 0:
                progress(f"examples for {len(cells)} of {every} cells")
            cell = matrix.cell(tool, caller)
            found = Examples()
            if rulebook is not None and cell.symbol != DENIED:  # of a denied cell the panel shows none
                found = examples_of(rulebook, caller, tool)
            cells[f"{column}-{row}" if transpose else f"{row}-{column}"] = _detail(caller, tool, cell, found)
            lines |= {
                place: [shown(line, _LINE) for line in quote(place)] for place in cell.rules if place not in lines
            }
    return {"cells": cells, "lines": lines}


def _detail(caller: str, tool: str, cell: MatrixCell, found: Examples) -> dict[str, Any]:
    detail = {
        "who": shown(caller),
        "tool": shown(tool),
        "symbol": cell.symbol,
        "verdict": LEGEND[cell.symbol],
        "why": shown(cell.why, _LONG),
        "limits": [shown(one, _LONG) for one in cell.everything],
        "rules": list(cell.rules),
        "allowed": list(map(_example, found.allowed)),
        "asked": list(map(_example, found.asked)),
        "denied": list(map(_example, found.denied)),
    }
    return {key: value for key, value in detail.items() if value}


def _example(one: Example) -> list[str]:
    args = msgspec.json.encode(one.args).decode()
    context = f" when {', '.join(f'{key} is {value}' for key, value in one.context.items())}" if one.context else ""
    return [shown(args, _LINE) + shown(context, _LINE), shown(one.why, _LINE * 2)]


def _embedded(value: Any) -> str:
    """JSON within a page: no letter of it can end the element that it stands in."""
    found = msgspec.json.encode(value).decode()
    return found.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
