"""Runs the other hosts' real programs in scratch projects, with a scripted model and nothing else to talk to.

Each knows how its program is started without a terminal, how its own settings name the model, and which of its tools
write, run, read and hand work over.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

from tests.hosts.fake_model import MARK, FakeModel, Script, Use, serving

ROOT = Path(__file__).parents[2]
MODULES = ROOT / ".node-hosts" / "node_modules"
REMIT = Path(sys.executable).with_name("remit")
LIMIT = 900.0
"""Seconds for a session: a machine may be busy."""
_SHELL = '{shell: {run: [touch, pwd, git], path: {write: ["notes/**", "b"]}}}'


@dataclass(frozen=True, slots=True)
class Ran:
    """What a finished session left behind."""

    code: int
    stdout: str
    stderr: str
    model: FakeModel

    @property
    def said(self) -> list[str]:
        """What came back to the main agent for its calls."""
        return [result.text for result in self.model.results()]


@dataclass(slots=True)
class Other:
    """A host, a project for it to work in, and a home that nobody else uses."""

    base: Path
    env: dict[str, str] = field(default_factory=dict)
    observed: bool = False
    """The policy only observes the main agent."""

    name: ClassVar[str]
    agents: ClassVar[str | None] = None
    """Where agents are defined, below the project; None if the host does not say who calls."""
    folder: ClassVar[str]
    """Where its own settings lie, below the home."""

    def __post_init__(self) -> None:
        (self.home / self.folder).mkdir(parents=True)
        self.project.mkdir()
        self.env["XDG_STATE_HOME"] = str(self.home / "state")

    @property
    def home(self) -> Path:
        return self.base / "home"

    @property
    def project(self) -> Path:
        return self.base / "project"

    @property
    def state(self) -> Path:
        """Remit's state of the project."""
        [found] = [one for one in (self.home / "state" / "remit").iterdir() if one.name != "hosts"]
        return found

    @classmethod
    def program(cls) -> list[str] | None:
        """The command that starts it; None if it is not here."""
        raise NotImplementedError

    def prepare(self, model: FakeModel) -> dict[str, str]:
        """Settings that name the model are written; the environment that names it."""
        raise NotImplementedError

    def command(self, prompt: str) -> list[str]:
        """The options of a session without a terminal that asks no questions of its own."""
        raise NotImplementedError

    def write(self, path: str, text: str = "x") -> Use:
        """A call that writes a file."""
        raise NotImplementedError

    def shell(self, command: str) -> Use:
        """A call that runs a command."""
        raise NotImplementedError

    def read(self, path: str) -> Use:
        """A call that reads a file."""
        raise NotImplementedError

    def hand(self, agent: str) -> Use:
        """A call that hands work over."""
        raise NotImplementedError

    may: ClassVar[str]
    """What the main agent of `POLICY` may do."""
    may_scribe: ClassVar[str] = ""

    def put(self, path: str, text: str) -> Path:
        """Writes a file of the project."""
        target = self.project / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
        return target

    def policy(self, more: str = "") -> str:
        """A policy: the main agent writes below notes/ and runs touch, pwd and git."""
        lines = f"remit: 1\nname: hosted\nuse: [{self.name}]\nhosts: {{{self.name}: {{main: lead}}}}\n"
        lines += f"agents:\n  lead:\n    may: {self.may}\n"
        lines += "    enforce: {observe: {until: 2099-01-01}}\n" if self.observed else ""
        if self.agents is not None:
            lines += f"    delegates_to: [scribe]\n  scribe:\n    may: {self.may_scribe}\n"
        return lines + more

    def define(self, name: str) -> None:
        """Defines an agent of the project; its turns are in the script under its name."""
        text = f"---\nname: {name}\ndescription: The agent {name}.\n---\n{MARK.format(name=name)}\n"
        self.put(f"{self.agents}/{name}.md", text)

    def install(self, more: str = "") -> None:
        """A policy in force, an agent, and the hooks installed."""
        self.put("remit.yaml", self.policy(more))
        for folder in ("notes", "scribe", "src"):
            (self.project / folder).mkdir(exist_ok=True)
        if self.agents is not None:
            self.define("scribe")
        self.remit("activate", "--yes")
        self.remit("install", self.name, "--yes")

    def remit(self, *args: str, code: int = 0) -> str:
        """A command of the person who owns the project."""
        env = {"HOME": str(self.home), "PATH": "/usr/bin:/bin", **self.env}
        done = subprocess.run(
            [REMIT, *args],
            cwd=self.project,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def run(
        self,
        script: Script,
        *options: str,
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        prompt: str = "Go.",
    ) -> Ran:
        """A session without a terminal, from the prompt to its end."""
        place = cwd or self.project
        with serving(script) as model:
            own = self.prepare(model)
            whole = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "PWD": str(place)}
            whole["REMIT_DAEMON"] = "0"  # a daemon for each of many projects would be too much
            whole |= {"NO_PROXY": "127.0.0.1", **own, **self.env, **(env or {})}
            command = [*(self.program() or []), *self.command(prompt)]
            done = subprocess.run(
                [*command[:-1], *options, command[-1]] if self.prompt_last else [*command, *options],
                cwd=place,
                env=whole,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT,
                check=False,
            )
        return Ran(done.returncode, done.stdout, done.stderr, model)

    prompt_last: ClassVar[bool] = False

    def files(self) -> set[str]:
        """What lies in the project, besides what Remit and git keep there."""
        names = (path.relative_to(self.project).as_posix() for path in self.project.rglob("*") if path.is_file())
        # OpenCode installs packages for plugins into `.opencode` when it starts.
        own = (".opencode/node_modules/", ".opencode/package", ".opencode/bun.lock", ".opencode/.gitignore")
        return {name for name in names if not name.startswith((".remit/", ".git/", "remit.yaml", *own))}


