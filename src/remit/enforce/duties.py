"""Obligations as a program can carry them out that runs the tool itself."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from remit.enforce.errors import GuardError
from remit.enforce.paths import texts_at
from remit.model.decision import Decision

CAN = frozenset(("use-resolved-path", "create-exclusively"))


class Duties:
    """The obligations of one decision, carried out."""

    def __init__(self, decision: Decision, args: dict[str, Any], base: str, resolved: Mapping[str, str]) -> None:
        """Afterwards `args` are those to call the tool with. Raises GuardError, with nothing left behind.

        `resolved` says where the paths led when the call was decided; others are taken below `base`.
        """
        self.args = dict(args)
        self._made: list[str] = []
        for duty in decision.obligations:
            if duty.do == "use-resolved-path" and duty.arg in args:
                self.args[duty.arg] = duty.value
            elif duty.do == "use-resolved-path":
                self.args = replaced(self.args, duty.arg.split("."), resolved)
        for duty in decision.obligations:
            if duty.do == "create-exclusively":
                for text in texts_at(args, duty.arg.split(".")):
                    self._create(resolved.get(text) or os.path.realpath(os.path.join(base, text)))

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
            raise GuardError("the file is there already, and only new ones may be created", code="not-new") from None
        except OSError as error:
            self.undo()
            raise GuardError(f"the file can't be created: {error.strerror}", code="not-new") from None
        self._made.append(path)


def replaced(value: Any, parts: list[str], resolved: Mapping[str, str]) -> Any:
    """The arguments with each path at a name such as `edits[].file` replaced by where it led. Raises GuardError."""
    if not parts:
        if value not in resolved:
            raise GuardError("a path can't be replaced by where it led", code="obligation-unsupported")
        return resolved[value]
    key, many = parts[0].removesuffix("[]"), parts[0].endswith("[]")
    if key not in value:
        return value
    found = value[key]
    inner = [replaced(one, parts[1:], resolved) for one in found] if many else replaced(found, parts[1:], resolved)
    return {**value, key: inner}


def _create(path: str) -> None:
    """Makes an empty file and the directories above it; a symbolic link anywhere on the way is none. Raises OSError."""
    *folders, name = path.strip("/").split("/")
    here = os.open("/", _FOLDER)
    try:
        for folder in folders:
            try:
                below = os.open(folder, _FOLDER, dir_fd=here)
            except FileNotFoundError:
                with suppress(FileExistsError):
                    os.mkdir(folder, dir_fd=here)
                below = os.open(folder, _FOLDER, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666, dir_fd=here))
    finally:
        os.close(here)


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
