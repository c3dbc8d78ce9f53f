"""One hook decision from end to end, as a host waits for it: started, asked, decided, recorded, answered.

Beside the start of a bare interpreter, each between two of those: with the daemon, which keeps everything open, and
without it. Wall-clock time, since that is what the host's user waits for.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TEN = 10
_NUMBERS = itertools.count()
WITH_TARGET, WITHOUT_TARGET = 2.5, 8.0
POLICY = """\
remit: 1
use: [claude-code]
hosts: {claude-code: {main: lead}}
agents:
  lead:
    may:
      - Read
      - Write: {path: "docs/**"}
      - Bash: {shell: {run: [{git: [status, diff, log]}]}}
"""
CALLS: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "a read": ("Read", {"file_path": "docs/a.md"}, "allow"),
    "a write that is refused": ("Write", {"file_path": "src/a.py", "content": "x"}, "deny"),
    "a command": ("Bash", {"command": "git status"}, "allow"),
}


@dataclass(frozen=True, slots=True)
class Hook:
    """Multiples of a bare interpreter's start, by the name of the call."""

    bare_milliseconds: float
    served: Mapping[str, float]
    alone: Mapping[str, float]
    ten_served: tuple[float, float]
    """Ten at once, as a multiple of ten bare interpreters at once, and of one hook."""
    ten_alone: tuple[float, float]


class Project:
    """A project that is activated and installed by its commands, in a folder of its own."""

    def __init__(self, folder: Path, policy: str = POLICY) -> None:
        self.root = folder / "project"
        self.root.mkdir(mode=0o700)
        (self.root / "remit.yaml").write_text(policy)
        (folder / "home").mkdir(mode=0o700)  # hooks go into the user's settings: not into those of whoever measures
        self.env = {**os.environ, "XDG_STATE_HOME": str(folder / "state"), "HOME": str(folder / "home")}
        self.env.pop("CLAUDE_CONFIG_DIR", None)
        self.env.pop("REMIT_STORE", None)
        self.remit("activate", "--yes")
        self.remit("install", "claude-code", "--yes")
        settings = json.loads((folder / "home" / ".claude" / "settings.json").read_text())
        self.command: str = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]

    def remit(self, *arguments: str) -> None:
        """Runs one command of Remit."""
        command = [sys.executable, "-m", "remit", *arguments]
        subprocess.run(command, cwd=self.root, env=self.env, check=True, capture_output=True)

    def question(self, tool: str, args: dict[str, Any]) -> bytes:
        """What the host says before a tool runs."""
        use = f"t{next(_NUMBERS)}"  # a question that was just answered is not judged again
        about = {"session_id": "bench", "cwd": str(self.root), "permission_mode": "default", "tool_use_id": use}
        return json.dumps({**about, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args}).encode()

    def ask_at_once(self, number: int) -> float:
        """Seconds until so many hooks that are started at once have answered."""
        tool, args, _ = CALLS["a read"]
        return _at_once(self.command, [self.question(tool, args) for _ in range(number)], self.root, self.env)

    def ask(self, question: bytes, expected: str) -> float:
        """Seconds for one answer, through a shell as the host does. Raises AssertionError for another answer."""
        before = time.perf_counter()
        done = subprocess.run(
            ["/bin/sh", "-c", self.command],
            input=question,
            capture_output=True,
            check=True,
            cwd=self.root,
            env=self.env,
        )
        took = time.perf_counter() - before
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == expected
        return took


def measure(rounds: int) -> Hook:
    """Both ways, each between two bare interpreters."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        alone, bare = _ratios(project, rounds)
        ten_alone = _ten(project, rounds)
        command = [sys.executable, "-m", "remit", "serve", "--quiet"]
        serving = subprocess.Popen(command, cwd=project.root, env=project.env, stdout=subprocess.PIPE)
        try:
            assert serving.stdout is not None
            serving.stdout.readline()  # it says when it serves
            served, _ = _ratios(project, rounds)
            ten_served = _ten(project, rounds)
        finally:
            serving.terminate()
            serving.communicate()
    return Hook(bare * 1000, served, alone, ten_served, ten_alone)


def _ten(project: Project, rounds: int) -> tuple[float, float]:
    of_bare, of_one = [], []
    for _ in range(rounds):
        bare = _at_once(f"{sys.executable} -c pass", [b""] * TEN, project.root, project.env)
        took, one = project.ask_at_once(TEN), project.ask_at_once(1)
        of_bare.append(took / bare)
        of_one.append(took / one)
    return statistics.median(of_bare), statistics.median(of_one)


def _at_once(command: str, said: Sequence[bytes], where: Path, env: Mapping[str, str]) -> float:
    before = time.perf_counter()
    pipe = subprocess.PIPE
    words = ["/bin/sh", "-c", command]
    every = [subprocess.Popen(words, stdin=pipe, stdout=pipe, cwd=where, env=env) for _ in said]
    for one, text in zip(every, said, strict=True):
        one.communicate(text)
    assert not any(one.returncode for one in every)
    return time.perf_counter() - before


def _ratios(project: Project, rounds: int) -> tuple[dict[str, float], float]:
    found: dict[str, list[float]] = {name: [] for name in CALLS}
    bares = []
    for name, (tool, args, expected) in CALLS.items():
        project.ask(project.question(tool, args), expected)
        for _ in range(rounds):
            before = _bare()
            took = project.ask(project.question(tool, args), expected)
            bare = (before + _bare()) / 2
            found[name].append(took / bare)
            bares.append(bare)
    return {name: statistics.median(ratios) for name, ratios in found.items()}, statistics.median(bares)


def _bare() -> float:
    before = time.perf_counter()
    subprocess.run(["/bin/sh", "-c", f"{sys.executable} -c pass"], input=b"", capture_output=True, check=True)
    return time.perf_counter() - before


def main() -> None:
    """Print the figures alone: `python -m bench.hook`."""
    found = measure(rounds=15)
    print(f"a bare interpreter: {found.bare_milliseconds:.1f} ms")
    for name in CALLS:
        served, alone = found.served[name], found.alone[name]
        targets = f"targets {WITH_TARGET} and {WITHOUT_TARGET}"
        print(f"{name}: {served:.2f} × with the daemon, {alone:.2f} × without; {targets}")
    for how, (of_bare, of_one) in (("with the daemon", found.ten_served), ("without", found.ten_alone)):
        print(f"ten at once {how}: {of_bare:.2f} × ten bare interpreters at once, {of_one:.2f} × one hook")


if __name__ == "__main__":
    main()
