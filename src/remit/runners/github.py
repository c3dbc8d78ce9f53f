"""GitHubCLIRunner: issues and pull requests by GitHub's own program, for the workflow.

github = GitHubCLIRunner(guard, "owner/project", token=os.environ["GH_TOKEN"])
with guard:
    for issue in github.issues(label="ready"): ...
    github.create_pr("Feature", "What it does", base="main", head="feature")
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from remit.confine.process import Finished
from remit.enforce.guard import Guard
from remit.model.arguments import check_arguments
from remit.model.text import shown
from remit.runners.errors import RunnerError
from remit.runners.repository import check_repository
from remit.runners.runner import Runner, plain_name
from remit.runners.settings import git_variables, runner_settings

_REPO = re.compile(r"([A-Za-z0-9.-]+(:[0-9]+)?/)?[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+")
_ISSUE = "number,title,body,labels,state,assignees,url"
_PR = "number,title,body,state,url,headRefName,baseRefName,mergeable,isDraft,statusCheckRollup"


class GitHubCLIRunner(Runner):
    """Runs `gh` on one repository, without the user's aliases, extensions and settings."""

    tool = "runner/github"
    programs = ("gh",)

    def __init__(
        self, guard: Guard, repo: str, name: str | None = None, *, token: str | None = None, **more: Any
    ) -> None:
        """`repo`: `owner/name`, or `host/owner/name`; `token` reaches only `gh`, never a command line."""
        check_arguments("GitHubCLIRunner", {"repo": "text"}, repo=repo)
        if _REPO.fullmatch(repo) is None:
            raise RunnerError(f"`{shown(repo)}` is not a repository: write `owner/name`")
        super().__init__(guard, name, **more)
        self.repo, self._token = repo, token

    def issue(self, number: int) -> dict[str, Any]:
        """One issue. Raises RunnerFailed."""
        found: dict[str, Any] = self._json("issue", "view", str(int(number)), f"--json={_ISSUE}")
        return found

    def issues(
        self, *, label: str | None = None, state: Literal["open", "closed", "all"] = "open", limit: int = 30
    ) -> list[dict[str, Any]]:
        """Issues, the newest first. Raises RunnerFailed."""
        words = [f"--json={_ISSUE}", f"--state={state}", f"--limit={int(limit)}"]
        found: list[dict[str, Any]] = self._json("issue", "list", *words, *([f"--label={label}"] if label else []))
        return found

    def comment(self, number: int, body: str) -> Finished:
        """Comments on an issue or a pull request. Raises RunnerFailed."""
        return self.must("issue", "comment", str(int(number)), f"--body={body}", f"--repo={self.repo}")

    def pr(self, number: int) -> dict[str, Any]:
        """One pull request, with the state of its checks. Raises RunnerFailed."""
        found: dict[str, Any] = self._json("pr", "view", str(int(number)), f"--json={_PR}")
        return found

    def create_pr(self, title: str, body: str, *, base: str, head: str, draft: bool = False) -> str:
        """Opens a pull request, and gives its address. Raises RunnerFailed."""
        words = [f"--title={title}", f"--body={body}", f"--base={plain_name(base, 'branch')}"]
        words += [f"--head={plain_name(head, 'branch')}", f"--repo={self.repo}", *(["--draft"] if draft else [])]
        return self.must("pr", "create", *words).out.strip()

    def _json(self, *words: str) -> Any:
        found = self.must(*words, f"--repo={self.repo}")
        try:
            return msgspec.json.decode(found.out)
        except msgspec.DecodeError as error:
            raise RunnerError(f"`gh` answered with something other than JSON: {error}") from None

    def _check(self, words: tuple[str, ...], directory: Path) -> None:
        """`gh` runs git in the directory: what lies there must be a repository that git may run in."""
        check_repository(self._find("git"), directory, self._environment("/nonexistent"))

    def _environment(self, home: str) -> dict[str, str]:
        own = {"GH_CONFIG_DIR": f"{home}/gh", "XDG_DATA_HOME": f"{home}/.data", "XDG_STATE_HOME": f"{home}/.state"}
        token = {"GH_TOKEN": self._token, "GH_ENTERPRISE_TOKEN": self._token} if self._token is not None else {}
        return {**super()._environment(home), **own, **token, **git_variables(runner_settings().git.protocols)}
