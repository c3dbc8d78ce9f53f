"""Quoting a policy: the lines around a rule, as they stand in the file now."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from remit import catalog
from remit.cli.output import columns, paint
from remit.declare.files import read_text
from remit.model.errors import RemitError
from remit.model.text import shown

_PLACE = re.compile(r"(.+):([0-9]{1,9}):([0-9]{1,9})", re.DOTALL)
_PACK = re.compile(r"pack ([a-z0-9-]+)")
_BEFORE, _AFTER = 1, 2
_WIDTH = 160
_LEFT = 60
_WORD = re.compile(r"""\"[^\"]*\"|'[^']*'|[^\s,:{}\[\]]+""")


def quoting(policy: Path) -> Callable[[str], list[str]]:
    """Quotes of many places, for which each file is read once."""
    texts: dict[str, list[str] | None] = {}

    def rows_of(source: str) -> list[str] | None:
        if source not in texts:
            texts[source] = _rows(policy, source)
        return texts[source]

    return lambda place: _quoted(_place(place, rows_of))


def quote(policy: Path, rule: str | None) -> list[str]:
    """The line that `file:line:column` names, marked, with its neighbours; empty if it can't be read."""
    return _quoted(_found(policy, rule))


def _quoted(place: tuple[list[str], int, int] | None) -> list[str]:
    if place is None:
        return []
    rows, line, column = place
    first, last = max(1, line - _BEFORE), min(len(rows), line + _AFTER)
    width = len(str(last))
    found = []
    for number in range(first, last + 1):
        row = rows[number - 1].rstrip("\r")
        mark = ">" if number == line else " "
        start = _start(row, column) if number == line else 0
        found.append(f"{mark} {number:>{width}} | {'…' if start else ''}{shown(row[start:], _WIDTH)}".rstrip())
    return found


def _start(row: str, column: int) -> int:
    """Where a long line begins to be shown, so that the column is in sight."""
    return max(0, column - 1 - _LEFT) if len(row) > _WIDTH else 0


def frame(policy: Path, place: str) -> list[str]:
    """The line that `file:line:column` names, the one before it, and a caret below the column; empty if unreadable."""
    found = _found(policy, place)
    if found is None:
        return []
    rows, line, column = found
    row = rows[line - 1].rstrip("\r")
    at = min(column - 1, len(row))
    word = _WORD.match(row, at)
    start = max(0, at - _LEFT)  # of a long line the part around the column
    number, blank = f"{line:>4} | ", "     | "
    before = "…" + shown(row[start:at], _WIDTH) if start else shown(row[:at], _WIDTH)
    under = shown(word[0] if word else "", _WIDTH)
    rest = shown(row[at + len(word[0] if word else "") : start + _WIDTH], _WIDTH)
    above = rows[line - 2].rstrip("\r") if line > 1 else ""
    lines = [paint(f"{line - 1:>4} | {shown(above, _WIDTH)}".rstrip(), "dim")] if above.strip() and not start else []
    lines.append(f"{paint(number, 'dim')}{before}{under}{rest}".rstrip())
    lines.append(paint(blank, "dim") + " " * columns(before) + paint("^" * max(1, columns(under)), "red"))
    return lines


def _found(policy: Path, place: str | None) -> tuple[list[str], int, int] | None:
    """The lines of the file that `file:line:column` names, the line and the column; None if it can't be read."""
    return _place(place, lambda source: _rows(policy, source))


def _place(place: str | None, rows_of: Callable[[str], list[str] | None]) -> tuple[list[str], int, int] | None:
    match = _PLACE.fullmatch(place or "")
    rows = rows_of(match[1]) if match is not None else None
    if match is None or rows is None:
        return None
    line = int(match[2])
    return (rows, line, max(1, int(match[3]))) if 1 <= line <= len(rows) else None


def _rows(policy: Path, source: str) -> list[str] | None:
    try:
        return _text(policy, source).removeprefix("\ufeff").split("\n")
    except (RemitError, OSError, ValueError):
        return None


def _text(policy: Path, source: str) -> str:
    """The text of a policy file or of a tool pack."""
    pack = _PACK.fullmatch(source)
    if pack is not None and pack[1] in catalog.packs():
        return catalog.text(f"packs/{pack[1]}.yaml")
    return read_text(policy.parent / source)
