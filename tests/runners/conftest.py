"""A repository, and a guard with the three runners in its policy."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import remit.testing
from remit.enforce.guard import Guard

POLICY = {
    "remit": 1,
    "use": ["runners"],
    "tiers": {"3": "allow", "4": "allow"},
    "agents": {"coder": {"may": []}, "lead": {"may": [], "delegates_to": ["GitRunner"]}},
    "runners": {
        "GitRunner": {"may": ["runner/git"]},
        "GitHubCLIRunner": {"may": ["runner/github"]},
        "ValidationRunner": {"may": ["runner/validation"]},
    },
}
PLAIN = {
    "PATH": "/usr/bin:/usr/local/bin:/bin",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.com",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "HOME": "/nonexistent",
}


def plain_git(directory: Path, *words: str, check: bool = True, **env: str) -> str:
    """git as a person runs it, with none of the user's settings."""
    done = subprocess.run(
        ["git", *words], cwd=directory, env={**PLAIN, **env}, capture_output=True, text=True, check=check, timeout=60
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root = tmp_path / "project"
    root.mkdir()
    plain_git(root, "init", "--quiet", "--initial-branch=main")
    (root / "a.py").write_text("x = 1\n")
    plain_git(root, "add", "a.py")
    plain_git(root, "commit", "--quiet", "--message=first")
    return root


@pytest.fixture
def guard(repository: Path) -> Iterator[Guard]:
    with remit.testing.guard(POLICY, root=repository) as made:
        yield made
