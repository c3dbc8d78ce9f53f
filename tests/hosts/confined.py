"""A project whose commands run confined in the real Claude Code, and attacks that project code makes there."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.hosts.claude import Claude
from tests.hosts.fake_model import Use

POLICY = """\
remit: 1
name: hosted
use: [claude-code]
hosts: {claude-code: {main: lead}}
confine: required
sandbox: {network: NETWORK}
agents:
  lead:
    may: [Read, Bash, TaskStop]
"""


def bash(command: str, **more: object) -> Use:
    return Use("Bash", {"command": command, **more})


def in_git(claude: Claude, *words: str) -> str:
    env = {"PATH": os.environ["PATH"], "HOME": str(claude.home), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *words], cwd=claude.project, env=env, capture_output=True, text=True, check=True)
    return done.stdout


def populate(claude: Claude) -> None:
    """A repository with settings under git, a branch without them, code, a secret that git ignores."""
    claude.put("README.md", "# A project\n")
    claude.put("src/app.py", "print('app')\n")
    claude.put("sub/deep/file.txt", "x\n")
    claude.put(".gitignore", ".env\n")
    claude.put(".env", "TOKEN=secret\n")
    in_git(claude, "init", "-q", "-b", "bare")
    in_git(claude, "config", "user.name", "Ann")
    in_git(claude, "config", "user.email", "ann@example.org")
    in_git(claude, "add", "-A")
    in_git(claude, "commit", "-qm", "without settings")
    in_git(claude, "switch", "-qc", "main")
    claude.settings({"env": {"MARK": "theirs"}})
    claude.put("CLAUDE.md", "Be kind.\n")
    in_git(claude, "add", "-A")
    in_git(claude, "commit", "-qm", "with settings")


@dataclass(frozen=True)
class Attack:
    """What project code does, and how to tell that it came to something."""

    name: str
    script: str
    works: Callable[[Claude], bool]


def _text(path: Path) -> str:
    return path.read_text("utf-8", "replace") if path.is_file() else ""


def _settings(claude: Claude) -> bool:
    found = _text(claude.project / ".claude/settings.json")
    return not found or json.loads(found).get("env") != {"MARK": "theirs"}


def _is_written(path: str) -> Callable[[Claude], bool]:
    return lambda claude: "evil" in _text(claude.project / path)


def _laundered(claude: Claude) -> bool:
    """Somebody who takes the agent's branch gets other settings."""
    found = subprocess.run(
        ["git", "log", "--branches", "--tags", "--format=%h", "-S", "evil", "--", ".claude/settings.json"],
        cwd=claude.project, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return bool(found.stdout.strip())


ATTACKS = [
    Attack("a branch without settings", "git checkout -q bare", _settings),
    Attack("settings deleted", "rm -rf .claude", _settings),
    Attack(
        "local settings that switch hooks off",
        """mkdir -p .claude; echo '{"disableAllHooks": true, "x": "evil"}' > .claude/settings.local.json""",
        _is_written(".claude/settings.local.json"),
    ),
    Attack("settings renamed away", "mv .claude old; mkdir .claude; echo '{}' > .claude/settings.json", _settings),
    Attack(
        "settings by a link",
        'ln -s .claude c; echo \'{"x": "evil"}\' > c/settings.json',
        _is_written(".claude/settings.json"),
    ),
    Attack(
        "git's configuration",
        "git config core.fsmonitor ./evil.sh; git config alias.x evil",
        _is_written(".git/config"),
    ),
    Attack(
        "a hook of git",
        "printf '#!/bin/sh\\n# evil\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
        _is_written(".git/hooks/pre-commit"),
    ),
    Attack(
        "a hook of git behind a copy",
        "mv .git g; cp -r g .git; echo '# evil' > .git/hooks/pre-commit",
        _is_written(".git/hooks/pre-commit"),
    ),
    Attack("commondir", "echo ../evil > .git/commondir", _is_written(".git/commondir")),
    Attack(
        "memory at a new depth",
        "mkdir -p lib/.claude; echo evil > lib/CLAUDE.md; echo evil > lib/.claude/settings.json",
        lambda claude: _is_written("lib/CLAUDE.md")(claude) or _is_written("lib/.claude/settings.json")(claude),
    ),
    Attack("a memory file", "echo evil >> CLAUDE.md", _is_written("CLAUDE.md")),
    Attack(
        "laundered by a commit",
        'b=$(echo \'{"x": "evil"}\' | git hash-object -w --stdin); '
        "git update-index --add --cacheinfo 100644,$b,.claude/settings.json; git commit -qm x",
        _laundered,
    ),
    Attack(
        "the home",
        'echo evil >> "$HOME/.bashrc"; echo evil > ../evil; echo evil > "${CLAUDE_CONFIG_DIR-$HOME/.claude}/evil.json"',
        lambda claude: any(
            "evil" in _text(path)
            for path in (claude.home / ".bashrc", claude.project.parent / "evil", claude.config / "evil.json")
        ),
    ),
    Attack(
        "the key of the model",
        'echo "$ANTHROPIC_API_KEY" > key',
        lambda claude: Claude.KEY in _text(claude.project / "key"),
    ),
    Attack(
        "another process",
        "setsid sh -c 'sleep 2; echo evil > late' > /dev/null 2>&1 < /dev/null & sleep 0.2",
        _is_written("late"),
    ),
]
