"""A guard under threads and forks: who acts does not leak, and an approval runs once."""

from __future__ import annotations

import os
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallDenied, CallPending, GuardError
from tests.enforce.team import Team


def test_who_acts_does_not_leak_into_threads(team: Team):
    heard: list[Any] = []

    def other() -> None:
        try:
            team.read(Path("a"))
        except GuardError as error:
            heard.append(error.code)

    with team.guard.agent("worker"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        team.read(Path("a"))
    assert heard == ["no-agent"]
    with pytest.raises(GuardError, match="nobody acts here"):
        team.read(Path("a"))


def test_each_thread_acts_for_itself(team: Team):
    """Thirty-two threads, two agents: each intent names the one whose block it was."""
    meet = threading.Barrier(32)

    def work(number: int) -> None:
        agent = ("lead", "worker")[number % 2]
        with team.guard.agent(agent):
            meet.wait()
            for turn in range(5):
                team.read(Path(f"{agent}/{turn}"))

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))
    intents = [entry for entry in team.said() if entry["type"] == "intent"]
    assert Counter(entry["agent"] for entry in intents) == {"lead": 80, "worker": 80}
    assert len(team.ran) == 160
    for entry in intents:
        assert entry["targets"][0]["value"].split("/")[0] == entry["agent"] if "targets" in entry else True


def test_one_approval_runs_once(team: Team):
    """Thirty-two threads have the same call, which was approved once."""
    with team.guard.agent("worker"):
        name = team.approve(lambda: team.deploy("1"))
    meet = threading.Barrier(32)
    heard: list[str] = []

    def work(_: int) -> None:
        with team.guard.agent("worker"):
            meet.wait()
            try:
                heard.append(team.deploy("1"))
            except (CallDenied, CallPending) as refused:
                heard.append(refused.code)

    with ThreadPoolExecutor(32) as pool:
        list(pool.map(work, range(32)))
    assert team.ran == [("deploy", "1")]
    assert Counter(heard)["deployed 1"] == 1
    assert set(heard) <= {"deployed 1", "approval-used", "tier-asks"}
    assert team.guard.authority.asked(name).state == "used"
    assert len(team.guard.authority.waiting()) <= 1, "those who came too late ask again, once"


def test_many_ask_the_same_at_once(team: Team):
    meet = threading.Barrier(16)
    heard: list[Any] = []

    def work(_: int) -> None:
        with team.guard.agent("worker"):
            meet.wait()
            try:
                team.deploy("1")
            except CallPending as pending:
                heard.append(pending.approval)

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(work, range(16)))
    assert len(heard) == 16
    assert len(set(heard)) == 1


def test_a_fork_has_a_guard_of_its_own(team: Team):
    """The child decides and records too; it says itself who acts."""
    with team.guard.agent("worker"):
        team.read(Path("parent"))
        child = os.fork()
        if child == 0:
            code = 1
            try:
                with team.guard.agent("worker"):
                    team.read(Path("child"))
                    try:
                        team.write(Path(".git/config"))
                    except CallDenied:
                        team.guard.flush()
                        code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        team.read(Path("after"))
    intents = [entry for entry in team.said() if entry["type"] == "intent"]
    assert [entry["decision"] for entry in intents].count("allow") == 3
    assert [entry["decision"] for entry in intents].count("deny") == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("rounds", [10, pytest.param(20, marks=pytest.mark.more)])
def test_a_fork_while_others_look_at_the_clock(team: Team, rounds: int):
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            team.guard.authority.clock.now()

    threads = [threading.Thread(target=look) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(rounds):
            child = os.fork()
            if child == 0:
                team.guard.authority.clock.now()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_blocks_within_blocks(team: Team):
    """A hand-over within a block, and back again."""
    with team.guard.agent("lead") as outer:
        assert outer.context.chain == ()
        with team.guard.agent("worker") as inner:
            assert inner.context.chain == ("lead",)
            team.read(Path("a"))
        with pytest.raises(CallDenied):
            team.deploy("1")
    assert team.ran == [("read", "a")]


def test_a_hand_over_that_is_not_allowed(team: Team):
    with team.guard.agent("worker"), team.guard.agent("lead"), pytest.raises(CallDenied) as caught:
        team.read(Path("a"))
    assert caught.value.code == "broken-chain"
    assert team.ran == []


def test_two_guards_do_not_mix(team: Team, tmp_path: Path):
    (tmp_path / "second").mkdir()
    second = Team(tmp_path / "second")
    with second.guard, team.guard.agent("lead"):
        with pytest.raises(GuardError, match="nobody acts here"):
            second.read(Path("a"))
        with second.guard.agent("worker") as other:
            assert other.context.chain == (), "who acts under one guard hands nothing on under another"
            second.read(Path("b"))
            team.read(Path("c"))
            with team.guard.agent("worker") as inner:
                assert inner.context.chain == ("lead",), "another guard's block in between hides nothing"
    assert team.ran == [("read", "c")]
    assert second.ran == [("read", "b")]
    agents = [entry["agent"] for entry in team.said() if entry["type"] == "intent"]
    assert agents == ["lead"]


def test_a_tool_that_calls_a_tool(team: Team):
    """The inner call is the same agent's, and decided by itself."""
    with team.guard.agent("worker"):
        with pytest.raises(CallPending) as caught:
            team.outer("1")
        assert team.ran == [("outer", "1")]
        team.guard.authority.answer(str(caught.value.approval), "approve", by="ann")
        assert team.outer("1") == "deployed 1"
    with team.guard.agent("lead"), pytest.raises(CallDenied):
        team.outer("2")
    results = Counter(team.outcomes())
    assert results == {"failed": 2, "done": 2}
