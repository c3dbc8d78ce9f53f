"""Errors: one root, each with a stable code, a message, and help where there is some."""

from __future__ import annotations

import msgspec


class RemitError(Exception):
    """Anything that Remit refuses to do. `str(error)` is one line; `help` is for people."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None, help: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code
        self.help = help


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a policy: where, what, and how to put it right."""

    code: str
    message: str
    at: str = ""
    help: str | None = None

    def __str__(self) -> str:
        text = f"{self.at}: {self.message}" if self.at else self.message
        return f"{text}\n    {self.help}" if self.help else text


class PolicyError(RemitError):
    """A policy that does not load, with every problem found."""

    code = "bad-policy"

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class RulebookError(RemitError):
    """A compiled rulebook that can't be trusted or read."""

    code = "bad-rulebook"


class CallError(RemitError):
    """A call that is not well formed; it is answered with a deny."""

    code = "malformed-call"
    id: str | None = None
    """The call's own id, where it could still be read."""


class NotUnderstood(ValueError):
    """A text that can't be read as its kind; the call is denied with this reason."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


class InputError(RemitError):
    """Input from people that can't be used: bad usage, a file that can't be read, a name that nobody has."""

    code = "bad-input"
