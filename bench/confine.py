"""A confined command as Claude Code runs it: `python -m bench.confine`, best as `chrt -r 1 python -m bench.confine`.

The hook prepares a ticket and puts the wrapper in the place of the command; the host's shell runs that; a second hook
finishes the run. The host's shell with the wrapper is measured beside the same shell with `true`, in turns; the hooks
apart, with a daemon. Wall-clock time, medians.
"""

from __future__ import annotations

import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.hook import Project

ROUNDS = 41
TARGET = 10.0
POLICY = """\
remit: 1
use: [claude-code]
hosts: {claude-code: {main: lead}}
confine: required
sandbox: {network: none}
agents:
  lead:
    may: [Bash]
    locks: {may: [GLOB]}
"""
GLOBS = {"bubblewrap": '"**"', "overlay": '"src/*.py"'}
"""Mounts hold the first exactly; for the second the overlay is taken."""


@dataclass(frozen=True, slots=True)
class InHost:
    """Medians, in milliseconds."""

    backend: str
    plain: float
    wrapped: float
    before: float
    after: float

    def __str__(self) -> str:
        times = f"{self.wrapped / self.plain:.1f} times"
        hooks = f"hooks: {self.before:.0f} ms before, {self.after:.0f} ms after"
        return f"{self.backend}: {self.plain:.2f} ms plain, {self.wrapped:.2f} ms in the host, {times}; {hooks}"


def measure(backend: str, rounds: int = ROUNDS) -> InHost:
    """One backend, with a daemon."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), POLICY.replace("GLOB", GLOBS[backend]))
        (project.root / "src").mkdir()
        for words in (("init", "-q"), ("add", "-A")):
            subprocess.run(["git", *words], cwd=project.root, env=project.env, check=True)
        with _served(project):
            found = [_round(project, backend) for _ in range(rounds)]
            _say(project, {"session_id": "bench", "hook_event_name": "SessionEnd"})
        return InHost(backend, *map(statistics.median, zip(*found, strict=True)))


def _round(project: Project, backend: str) -> tuple[float, float, float, float]:
    question = json.loads(project.question("Bash", {"command": "true"}))
    before, said = _say(project, question)
    text = said["hookSpecificOutput"]["updatedInput"]["command"]
    kept = [json.loads(one.read_bytes())["backend"] for one in Path(project.env["XDG_STATE_HOME"]).rglob("about")]
    if kept != [backend]:
        raise RuntimeError(f"it is confined by {kept}")
    plain = _shell(project, "true")
    wrapped = _shell(project, text)
    report = {**question, "hook_event_name": "PostToolUse", "tool_response": {"stdout": "", "stderr": ""}}
    report["tool_input"] = {"command": text}
    after, _ = _say(project, report)
    return plain, wrapped, before, after


def _shell(project: Project, text: str) -> float:
    """Milliseconds; started without anything of Python's own."""
    started = time.perf_counter()
    child = os.posix_spawn("/bin/bash", ["bash", "-c", f"cd {shlex.quote(str(project.root))}; {text}"], project.env)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    took = (time.perf_counter() - started) * 1000
    if code:
        raise RuntimeError(f"`{text}` ended with {code}")
    return took


def _say(project: Project, event: dict[str, object]) -> tuple[float, dict[str, dict[str, dict[str, str]]]]:
    words = ["/bin/sh", "-c", project.command]
    started = time.perf_counter()
    done = subprocess.run(
        words, input=json.dumps(event).encode(), capture_output=True, check=True, cwd=project.root, env=project.env
    )
    return (time.perf_counter() - started) * 1000, json.loads(done.stdout or b"{}")


@contextmanager
def _served(project: Project) -> Iterator[None]:
    command = [sys.executable, "-m", "remit", "serve", "--quiet"]
    serving = subprocess.Popen(command, cwd=project.root, env=project.env, stdout=subprocess.PIPE)
    try:
        if serving.stdout is not None:
            serving.stdout.readline()  # it says when it serves
        yield
    finally:
        serving.terminate()
        serving.communicate()


def main() -> None:
    """Both backends."""
    for backend in GLOBS:
        print(measure(backend))


if __name__ == "__main__":
    main()
