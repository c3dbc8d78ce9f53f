"""`remit demo week`: a week of two teams, in a directory of its own."""

from __future__ import annotations

import shutil
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from remit.cli.common import BAD_POLICY, FINE, InputError
from remit.cli.output import out, paint
from remit.cli.parameters import Option

if TYPE_CHECKING:
    from remit.service.week import Week

WIDTH = 79
_COLOURS = {"✅": "green", "✋": "yellow", "❌": "red"}


def week(
    keep: Annotated[Path | None, Option("--keep", metavar="DIR", help="Leave the two projects there.")] = None,
) -> int:
    """Show a week of two teams: work, a violation, a halt, a review, a quorum, an unexplained change."""
    from remit.service.week import Week  # here: it needs nearly everything

    if shutil.which("git") is None:
        raise InputError("the week is set in real repositories: it needs git on PATH")
    if keep is not None:
        if keep.exists() and (not keep.is_dir() or any(keep.iterdir())):
            raise InputError(f"{keep} is there already, and not an empty directory")
        keep.mkdir(parents=True, exist_ok=True)
        return _run(Week(keep.resolve(), _say))
    with tempfile.TemporaryDirectory(prefix="remit-week-") as folder:
        return _run(Week(Path(folder).resolve(), _say))


def _run(script: Week) -> int:
    script.run()
    return FINE if script.verified and all(script.verified.values()) else BAD_POLICY


def _say(text: str) -> None:
    """A heading, or a line with what belongs below it; never wider than a terminal."""
    if text.startswith("# "):
        out(f"\n{paint(text.removeprefix('# '), 'bold')}\n")
        return
    first, _, rest = text.partition("\n")
    mark = first[:1] if first[:1] in _COLOURS else ""
    lines = textwrap.wrap(first.removeprefix(mark).strip(), WIDTH - 3, break_on_hyphens=False) or [""]
    below = textwrap.wrap(rest.strip(), WIDTH - 6, break_on_hyphens=False)
    start = f"{paint(mark, _COLOURS[mark])} " if mark else "   "
    out(f"{start}{lines[0]}\n" + "".join(f"   {line}\n" for line in lines[1:]))
    out("".join(f"      {line}\n" for line in below))
