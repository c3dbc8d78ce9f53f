"""The matrix as a document: Markdown, a self-contained HTML page, CSV."""

from __future__ import annotations

import csv
import io
import re
from html import escape

from remit.explain.cells import ALLOWED, ASKED, DENIED, LEGEND, SCOPED, MatrixCell
from remit.explain.matrix import Matrix
from remit.model.text import shown

_MARKS = re.compile(r"([\\`*_{}\[\]<>|~#&])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_CLASSES = {ALLOWED: "allowed", SCOPED: "scoped", ASKED: "asked", DENIED: "denied"}
LIMIT = 400


def markdown(matrix: Matrix, *, transpose: bool = False) -> str:
    """A table as GitHub shows it, a legend, and every scope below."""
    corner, heads, rows = matrix.lines(transpose)
    lines = [f"# Tool access matrix of {escaped_markdown(matrix.policy)}", ""]
    lines.append("| " + " | ".join([corner, *map(escaped_markdown, heads)]) + " |")
    lines.append("|" + " --- |" * (len(heads) + 1))
    lines.extend(
        f"| {escaped_markdown(name)} | " + " | ".join(cell.symbol for cell in cells) + " |" for name, cells in rows
    )
    lines += ["", f"**Legend:** {legend()}"]
    scoped = matrix.scoped()
    if scoped:
        lines += ["", "## Scopes", ""]
        for caller, tool, cell in scoped:
            words = escaped_markdown("; ".join(cell.scopes))
            lines.append(f"- **{escaped_markdown(caller)}**, {escaped_markdown(tool)} {cell.symbol}: {words}")
    lines.extend(f"\n> {escaped_markdown(note)}" for note in matrix.notes)
    lines += ["", f"Policy `{matrix.hash}`"]
    return "\n".join(lines) + "\n"


def legend() -> str:
    """`✅ allowed · 🔒 …` in one line."""
    return " · ".join(f"{symbol} {word}" for symbol, word in LEGEND.items())


def escaped_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKS.sub(r"\\\1", shown(text, LIMIT))


def comma_separated(matrix: Matrix, *, transpose: bool = False) -> str:
    """CSV with a head line; no cell can be read as a formula."""
    corner, heads, rows = matrix.lines(transpose)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([corner, *map(_csv, heads)])
    writer.writerows([_csv(name), *(cell.symbol for cell in cells)] for name, cells in rows)
    return file.getvalue()


def _csv(text: str) -> str:
    plain = shown(text, LIMIT)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain


def html_page(matrix: Matrix, *, transpose: bool = False) -> str:
    """One page without scripts or anything from elsewhere; each cell also says in words what it means."""
    corner, heads, rows = matrix.lines(transpose)
    name = escape(shown(matrix.policy, LIMIT))
    columns = "".join(f'<th scope="col">{_text(head)}</th>' for head in heads)
    body = "\n".join(
        f'<tr><th scope="row">{_text(row)}</th>\n' + "\n".join(_td(cell) for cell in cells) + "</tr>"
        for row, cells in rows
    )
    words = "".join(f"<li>{symbol} {escape(word)}</li>" for symbol, word in LEGEND.items())
    notes = "".join(f"<p><strong>{_text(note)}</strong></p>\n" for note in matrix.notes)
    return _PAGE.format(
        name=name,
        style=_STYLE,
        corner=corner,
        columns=columns,
        body=body,
        legend=words,
        scopes=_scopes(matrix),
        notes=notes,
        hash=escape(matrix.hash),
    )


def _text(text: str) -> str:
    return escape(shown(text, LIMIT))


def _td(cell: MatrixCell) -> str:
    words = cell.words if not cell.why else f"{cell.words}: {cell.why}"
    shape = f'<span aria-hidden="true">{cell.symbol}</span><span class="words">{_text(words)}</span>'
    return f'<td class="{_CLASSES[cell.symbol]}" title="{_text(words)}">{shape}</td>'


def _scopes(matrix: Matrix) -> str:
    items = "\n".join(
        f"<li><b>{_text(caller)}</b>, {_text(tool)} {cell.symbol}: {_text('; '.join(cell.scopes))}</li>"
        for caller, tool, cell in matrix.scoped()
    )
    return f"<h2>Scopes</h2>\n<ul>\n{items}\n</ul>\n" if items else ""


_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { border: 1px solid #8888; padding: .25rem .6rem; }
th[scope=row] { text-align: left; font-weight: normal; font-family: ui-monospace, monospace; }
td { text-align: center; position: relative; }
td.allowed { background: #2e7d3222; } td.scoped { background: #f9a82522; } td.asked { background: #1565c022; }
.legend { list-style: none; padding: 0; } .legend li { display: inline-block; margin-right: 1.5rem; }
.words { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
""".strip()

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tool access matrix of {name}</title>
<style>
{style}
</style>
</head>
<body>
<main>
<h1>Tool access matrix of {name}</h1>
<ul class="legend">{legend}</ul>
{notes}<div class="wide" role="region" aria-label="Tool access matrix" tabindex="0">
<table>
<caption>What each agent may do with each tool</caption>
<thead><tr><th scope="col">{corner}</th>{columns}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
{scopes}<p>Policy <code>{hash}</code></p>
</main>
</body>
</html>
"""