class Copilot(Other):
    name = "copilot-cli"
    agents, folder = ".github/agents", ".copilot"
    may = '[view, task, {create: {path: "notes/**"}}, {bash: SHELL}]'.replace("SHELL", _SHELL)
    may_scribe = '[view, {create: {path: "scribe/**"}}]'

    @classmethod
    def program(cls) -> list[str] | None:
        found = MODULES / "@github" / f"copilot-linux-{_arch()}" / "copilot"
        return [str(found)] if found.is_file() else None

    def prepare(self, model: FakeModel) -> dict[str, str]:
        return {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_TYPE": "anthropic",
            "COPILOT_PROVIDER_BASE_URL": model.url,
            "COPILOT_PROVIDER_API_KEY": "nobody",
            "COPILOT_MODEL": "claude-sonnet-4.6",
            "XDG_CACHE_HOME": str(_shared_cache(self.base)),
        }

    def command(self, prompt: str) -> list[str]:
        return ["-p", prompt, "--allow-all", "--trust-folder"]

    def write(self, path: str, text: str = "x") -> Use:
        return Use("create", {"path": str(self.project / path), "file_text": text})

    def shell(self, command: str) -> Use:
        return Use("bash", {"command": command, "description": "d"})

    def read(self, path: str) -> Use:
        return Use("view", {"path": str(self.project / path)})

    def hand(self, agent: str) -> Use:
        return Use("task", {"agent_type": agent, "prompt": "p", "description": "d", "name": "n", "mode": "sync"})


