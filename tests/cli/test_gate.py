"""`remit gate`: what passing the plan answers is shown first, and only a person passes it."""

from __future__ import annotations

import pytest

from remit.enforce.errors import CallPending
from tests.cli.living_kit import FREE, POLICY, SAID, TASK, Team

ASKED = "passphrase, to pass the gate plan of TASK-12: "
FROM_LEAD = "id: ALL\nagent: lead\ngoal: all of it\n"


def test_the_plan_is_shown_item_by_item_with_what_passing_answers(free: Team) -> None:
    free.new()
    ran = free("gate", "pass", "TASK-12", "plan", "--yes")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert '    plan[0]  term: {"shell":{"run":[{"pip":["install"]}]}}' in lines
    assert '    plan[1]  write: {"path":{"allow":["docs/**"]}}' in lines
    assert sum("tier 3: installs" in line for line in lines) == 1
    assert (
        sum(
            "tier 1: writes" in line and line.endswith("; up to tier 4 for what is labelled security") for line in lines
        )
        == 1
    )
    answers = lines[
        lines.index(
            "for calls of the task and its parts that an item covers, passing it answers what people would be asked:"
        ) :
    ]
    assert answers[1].startswith("  up to tier 3: what a rule (must_ask) or a tool (confirm) asks")
    assert answers[2].startswith("  tier 3: an agent earlier in the chain that acknowledges also has to acknowledge")
    assert answers[3] == "  tier 4: is asked call by call, as without a plan"
    assert "at 2099-01-01T00:00:00Z at the latest" in answers[4]
    assert answers[5].startswith("✅ the gate plan of TASK-12 is passed, by ")


def test_what_it_says_is_what_happens(free: Team) -> None:
    free.new()
    assert free.call("write", "TASK-12", file="docs/a", text="x") == "must-ask"
    free("gate", "pass", "TASK-12", "plan", "--yes")
    assert free.call("write", "TASK-12", file="docs/a", text="x") == "None"  # up to tier 3, by the plan
    assert free.call("term", "TASK-12", command="pip install x") == "tier-asks"  # tier 3, nobody who acknowledges
    assert free.call("deploy", "TASK-12", version="1") == "tier-asks"  # tier 4
    assert free.call("write", "TASK-12", file="docs/a.txt", text="x") == "None"


def test_tier_3_goes_to_the_agent_that_acknowledges(free: Team) -> None:
    free.new(FROM_LEAD)
    free.new(TASK.split("grants:")[0].replace("id: TASK-12", "id: TASK-12\nparent: ALL"))

    def asked_of(command: str) -> str:
        with (
            free.guard() as guard,
            guard.agent("lead", capsule="ALL"),
            guard.agent("dev", capsule="TASK-12"),
            pytest.raises(CallPending) as pending,
        ):
            guard.call("term", {"command": command}, statement=SAID)
        needs = pending.value.decision.needs
        return needs.of if needs is not None else ""

    assert asked_of("pip install x") == "human"
    free("gate", "pass", "TASK-12", "plan", "--yes")
    assert asked_of("pip install y") == "lead"


def test_a_policy_whose_tiers_say_otherwise_is_shown_so(team: Team) -> None:
    team.policy(POLICY + "unsafe_no_credential: true\ntiers: {3: {ask: human}, 4: deny}\n")
    team.new()
    out = team("gate", "pass", "TASK-12", "plan", "--yes").out
    assert "  tier 3: human is also asked, call by call\n" in out
    assert "  tier 4: stays denied\n" in out


def test_only_with_the_passphrase(team: Team) -> None:
    team.policy(POLICY)
    team.passphrase()
    team.write("t.yaml", TASK)
    team.type("capsule", "new", "t.yaml", question="passphrase, to issue")
    refused = team("gate", "pass", "TASK-12", "plan", "--yes")
    assert (refused.code, refused.err.splitlines()[0]) == (2, "remit: there is no terminal to ask for the passphrase")
    wrong = team.type("gate", "pass", "TASK-12", "plan", question=ASKED, passphrase="wrong horse battery")
    assert (wrong.code, wrong.err) == (2, "remit: wrong passphrase\n")
    assert team.ledger("gate") == []
    right = team.type("gate", "pass", "TASK-12", "plan", question=ASKED)
    assert right.code == 0
    assert "plan[0]" in right.out
    [passed] = team.ledger("gate")
    assert (passed["gate"], passed["by"].endswith(" (passphrase)")) == ("plan", True)


def test_gates_are_listed(free: Team) -> None:
    free.new()
    assert free("gate", "list", "TASK-12").out == "demo  not passed\nplan  not passed\n"
    free("gate", "pass", "TASK-12", "demo", "--yes")
    found = free("gate", "list", "TASK-12", "--json").json
    assert [(one["gate"], one["by"] is not None) for one in found] == [("demo", True), ("plan", False)]
    assert "demo  ✅ passed 20" in free("gate", "list", "TASK-12").out
    free.new(FROM_LEAD)
    assert free("gate", "list", "ALL").out == "ALL has no gates\n"


def test_for_programs(free: Team) -> None:
    free.new()
    found = free("gate", "pass", "TASK-12", "plan", "--yes", "--json").json
    assert (found["state"], found["gate"]) == ("passed", "plan")
    assert [item["radius"][0]["tier"] for item in found["items"]] == [3, 1]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("pass", "TASK-12", "launch"), "has no gate `launch`; there is demo, plan"),
        (("pass", "ALL", "plan"), "the capsule ALL has no plan"),
        (("pass", "ALL", "demo"), "has no gate `demo`; there is none"),
        (("pass", "NONE", "plan"), "there is no capsule `NONE`"),
        (("list", "NONE"), "there is no capsule `NONE`"),
        (("pass", "TASK-12"), "missing argument 'GATE'"),
        (("list",), "missing argument 'CAPSULE'"),
    ],
)
def test_wrong_input(free: Team, args: tuple[str, ...], message: str) -> None:
    free.new()
    free.new(FROM_LEAD)
    ran = free("gate", *args)
    assert ran.code == 2
    assert message in ran.err
    assert free.ledger("gate") == []


def test_twice_and_after_the_end(free: Team) -> None:
    free.new()
    free("gate", "pass", "TASK-12", "plan", "--yes")
    again = free("gate", "pass", "TASK-12", "plan", "--yes")
    assert (again.code, "has already passed the gate" in again.err) == (2, True)
    free("capsule", "end", "TASK-12", "--yes")
    late = free("gate", "pass", "TASK-12", "demo", "--yes")
    assert (late.code, "has ended" in late.err) == (2, True)


def test_calls_wait_for_a_gate_that_binds(team: Team) -> None:
    team.policy(FREE.replace("gates: [demo]", "gates: {demo: {before: {tier: 1}}, seen: {}}"))
    task = "id: T-1\nagent: dev\ngoal: x\n"
    assert team.new(task).code == 0
    assert "gates that people pass: demo" in team("capsule", "show", "T-1").out
    assert team.call("read", "T-1", file="src/a") == "text"
    assert team.call("write", "T-1", file="src/a", text="x") == "gate-open"
    assert team.call("write", file="src/a", text="x") == "gate-open"
    assert team("gate", "pass", "T-1", "demo", "--yes").code == 0
    assert team.call("write", "T-1", file="src/a", text="x") == "None"
