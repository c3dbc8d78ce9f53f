"""Quoting a policy: the lines around a rule, as they stand in the file now."""

from __future__ import annotations

import re
from pathlib import Path

from remit import catalog
from remit.declare.files import read_text
from remit.model.errors import RemitError
from remit.model.text import shown

_PLACE = re.compile(r"(.+):([0-9]{1,9}):([0-9]{1,9})", re.DOTALL)
_PACK = re.compile(r"pack ([a-z0-9-]+)")
_BEFORE, _AFTER = 1, 2
_WIDTH = 160


def quote(policy: Path, rule: str | None) -> list[str]:
    """The line that `file:line:column` names, marked, with its neighbours; empty if it can't be read."""
    place = _PLACE.fullmatch(rule or "")
    if place is None:
        return []
    try:
        rows = _text(policy, place[1]).removeprefix("\ufeff").split("\n")
    except (RemitError, OSError, ValueError):
        return []
    line = int(place[2])
    if not 1 <= line <= len(rows):
        return []
    first, last = max(1, line - _BEFORE), min(len(rows), line + _AFTER)
    width = len(str(last))
    found = []
    for number in range(first, last + 1):
        row = rows[number - 1].rstrip("\r")
        mark = ">" if number == line else " "
        found.append(f"{mark} {number:>{width}} | {shown(row, _WIDTH)}".rstrip())
    return found


def _text(policy: Path, source: str) -> str:
    """The text of a policy file or of a tool pack."""
    pack = _PACK.fullmatch(source)
    if pack is not None and pack[1] in catalog.packs():
        return catalog.text(f"packs/{pack[1]}.yaml")
    return read_text(policy.parent / source)
