"""What the repository's own history says about a scope: which committed files it admits."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from remit.model.system_programs import SYSTEM_PATH, find_program
from remit.scopes.glob import Glob
from remit.scopes.glob_syntax import GlobError

MOST = 20_000
# Nothing that a repository configures is run: no hook, no monitor, no helper, no pager.
_GIT = (
    *("--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "diff.external="),
    *("-c", "core.quotePath=false", "-c", "log.showSignature=false"),
)


def committed(root: str) -> list[str]:
    """Every path that was ever committed, newest first; none if there is no history, or no git."""
    program = find_program("git")
    if program is None:
        return []
    environment = {"PATH": SYSTEM_PATH, "GIT_CONFIG_NOSYSTEM": "1", "GIT_OPTIONAL_LOCKS": "0"}
    command = [
        program,
        *_GIT,
        "-C",
        root,
        "log",
        "--no-ext-diff",
        "--no-textconv",
        "--name-only",
        "--format=",
        "-z",
        "-n",
        "5000",
    ]
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            command, capture_output=True, timeout=20, check=False, env=environment, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    if done.returncode:
        return []
    names = done.stdout[: MOST * 200].decode("utf-8", "replace").replace("\n", "\0").split("\0")
    return list(dict.fromkeys(name for name in names if name))[:MOST]


def is_glob(text: str) -> bool:
    """Whether a text is a glob that a policy can hold."""
    try:
        Glob.parse(text)
    except GlobError:
        return False
    return True


def judged(globs: Sequence[str], paths: Sequence[str]) -> str | None:
    """What a person should know about a scope: None if it admits files that were committed."""
    if not paths:
        return None
    admits = [Glob.parse(glob).matches for glob in globs]
    if any(matches(path) for matches in admits for path in paths):
        return None
    deeper = [Glob.parse(f"**/{glob}").matches for glob in globs if is_glob(f"**/{glob}")]
    near = [path for path in paths if any(matches(path) for matches in deeper)]
    shown = ", ".join(globs)
    if near:
        return f"no committed file is within {shown}; {len(near)} would be within **/{globs[0]}, such as {near[0]}"
    return f"no committed file is within {shown}"
