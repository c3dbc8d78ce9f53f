"""Obligations: what must be done for an allow to hold. One that can't be done is a deny."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from remit.enforce.errors import GuardError
from remit.model.decision import Decision


class Duties:
    """The obligations of one decision, carried out."""

    def __init__(self, decision: Decision, args: dict[str, Any], base: str, resolved: Mapping[str, str]) -> None:
        """Afterwards `args` are those to call the tool with. Raises GuardError.

        `resolved` says where the paths led when the call was decided.
        """
        self.args = dict(args)
        self._given, self._led = args, resolved
        self._made: list[str] = []
        self._base = base
        for duty in sorted(decision.obligations, key=lambda one: one.do != "use-resolved-path"):
            try:
                carry_out = _WAYS[duty.do]
            except KeyError:
                self.undo()
                raise GuardError(f"nobody can carry out `{duty.do}`", code="obligation-unsupported") from None
            carry_out(self, duty.arg, duty.value)

    def undo(self) -> None:
        """The tool did not do it: a file that was made for it, and that is still empty, goes."""
        for path in self._made:
            try:
                if os.lstat(path).st_size == 0:
                    os.unlink(path)
            except OSError:
                continue

    def _resolved(self, arg: str, value: str | None) -> None:
        if arg not in self.args or value is None:
            self.undo()
            raise GuardError(f"the path in `{arg}` can't be replaced", code="obligation-unsupported")
        self.args[arg] = self._led.get(str(self._given[arg]), value)  # absolute: whatever the tool takes it relative to

    def _exclusive(self, arg: str, value: str | None) -> None:
        """The file is made here, empty, unless it is there, where the path led when it was decided; the tool then
        writes into it.
        """
        text = str(self._given.get(arg, ""))
        path = self._led.get(text) or os.path.realpath(os.path.join(self._base, text))
        try:
            _create(path)
        except FileExistsError:
            self.undo()
            raise GuardError("the file is there already, and only new ones may be created", code="not-new") from None
        except OSError as error:
            self.undo()
            raise GuardError(f"the file can't be created: {error.strerror}", code="not-new") from None
        self._made.append(path)


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
_WAYS: dict[str, Callable[[Duties, str, str | None], None]] = {
    "use-resolved-path": Duties._resolved,
    "create-exclusively": Duties._exclusive,
}
