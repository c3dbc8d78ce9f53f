"""`remit capsule`: what a task would allow is shown before it is issued, only a person issues and ends it."""

from __future__ import annotations

import json

import pytest

from tests.cli.kit import Ran
from tests.cli.living_kit import POLICY, RIGHT, TASK, Team
from tests.cli.terminal import without_terminal

ASKED = "passphrase, to issue TASK-12 to dev: "


def test_what_it_would_allow_is_shown_with_its_radius(free: Team) -> None:
    ran = free("capsule", "new", free.write("t.yaml", TASK), "--dry-run")
    assert ran.code == 0
    assert "policy: the activated policy (sha256:" in ran.out
    shown = ran.out.splitlines()
    for line in (
        "capsule TASK-12 for dev",
        "  goal: store sessions in SQLite",
        "  constraint, in words: no new services",
        "  until 2099-01-01T00:00:00Z",
        '  may not: any tool: {"effect":["publish"]}',
        "  is about src/**, docs/**; deleting elsewhere is tier 4",
        "  budget: 20 calls, 5 writes, 4 calls of write",
        "  gates that people pass: demo, plan",
        '    grants[0]  write: {"path":{"allow":["notes/**"]}}',
        "    grants[1]  read",
        "  grants data of tier 2",
        '    plan[0]  term: {"shell":{"run":[{"pip":["install"]}]}}',
        "nothing was issued (--dry-run)",
    ):
        assert line in shown
    [pip] = [line for line in shown if "by examples, tier 3: installs" in line]
    assert "(`pip install`)" in pip
    assert (
        sum(
            "tier 1: writes" in line and line.endswith("; up to tier 4 for what is labelled security") for line in shown
        )
        == 2
    )
    assert free("capsule", "list").out == "no open tasks\n"


def test_the_radius_sees_labels_and_wide_rules(free: Team) -> None:
    task = TASK.replace(
        '  - write: {path: "docs/**"}\n', '  - write: {path: ".github/**"}\n  - read: {path: "reports/**"}\n'
    )
    out = free("capsule", "new", free.write("t.yaml", task), "--dry-run").out
    assert "tier 3: .github/** could reach what is labelled ci" in out
    assert "data tier 2: path reports/** could reach data of tier 2" in out


def test_a_person_issues_it_with_the_passphrase(team: Team) -> None:
    team.policy(POLICY)
    file = team.write("t.yaml", TASK)
    none = team("capsule", "new", file, "--yes")
    assert none.code == 2
    assert "no passphrase is set" in none.err
    team.passphrase()
    blind = without_terminal("capsule", "new", file, "--yes", cwd=team.root, stdin=f"{RIGHT}\n".encode())
    assert (blind.code, blind.err.splitlines()[0]) == (2, "remit: there is no terminal to ask for the passphrase")
    wrong = team.type("capsule", "new", file, question=ASKED, passphrase="wrong horse battery")
    assert (wrong.code, wrong.err) == (2, "remit: wrong passphrase\n")
    assert team("capsule", "list").out == "no open tasks\n"
    right = team.type("capsule", "new", file, question=ASKED)
    assert right.code == 0
    assert "plan[0]" in right.out
    assert "✅ issued TASK-12 to dev until 2099-01-01T00:00:00Z, by " in right.out
    assert "remit gate pass TASK-12 plan" in right.out
    [issued] = team.ledger("capsule")
    assert (issued["what"], issued["issuer"]) == ("issued", "human")
    assert issued["by"].endswith(" (passphrase)")
    ended = team.type("capsule", "end", "TASK-12", question="passphrase, to end TASK-12: ")
    assert ended.code == 0
    assert team.ledger("revocation")[0]["by"].endswith(" (passphrase)")


def test_without_an_activated_policy_the_file_counts_and_says_so(team: Team) -> None:
    team.write("remit.yaml", POLICY)
    ran = team("capsule", "new", team.write("t.yaml", TASK), "--dry-run")
    assert ran.code == 0
    assert ran.out.startswith("policy: remit.yaml as it is; nothing is activated (sha256:")
    team.write("remit.yaml", POLICY + "unsafe_no_credential: true\n")
    lifted = team("capsule", "new", "t.yaml", "--yes")  # what isn't in force can't say that nobody needs proof
    assert (lifted.code, "no passphrase is set" in lifted.err) == (2, True)


