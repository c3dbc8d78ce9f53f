"""Whether our hooks still stand where they were put: looked at with each call, and said as soon as one is gone.

A call goes on as long as there is one that no command in the project reaches.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from remit.adapters.hooks.installed import Installed
from remit.store.files import write_whole

LIMIT = 4 * 1024 * 1024


def gone(installed: Installed) -> list[str]:
    """The settings in which no hook of ours stands any more, by path."""
    return [copy.path for copy in installed.copies if not _holds(copy.path, installed.host)]


def is_reachable(installed: Installed, missing: list[str]) -> bool:
    """Whether a command in the project reaches all hooks that are left, or none is left."""
    outside = [copy.path for copy in installed.outside]
    return bool(outside) and all(path in missing for path in outside)


def news(
    state: Path, installed: Installed, missing: list[str], session: str, *, about: str = "gone"
) -> tuple[list[str], list[str]]:
    """Which of these this session was not told of, and which nobody was; from now on they were."""
    path = state / "hooks" / f"{installed.host}.{about}"
    known: set[tuple[str, str]] = set()
    with suppress(OSError, ValueError):
        for line in path.read_text("utf-8").splitlines():
            who, _, what = line.partition(" ")
            known.add((who, what))
    told = [one for one in missing if (session, one) not in known]
    if not missing:
        if known:
            path.unlink(missing_ok=True)
    elif told:
        kept = {pair for pair in known if pair[1] in missing} | {(session, one) for one in told}
        with suppress(OSError):
            write_whole(path, "".join(f"{who} {what}\n" for who, what in sorted(kept)[-1000:]).encode(), durable=False)
    heard = {what for _, what in known}
    return told, [one for one in told if one not in heard]


def _holds(path: str, host: str) -> bool:
    """Whether a command of ours stands in the file; one that can't be read has none."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            data = os.read(descriptor, LIMIT)
        finally:
            os.close(descriptor)
    except OSError:
        return False
    # Our MCP server may stand in the same file, and names the same list: only a hook goes on after it like this.
    marks = (f"remit/hosts/{host}.sh; echo", f"remit/hosts/{host}.sh'; echo", f"remit-hook {host}")
    return any(mark.encode() in data for mark in marks)
