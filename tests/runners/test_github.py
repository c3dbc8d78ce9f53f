"""GitHubCLIRunner with a scripted program in the place of `gh`, and with the real one where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import remit.testing
from remit.enforce.errors import CallDenied, CallPending
from remit.enforce.guard import Guard
from remit.runners.errors import RunnerError, RunnerFailed
from remit.runners.github import GitHubCLIRunner
from tests.runners.conftest import POLICY, plain_git

SCRIPTED = """#!/usr/bin/env python3
import json, os, sys
with open(os.path.join(os.path.dirname(__file__), "calls"), "a") as calls:
    calls.write(json.dumps({"words": sys.argv[1:], "env": dict(os.environ)}) + "\\n")
answers = {("issue", "view"): {"number": 3, "title": "t"}, ("issue", "list"): [{"number": 3}]}
answers["pr", "view"] = {"number": 4}
found = answers.get(tuple(sys.argv[1:3]))
if found is not None:
    print(json.dumps(found))
elif sys.argv[1:3] == ["pr", "create"]:
    print("https://github.com/owner/project/pull/4")
elif sys.argv[1:3] == ["issue", "comment"] and "--body=fail" in sys.argv:
    print("GraphQL: Could not resolve to an Issue", file=sys.stderr)
    sys.exit(1)
"""


@pytest.fixture
def scripted(tmp_path: Path) -> Path:
    """A directory with a program `gh`."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "gh").write_text(SCRIPTED)
    (folder / "gh").chmod(0o755)
    return folder


def calls(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "calls").read_text().splitlines()]


def test_issues_and_pull_requests(guard: Guard, scripted: Path) -> None:
    github = GitHubCLIRunner(guard, "owner/project", token="not-a-real-token", path=[scripted])
    assert github.issue(3) == {"number": 3, "title": "t"}
    assert github.issues(label="it's; $(id)", state="all", limit=5) == [{"number": 3}]
    assert github.pr(4) == {"number": 4}
    address = github.create_pr("-t", "--web\n\n`id`", base="main", head="feature", draft=True)
    assert address == "https://github.com/owner/project/pull/4"
    assert github.comment(3, "done").ok
    with pytest.raises(RunnerFailed, match="Could not resolve to an Issue"):
        github.comment(3, "fail")
    made = calls(scripted)
    assert made[1]["words"][2:] == [
        "--json=number,title,body,labels,state,assignees,url",
        "--state=all",
        "--limit=5",
        "--label=it's; $(id)",
        "--repo=owner/project",
    ]
    assert made[3]["words"] == [
        "pr",
        "create",
        "--title=-t",
        "--body=--web\n\n`id`",
        "--base=main",
        "--head=feature",
        "--repo=owner/project",
        "--draft",
    ]


def test_the_token_reaches_gh_and_no_record(repository: Path, scripted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GH_TOKEN", "of-somebody-else")
    monkeypatch.setenv("GH_CONFIG_DIR", "/home/somebody/.config/gh")
    with remit.testing.guard(POLICY, root=repository) as guard:
        GitHubCLIRunner(guard, "owner/project", token="not-a-real-token", path=[scripted]).issue(3)
        guard.flush()
        with guard.authority.store.read() as view:
            recorded = [entry.data for entry in remit.entries(view)]
    [made] = calls(scripted)
    assert made["env"]["GH_TOKEN"] == "not-a-real-token"
    assert made["env"]["GH_CONFIG_DIR"].startswith(made["env"]["HOME"])
    assert "of-somebody-else" not in json.dumps(made)
    assert "not-a-real-token" not in json.dumps(recorded)


def test_publishing_is_asked_of_a_person(repository: Path, scripted: Path) -> None:
    policy = {key: value for key, value in POLICY.items() if key != "tiers"}
    with remit.testing.guard(policy, root=repository) as guard:
        github = GitHubCLIRunner(guard, "owner/project", path=[scripted])
        assert github.issues() == [{"number": 3}]
        with pytest.raises(CallPending):
            github.create_pr("t", "b", base="main", head="feature")
        with guard.agent("coder"), pytest.raises(CallDenied):
            github.issues()


@pytest.mark.parametrize(
    "repo", ["owner", "-o/x", "owner/x y", "owner/project;id", "", "https://github.com/owner/project"]
)
def test_a_repository_is_named_exactly(guard: Guard, repo: str) -> None:
    with pytest.raises(RunnerError, match="is not a repository"):
        GitHubCLIRunner(guard, repo)


def test_a_repository_that_runs_programs_is_refused_here_too(guard: Guard, repository: Path, scripted: Path) -> None:
    plain_git(repository, "config", "alias.push", "!id")
    with pytest.raises(RunnerError, match=r"`alias\.push`"):
        GitHubCLIRunner(guard, "owner/project", path=[scripted]).issue(3)
    assert not (scripted / "calls").exists()


@pytest.mark.hosts
def test_the_real_program(guard: Guard, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network: it starts, finds nobody's aliases or extensions, and says what is missing."""
    named = os.environ.get("REMIT_GH") or shutil.which("gh")
    if named is None:
        pytest.skip("gh is not here: install it, or name the program in REMIT_GH")
    home = tmp_path / "home"
    (home / "gh").mkdir(parents=True)
    (home / "gh" / "config.yml").write_text(f"aliases:\n    evil: '!touch {tmp_path}/sprung'\n")
    (home / ".local/share/gh/extensions/gh-evil").mkdir(parents=True)
    monkeypatch.setenv("GH_CONFIG_DIR", str(home / "gh"))
    monkeypatch.setenv("HOME", str(home))
    subprocess.run([named, "evil"], check=False, capture_output=True, timeout=60)
    (tmp_path / "sprung").unlink()  # for anybody else the alias is live
    github = GitHubCLIRunner(guard, "localhost/owner/project", path=[Path(named).parent])
    assert github.run("--version").out.startswith("gh version ")
    assert not github.run("evil").ok
    assert not (tmp_path / "sprung").exists()
    found = github.run("issue", "list", "--repo=localhost/owner/project")
    assert (found.code, "gh auth login" in found.err + found.out) == (4, True)
