"""A runner: a program of the workflow that runs one other program, under the policy.

Each command is one call of the runner's tool, through the guard like any other: decided, recorded, and its end
recorded. Called from within an agent's block it is a hand-over, which the runner's `called_by` or the agent's
`delegates_to` must allow.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import ClassVar, ParamSpec, TypeVar

from remit.confine.process import Bounds, Finished, run_process
from remit.enforce.declared import Shell
from remit.enforce.errors import CallRefused, Refused
from remit.enforce.guard import Guard
from remit.model.arguments import check_arguments, unfit
from remit.model.text import shown
from remit.runners.errors import RunnerError, RunnerFailed
from remit.runners.settings import runner_settings

P = ParamSpec("P")
R = TypeVar("R")
MAX_COMMAND = 100_000
"""Characters of one command."""
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done")
)
_KEYWORDS |= {"in", "function", "time", "coproc"}
_stop: ContextVar[threading.Event | None] = ContextVar("remit_runner_stop", default=None)


class Runner:
    """One program behind a tool of a guard. Made before the guard starts; safe to use from many threads and tasks."""

    tool: ClassVar[str]
    programs: ClassVar[tuple[str, ...]] = ()
    """What it runs; none: what its stages name."""

    def __init__(
        self,
        guard: Guard,
        name: str | None = None,
        *,
        seconds: float = 120.0,
        bytes: int = 1_000_000,
        path: Sequence[str | os.PathLike[str]] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """`name` is the runner's in the policy; its class's if absent. `path` are directories with programs, looked at
        before those of the system; `env` is added to the clean environment. Raises GuardError."""
        if not hasattr(guard, "tool"):
            raise unfit(type(self).__name__, "guard", "a Guard", guard)
        check_arguments(type(self).__name__, {"name": "text?", "seconds": "seconds"}, name=name, seconds=seconds)
        self.guard, self.name = guard, name or type(self).__name__
        self.bounds = Bounds(seconds, bytes)
        self._path = tuple(os.fspath(Path(one).absolute()) for one in path)
        self._env = dict(env or {})

        def command(command: Shell) -> Finished:
            return self._passed(command)

        command.__doc__ = type(self).__doc__
        self._call = guard.tool(self.tool)(command)

    # What programs of the workflow use

    def run(self, *words: str, cwd: str | None = None) -> Finished:
        """Runs the program with these arguments. Raises CallDenied, CallPending, RunnerError and GrantError.

        An exit code other than 0 is no error here: look at `ok`.
        """
        command = self.command(*words)
        with self.guard.agent(self.name, cwd=cwd):
            if self.guard.confines(self.name):
                return self._confined(command)
            found: Finished | Refused = self._call(command)
        if isinstance(found, Refused):
            raise CallRefused(found.decision)
        return found

    async def arun(self, *words: str, cwd: str | None = None) -> Finished:
        """The same in an event loop. Cancelled, it ends the program first."""
        return await self.call_async(self.run, *words, cwd=cwd)

    async def call_async(self, method: Callable[P, R], *args: P.args, **named: P.kwargs) -> R:
        """Any of this runner's methods in an event loop: `await git.call_async(git.commit, "message")`."""
        stop = threading.Event()
        before = _stop.set(stop)
        try:
            work = asyncio.ensure_future(asyncio.to_thread(method, *args, **named))
        finally:
            _stop.reset(before)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            stop.set()
            while not work.done():
                await asyncio.wait([work])
            work.cancelled() or work.exception()  # looked at: nobody else waits for it
            raise

    def must(self, *words: str, cwd: str | None = None) -> Finished:
        """The same as `run`. Raises RunnerFailed as well, if it did not end with 0."""
        found = self.run(*words, cwd=cwd)
        if not found.ok:
            raise RunnerFailed(found)
        return found

    def command(self, *words: str) -> str:
        """The text that is judged and recorded: these words, quoted. Raises RunnerError."""
        return quoted((self.programs[0], *words))

    # Behind the guard

    def _confined(self, command: str) -> Finished:
        """The same inside the limits that the policy gives the runner."""
        words, program, stopped = self._found(command)
        with tempfile.TemporaryDirectory(prefix="remit-runner-") as home:
            ran = self.guard.run_program(
                command,
                (program, *words[1:]),
                tool=self.tool,
                environment=self._environment(home),
                bounds=self.bounds,
                stopped=stopped,
            )
        err = "".join((ran.err, *(f"{line}\n" for line in ran.messages)))
        return Finished(words, ran.code, ran.out, err, ran.took, ran.truncated, ran.timed_out)

    def _found(self, command: str) -> tuple[tuple[str, ...], str, Callable[[], bool]]:
        """The words of a command, its program, and what says that it must end. Raises RunnerError."""
        words = vector(command)
        if self.programs and words[0] not in self.programs:
            raise RunnerError(f"{self.name} runs only {', '.join(self.programs)}, not `{shown(words[0])}`")
        program = self._find(words[0])
        self._check(words, self.guard.directory)
        stop = _stop.get()
        return words, program, stop.is_set if stop is not None else lambda: False

    def _passed(self, command: str) -> Finished:
        """Runs what was judged."""
        words, program, stopped = self._found(command)
        with tempfile.TemporaryDirectory(prefix="remit-runner-") as home:
            return run_process(
                words,
                program=program,
                directory=self.guard.directory,
                environment=self._environment(home),
                bounds=self.bounds,
                stopped=stopped,
            )

    def _check(self, words: tuple[str, ...], directory: Path) -> None:
        """The last look before it runs. Raises RunnerError."""

    def _environment(self, home: str) -> dict[str, str]:
        """All that the program gets."""
        return {**plain_environment(home, self._path), **self._env}

    def _find(self, name: str) -> str:
        """The program itself. Raises RunnerError for one that is not there, or that agents could have put there."""
        return find_program(name, self._path, root=self.guard.root if self.programs else None)


