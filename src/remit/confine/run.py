"""A command, run inside limits: looked at before, prepared, run, watched, ended, swept.

ran = run(("pytest", "-q"), profile, place, backend=backend, environment=os.environ)
ran.code, ran.findings, ran.messages

`Confinement` is what all ways to run share: `run` waits for the end and keeps the output, `popen` gives a process to
talk to, and a program that starts processes itself takes the words and the environment.
"""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from remit.confine.first_process import wait_for_end
from remit.confine.interface import Backend, Change, Launch, Place
from remit.confine.process import Bounds, Finished, NotStarted, run_process
from remit.confine.protected import Protected
from remit.confine.sweep import Before, Finding, Swept
from remit.model.errors import RemitError
from remit.model.profile import Profile
from remit.model.text import shown
from remit.scopes.admits import Admits

FIRST_LOOK = 1.0
"""Seconds until a run that goes on is looked at for the first time."""
SHARE = 20
"""One part in so many of a run's time is spent on looking at it."""
MAX_HINTS = 3
MOST_HINTING = 2**16
"""How much of the end of an output is read for hints."""
_KILLED = (137, -9)
"""Exit codes of a command that was ended by a limit of time."""
_REFUSED = (
    "Read-only file system",
    "Permission denied",
    "Device or resource busy",
    "Invalid cross-device link",
    "EROFS",
)
_READ_ONLY = ("Read-only file system", "EROFS")
_QUOTED = re.compile(r"(?:(?<=['\"`\u2018])|(?<=: ))[^\s'\"`:\u2018\u2019]+(?=['\"`\u2019]|: Read-only)")
"""What a message names: a word in quotes, or the one right before the fault."""
_WORD = re.compile(r"[^\s'\"`:,;()\[\]\u2018\u2019]+")


class Ran(msgspec.Struct, frozen=True):
    """What became of a command that ran confined."""

    words: tuple[str, ...]
    code: int | None
    """Its exit code; a signal as a negative number; None if it was ended early."""
    out: str
    err: str
    took: int
    """Milliseconds."""
    backend: str
    profile: str
    """The digest of the profile."""
    truncated: bool = False
    timed_out: bool = False
    changes: tuple[Change, ...] | None = None
    """What it changed, where the backend can tell."""
    findings: tuple[Finding, ...] = ()
    refused: tuple[str, ...] = ()
    """What the proxy refused to reach for it, in words."""
    hints: tuple[str, ...] = ()
    """What its output suggests that it tried and could not do: no proof of anything."""
    sweep: int = 0
    """Microseconds that looking before and after took."""

    @property
    def ok(self) -> bool:
        """It ended by itself with 0, and nothing was found."""
        return self.code == 0 and not self.findings

    @property
    def messages(self) -> tuple[str, ...]:
        """For the agent, a line each."""
        late = ("Remit: the command exceeded its time limit and was ended",) if self.timed_out else ()
        return (*(one.message for one in self.findings), *self.refused, *self.hints, *late)


class Ended(msgspec.Struct, frozen=True):
    """What was found after a run."""

    changes: tuple[Change, ...] | None
    findings: tuple[Finding, ...]
    sweep: int


class Confinement:
    """One run's limits, from the look before it to the sweep after it. It ends once."""

    def __init__(self, profile: Profile, place: Place, backend: Backend, environment: Mapping[str, str]) -> None:
        """Raises Unconfinable, with nothing left behind."""
        self.profile, self.place, self.backend = profile, place, backend
        self.before = Before.take(profile, place, modes=not backend.refuses_setuid())
        self.launch: Launch = backend.prepare(profile, place, environment)
        self._ended: Ended | None = None
        self._ending = threading.Lock()
        self._watch: _Watch | None = None

    @property
    def name(self) -> str:
        """What confines."""
        return self.backend.name

    @property
    def digest(self) -> str:
        """Of the profile."""
        return self.profile.digest

    def words(self, command: Sequence[str]) -> tuple[str, ...]:
        """The words that start a command inside."""
        return (*self.launch.words, *command)

    def run(
        self, command: Sequence[str], bounds: Bounds, *, stdin: bytes | None = None, stopped: Callable[[], bool]
    ) -> Ran:
        """Runs a command to its end, and sweeps. Raises NotStarted."""
        if self.profile.limits.seconds is not None:
            bounds = msgspec.structs.replace(bounds, seconds=min(bounds.seconds, self.profile.limits.seconds))
        must_end = threading.Event()
        self.watch(must_end.set)
        words = self.words(command)
        try:
            finished = run_process(
                words,
                program=words[0],
                directory=self.place.cwd,
                environment=self.environment,
                bounds=bounds,
                stopped=lambda: must_end.is_set() or stopped(),
                alone="processes" in self.backend.holds(),
                stdin=stdin,
            )
        finally:
            ended = self.end()
        told = hints(finished.err, self.profile, self.place)
        most = self.profile.limits.seconds
        if most is not None and finished.took >= most * 1000 and finished.code in _KILLED:
            finished = msgspec.structs.replace(finished, timed_out=True)
        return _ran(command, finished, self.name, self.digest, ended, told)

    @property
    def environment(self) -> dict[str, str]:
        """All variables that it gets."""
        return dict(self.launch.environment)

    def watch(self, end: Callable[[], None]) -> None:
        """Looks at the root while the run goes on; `end` is called when it must end."""
        self._watch = _Watch(self.before, end)
        self._watch.start()

    @property
    def stopped(self) -> Finding | None:
        """For what the run was ended."""
        return self._watch.found if self._watch is not None else None

    def end(self) -> Ended:
        """After the run, and only then: what it changed and what was found. A second time it says the same."""
        with self._ending:
            if self._ended is None:
                if self._watch is not None:
                    self._watch.over()
                self._ended = self._finished()
            return self._ended

    def _finished(self) -> Ended:
        return finished(self.before, self.backend, self.launch, self.stopped)


