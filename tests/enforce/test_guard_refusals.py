"""What does not run: no intent, no beginning, no answer in time; and what the caller is told."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.compile.tasks import task_from
from remit.enforce.errors import CallDenied, CallPending, Refused
from remit.record.errors import LedgerUnavailable
from remit.record.reader import entries
from remit.store.errors import StoreUnavailable
from tests.enforce.team import Team


def issue(team: Team, name: str, agent: str = "worker", **more: Any) -> None:
    task = task_from(team.guard.rulebook, {"id": name, "agent": agent, "goal": "a test", **more})
    team.guard.authority.issue(team.guard.rulebook, msgspec.structs.replace(task, by="ann"))


def test_no_intent_no_run(team: Team, monkeypatch: pytest.MonkeyPatch):
    def broken(*_: Any, **__: Any) -> None:
        raise LedgerUnavailable("the disk is full")

    monkeypatch.setattr(team.guard.enforcer.ledger, "intent", broken)
    with team.guard.agent("worker"):
        for call in (lambda: team.read(Path("a")), lambda: team.create(Path("research/a"))):
            with pytest.raises(CallDenied) as caught:
                call()
            assert caught.value.code == "ledger-unavailable"
    assert team.ran == []
    assert not (team.root / "research").exists(), "not even prepared"


def test_a_store_that_is_gone(team: Team, monkeypatch: pytest.MonkeyPatch):
    """What is known about the task can't be looked up."""
    issue(team, "T")

    def broken() -> None:
        raise StoreUnavailable("gone")

    with team.guard.agent("worker", capsule="T"):
        monkeypatch.setattr(team.guard.authority.store, "read", broken)
        with pytest.raises(CallDenied) as caught:
            team.read(Path("a"))
        assert caught.value.code == "store-unavailable"
    monkeypatch.undo()
    assert team.ran == []


def test_the_task_ends_between_decision_and_start(team: Team, monkeypatch: pytest.MonkeyPatch):
    issue(team, "T")
    begin = team.guard.authority.begin

    def late(*args: Any) -> None:
        team.guard.authority.end("T", by="ann")
        begin(*args)

    monkeypatch.setattr(team.guard.authority, "begin", late)
    with team.guard.agent("worker", capsule="T"), pytest.raises(CallDenied) as caught:
        team.create(Path("research/a"))
    assert caught.value.code == "capsule-ended"
    assert team.ran == []
    assert team.outcomes() == ["not-run"]
    assert not (team.root / "research/a").exists(), "what was made for it is undone"


def test_whatever_fails_at_the_start_is_a_refusal(team: Team, monkeypatch: pytest.MonkeyPatch):
    issue(team, "T")

    def broken(*_: Any) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr(team.guard.authority, "begin", broken)
    with team.guard.agent("worker", capsule="T"), pytest.raises(CallDenied) as caught:
        team.create(Path("research/a"))
    assert caught.value.code == "point-failed"
    assert team.ran == []
    assert team.outcomes() == ["not-run"]
    assert not (team.root / "research/a").exists()


def test_a_budget_that_is_spent(team: Team):
    issue(team, "T", budget={"calls": 5, "writes": 1, "tools": {"read": 2}})
    with team.guard.agent("worker", capsule="T"):
        team.write(Path("a"))
        for call in (lambda: team.write(Path("a")), lambda: team.create(Path("research/a"))):
            with pytest.raises(CallDenied, match="allows 1 writes"):
                call()
        team.read(Path("a"))
        team.read(Path("a"))
        with pytest.raises(CallDenied, match="allows 2 read"):
            team.read(Path("a"))
    assert [what[0] for what in team.ran] == ["write", "read", "read"]
    assert not (team.root / "research/a").exists()


def test_a_deadline_passes(team: Team):
    """The answer comes too late for this call; the next one passes, once."""
    team.guard.wait = 0.3
    with team.guard.agent("worker"):
        began = time.monotonic()
        with pytest.raises(CallPending) as caught:
            team.deploy("1")
        assert 0.3 <= time.monotonic() - began < 60
        assert team.ran == []
        team.guard.authority.answer(str(caught.value.approval), "approve", by="ann")
        assert team.deploy("1") == "deployed 1"
        with pytest.raises(CallPending):
            team.deploy("1")
    assert team.ran == [("deploy", "1")]


def test_an_answer_while_it_waits(team: Team):
    team.guard.wait = 30.0

    def person() -> None:
        while not (waiting := team.guard.authority.waiting()):
            time.sleep(0.02)
        team.guard.authority.answer(waiting[0].id, "refuse", by="ann", because="not today")

    thread = threading.Thread(target=person)
    thread.start()
    with team.guard.agent("worker"), pytest.raises(CallDenied) as caught:
        team.deploy("1")
    thread.join()
    assert caught.value.code == "refused"
    assert team.ran == []


