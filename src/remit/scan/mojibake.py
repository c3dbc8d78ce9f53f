"""Text that was decoded with the wrong table, read as it was meant: `âœ…` is ✅.

Three tables account for nearly all of it. Five bytes have no character in Windows' tables, and a copy often loses them:
where one must have stood is found by trying, and only a mark that a matrix uses counts as found.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

TABLES = ("cp1252", "cp1254", "mac_roman")
_LOST = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
_MARKS = frozenset("✅✔✓❌✗✘❎⚠⚡⛔→—–“”’")
_SUSPICIOUS = re.compile(r"[^\x00-\x7f]{2,}")


def repaired(text: str) -> tuple[str, int]:
    """The text as it was meant, and how many places were repaired; 0 leaves it as it is."""
    if text.isascii():
        return text, 0
    count = 0

    def fix(run: re.Match[str]) -> str:
        nonlocal count
        for table in TABLES:
            meant = _meant(run[0], table)
            if meant is not None:
                count += 1
                return meant
        return run[0]

    return _SUSPICIOUS.sub(fix, text), count


@cache
def _bytes_of(table: str) -> dict[str, int]:
    found = {bytes([byte]).decode(table, "ignore"): byte for byte in range(0x80, 0x100)}
    found.pop("", None)
    if table != "mac_roman":
        found.update({chr(byte): byte for byte in _LOST})  # passed through by lenient decoders
    return found


@lru_cache(maxsize=20_000)
def _meant(run: str, table: str) -> str | None:
    """The run as it was meant, if all of it was decoded with this table."""
    known = _bytes_of(table)
    if not all(character in known for character in run):
        return None
    data = bytes(known[character] for character in run)
    result: list[str] = []
    at = 0
    while at < len(data):
        for size in (4, 3, 2):
            found = _decoded(data[at : at + size]) if at + size <= len(data) else None
            if found is not None:
                break
        else:
            size, found = _with_lost(data, at)
            if found is None:
                return None
        result.append(found)
        at += size
    return "".join(result)


def _decoded(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if len(text) == 1 else None


def _with_lost(data: bytes, at: int) -> tuple[int, str | None]:
    for size in (3, 2):
        piece = data[at : at + size]
        if len(piece) < size:
            continue
        for gap in range(1, size + 1):
            for byte in _LOST:
                text = _decoded(piece[:gap] + bytes([byte]) + piece[gap:])
                if text is not None and text in _MARKS:
                    return size, text
    return 1, None
