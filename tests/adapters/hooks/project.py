"""A project with an activated policy and an installed hook, and a host that speaks to it."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from remit.adapters.hooks import client
from remit.adapters.hooks.definitions import definitions_of
from remit.adapters.hooks.installed import Installed, write_installed
from remit.record.audit import audit
from remit.record.open import open_log
from remit.store.place import state_directory
from tests.activated import activate
from tests.adapters.hooks.speech import CLAUDE, JSON, SESSION, TOY, Speech

ENDINGS = (".md",)
HOST = "claude-code"
LATER = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 20 * 86400))
__all__ = ["JSON", "SESSION"]
POLICY: JSON = {
    "remit": 1,
    "name": "hooked",
    "use": ["claude-code"],
    "hosts": {HOST: {"main": "lead"}, TOY.name: {"main": "lead"}},
    "protect": [".toy/**", "toyrc"],
    "include": ["team.yaml"],
    "agents": {
        "lead": {"may": ["Read", "Glob", "Grep", "Task", "Write", "Edit", "Bash"], "delegates_to": ["team"]},
        "researcher": {
            "may": ["Read", {"Write": {"path": {"allow": "research/*.md", "new_only": True}}}],
            "roles": ["team"],
        },
        "asker": {
            "may": ["Read"],
            "must_ask": [{"Write": {"path": "docs/**"}}],
            "roles": ["team"],
        },
        "watcher": {"may": ["Read"], "enforce": {"observe": {"until": LATER}}, "roles": ["team"]},
        "unpinned": {"may": ["Read"], "roles": ["team"]},
    },
}
PINNED = ("researcher", "asker", "watcher")


class Said(NamedTuple):
    """What the hook's process left behind."""

    code: int
    stdout: bytes
    stderr: str
    host: Speech = CLAUDE

    @property
    def answer(self) -> JSON:
        """The one document on stdout."""
        found = json.loads(self.stdout)
        assert isinstance(found, dict)
        return found

    @property
    def decision(self) -> str:
        """`allow`, `ask`, `deny`, or `-` for no decision."""
        return self.host.understood(self.code, self.stdout, self.stderr)[0]

    @property
    def reason(self) -> str:
        return self.host.understood(self.code, self.stdout, self.stderr)[1]

    def denied(self, *words: str) -> None:
        """Fails unless it is a deny that the host obeys, with these words in its reason."""
        assert self.decision == "deny", self
        assert self.reason.startswith("Remit: ")
        assert len(self.reason) < 2000
        for word in words:
            assert word in self.reason, self.reason

    def nothing(self) -> None:
        """Fails unless it is the answer to a report."""
        assert (self.code, self.decision) == (0, "-"), self


def hook_command(state: Path, host: str) -> str:
    """What judges the calls of one project, for `sh -c`."""
    return shlex.join((sys.executable, "-I", "-S", client.__file__, host, str(state)))


def definition(name: str, body: str = "You help.") -> str:
    return f"---\nname: {name}\ndescription: The agent {name}.\n---\n{body}\n"