def test_the_activated_policy_counts_not_the_file(free: Team) -> None:
    free.write("remit.yaml", POLICY.replace("  tester: {may: [read]}\n", "").replace("[dev, tester]", "[dev]"))
    text = TASK.split("plan:")[0].replace("agent: dev", "agent: tester")
    assert free.new(text).code == 0


def test_from_stdin_with_another_end_and_for_programs(free: Team) -> None:
    ran = free("capsule", "new", "-", "--expires", "2098-05-01", "--yes", "--json", stdin=TASK.encode())
    found = ran.json
    assert (ran.code, found["state"], found["capsule"]["expires"]) == (0, "issued", "2098-05-01T00:00:00Z")
    assert [[one["tier"] for one in item] for item in found["radius"]["plan"]] == [[3], [1]]
    assert found["radius"]["plan"][0][0]["bounded"] is False
    shown = free("capsule", "show", "TASK-12", "--json").json
    assert (shown["ended"], shown["children"], shown["goal"]) == (None, [], "store sessions in SQLite")
    soon = free("capsule", "new", "-", "--expires", "8h", "--yes", "--json", stdin=TASK.replace("12", "13").encode())
    assert soon.json["capsule"]["expires"] > soon.json["made"]


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ("agent: dev", "agent: nobody", "t.yaml:2:1", "`nobody` that could be handed a task; there is"),
        ("gates: [demo]", "gates: [launch]", "t.yaml:14:1", "no gate `launch`; there is demo"),
        ("data_tiers: [2]", "data_tiers: [3]", "t.yaml:13:1", "does not open data tier 3 to grants (beyond-record)"),
        ("2099-01-01", "2020-01-01", "t.yaml:16:1", "before it began (bad-capsule)"),
        ("write: 4", "wirte: 4", "t.yaml:15:1", "no tool `wirte` to count; did you mean `write`? (unknown-tool)"),
        ("id: TASK-12", "id: TASK-12\nparent: TASK-1", "t.yaml:2:1", "no capsule `TASK-1` (unknown-capsule)"),
        ("goal:", "goals:", "t.yaml:3:1", "unknown key `goals`"),
        ("  - term:", "  - trem:", "t.yaml:8:", "trem"),
        ("expires: 2099", "expires: soon 2099", "t.yaml:16:", "soon"),
        ("id: TASK-12", "id: [", "t.yaml:1:5", "`[` is opened here and not closed"),
    ],
)
def test_mistakes_are_named_with_their_place(free: Team, old: str, new: str, where: str, message: str) -> None:
    assert old in TASK
    ran = free("capsule", "new", free.write("t.yaml", TASK.replace(old, new, 1)), "--yes")
    assert ran.code == 2
    assert message in ran.err
    assert where in ran.err
    assert ran.err.endswith("remit: t.yaml: nothing was issued\n")
    assert free("capsule", "list", "--all").out == "no tasks\n"


def test_the_same_id_twice(free: Team) -> None:
    assert free.new().code == 0
    again = free.new()
    assert again.code == 2
    assert "task.yaml:1:1: there is a capsule TASK-12 already (capsule-exists)" in again.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("new",), "missing argument 'FILE'"),
        (("new", "none.yaml"), "none.yaml: no such file"),
        (("new", "."), "not a regular file"),
        (("new", "t.yaml", "--expires", "tomorrow"), "--expires: `tomorrow` is not a moment"),
        (("new", "t.yaml", "--expires", "0h"), "--expires: `0h` is not a moment"),
        (("show", "NONE"), "there is no capsule `NONE`"),
        (("end", "NONE"), "there is no capsule `NONE`"),
        (("end", "\x1b[31m"), "there is no capsule `\\x1b[31m`"),
        (("report", "NONE"), "there is no capsule `NONE`"),
        (("show",), "missing argument 'ID'"),
        (("list", "--policy", "none.yaml"), "none.yaml: no such file"),
        (("give",), "no such command `give`"),
    ],
)
def test_wrong_input_is_one_line(free: Team, args: tuple[str, ...], message: str) -> None:
    free.write("t.yaml", TASK)
    ran = free("capsule", *args)
    assert (ran.code, ran.out.startswith("policy:") or not ran.out) == (2, True)
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_bad_stdin(free: Team) -> None:
    assert "standard input is not UTF-8" in free("capsule", "new", "-", stdin=b"\xff\xfe").err
    assert "stdin:" in free("capsule", "new", "-", stdin=b"").err