def plain_environment(home: str, path: Sequence[str]) -> dict[str, str]:
    """What every program gets, and nothing else; `path` comes before the places of the system."""
    settings = runner_settings()
    homes = {"HOME": home, "XDG_CONFIG_HOME": f"{home}/.config", "TMPDIR": home}
    return {**settings.environment, "PATH": os.pathsep.join((*path, *settings.places)), **homes}


def find_program(name: str, path: Sequence[str], *, root: Path | None) -> str:
    """The program of a name. Raises RunnerError for one that is not there, or that lies below the root."""
    if "/" in name:
        raise RunnerError(f"`{shown(name)}`: a program is named, its place is the runner's `path`")
    found = shutil.which(name, path=os.pathsep.join((*path, *runner_settings().places)))
    if found is None:
        raise RunnerError(f"`{shown(name)}` is not installed", code="runner-not-started")
    if root is not None:
        real = os.path.realpath(root)
        if os.path.commonpath((real, os.path.realpath(found))) == real:
            raise RunnerError(f"`{shown(found)}` lies in the workspace, where agents write")
    return found


def quoted(words: Sequence[str]) -> str:
    """One command with these words, as text. Raises RunnerError for what is no word."""
    for word in words:
        if "\0" in word:
            raise RunnerError("an argument is a text without a NUL")
        try:
            word.encode()
        except UnicodeEncodeError:
            raise RunnerError("an argument is text that UTF-8 can express") from None
    text = shlex.join(words)
    if len(text) > MAX_COMMAND:
        raise RunnerError(f"a command of {len(text)} characters; at most {MAX_COMMAND} are run")
    return text


def vector(command: str) -> tuple[str, ...]:
    """The words of a text that is one plain command, quoted as `quoted` does. Raises RunnerError for any other.

    INVARIANT: what is judged is what bash would run, and what runs is this vector: they are the same. A word without
    quotes consists only of letters, digits and `@%+=:,./-_`, which mean nothing to bash behind a command's name.
    """
    try:
        words = shlex.split(command)
        exact = shlex.join(words)
    except ValueError as error:
        raise RunnerError(f"a runner runs one plain command: {error}") from None
    if not words or "=" in words[0] or words[0] in _KEYWORDS:
        raise RunnerError("a runner runs one plain command")
    if exact != command:
        help = f"write it as {shown(exact, 300)}"
        raise RunnerError("a runner's words are literal, and quoted where they contain anything special", help=help)
    return tuple(words)


def plain_name(value: str, what: str) -> str:
    """A name that no program takes for an option or anything else. Raises RunnerError."""
    odd = not value or value.startswith("-") or any(ord(letter) < 33 or letter in "~^:?*[\\\x7f" for letter in value)
    if odd or ".." in value or "@{" in value:
        raise RunnerError(f"`{shown(value)}` is not a valid {what}")
    return value
