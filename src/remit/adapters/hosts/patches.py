"""Patches as several hosts take them: which files one adds, changes, deletes and moves.

    *** Begin Patch
    *** Update File: a.py
    *** Move to: b.py
    …
    *** End Patch

A line that might name a file counts as one that does, wherever it stands: a patch that only quotes such a line names a
file too many, and none is missed.
"""

from __future__ import annotations

_WRITES = ("*** Add File:", "*** Update File:", "*** Move to:")
_DELETES = ("*** Delete File:",)
_REST = ("*** Begin Patch", "*** End Patch", "*** End of File")


def files_of(patch: str) -> dict[str, list[str]] | None:
    """What a patch `writes` and `deletes`; None for one that names no file, or that is not plain."""
    writes: list[str] = []
    deletes: list[str] = []
    for line in patch.splitlines():
        bare = line.strip()
        if not bare.startswith("***"):
            continue
        for heads, into in ((_WRITES, writes), (_DELETES, deletes)):
            head = next((one for one in heads if bare.startswith(one)), None)
            if head is not None:
                name = bare[len(head) :]
                if not name.startswith(" ") or name[1:] != name.strip() or not name.strip():
                    return None  # blanks that might belong to the name
                into.append(name[1:])
                break
        else:
            if bare not in _REST:
                return None
    if "*** Move to:" in patch:
        deletes += [name for name in writes if name not in deletes]  # a file that moves is gone where it was
    return {"writes": writes, "deletes": deletes} if writes or deletes else None