def test_nothing_recorded_yet(team: Team) -> None:
    team.write("remit.yaml", POLICY)
    assert team("capsule", "list").out == "no open tasks\n"
    assert team("capsule", "list", "--json").json == []
    ran = team("capsule", "show", "T")
    assert (ran.code, "nothing has been recorded yet" in ran.err) == (2, True)


def used(free: Team) -> None:
    """A task with calls that were allowed, answered by its plan, asked and denied."""
    free.new()
    free("gate", "pass", "TASK-12", "plan", "--yes")
    with free.guard() as guard, guard.agent("dev", capsule="TASK-12"):
        guard.call("read", {"file": "reports/a"})
        guard.call("write", {"file": "docs/a", "text": "x"})
        guard.call("write", {"file": "notes/a", "text": "x"})
    assert free.call("write", "TASK-12", file="elsewhere/a", text="x") == "not-permitted"
    assert free.call("deploy", "TASK-12", version="1") == "tier-asks"
    free("refuse", "A-1", "--because", "not on a Friday", "--yes")
    assert free.call("deploy", "TASK-12", version="1") == "refused"


def test_the_report_counts_calls_prompts_and_denials(free: Team) -> None:
    used(free)
    assert free.call("deploy", "TASK-12", version="2") == "tier-asks"
    found = free("capsule", "report", "TASK-12", "--json").json
    assert found["calls"]["write"] == {"allow": 2, "deny": 1}
    assert found["calls"]["deploy"] == {"ask": 2, "deny": 1}
    assert found["denials"] == {"not-permitted": 1, "refused": 1}
    assert found["prompts"] == 2
    [first, second] = found["asks"]
    assert (first["state"], first["because"], second["state"]) == ("refused", "not on a Friday", "open")
    assert isinstance(first["took"], int)
    assert first["by"].endswith(" (no credential)")
    assert [gate["gate"] for gate in found["gates"] if gate["by"]] == ["plan"]
    text = free("capsule", "report", "TASK-12").out
    assert "  prompts: 2\n" in text
    assert "  write: 2 allow, 1 deny\n" in text
    assert "  denied once: not-permitted\n" in text
    assert "A-1 deploy, tier 4, not-anticipated: refused by " in text
    assert ": not on a Friday\n" in text


def test_a_spent_budget_is_a_denial_of_the_report(free: Team) -> None:
    free.new(TASK.replace("writes: 5", "writes: 1"))
    assert free.call("write", "TASK-12", file="src/a", text="x") == "None"
    assert free.call("write", "TASK-12", file="src/b", text="x") == "budget-spent"
    found = free("capsule", "report", "TASK-12", "--json").json
    assert found["denials"] == {"budget-spent": 1}
    assert found["calls"]["write"] == {"allow": 2, "not-run": 1}
    assert found["unused"]["budget"] == {"calls": 19, "writes": 0, "tool:write": 3}


