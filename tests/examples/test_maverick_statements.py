"""The contract for agent tool permissions, statement by statement, numbered as in the example's README."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from remit import (
    Call,
    CallDenied,
    GitRunner,
    Guard,
    InvalidToolError,
    PolicyError,
    ValidationRunner,
    build_rulebook,
    check_tools,
    decide_call,
)
from tests.examples.kit import EXAMPLES, Asked

POLICY = EXAMPLES / "maverick/remit.yaml"
MAVERICK = Asked("maverick")
TOOLS: dict[str, set[str]] = {
    "ImplementerAgent": {"Read", "Write", "Edit", "Bash", "Glob", "Grep"},
    "CodeReviewerAgent": {"Read", "Glob", "Grep", "Bash"},
    "IssueFixerAgent": {"Read", "Write", "Edit", "Bash", "Glob", "Grep"},
    "ValidationFixerAgent": {"Read", "Write", "Edit", "Glob", "Grep"},
    "CommitMessageGenerator": set(),
    "PRDescriptionGenerator": set(),
    "CodeAnalyzer": set(),
    "ErrorExplainer": set(),
}
_FILES = ("Read", "Write", "Edit", "Glob", "Grep", "NotebookEdit")
BUILT_IN = frozenset((*_FILES, "Bash", "WebFetch", "WebSearch", "TodoWrite", "Task", "ExitPlanMode"))
BASH = ("ImplementerAgent", "CodeReviewerAgent", "IssueFixerAgent")


class MaverickAgent:
    """As the contract has it: the tools are checked when the agent is made."""

    def __init__(self, name: str, allowed_tools: list[str]) -> None:
        check_tools(MAVERICK.rulebook, name, allowed_tools)
        self.allowed_tools = allowed_tools


def bash(agent: str, command: str) -> str:
    return MAVERICK(agent, "Bash", command=command)


def widened(agent: str, *rules: Any) -> None:
    data = yaml.safe_load(POLICY.read_text("utf-8"))
    data["agents"][agent]["may"] = [*data["agents"][agent]["may"], *rules]
    with pytest.raises(PolicyError, match="does not hold"):
        build_rulebook(data)


def test_01_every_agent_has_a_list():
    agents = [caller for caller in MAVERICK.rulebook.book.callers.values() if caller.kind == "agent"]
    assert {agent.name for agent in agents} == set(TOOLS)
    data = yaml.safe_load(POLICY.read_text("utf-8"))
    del data["agents"]["CodeAnalyzer"]["may"]
    data["agents"]["CodeAnalyzer"]["roles"] = []
    with pytest.raises(PolicyError, match="may do nothing says"):
        build_rulebook(data)


@pytest.mark.parametrize("agent", TOOLS)
def test_02_a_call_of_another_tool_is_rejected(agent):
    for tool in BUILT_IN - TOOLS[agent]:
        assert MAVERICK(agent, tool) == "deny"
    assert MAVERICK.decision(agent, "UnknownTool", {}).code == "unknown-tool"


@pytest.mark.parametrize("agent", [name for name in TOOLS if TOOLS[name]])
def test_03_four_agents_and_their_tools(agent):
    """The contract's acceptance tests for the implementer and the reviewer, and the same for the others."""
    assert MAVERICK.may(agent) == TOOLS[agent]
    assert set(MaverickAgent(agent, sorted(TOOLS[agent])).allowed_tools) == TOOLS[agent]


@pytest.mark.parametrize("agent", [name for name in TOOLS if not TOOLS[name]])
def test_04_generators_have_none(agent):
    assert MAVERICK.may(agent) == set()
    assert MaverickAgent(agent, []).allowed_tools == []
    for tool in BUILT_IN:
        with pytest.raises(InvalidToolError):
            MaverickAgent(agent, [tool])
    widened(agent, "Read")


def test_05_an_unknown_tool_fails_at_construction():
    with pytest.raises(InvalidToolError) as caught:
        MaverickAgent("ImplementerAgent", ["Read", "UnknownTool"])
    assert "UnknownTool" in str(caught.value)
    assert "Read" in str(caught.value)  # the known ones are named


