"""Questions and tasks in a host: what waits is answered in the inbox, and a task binds whoever works on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.compile.file import read_rulebook, rulebook_path
from remit.compile.tasks import task_from
from remit.grant.authority import Authority
from remit.record.open import open_ledger
from tests.adapters.hooks.project import Project

DRAFT = {"file_path": "docs/new.md", "content": "x"}
QUIET: dict[str, Any] = {"permission_mode": "dontAsk"}


@contextmanager
def authority(project: Project) -> Iterator[Authority]:
    with open_ledger(project.root, point="test", state=project.state) as opened:
        yield Authority(opened.store, opened.vault)


def hand(project: Project, **task: Any) -> None:
    rulebook = read_rulebook(rulebook_path(project.root))
    with authority(project) as found:
        found.issue(rulebook, task_from(rulebook, {"goal": "a task", **task}))


@pytest.fixture(params=["alone", "daemon"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project of its own for each test: tasks stay."""
    found = Project(tmp_path)
    if request.param == "alone":
        yield found
        return
    with found.serving():
        yield found


@pytest.fixture
def asking(either: Project) -> tuple[Project, str]:
    said = either.ask("Write", DRAFT, "asker", **QUIET)
    said.denied("it waits as A-", "make the same call again", "(ask-pending)")
    return either, "A-1"


def test_an_approved_call_passes_once(asking: tuple[Project, str]):
    project, name = asking
    project.ask("Write", DRAFT, "asker", **QUIET).denied("waits as A-1")  # the same question
    with authority(project) as found:
        assert [one.id for one in found.waiting()] == [name]
        assert found.arguments(name)["args"]["content"] == "x"
        found.answer(name, "approve", by="ann")
    question = project.question("Write", DRAFT, "asker", **QUIET)
    assert project.run(question).decision == "allow"
    assert project.intent(question)["approval"] == name
    project.ask("Write", DRAFT, "asker", **QUIET).denied("waits as A-2")
    project.verify()


def test_an_approval_is_for_that_call_alone(asking: tuple[Project, str]):
    project, name = asking
    with authority(project) as found:
        found.answer(name, "approve", by="ann")
    project.ask("Write", {**DRAFT, "content": "y"}, "asker", **QUIET).denied("waits as A-2")
    project.ask("Write", DRAFT, "asker", session_id="another", **QUIET).denied("waits as A-3")
    assert project.ask("Write", DRAFT, "asker", **QUIET).decision == "allow"


def test_a_refusal_stands(asking: tuple[Project, str]):
    project, name = asking
    with authority(project) as found:
        found.answer(name, "refuse", by="ann", because="not now")
    project.ask("Write", DRAFT, "asker", **QUIET).denied("ann refused", "(refused)")


def test_a_task_binds(either: Project):
    hand(either, id="T-1", agent="lead", may_not=[{"Read": {"path": "secret/**"}}], budget={"calls": 2})
    assert either.ask("Read", {"file_path": "README.md"}).decision == "allow"
    assert either.intent()["capsule"] == "T-1"
    either.ask("Read", {"file_path": "secret/a"}).denied("(capsule-constraint)")
    assert either.ask("Read", {"file_path": "README.md"}).decision == "allow"
    either.ask("Read", {"file_path": "README.md"}).denied("(budget-spent)")
    with authority(either) as found:
        found.end("T-1", by="ann")
    assert either.ask("Read", {"file_path": "README.md"}).decision == "allow"
    assert either.intent()["capsule"] is None


def test_a_task_binds_those_it_is_handed_on_to(either: Project):
    hand(either, id="T-1", agent="lead", may_not=[{"Write": {"path": "research/b*"}}])
    assert either.ask("Write", {"file_path": "research/a.md", "content": ""}, "researcher").decision == "allow"
    found = either.intent()
    assert (found["capsule"], found["chain"]) == ("T-1.researcher", ["lead"])
    either.ask("Write", {"file_path": "research/b.md", "content": ""}, "researcher").denied("(capsule-constraint)")
    with authority(either) as held:
        held.end("T-1", by="ann")
        assert held.state("T-1.researcher").ended is not None


def test_with_several_tasks_nobody_can_tell(either: Project):
    hand(either, id="T-1", agent="lead")
    hand(either, id="T-2", agent="lead")
    either.ask("Read", {"file_path": "README.md"}).denied("several tasks (T-1, T-2)", "(several-tasks)")


def test_a_long_name_is_no_way_into_another_task(either: Project):
    """Children are named after their task and agent; one of another task is never taken for it."""
    long = "T-" + "x" * 90
    hand(either, id=f"{long}1", agent="lead", may_not=[{"Write": {"path": "research/b*"}}])
    assert either.ask("Write", {"file_path": "research/a.md", "content": ""}, "researcher").decision == "allow"
    first = either.intent()["capsule"]
    with authority(either) as held:
        held.end(f"{long}1", by="ann")
    hand(either, id=f"{long}2", agent="lead", may_not=[{"Write": {"path": "research/c*"}}])
    either.ask("Write", {"file_path": "research/c.md", "content": ""}, "researcher").denied("(capsule-constraint)")
    assert either.intent()["capsule"] not in (first, None)


def test_what_is_only_observed_is_stopped_by_no_budget(either: Project):
    hand(either, id="T-1", agent="watcher", budget={"calls": 1})
    for _ in range(3):
        either.ask("Write", DRAFT, "watcher").nothing()