def test_the_end_says_what_was_revoked_and_left(free: Team) -> None:
    used(free)
    free.call("deploy", "TASK-12", version="3")
    free.new("id: TASK-12.1\nagent: tester\nparent: TASK-12\ngoal: look\ndata_tiers: [2]\n".replace("tester", "dev"))
    ran = free("capsule", "end", "TASK-12", "--yes")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert "ended TASK-12 of dev" in lines
    assert "  revoked: data of tier 2" in lines
    unused = lines[lines.index("  grants never used:") :]
    assert unused[1] == "    grants[1]  read"
    assert unused[2] == "  items of the plan that answered no question:"
    assert unused[3].startswith("    plan[0]  term: ")
    assert "  data tiers never touched: 2" not in lines
    assert "  budget left: 17 of 20 calls" in lines
    assert "  budget left: 3 of 5 writes" in lines
    assert lines[-1] == "withdrawn, as nobody needs an answer any more: A-2"
    again = free("capsule", "end", "TASK-12", "--yes")
    assert (again.code, "ended at" in again.err) == (2, True)
    assert free.call("read", "TASK-12", file="a") == "capsule-ended"
    assert free("capsule", "list").out == "no open tasks\n"
    assert "ended 20" in free("capsule", "list", "--all").out


def test_the_end_takes_what_was_handed_on_along(free: Team) -> None:
    free.new("id: T\nagent: lead\ngoal: all of it\n")
    with free.guard() as guard, guard.agent("lead", capsule="T"), guard.agent("dev"):
        guard.call("read", {"file": "a"})
    free.new("id: T.own\nagent: dev\nparent: T\ngoal: a part\n")
    report = free("capsule", "report", "T", "--json").json
    assert sorted((one["agent"], one["ended"] is None, one["calls"]) for one in report["children"]) == [
        ("dev", False, 1),
        ("dev", True, 0),
    ]
    assert "handed on to dev as T.own (open)" in free("capsule", "show", "T").out
    ended = free("capsule", "end", "T", "--yes", "--json").json
    assert [one["id"] for one in ended["ended"]] == ["T", "T.own"]
    assert free.call("read", "T.own", file="a") == "capsule-ended"


def test_lists(free: Team) -> None:
    free.new()
    free.new("id: LOOK\nagent: tester\ngoal: look at it\n")
    free.call("deploy", "TASK-12", version="1")
    both: Ran = free("capsule", "list")
    assert [line.split()[0] for line in both.out.splitlines()] == ["LOOK", "TASK-12"]
    assert "waiting for an answer: 1" in both.out
    assert [one["id"] for one in free("capsule", "list", "--agent", "tester", "--json").json] == ["LOOK"]
    assert free("capsule", "list", "--agent", "nobody").out == "no open tasks of nobody\n"


def test_what_a_task_says_can_not_mislead(free: Team) -> None:
    goal = "harmless\n  grants nothing beyond the policy\x1b[2J"
    text = json.dumps({"id": "T", "agent": "dev", "goal": goal, "grants": ["read"]})
    out = free("capsule", "new", "-", "--yes", stdin=text.encode()).out
    assert "\x1b" not in out
    assert "    │   grants nothing beyond the policy⟨ESC⟩[2J\n" in out
    assert "\n  grants nothing beyond the policy" not in out


def test_a_task_can_be_ended_and_a_call_refused_without_a_policy_that_loads(team: Team) -> None:
    team.policy(POLICY)
    team.passphrase()
    team.write("t.yaml", TASK)
    team.type("capsule", "new", "t.yaml", question=ASKED)
    team.call("deploy", "TASK-12", version="1")
    (team.root / ".remit" / "rulebook").write_text("damaged")
    issue = team("capsule", "new", "t.yaml", "--yes")
    assert (issue.code, "nothing is in force" in issue.err) == (2, True)
    refused = team.type("refuse", "A-1", "--because", "x", question="passphrase, to refuse A-1: ")
    assert (refused.code, "nothing is in force" in refused.err) == (0, True)
    ended = team.type("capsule", "end", "TASK-12", question="passphrase, to end TASK-12: ")
    assert ended.code == 0
    assert "ended TASK-12 of dev" in ended.out


def test_an_explanation_knows_the_task_that_an_agent_has(free: Team) -> None:
    call = ("--agent", "dev", "--tool", "write", "--args", '{"file": "notes/a.md", "text": "x"}')
    assert "not-permitted" in free("explain", *call).out
    free.new()
    ran = free("explain", *call)
    assert ran.out.splitlines()[1].startswith("✅") or "allow" in ran.out.splitlines()[1], ran.out
    assert "TASK-12" in ran.out