def test_06_so_does_a_known_one_in_the_wrong_hands():
    with pytest.raises(InvalidToolError, match="outside the remit of CodeReviewerAgent"):
        MaverickAgent("CodeReviewerAgent", ["Read", "Write"])


def test_07_the_built_in_tools_are_known():
    assert BUILT_IN - {"TodoWrite"} <= set(MAVERICK.rulebook.book.tools) | set(MAVERICK.rulebook.book.aliases)


def test_08_no_git_and_no_github_for_agents():
    for agent in BASH:
        for command in (
            "git status",
            "gh pr create",
            "env git log",
            "bash -c 'git push'",
            "curl https://api.github.com/x",
        ):
            assert bash(agent, command) == "deny", command
        for tool in ("git_operation", "github/create_pr", "runner/git", "runner/github"):
            assert MAVERICK(agent, tool) == "deny"
    data = yaml.safe_load(POLICY.read_text("utf-8"))
    data["agents"]["ImplementerAgent"]["may"] += ["git_operation", "github/*"]  # what is reserved stays so
    wider = build_rulebook(data)
    decision = decide_call(wider, Call("ImplementerAgent", "git_operation", {"operation": "status"}))
    assert (decision.verdict.word, decision.code) == ("deny", "reserved")
    del data["reserved"]
    with pytest.raises(PolicyError, match="does not hold"):
        build_rulebook(data)


def test_09_a_reviewer_writes_nothing():
    assert MAVERICK("CodeReviewerAgent", "Write", file_path="a", content="") == "deny"
    assert bash("CodeReviewerAgent", "grep -rn TODO src | head") == "allow"
    for command in ("echo x > a", "sed -i s/a/b/ a", "find . -delete", "tee a", "python a.py"):
        assert bash("CodeReviewerAgent", command) == "deny", command
    widened("CodeReviewerAgent", "Write")
    widened("CodeReviewerAgent", {"Bash": {"shell": {"run": ["tee"]}}})


def test_10_a_validation_fixer_has_no_shell():
    assert bash("ValidationFixerAgent", "ls") == "deny"
    widened("ValidationFixerAgent", {"Bash": {"shell": {"run": ["ls"]}}})


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    root = tmp_path / "project"
    root.mkdir()
    (root / "remit.yaml").write_text(POLICY.read_text("utf-8"), "utf-8")
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", root], check=True)
    (root / "app.py").write_text("x = 1\n")
    return Guard(root / "remit.yaml", state=tmp_path / "state")


def test_11_git_by_its_runner(guard):
    git = GitRunner(guard, author=("Maverick", "maverick@example.com"))
    with guard:
        git.add("app.py")
        assert git.commit("a start").ok
        with guard.agent("ImplementerAgent"), pytest.raises(CallDenied):
            git.commit("by an agent")
        assert "a start" in git.run("log", "-1").out


def test_12_github_and_pull_requests_by_theirs():
    runner, tool = "GitHubCLIRunner", "runner/github"
    assert MAVERICK(runner, tool, command="gh pr create --title x --body y") in ("allow", "ask")
    assert MAVERICK(runner, tool, command="gh repo delete x") == "deny"
    assert MAVERICK(runner, "runner/git", command="git status") == "deny"
    assert MAVERICK("GitRunner", tool, command="gh pr create --fill") == "deny"


def test_13_validation_by_the_runner_only(guard):
    for agent in BASH:
        for command in ("pytest", "make test", "npm test", "python -m pytest", "python scripts/do.py", "ruff check ."):
            assert bash(agent, command) == "deny", command
    validation = ValidationRunner(
        guard, {"look": ["ruff", "--version"]}, path=[str(Path(__file__).parents[2] / ".venv/bin")]
    )
    with guard:
        assert validation.validate().ok
        with guard.agent("IssueFixerAgent"), pytest.raises(CallDenied):
            validation.validate()