def finished(before: Before, backend: Backend, launch: Launch, stopped: Finding | None = None) -> Ended:
    """After a run: what it changed and what was found. What can't be finished or swept is a finding, too.

    `stopped` is for what it was ended.
    """
    changes: Sequence[Change] | None = None
    problem: tuple[Finding, ...] = ()
    try:
        wait_for_end(launch.directory)
        changes = backend.finish(before.profile, before.place, launch)
    except (RemitError, OSError) as error:
        code = error.code if isinstance(error, RemitError) else "confine-unfinished"
        problem = (Finding(code, ".", f"was not finished: {shown(str(error), 300)}"),)
    try:
        swept = before.sweep(changes)
    except (RemitError, OSError, ValueError) as error:
        what = f"could not be swept after the run: {type(error).__name__}: {shown(str(error), 200)}"
        swept = Swept((Finding("unswept", ".", what),))
    findings = (*problem, *swept.findings)
    if stopped is not None and not any((one.code, one.path) == (stopped.code, stopped.path) for one in findings):
        findings = (stopped, *findings)
    return Ended(tuple(changes) if changes is not None else None, findings, swept.took)


class Unconfined:
    """The same for a command that runs without limits because the policy lets it: it is recorded as such."""

    name, digest = "none", ""

    def __init__(self, place: Place, environment: Mapping[str, str]) -> None:
        self.place, self.environment = place, dict(environment)

    def words(self, command: Sequence[str]) -> tuple[str, ...]:
        """The command's own."""
        return tuple(command)

    def run(
        self, command: Sequence[str], bounds: Bounds, *, stdin: bytes | None = None, stopped: Callable[[], bool]
    ) -> Ran:
        """Runs a command to its end. Raises NotStarted."""
        finished = run_process(
            tuple(command),
            program=command[0],
            directory=self.place.cwd,
            environment=self.environment,
            bounds=bounds,
            stopped=stopped,
            stdin=stdin,
        )
        return _ran(command, finished, self.name, self.digest, self.end(), ())

    def watch(self, end: Callable[[], None]) -> None:
        """Nobody looks."""

    def end(self) -> Ended:
        """Nothing was looked for."""
        return Ended(None, (), 0)


