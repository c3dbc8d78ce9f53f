"""`remit demo`: see it work."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from tempfile import gettempdir
from typing import Annotated

from remit.cli.common import FINE, InputError
from remit.cli.output import words_for_symbols
from remit.cli.parameters import Argument
from remit.model.text import did_you_mean, shown

STORIES = {"team": "remit.demo.team", "week": "remit.cli.week"}
"""Each has a function `play`, which prints what happens and ends by itself."""


def command(
    story: Annotated[
        str, Argument(metavar="[STORY]", help="The story: team, or week (two teams, a halt, a review, a quorum).")
    ] = "team",
) -> int:
    """Show Remit at work: agents on real files, git and SQLite, in a private folder. It ends by itself.

    Examples: `remit demo`, `remit demo week`
    """
    if story not in STORIES:
        raise InputError(f"no story `{shown(story)}`{did_you_mean(story, STORIES)}; there are {', '.join(STORIES)}")
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        words_for_symbols(sys.stdout)
    try:
        import_module(STORIES[story]).play()
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or b""
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2] or str(error)
        help_ = "it needs git, and room for a folder of some megabytes; TMPDIR says where"
        raise InputError(f"the demo can't have its folder in {gettempdir()}: {shown(last, 200)}", help=help_) from None
    return FINE
