"""GitRunner: git for the workflow, not for agents.

git = GitRunner(guard, author=("Maverick", "maverick@example.com"))
with guard:
    git.create_branch("feature")
    git.add("src")
    git.commit("implement the feature")
"""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from remit.confine.process import Finished
from remit.enforce.guard import Guard
from remit.runners.errors import RunnerError
from remit.runners.repository import check_repository
from remit.runners.runner import Runner, plain_name
from remit.runners.settings import git_variables, runner_settings

_SWITCHES = ("-c", "-C", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--namespace", "-p", "--paginate")
"""What stands before a subcommand and leads elsewhere, or brings back what is switched off."""

_ADDRESS = re.compile(r"https?://[A-Za-z0-9.-]+(:[0-9]+)?/[A-Za-z0-9._/-]*")
_WITHOUT = frozenset(("init", "clone", "version", "--version"))
"""What needs no repository, and makes one without hooks and with no settings of anybody."""


class GitRunner(Runner):
    """Runs git without hooks, helpers, filters and other programs that a repository or a user names."""

    tool = "runner/git"
    programs = ("git",)

    def __init__(
        self,
        guard: Guard,
        name: str | None = None,
        *,
        author: tuple[str, str] | None = None,
        remotes: Mapping[str, str] | None = None,
        protocols: Sequence[str] | None = None,
        tokens: Mapping[str, str] | None = None,
        unsafe_settings: Sequence[str] = (),
        **more: Any,
    ) -> None:
        """`author`: name and address for commits. `remotes`: the only addresses that remotes may have. `protocols`:
        how git may connect, https and ssh if absent. `tokens`: by the beginning of an address, such as
        `https://github.com/`, what git logs in with there. `unsafe_settings`: settings that a repository may have
        although they can run programs."""
        super().__init__(guard, name, **more)
        self._tokens = _headers(tokens or {})
        self._remotes, self._unsafe = remotes, tuple(unsafe_settings)
        self._protocols = tuple(protocols) if protocols is not None else runner_settings().git.protocols
        self._author = author

    # Looking

    def status(self) -> Finished:
        """What has changed, one line each."""
        return self.run("status", "--porcelain=v1", "--branch")

    def diff(self, base: str | None = None, *, staged: bool = False, paths: Sequence[str] = ()) -> str:
        """What has changed since `base`, or is staged. Raises RunnerFailed."""
        words = [*(["--cached"] if staged else []), *([plain_revision(base)] if base is not None else [])]
        return self.must("diff", "--no-ext-diff", "--no-textconv", *words, "--", *paths).out

    def changed_files(self, base: str = "HEAD") -> list[str]:
        """The files that differ from `base`. Raises RunnerFailed."""
        found = self.must("diff", "--no-ext-diff", "--no-textconv", "--name-only", "-z", plain_revision(base), "--")
        return [path for path in found.out.split("\0") if path]

    def log(self, count: int = 10, revision: str = "HEAD") -> str:
        """The last commits, a line each. Raises RunnerFailed."""
        return self.must("log", "--oneline", f"--max-count={int(count)}", plain_revision(revision), "--").out

    def head(self, *, short: bool = False) -> str:
        """The commit that is checked out. Raises RunnerFailed."""
        return self.must("rev-parse", *(["--short"] if short else []), "HEAD").out.strip()

    def current_branch(self) -> str | None:
        """None where no branch is checked out. Raises RunnerFailed."""
        found = self.must("rev-parse", "--abbrev-ref", "HEAD").out.strip()
        return found if found != "HEAD" else None

    # Changing

    def create_branch(self, name: str, start: str = "HEAD") -> Finished:
        """A new branch, checked out."""
        return self.run("switch", "--create", plain_name(name, "branch"), plain_revision(start))

    def switch(self, name: str) -> Finished:
        """Checks out a branch."""
        return self.run("switch", plain_name(name, "branch"))

    def add(self, *paths: str) -> Finished:
        """Stages files."""
        if not paths:
            raise RunnerError("nothing to add: name paths")
        return self.run("add", "--", *paths)

    def commit(self, message: str, *, allow_empty: bool = False) -> Finished:
        """Commits what is staged."""
        return self.run("commit", *(["--allow-empty"] if allow_empty else []), f"--message={message}")

    def merge(self, revision: str) -> Finished:
        """Merges into the branch that is checked out."""
        return self.run("merge", "--no-edit", plain_revision(revision))

    def fetch(self, remote: str = "origin") -> Finished:
        """Fetches from a remote."""
        return self.run("fetch", "--no-recurse-submodules", plain_name(remote, "remote"))

    def push(self, branch: str, remote: str = "origin", *, set_upstream: bool = False) -> Finished:
        """Pushes a branch to the one of the same name."""
        words = ["--set-upstream"] if set_upstream else []
        return self.run("push", *words, plain_name(remote, "remote"), plain_name(branch, "branch"))

    # Behind the guard

    def _check(self, words: tuple[str, ...], directory: Path) -> None:
        for word in words[1:]:
            if not word.startswith("-"):
                break
            if word.partition("=")[0] in _SWITCHES or word[:2] in ("-c", "-C"):
                raise RunnerError(f"`{word.partition('=')[0]}` before the subcommand leads elsewhere")
        if words[1:2] and words[1] in _WITHOUT:
            return
        env, unsafe = self._environment("/nonexistent"), self._unsafe
        check_repository(self._find("git"), directory, env, remotes=self._remotes, unsafe_settings=unsafe)

    def _environment(self, home: str) -> dict[str, str]:
        root = os.path.realpath(self.guard.root)
        names = ("AUTHOR", "COMMITTER") if self._author is not None else ()
        who = {f"GIT_{one}_NAME": self._author[0] for one in names if self._author is not None}
        who |= {f"GIT_{one}_EMAIL": self._author[1] for one in names if self._author is not None}
        ceiling = {"GIT_CEILING_DIRECTORIES": os.path.dirname(root)}
        return {**super()._environment(home), **ceiling, **who, **git_variables(self._protocols, self._tokens)}


def _headers(tokens: Mapping[str, str]) -> dict[str, str]:
    """Settings by which git logs in: each token goes to its own address only. Raises RunnerError."""
    found = {"http.followRedirects": "false"} if tokens else {}
    for address, token in tokens.items():
        if _ADDRESS.fullmatch(address) is None or not token.isascii() or not token.isprintable():
            raise RunnerError("a token is for the beginning of an address, such as `https://github.com/`")
        secret = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        found[f"http.{address}.extraHeader"] = f"Authorization: Basic {secret}"
    return found


def plain_revision(value: str) -> str:
    """A commit, a branch, or a range of them, that git takes for nothing else. Raises RunnerError."""
    if not value or value.startswith("-") or any(ord(letter) < 33 or letter in ":?*[\\\x7f" for letter in value):
        raise RunnerError("that is not a revision: it begins with `-`, or contains a blank or one of `:?*[\\`")
    return value
