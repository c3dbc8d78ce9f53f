"""Runs the real Claude Code in a scratch project, with a scripted model and nothing else to talk to."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from tests.hosts.fake_model import MARK, FakeModel, Script, serving

# No traffic but to the model. A session that is started as root must say that it is in a sandbox before it may skip
# its questions.
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_BUG_COMMAND": "1",
    "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
    "NO_PROXY": "127.0.0.1",
    "IS_SANDBOX": "1",
}
LIMIT = 90.0


@dataclass(frozen=True, slots=True)
class Run:
    """What a finished session left behind."""

    code: int
    stdout: str
    stderr: str
    model: FakeModel

    @property
    def events(self) -> list[dict[str, Any]]:
        """The lines of `--output-format stream-json`."""
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    @property
    def said(self) -> list[str]:
        """What came back to the main agent for its calls."""
        return [result.text for result in self.model.results()]

    @property
    def result(self) -> dict[str, Any]:
        """The last event: how the session ended, with `permission_denials`."""
        return self.events[-1]


def decided(word: str, **more: Any) -> dict[str, Any]:
    """A hook's decision before a tool call."""
    words = {"hookEventName": "PreToolUse", "permissionDecision": word, "permissionDecisionReason": f"because {word}"}
    return {"hookSpecificOutput": {**words, **more}}


def logged(log: Path) -> list[dict[str, Any]]:
    """What a stand-in hook was told, in order."""
    lines = log.read_text("utf-8").splitlines() if log.exists() else []
    return [json.loads(line) for line in lines if line]


@dataclass(frozen=True, slots=True)
class Claude:
    """The program, a project for it to work in, and a home that nobody else uses."""

    binary: Path
    project: Path
    home: Path
    env: dict[str, str] = field(default_factory=dict)

    KEY: ClassVar[str] = "sk-ant-nobody"

    @property
    def config(self) -> Path:
        """The user's own settings and agents."""
        return self.home / ".claude"

    def put(self, path: str, text: str) -> Path:
        """Writes a file of the project."""
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target

    def settings(self, settings: Mapping[str, Any], path: str = ".claude/settings.json") -> Path:
        """Writes the project's settings."""
        return self.put(path, json.dumps(settings))

    def agent(self, name: str, **more: str) -> Path:
        """Defines an agent of the project; its turns are in the script under its name."""
        front = {"name": name, "description": f"The agent {name}.", **more}
        lines = "".join(f"{key}: {value}\n" for key, value in front.items())
        return self.put(f".claude/agents/{name}.md", f"---\n{lines}---\n{MARK.format(name=name)}\n")

    def hook(self, *events: str, answer: Mapping[str, Any] | str, status: int = 0, **more: Any) -> Path:
        """Puts a stand-in hook into the project's settings, which answers this to everything; returns its log."""
        text = answer if isinstance(answer, str) else json.dumps(answer)
        log, program, said = (self.home / name for name in ("hook.jsonl", "hook.sh", "answer"))
        said.write_text(text, "utf-8")
        program.write_text(f"#!/bin/sh\ncat >> '{log}'\necho >> '{log}'\ncat '{said}'\nexit {status}\n", "utf-8")
        program.chmod(0o755)
        entry = {"type": "command", "command": str(program), "timeout": 20, "onFailure": "block", **more}
        self.settings({"hooks": {event: [{"matcher": "*", "hooks": [entry]}] for event in events or ("PreToolUse",)}})
        return log

    def environment(self, model: FakeModel) -> dict[str, str]:
        """The whole environment of a session; nothing of ours but PATH."""
        return {
            "PATH": os.environ["PATH"],
            "REMIT_DAEMON": "0",  # a daemon for each of many projects would be too much
            "HOME": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "LANG": "C.UTF-8",
            "ANTHROPIC_BASE_URL": model.url,
            "ANTHROPIC_API_KEY": self.KEY,
            **QUIET,
            **self.env,
        }

    def run(
        self, script: Script, *options: str, mode: str = "default", prompt: str = "Go.", cwd: Path | None = None
    ) -> Run:
        """A session without a terminal (`-p`), from the prompt to its end."""
        command = [str(self.binary), "-p", prompt, "--output-format", "stream-json", "--verbose"]
        command += ["--permission-mode", mode, *options]
        with serving(script) as model:
            done = subprocess.run(
                command,
                cwd=cwd or self.project,
                env=self.environment(model),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=LIMIT,
                check=False,
            )
        return Run(done.returncode, done.stdout, done.stderr, model)