class OpenCode(Other):
    name = "opencode"
    agents, folder = ".opencode/agent", ".config/opencode"
    may = '[read, task, {write: {path: "notes/**"}}, {bash: SHELL}]'.replace("SHELL", _SHELL)
    may_scribe = '[read, {write: {path: "scribe/**"}}]'
    prompt_last = True

    @classmethod
    def program(cls) -> list[str] | None:
        found = MODULES / f"opencode-linux-{_arch()}" / "bin" / "opencode"
        return [str(found)] if found.is_file() else None

    def prepare(self, model: FakeModel) -> dict[str, str]:
        path = self.home / self.folder / "opencode.json"
        said = json.loads(path.read_text()) if path.is_file() else {}
        said["provider"] = {"anthropic": {"options": {"baseURL": f"{model.url}/v1", "apiKey": "nobody"}}}
        said |= {"model": "anthropic/claude-sonnet-4-5", "small_model": "anthropic/claude-sonnet-4-5"}
        said |= {"autoupdate": False, "share": "disabled"}
        path.write_text(json.dumps(said))
        return {f"OPENCODE_DISABLE_{one}": "1" for one in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")}

    def command(self, prompt: str) -> list[str]:
        return ["run", prompt]

    def define(self, name: str) -> None:
        text = f"---\nname: {name}\ndescription: The agent {name}.\nmode: subagent\n---\n{MARK.format(name=name)}\n"
        self.put(f"{self.agents}/{name}.md", text)

    def write(self, path: str, text: str = "x") -> Use:
        return Use("write", {"filePath": str(self.project / path), "content": text})

    def shell(self, command: str) -> Use:
        return Use("bash", {"command": command})

    def read(self, path: str) -> Use:
        return Use("read", {"filePath": str(self.project / path)})

    def hand(self, agent: str) -> Use:
        return Use("task", {"subagent_type": agent, "prompt": "p", "description": "d"})


_CODEX = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[model_providers.scripted]
name = "scripted"
base_url = "URL/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
# --
"""


class Codex(Other):
    name = "codex"
    agents, folder = ".codex/agents", ".codex"
    may = '[view_image, spawn_agent, {apply_patch: {path: "notes/**"}}, {Bash: SHELL}]'.replace("SHELL", _SHELL)
    may_scribe = '[{apply_patch: {path: "scribe/**"}}]'
    prompt_last = True

    @classmethod
    def program(cls) -> list[str] | None:
        found = sorted((MODULES / "@openai" / f"codex-linux-{_arch()}").glob("vendor/*/bin/codex"))
        return [str(found[0])] if found else None

    def prepare(self, model: FakeModel) -> dict[str, str]:
        path = self.home / self.folder / "config.toml"
        text = path.read_text() if path.is_file() else ""
        path.write_text(_CODEX.replace("URL", model.url) + text.rpartition("# --\n")[2])
        return {"SCRIPTED_KEY": "nobody"}

    def command(self, prompt: str) -> list[str]:
        return ["exec", "--json", "--skip-git-repo-check", "--sandbox", "danger-full-access", prompt]

    def define(self, name: str) -> None:
        text = f'name = "{name}"\ndescription = "d"\ndeveloper_instructions = "{MARK.format(name=name)}"\n'
        self.put(f"{self.agents}/{name}.toml", text)

    def write(self, path: str, text: str = "x") -> Use:
        return Use("apply_patch", {"*": f"*** Begin Patch\n*** Add File: {path}\n+{text}\n*** End Patch\n"})

    def shell(self, command: str) -> Use:
        return Use("exec_command", {"cmd": command})

    def read(self, path: str) -> Use:
        return Use("view_image", {"path": str(self.project / path)})

    def hand(self, agent: str) -> Use:
        return Use("multi_agent_v1.spawn_agent", {"message": "p", "agent_type": agent})


class Gemini(Other):
    name = "gemini-cli"
    agents, folder = None, ".gemini"
    may = '[read_file, {write_file: {path: "notes/**"}}, {run_shell_command: SHELL}]'.replace("SHELL", _SHELL)

    @classmethod
    def program(cls) -> list[str] | None:
        found, node = MODULES / "@google" / "gemini-cli" / "bundle" / "gemini.js", shutil.which("node")
        return [node, str(found)] if node is not None and found.is_file() else None

    def prepare(self, model: FakeModel) -> dict[str, str]:
        path = self.home / self.folder / "settings.json"
        said: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
        said["security"] = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        said |= {"telemetry": {"enabled": False}, "privacy": {"usageStatisticsEnabled": False}}
        said |= {"general": {"enableAutoUpdate": False}}
        path.write_text(json.dumps(said))
        return {"GEMINI_API_KEY": "nobody", "GOOGLE_GEMINI_BASE_URL": model.url}

    def command(self, prompt: str) -> list[str]:
        return ["-p", prompt, "-m", "gemini-2.5-pro", "--approval-mode", "yolo"]

    def write(self, path: str, text: str = "x") -> Use:
        return Use("write_file", {"file_path": str(self.project / path), "content": text})

    def shell(self, command: str) -> Use:
        return Use("run_shell_command", {"command": command})

    def read(self, path: str) -> Use:
        return Use("read_file", {"file_path": str(self.project / path)})


OTHERS: list[type[Other]] = [Copilot, OpenCode, Codex, Gemini]


def other(kind: type[Other], base: Path) -> Other:
    """A host with an empty project; skipped, with the reason, where its program is not here."""
    if kind.program() is None:
        pytest.skip(f"{kind.name} is not here: `make test-hosts` installs requirements/hosts-npm if there is an npm")
    return kind(base)


def _arch() -> str:
    return {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())


def _shared_cache(base: Path) -> Path:
    """Copilot unpacks itself, 235 MB, on its first start: once for all tests of a process."""
    return base.parents[1] / "copilot-cache"
