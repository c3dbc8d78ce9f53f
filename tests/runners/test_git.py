"""GitRunner on real repositories."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.enforce.errors import CallDenied, CallPending, GuardError
from remit.enforce.guard import Guard
from remit.languages.programs.understand import understand
from remit.record.reader import entries
from remit.runners.errors import RunnerError, RunnerFailed
from remit.runners.git import GitRunner
from remit.runners.runner import quoted, vector
from remit.testing import guard as guard_for
from tests.runners.conftest import POLICY, plain_git

AUTHOR = ("Runner", "runner@example.com")


def test_a_branch_a_change_and_a_commit(guard: Guard, repository: Path) -> None:
    git = GitRunner(guard, author=AUTHOR)
    assert git.create_branch("feature").ok
    (repository / "b.py").write_text("y = 2\n")
    assert git.status().out == "## feature\n?? b.py\n"
    assert git.add("b.py").ok
    assert git.diff(staged=True).splitlines()[-1] == "+y = 2"
    assert git.commit('it\'s done; $(id) "x"\n\nbody').ok
    assert git.changed_files("main") == ["b.py"]
    assert (git.current_branch(), git.head()) == ("feature", plain_git(repository, "rev-parse", "HEAD").strip())
    assert git.log(1).endswith('it\'s done; $(id) "x"\n')
    assert plain_git(repository, "log", "-1", "--format=%an %ae%n%B") == (
        'Runner runner@example.com\nit\'s done; $(id) "x"\n\nbody\n\n'
    )
    assert git.switch("main").ok
    assert git.merge("feature").ok
    assert git.head() == plain_git(repository, "rev-parse", "feature").strip()


def test_a_push_reaches_the_remote(guard: Guard, repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.git"
    plain_git(tmp_path, "init", "--quiet", "--bare", str(other))
    plain_git(repository, "remote", "add", "origin", str(other))
    git = GitRunner(guard, protocols=["file"], remotes={"origin": str(other)})
    assert git.push("main").ok
    assert plain_git(other, "rev-parse", "main") == plain_git(repository, "rev-parse", "HEAD")
    assert git.fetch().ok


def test_a_remote_that_was_changed_is_refused(guard: Guard, repository: Path, tmp_path: Path) -> None:
    plain_git(repository, "remote", "add", "origin", "https://elsewhere.example/x.git")
    git = GitRunner(guard, remotes={"origin": "https://github.com/owner/project.git"})
    with pytest.raises(RunnerError, match="leads to an address that nobody gave"):
        git.push("main")


def test_a_push_is_asked_of_a_person_as_the_tiers_say(repository: Path) -> None:
    policy = {key: value for key, value in POLICY.items() if key != "tiers"}
    with guard_for(policy, root=repository) as guard, pytest.raises(CallPending):
        GitRunner(guard).push("main")


def test_the_policy_limits_a_runner(repository: Path) -> None:
    runners = {"GitRunner": {"may": [{"runner/git": {"shell": {"run": [{"git": ["status", "diff", "commit"]}]}}}]}}
    with guard_for({**POLICY, "runners": runners}, root=repository) as guard:
        git = GitRunner(guard, author=AUTHOR)
        assert git.status().ok
        assert git.diff("HEAD") == ""
        with pytest.raises(CallDenied) as denied:
            git.merge("main")
        assert denied.value.code == "not-permitted"
        with pytest.raises(CallDenied):
            git.run("commit", "--no-verify", "--message=x", "--file=/etc/passwd")


def test_every_command_is_recorded_with_its_end(repository: Path) -> None:
    with guard_for(POLICY, root=repository) as guard:
        git = GitRunner(guard)
        git.status()
        with pytest.raises(RunnerFailed, match="ended with 128"):
            git.diff("no-such-branch")
        guard.flush()
        with guard.authority.store.read() as view:
            found = [entry.data for entry in entries(view)]
    calls = [one for one in found if one["type"] == "intent"]
    assert [(one["agent"], one["tool"], one["decision"]) for one in calls] == [
        ("GitRunner", "runner/git", "allow"),
        ("GitRunner", "runner/git", "allow"),
    ]
    assert [one["result"] for one in found if one["type"] == "outcome"] == ["done", "done"]


def test_no_agent_reaches_a_runner_unless_a_rule_says_so(guard: Guard) -> None:
    git = GitRunner(guard)
    with guard.agent("coder"):
        with pytest.raises(CallDenied, match="coder may not hand work to GitRunner"):
            git.status()
        with pytest.raises(CallDenied, match="coder may not use runner/git"):
            guard.call("runner/git", {"command": "git status"})
        assert [tool["name"] for tool in guard.tools_for("coder")] == []
    with guard.agent("lead"):
        assert git.status().ok
        with pytest.raises(CallDenied, match="lead may not use runner/git"):
            guard.call("runner/git", {"command": "git status"})


@pytest.mark.parametrize(
    "command",
    [
        "git status; id",
        "git status | cat",
        "git log > x",
        "git log $HOME",
        "git log `id`",
        "git log 'x'",
        "X=1 git log",
        "git log *",
        "git log ~",
        "git log {a,b}",
        "time git log",
        "git log 'x",
        "",
    ],
)
def test_only_a_plain_command_is_a_vector(command: str) -> None:
    with pytest.raises(RunnerError):
        vector(command)


@settings(max_examples=40)
@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=20), max_size=5))
def test_bash_reads_what_is_judged_as_the_vector_that_runs(words: list[str]) -> None:
    text = quoted(("git", *words))
    assert vector(text) == ("git", *words)
    found = understand(text)
    if found.problem is not None:
        return  # denied, whatever runs
    [act] = found.acts[:1]
    assert [word.text for word in act.command.words] == ["git", *words]
    assert not any(word.glob for word in act.command.words)


def test_an_agent_with_the_tool_gets_no_shell(repository: Path) -> None:
    policy = {**POLICY, "agents": {"coder": {"may": ["runner/git"]}}}
    with guard_for(policy, root=repository) as guard:
        GitRunner(guard)
        with guard.agent("coder"):
            assert guard.call("runner/git", {"command": "git status --short"}).ok
            with pytest.raises(RunnerError, match="words are literal"):
                guard.call("runner/git", {"command": "git status; id"})


@pytest.mark.parametrize("name", ["-x", "--upload-pack=id", "", "a b", "a:b", "a..b", "+x\n", "x@{1}", "a\0"])
def test_an_option_is_no_name(guard: Guard, name: str) -> None:
    git = GitRunner(guard)
    for use in (git.create_branch, git.switch, git.fetch, git.push):
        with pytest.raises(RunnerError):
            use(name)


@pytest.mark.parametrize("revision", ["--output=x", "-O", "a b", "HEAD:a.py", ""])
def test_an_option_is_no_revision(guard: Guard, revision: str) -> None:
    git = GitRunner(guard)
    for use in (git.diff, git.changed_files, git.merge, lambda one: git.log(1, one)):
        with pytest.raises(RunnerError):
            use(revision)


def test_a_path_that_looks_like_an_option_is_a_path(guard: Guard, repository: Path) -> None:
    (repository / "--all").write_text("x\n")
    (repository / "c.py").write_text("z\n")
    git = GitRunner(guard)
    assert git.add("--all").ok
    assert git.status().out == "## main\nA  --all\n?? c.py\n"


@pytest.mark.parametrize(
    "words",
    [("-c", "core.pager=id", "log"), ("-ccore.pager=id", "log"), ("-C", "..", "log"), ("--exec-path=/tmp", "log")],
)
def test_nothing_before_the_subcommand_leads_elsewhere(guard: Guard, words: tuple[str, ...]) -> None:
    with pytest.raises(RunnerError, match="leads elsewhere"):
        GitRunner(guard).run(*words)


def test_async(guard: Guard, repository: Path) -> None:
    git = GitRunner(guard, author=AUTHOR)

    async def main() -> list[bool]:
        (repository / "d.py").write_text("d\n")
        first = await git.call_async(git.add, "d.py")
        second = await git.call_async(git.commit, "second")
        many = await asyncio.gather(*(git.arun("status", "--short") for _ in range(3)))
        with guard.agent("coder"), pytest.raises(CallDenied, match="coder may not hand work to GitRunner"):
            await git.arun("status")
        return [first.ok, second.ok, *(one.ok for one in many)]

    assert asyncio.run(main()) == [True] * 5


def test_a_runner_is_made_before_its_guard_starts(guard: Guard) -> None:
    guard.start()
    with pytest.raises(GuardError, match="declared after the guard was started"):
        GitRunner(guard)


def test_git_that_lies_in_the_workspace_is_not_run(guard: Guard, repository: Path) -> None:
    own = repository / "bin"
    own.mkdir()
    (own / "git").write_text("#!/bin/sh\ntouch ran\n")
    (own / "git").chmod(0o755)
    with pytest.raises(RunnerError, match="lies in the workspace"):
        GitRunner(guard, path=[own]).status()
    assert not (repository / "ran").exists()