def run(
    command: Sequence[str],
    profile: Profile,
    place: Place,
    *,
    backend: Backend,
    environment: Mapping[str, str],
    bounds: Bounds | None = None,
    stdin: bytes | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Ran:
    """Runs a command to its end. Raises Unconfinable if it can't be confined, and NotStarted."""
    confinement = Confinement(profile, place, backend, environment)
    return confinement.run(command, bounds or Bounds(), stdin=stdin, stopped=stopped)


def _ran(
    command: Sequence[str], finished: Finished, name: str, digest: str, ended: Ended, told: tuple[str, ...]
) -> Ran:
    return Ran(
        words=tuple(command),
        code=finished.code,
        out=finished.out,
        err=finished.err,
        took=finished.took,
        backend=name,
        profile=digest,
        truncated=finished.truncated,
        timed_out=finished.timed_out,
        changes=ended.changes,
        findings=ended.findings,
        hints=told,
        sweep=ended.sweep,
    )


class Running:
    """A confined process to talk to, much like `subprocess.Popen`; it is swept when it has ended."""

    def __init__(
        self,
        command: Sequence[str],
        confinement: Confinement | Unconfined,
        *,
        ended: Callable[[Ended, int | None], None] | None = None,
        **options: Any,
    ) -> None:
        """`options` are those of `subprocess.Popen` for its streams. Raises NotStarted."""
        self.confinement, self.command = confinement, tuple(command)
        self._ended = ended
        try:
            self.process: subprocess.Popen[Any] = subprocess.Popen(  # noqa: S603  # words that were judged
                list(confinement.words(command)),
                cwd=confinement.place.cwd,
                env=confinement.environment,
                start_new_session=True,
                **options,
            )
        except (OSError, ValueError) as error:
            confinement.end()
            raise NotStarted(f"`{shown(self.command[0])}` can't be started: {error}") from None
        except BaseException:
            confinement.end()
            raise
        confinement.watch(self.process.kill)
        self._closing = threading.Thread(target=self._close, name="remit-confined", daemon=True)
        self._closing.start()

    def _close(self) -> None:
        """Waits for the end, whoever else does, and sweeps."""
        self.process.wait()
        found = self.confinement.end()
        if self._ended is not None:
            self._ended(found, self.process.returncode)

    @property
    def stdin(self) -> IO[Any] | None:
        """As of `Popen`."""
        return self.process.stdin

    @property
    def stdout(self) -> IO[Any] | None:
        """As of `Popen`."""
        return self.process.stdout

    @property
    def stderr(self) -> IO[Any] | None:
        """As of `Popen`."""
        return self.process.stderr

    @property
    def pid(self) -> int:
        """Of the process that confines."""
        return self.process.pid

    @property
    def returncode(self) -> int | None:
        """As of `Popen`."""
        return self.process.returncode

    def poll(self) -> int | None:
        """The exit code, once it has ended and was swept."""
        return None if self._closing.is_alive() else self.process.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code; it was swept then. Raises subprocess.TimeoutExpired."""
        self._closing.join(timeout)
        if self._closing.is_alive():
            raise subprocess.TimeoutExpired(list(self.command), timeout or 0.0)
        return self.process.returncode

    def communicate(self, input: Any = None, timeout: float | None = None) -> tuple[Any, Any]:
        """As of `Popen`."""
        found = self.process.communicate(input, timeout)
        self.wait()
        return found

    def terminate(self) -> None:
        """Ends it, and all that it started."""
        self.process.kill()

    kill = terminate

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the sweep found; it waits for the end."""
        self.wait()
        return self.confinement.end().findings

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for stream in (self.stdin, self.stdout, self.stderr):
            if stream is not None:
                stream.close()
        if error is not None:
            self.terminate()
        self.wait()


class _Watch(threading.Thread):
    """Looks at a root while a run goes on."""

    def __init__(self, before: Before, end: Callable[[], None]) -> None:
        super().__init__(name="remit-watch", daemon=True)
        self.found: Finding | None = None
        self._before, self._end = before, end
        self._over = threading.Event()

    def run(self) -> None:
        pause = FIRST_LOOK
        while not self._over.wait(pause):
            began = time.monotonic()
            try:
                self.found = self._before.alarm()
            except (OSError, ValueError) as error:
                what = f"can't be watched while the command runs: {type(error).__name__}"
                self.found = Finding("unwatched", ".", what, stops=True)
            if self.found is not None:
                self._end()
                return
            pause = max(FIRST_LOOK, SHARE * (time.monotonic() - began))

    def over(self) -> None:
        """The run has ended."""
        self._over.set()
        if self.is_alive() and threading.current_thread() is not self:
            self.join()


def hints(err: str, profile: Profile, place: Place) -> tuple[str, ...]:
    """What the output of a command suggests: it could not write something. A program may say anything."""
    protected, admits, root = Protected(profile), Admits(profile), str(place.root)
    kept: dict[str, None] = {}
    other: dict[str, None] = {}
    for line in err[-MOST_HINTING:].splitlines()[-200:]:
        if not any(word in line for word in _REFUSED):
            continue
        surely = set(_QUOTED.findall(line)) - {*_READ_ONLY} if any(word in line for word in _READ_ONLY) else set()
        for word in _WORD.findall(line):
            path = os.path.normpath(os.path.join(place.cwd, word))
            below = path[len(root) + 1 :] if path.startswith(f"{root}/") else ""
            if not below:
                continue
            if protected.top(below) is not None:
                kept[f"Remit: `{shown(below, 200)}` is protected; the command could not write it"] = None
            elif (word in surely or word.startswith(f"{root}/")) and not admits.writes(below):
                other[
                    f"Remit: `{shown(below, 200)}` may not be written by this agent; the command could not write it"
                ] = None
    return (*kept, *other)[:MAX_HINTS]
