"""`remit demo week`: how the week of two teams is shown."""

from __future__ import annotations

import shutil
import tempfile
import textwrap
from pathlib import Path

from remit.cli.output import out, paint
from remit.model.errors import RemitError
from remit.service.week import Week

WIDTH = 79
INTRO = """Two teams, each with a repository, a policy in force, and people who have
their own passphrases. Setting this up takes some seconds.
"""
_COLOURS = {"✅": "green", "✋": "yellow", "❌": "red"}


def play() -> None:
    """Work, a violation, a halt, a review, a quorum, an unexplained change. Raises RemitError."""
    if shutil.which("git") is None:
        raise RemitError("the week is set in real repositories: it needs git on PATH", code="no-git")
    with tempfile.TemporaryDirectory(prefix="remit-week-") as folder:
        out(INTRO)
        week = Week(Path(folder).resolve(), _say)
        week.run()
    if not all(week.verified.values()):
        raise RemitError("a ledger of the week is not verified")


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
