"""A branch of a git repository with one file, `checkpoint`: each push is a commit on the one before.

Only git's plumbing is used, on no working tree, with the repository's hooks off and the user's configuration out of
reach. A branch that holds anything else is left alone.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from remit.model.system_programs import SYSTEM_PATH, find_program
from remit.record.anchor import AnchorError, AnchorMalformed, read_kept
from remit.record.checkpoint import Checkpoint
from remit.record.log import Log
from remit.record.note import MAX_NOTE

BRANCH = "remit-ledger"
NAME = "checkpoint"
TIMEOUT = 20.0
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.fsync=all",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "protocol.allow=never",
)
_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_AUTHOR_NAME": "remit",
    "GIT_AUTHOR_EMAIL": "remit@localhost",
    "GIT_COMMITTER_NAME": "remit",
    "GIT_COMMITTER_EMAIL": "remit@localhost",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
}


class GitAnchor:
    """A branch."""

    def __init__(self, path: Path, branch: str, log: Log) -> None:
        self.path, self.branch, self.log = path, branch, log
        self._ref = f"refs/heads/{branch}"

    def describe(self) -> str:
        return f"git:{self.path}#{self.branch}"

    def push(self, note: bytes) -> None:
        tip = self._tip()
        if tip is not None:
            self._check(tip)
        blob = self._git("hash-object", "-w", "--stdin", feed=note)
        tree = self._git("mktree", feed=f"100644 blob {blob}\t{NAME}\n".encode())
        size = note.split(b"\n", 2)[1].decode("ascii", "replace")
        parent = ("-p", tip) if tip is not None else ()
        commit = self._git("commit-tree", tree, *parent, "-m", f"Checkpoint of {size} entries")
        # With the old tip, or zeros for none: whoever was quicker wins, and this push fails.
        self._git("update-ref", "-m", "remit", self._ref, commit, tip if tip is not None else "0" * len(commit))

    def last(self) -> Checkpoint | None:
        tip = self._tip()
        if tip is None:
            return None
        self._check(tip)
        size = self._git("cat-file", "-s", f"{tip}:{NAME}")
        if not size.isdecimal() or int(size) > MAX_NOTE:
            raise AnchorMalformed(f"what {self.describe()} keeps is too large for a checkpoint")
        return read_kept(self.log, self._run("cat-file", "blob", f"{tip}:{NAME}"), self.describe())

    def _tip(self) -> str | None:
        if self._git("rev-parse", "--git-dir") == "":
            raise AnchorError(f"{self.describe()} is not a git repository")
        found = self._git("for-each-ref", "--count=1", "--format=%(objectname)", self._ref)
        return found or None

    def _check(self, tip: str) -> None:
        if self._git("ls-tree", "--name-only", tip) != NAME:
            raise AnchorMalformed(f"{self.describe()} holds something other than checkpoints; choose another branch")

    def _git(self, *words: str, feed: bytes = b"") -> str:
        return self._run(*words, feed=feed).decode("utf-8", "replace").strip()

    def _run(self, *words: str, feed: bytes = b"") -> bytes:
        program = find_program("git")
        if program is None:
            raise AnchorError("there is no git on this machine")
        options = [part for option in _OPTIONS for part in ("-c", option)]
        environment = {**_ENVIRONMENT, "PATH": SYSTEM_PATH}
        try:
            ran = subprocess.run(  # noqa: S603 - a fixed program; the branch and the path were checked
                [program, "-C", str(self.path), *options, *words],
                input=feed,
                capture_output=True,
                env=environment,
                timeout=TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise AnchorError(f"{self.describe()}: git did not answer in time") from None
        except OSError as error:
            raise AnchorError(f"{self.describe()}: git can't be run: {error.strerror}") from None
        if ran.returncode != 0:
            said = ran.stderr.decode("utf-8", "replace").strip().partition("\n")[0][:200]
            raise AnchorError(f"{self.describe()}: {said or 'git failed'}")
        return ran.stdout