@pytest.mark.parametrize("how", ["told", "answer"])
def test_what_the_program_raises_is_no_answer(team: Team, how: str):
    def broken(*_: Any) -> None:
        raise RuntimeError("the webhook is down")

    setattr(team.guard, how, broken)
    with team.guard.agent("worker"), pytest.raises(CallPending):
        team.deploy("1")
    assert team.ran == []
    assert len(team.guard.authority.waiting()) == 1


def test_somebody_else_was_quicker(team: Team):
    """The program approves what a person has just refused."""

    def answer(asked: Any, args: dict[str, Any]) -> Any:
        team.guard.authority.answer(asked.id, "refuse", by="ann")
        return "approve"

    team.guard.answer = answer
    with team.guard.agent("worker"), pytest.raises(CallDenied) as caught:
        team.deploy("1")
    assert caught.value.code == "refused"
    assert team.ran == []


def test_errors_carry_the_decision(team: Team):
    with team.guard.agent("worker"):
        with pytest.raises(CallDenied) as denied:
            team.create(Path("elsewhere/a"))
        with pytest.raises(CallPending) as pending:
            team.deploy("1")
    decision = denied.value.decision
    assert (decision.verdict.word, decision.agent, decision.tool) == ("deny", "worker", "create")
    assert denied.value.code == decision.code == "not-permitted"
    assert denied.value.help == (decision.remedy.text if decision.remedy else None)
    assert str(denied.value).startswith(decision.reason)
    assert decision.ledger is not None, "it stands in the ledger"
    assert pending.value.decision.verdict.word == "ask"
    assert pending.value.approval == "A-1"


def test_refusals_can_be_returned(tmp_path: Path):
    team = Team(tmp_path, refusals="return")
    with team.guard, team.guard.agent("worker"):
        denied: Any = team.create(Path("elsewhere/a"))
        assert isinstance(denied, Refused)
        assert not denied
        assert denied.decision.code == "not-permitted"
        assert "not-permitted" not in repr(denied)
        asked: Any = team.deploy("1")
        assert asked.decision.needs.approval == "A-1"
        assert team.read(Path("a")) == "a"
        with pytest.raises(RuntimeError):
            team.fail(Path("a"))
    assert [what[0] for what in team.ran] == ["read", "fail"]


def test_a_tool_that_fails(team: Team):
    with team.guard.agent("worker"), pytest.raises(RuntimeError, match="it does"):
        team.fail(Path("a"))
    assert team.outcomes() == ["failed"]


def test_a_tool_that_the_program_does_not_have(team: Team):
    with team.guard.agent("worker"), pytest.raises(CallDenied) as caught:
        team.guard.call("format_disk", {})
    assert caught.value.code == "unknown-tool"


def test_a_ticket_is_for_one_agent_once(team: Team):
    issue(team, "T", "lead")
    with team.guard.agent("lead", capsule="T"):
        handed = team.guard.call("remit_delegate", {"agent": "worker", "goal": "help"})
    with team.guard.agent("worker", ticket=handed["ticket"]) as inside:
        assert inside.context.capsule == handed["capsule"]
        assert inside.context.chain == ("lead",)
        team.read(Path("a"))
    from remit.grant.errors import GrantError

    with pytest.raises(GrantError) as caught, team.guard.agent("worker", ticket=handed["ticket"]):
        pass
    assert caught.value.code == "ticket-used"
    with pytest.raises(GrantError) as caught, team.guard.agent("idle", capsule=handed["capsule"]):
        pass
    assert caught.value.code == "unknown-capsule"
    team.guard.authority.end("T", by="ann")
    with team.guard.agent("worker", capsule=handed["capsule"]), pytest.raises(CallDenied) as denied:
        team.read(Path("a"))
    assert denied.value.code == "capsule-ended"


def test_no_call_of_a_task_follows_its_end_in_the_ledger(team: Team):
    issue(team, "T")
    with team.guard.agent("worker", capsule="T"):
        for _ in range(5):
            team.read(Path("a"))
    team.guard.authority.end("T", by="ann")
    team.guard.enforcer.ledger.flush()
    with team.guard.authority.store.read() as view:
        said = [stored.data for stored in entries(view)]
    order = [
        (entry["type"], entry.get("what")) for entry in said if entry.get("capsule") == "T" and entry["type"] != "gate"
    ]
    assert order == [("capsule", "issued"), *[("intent", None), ("budget", None)] * 5, ("capsule", "ended")]