def test_a_task_does_not_free_an_agent_of_who_binds_it(tmp_path: Path):
    team = {**NESTED["agents"], "lead": {**NESTED["agents"]["lead"], "delegate_within": "chain"}}
    project = Project(tmp_path, {**NESTED, "agents": team})
    assert start(project, "researcher") == "allow"
    hand(project, id="T-1", agent="researcher")
    project.ask("Read", {"file_path": "README.md"}, "researcher").denied("did not come from lead", "(broken-chain)")


NESTED: dict[str, Any] = {
    "remit": 1,
    "use": ["claude-code"],
    "hosts": {"claude-code": {"main": "lead"}},
    "include": ["team.yaml"],
    "agents": {
        "lead": {"may": ["Read", "Agent"], "delegates_to": ["researcher"]},
        "researcher": {"may": ["Read", "Agent"], "delegates_to": ["asker"]},
        "asker": {"may": ["Read", "Write"]},
        "watcher": {"may": ["Read", "Agent"], "delegates_to": ["asker"], "delegate_within": "chain"},
    },
}


def start(project: Project, who: str, by: str | None = None) -> str:
    args = {"description": "d", "prompt": "p", "subagent_type": who}
    return project.ask("Agent", args, by).decision


def test_a_subagent_of_a_subagent_has_both_before_it(tmp_path: Path):
    project = Project(tmp_path, NESTED)
    assert start(project, "researcher") == "allow"
    assert start(project, "asker") == "deny"  # lead may not
    assert start(project, "asker", "researcher") == "allow"
    assert project.ask("Write", DRAFT, "asker").decision == "allow"
    assert project.intent()["chain"] == ["lead", "researcher"]


def test_what_nobody_started_counts_as_started_by_the_main_agent(tmp_path: Path):
    project = Project(tmp_path, NESTED)
    project.ask("Read", {"file_path": "README.md"}, "asker").denied("lead may not hand work to asker", "(broken-chain)")


def test_of_several_that_could_have_started_it_each_counts(tmp_path: Path):
    team = {**NESTED["agents"], "lead": {"may": ["Read", "Agent"], "delegates_to": ["researcher", "watcher"]}}
    project = Project(tmp_path, {**NESTED, "agents": team})
    for who, by in (("researcher", None), ("asker", "researcher")):
        assert start(project, who, by) == "allow"
    assert project.ask("Write", DRAFT, "asker").decision == "allow"
    for who, by in (("watcher", None), ("asker", "watcher")):
        assert start(project, who, by) == "allow"
    project.ask("Write", DRAFT, "asker").denied()  # watcher, who delegates within its own rights, may not write
    assert project.ask("Write", DRAFT, "asker", session_id="another").decision == "deny"


TWO_GIVERS: dict[str, Any] = {
    **NESTED,
    "agents": {
        "lead": {"may": ["Read", "Agent"], "delegates_to": ["researcher", "watcher"]},
        "researcher": {"may": ["Read", "Agent"], "delegates_to": ["asker"]},
        "watcher": {"may": ["Read", "Agent"], "delegates_to": ["asker"]},
        "asker": {"may": ["Read", "Write"]},
    },
}


def launched(project: Project, by: str, session: str) -> None:
    for who, giver in ((by, None), ("asker", by)):
        args = {"description": "d", "prompt": "p", "subagent_type": who}
        assert project.ask("Agent", args, giver, session_id=session).decision == "allow"


def test_the_part_of_another_task_frees_nobody(tmp_path: Path):
    """Whoever was handed work by an agent with a task works on a part of that task, whatever other task lives."""
    project = Project(tmp_path, TWO_GIVERS)
    hand(project, id="T-free", agent="researcher")
    hand(project, id="T-tight", agent="watcher", may_not=["Write"])
    launched(project, "researcher", "s1")
    assert project.ask("Write", DRAFT, "asker", session_id="s1").decision == "allow"
    assert project.intent()["capsule"] == "T-free.asker"
    launched(project, "watcher", "s2")
    project.ask("Write", DRAFT, "asker", session_id="s2").denied("(capsule-constraint)")
    assert project.intent()["capsule"] == "T-tight.asker"


def test_a_task_of_its_own_does_not_free_an_agent_of_its_givers_task(tmp_path: Path):
    project = Project(tmp_path, TWO_GIVERS)
    hand(project, id="T-tight", agent="watcher", may_not=["Write"])
    hand(project, id="T-own", agent="asker")
    launched(project, "watcher", "s1")
    project.ask("Write", DRAFT, "asker", session_id="s1").denied("not a part of T-tight", "(broken-chain)")
    with authority(project) as found:
        found.end("T-own", by="ann")
    hand(project, id="T-part", agent="asker", parent="T-tight")
    project.ask("Write", DRAFT, "asker", session_id="s1").denied("(capsule-constraint)")
    assert project.ask("Read", {"file_path": "README.md"}, "asker", session_id="s1").decision == "allow"
    assert project.intent()["capsule"] == "T-part"


def test_a_part_of_a_task_is_for_those_who_got_it_from_there(tmp_path: Path):
    project = Project(tmp_path, TWO_GIVERS)
    hand(project, id="T-free", agent="researcher")
    launched(project, "researcher", "s1")
    assert project.ask("Write", DRAFT, "asker", session_id="s1").decision == "allow"
    launched(project, "watcher", "s2")
    assert project.ask("Write", DRAFT, "asker", session_id="s2").decision == "allow"
    assert project.intent()["capsule"] is None  # watcher has no task