class Project:
    """A workspace, its state beside it, and the command that the host's settings have."""

    def __init__(self, folder: Path, policy: Mapping[str, Any] = POLICY, host: Speech = CLAUDE) -> None:
        self.host = host
        self.folder, self.root, self.state = folder, folder / "proj", folder / "state"
        self.home = folder / "home"
        self.agents, self.user = self.root / host.folder, self.home / host.user
        for place in (self.agents, self.user, self.root / "docs", self.root / "research"):
            place.mkdir(parents=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XDG_STATE_HOME", str(folder / "state"))
            self.state = state_directory(self.root)
        for name in PINNED:
            (self.agents / f"{name}{host.ending}").write_text(definition(name))
        (self.root / "team.yaml").write_text("remit: 1\nroles: {team: {}}\n")
        (self.root / "own.test.yaml").write_text("about: nothing\n")
        (self.root / "README.md").write_text("Read me.\n")
        (self.root / "docs" / "a.md").write_text("A.\n")
        (self.root / "remit.yaml").write_text(json.dumps(policy))
        self.count = 0
        self.asked: JSON = {}
        self.activate()
        self.install()
        with host.available():
            self.command, self.python = hook_command(self.state, host.name), sys.executable

    def activate(self) -> None:
        """What `remit activate` comes to."""
        with TOY.available():  # a policy names only hosts that are there, and this one names the toy
            activate(self.root / "remit.yaml", state=self.state)

    def install(self, *, pinned: tuple[str, ...] = PINNED, store: str | None = None) -> None:
        """What `remit install claude-code` comes to, but for the host's own files."""
        places = (str(self.agents), str(self.user))
        pins = {name: definitions_of(name, places, (self.host.ending,)) for name in pinned}
        settings, policy = str(self.root / self.host.settings), str(self.root / "remit.yaml")
        at, host = "2026-11-16T00:00:00Z", self.host.name
        with self.host.available():
            write_installed(self.state, Installed(1, host, str(self.root), policy, settings, at, places, pins, store))

    # What the host says

    def question(self, tool: str, args: Any, agent: str | None = None, **more: Any) -> JSON:
        """What is asked before a call: of the main agent, or of a subagent."""
        self.count += 1
        found = self.host.question(self.count, self.root, tool, args, agent, more)
        self.asked = {key: value for key, value in found.items() if value is not ...}
        return dict(self.asked)

    def report(self, question: JSON, response: Any = None, *, failed: bool = False, **more: Any) -> JSON:
        """What is told after a call."""
        return self.host.report(question, response, failed, more)

    def call_id(self, question: JSON) -> str:
        """The id of a call in the ledger."""
        text = "/".join(self.host.ids(question))
        if re.fullmatch(r"[A-Za-z0-9._:/+=@-]{1,200}", text):
            return text
        return f"hook-{hashlib.sha256(text.encode()).hexdigest()}"

    def environment(self, **more: str) -> dict[str, str]:
        """The environment that the host gives to its hooks."""
        own = self.host.environment(self.root)
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **own, **more}

    def run(
        self,
        said: JSON | bytes,
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        command: str | None = None,
    ) -> Said:
        """The hook's real process, started as the host starts it."""
        data = said if isinstance(said, bytes) else json.dumps(said, separators=(",", ":")).encode()
        done = subprocess.run(
            ["/bin/sh", "-c", command or self.command],
            input=data,
            capture_output=True,
            env=self.environment() if env is None else dict(env),
            cwd=cwd or self.root,
            check=False,
            timeout=120,
        )
        return Said(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), self.host)

    def reading(self, command: str | None = None) -> subprocess.Popen[bytes]:
        """The hook's process, known to read its stdin: it took more of it than fits into a pipe."""
        process = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {command or self.command}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environment(),
            cwd=self.root,
        )
        assert process.stdin is not None
        process.stdin.write(b" " * 1024 * 1024)  # no pipe holds as much
        process.stdin.flush()
        return process

    def ask(self, tool: str, args: Any, agent: str | None = None, **more: Any) -> Said:
        return self.run(self.question(tool, args, agent, **more))

    def impatient(self, **constants: float) -> str:
        """The command, with a copy of the client that has other constants; its deadlines are no setting."""
        source = Path(client.__file__).read_text("utf-8")
        for name, value in constants.items():
            before = f"{name} = {getattr(client, name)!r}"
            assert before in source
            source = source.replace(before, f"{name} = {value!r}")
        copy = self.folder / "client.py"
        copy.write_text(source, "utf-8")
        return self.command.replace(shlex.quote(client.__file__), shlex.quote(str(copy)))

    # The daemon

    @contextmanager
    def serving(self) -> Iterator[subprocess.Popen[bytes]]:
        """`remit serve`, a real process."""
        process = self.serve()
        try:
            yield process
        finally:
            stop(process)

    def serve(self) -> subprocess.Popen[bytes]:
        """Starts it, and waits until it listens; the caller stops it."""
        env = {**os.environ, "XDG_STATE_HOME": str(self.folder / "state")}
        env.pop("REMIT_STORE", None)
        words = [self.python, "-m", "remit", "serve", "--policy", str(self.root / "remit.yaml")]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, cwd=self.folder)
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line.startswith(b"serving"):
            process.kill()
            assert process.stderr is not None
            raise AssertionError(process.stderr.read().decode())
        return process

    # The ledger

    def entries(self) -> list[JSON]:
        """All that was recorded, in order."""
        link = sqlite3.connect(f"file:{self.state / 'remit.db'}?mode=ro", uri=True)
        try:
            return [json.loads(bytes(row[0])) for row in link.execute("SELECT body FROM leaf ORDER BY seq")]
        finally:
            link.close()

    def calls(self) -> list[JSON]:
        """The intents and outcomes."""
        return [entry for entry in self.entries() if entry["type"] in ("intent", "outcome")]

    def intent(self, question: JSON | None = None) -> JSON:
        """What was recorded before a call: the last one, or this. A daemon may write it a moment later."""
        return self._entry(question or self.asked, "intent")

    def outcome(self, question: JSON | None = None) -> JSON:
        """What was recorded after a call: the last one, or this."""
        return self._entry(question or self.asked, "outcome")

    def _entry(self, question: JSON, kind: str) -> JSON:
        name, end = self.call_id(question), time.monotonic() + 60
        while True:
            found = [one for one in self.calls() if one["type"] == kind and one["call"] == name]
            if found or time.monotonic() > end:
                return found[-1]
            time.sleep(0.02)

    def running(self) -> list[str]:
        """The calls that were let run and have no outcome yet."""
        link = sqlite3.connect(f"file:{self.state / 'remit.db'}?mode=ro", uri=True)
        try:
            return [str(row[0]) for row in link.execute("SELECT call FROM running ORDER BY seq")]
        finally:
            link.close()

    def verify(self) -> None:
        """Fails unless `remit ledger verify` would be content."""
        with open_log(None, state=self.state) as opened:
            opened.checkpoint()
            found = audit(opened.log, opened.signer, canonical=True)
        assert found.verified, found.problems


def stop(process: subprocess.Popen[bytes], how: signal.Signals = signal.SIGTERM) -> int:
    """Ends a daemon, and gives its exit status."""
    if process.poll() is None:
        process.send_signal(how)
    try:
        process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            process.kill()
    return process.returncode
