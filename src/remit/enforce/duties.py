"""Obligations as a program can carry them out that runs the tool itself."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from remit.enforce.errors import GuardError
from remit.enforce.paths import texts_at
from remit.enforce.safe_path import FOLDER
from remit.model.decision import Decision

CAN = frozenset(("use-resolved-path", "create-exclusively"))
"""The first is true of every call: functions get paths as they were judged."""


class Duties:
    """The obligations of one decision, carried out."""

    def __init__(self, decision: Decision, args: dict[str, Any]) -> None:
        """`args` are those to call the tool with: paths as they were judged. Raises GuardError, nothing left behind."""
        self._made: list[str] = []
        for duty in decision.obligations:
            if duty.do == "create-exclusively":
                for path in texts_at(args, duty.arg.split(".")):
                    self._create(path)

    def undo(self) -> None:
        """The tool did not do it: a file that was made for it, and that is still empty, goes."""
        for path in self._made:
            try:
                if os.lstat(path).st_size == 0:
                    os.unlink(path)
            except OSError:
                continue

    def _create(self, path: str) -> None:
        """Makes the file, empty, where the path led when it was decided; the tool writes into it."""
        try:
            _create(path)
        except FileExistsError:
            self.undo()
            raise GuardError("the file exists already, and only new ones may be created", code="not-new") from None
        except OSError as error:
            self.undo()
            raise GuardError(f"the file can't be created: {error.strerror}", code="not-new") from None
        self._made.append(path)


def _create(path: str) -> None:
    """Makes an empty file and the directories above it; a symbolic link anywhere on the way is none. Raises OSError."""
    *folders, name = path.strip("/").split("/")
    here = os.open("/", FOLDER)
    try:
        for folder in folders:
            try:
                below = os.open(folder, FOLDER, dir_fd=here)
            except FileNotFoundError:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=here)
                below = os.open(folder, FOLDER, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666, dir_fd=here))
    finally:
        os.close(here)
