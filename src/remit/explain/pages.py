"""The matrix as a document: Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re

from remit.explain.cells import LEGEND
from remit.explain.matrix import Matrix
from remit.model.text import shown

_MARKS = re.compile(r"([\\`*_{}\[\]<>|~#&])")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
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
