"""Programs of the system that Remit itself runs: never found by `PATH`, which may lead into a project.

Whoever activates an environment of the project (`. .venv/bin/activate`) and starts a host has a folder in `PATH` that
agents may write. A `git` that they put there would run unconfined, if Remit asked for `git`.
"""

from __future__ import annotations

import shutil

SYSTEM_PATH = "/usr/bin:/bin:/usr/sbin:/sbin:/usr/local/bin:/opt/homebrew/bin:/run/current-system/sw/bin"


def find_program(name: str) -> str | None:
    """Its absolute path; None if the system has no such program."""
    return shutil.which(name, path=SYSTEM_PATH)
