"""Runs the real Claude Code in a terminal of its own, and presses keys when the screen says so."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.hosts.claude import Claude
from tests.hosts.fake_model import FakeModel, Script, serving

READY = r"for\s*agents"
QUESTION = r"Do\s*you\s*want"
LIMIT = 150.0
_CONTROL = re.compile(rb"\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[=>()][0-9A-B]?")

# What is waited for (a pattern on the screen since the last keys, or a state of the model), and the keys that follow.
Step = tuple[str | Callable[[FakeModel], bool], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Session:
    """What a session in a terminal left behind. `steps` is how many were reached: all, if it went as planned."""

    screen: str
    steps: int
    model: FakeModel


def in_terminal(claude: Claude, script: Script, steps: Sequence[Step], *options: str, mode: str = "default") -> Session:
    """Starts a session, says `Go.`, follows the steps, and ends it."""
    _no_questions_at_start(claude)
    plan: list[Step] = [(READY, ["Go.", "\r"]), *steps]
    with serving(script) as model:
        env = {**claude.environment(model), "TERM": "xterm-256color"}
        command = [str(claude.binary), "--permission-mode", mode, *options]
        child, terminal = pty.fork()
        if child == 0:
            try:
                os.chdir(claude.project)
                os.execve(command[0], command, env)  # noqa: S606 - the program under test
            finally:
                os._exit(127)
        try:
            fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 140, 0, 0))
            screen, reached = _follow(terminal, model, plan)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(terminal)
    return Session(screen, reached, model)


def _follow(terminal: int, model: FakeModel, plan: Sequence[Step]) -> tuple[str, int]:
    seen, mark, reached = b"", 0, 0
    end = time.monotonic() + LIMIT
    while reached < len(plan) and time.monotonic() < end:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:
                break  # it has ended
        sign, keys = plan[reached]
        if sign(model) if callable(sign) else re.search(sign, _text(seen[mark:])):
            time.sleep(0.4)  # the screen is drawn before it listens
            mark = len(seen)
            for key in keys:
                os.write(terminal, key.encode())
                time.sleep(0.3)
            reached += 1
    return _text(seen), reached


def _text(seen: bytes) -> str:
    return " ".join(_CONTROL.sub(b" ", seen).decode("utf-8", "replace").split())


def _no_questions_at_start(claude: Claude) -> None:
    """As after the first session in this project: trusted, and set up."""
    known = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "bypassPermissionsModeAccepted": True,
        "customApiKeyResponses": {"approved": [claude.KEY[-20:]], "rejected": []},
    }
    path = claude.config / ".claude.json"
    found = json.loads(path.read_text("utf-8")) if path.exists() else {}
    own = found.setdefault("projects", {}).setdefault(str(claude.project), {})
    own |= {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    path.write_text(json.dumps({**found, **known}), "utf-8")
