"""People at their terminals: invited, each with a passphrase, two to approve, one of them on another machine."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.living_kit import POLICY, RIGHT, Team
from tests.cli.terminal import Typed, at_terminal

PEOPLE = (
    POLICY
    + """\
people:
  ann: {roles: [owner], contact: ann@x.example}
  bob: {roles: [approver]}
  dan: {roles: [operator]}
tiers:
  4: {ask: human, approvals: 2, separate: true}
"""
)
GRANT = """\
grants:
  - {agent: tester, may: [term], adr: ADR-7, approved_by: bob, until: 2099-01-01}
"""
TASK = "id: T-1\nagent: dev\ngoal: a release\n"


def secret(name: str) -> str:
    return f"the passphrase of {name}"


def typed(team: Team, *args: str, who: str, doing: str) -> Typed:
    """A command of somebody, at their terminal."""
    question = f"passphrase of {who}, to {doing}: "
    return at_terminal(*args, "--as", who, cwd=team.root, answers=[(question, f"{secret(who)}\n")])


def join(team: Team, name: str) -> None:
    """Somebody is invited with the project's passphrase, and sets their own."""
    ran = team.type("people", "invite", name, question=f"the project's passphrase, to invite {name}: ")
    assert ran.code == 0, ran.err
    found = re.search(r"alone: (\S+)", ran.out)
    assert found is not None
    new = f"{secret(name)}\n"
    answers = [("the code of your invitation: ", f"{found[1]}\n"), ("new passphrase: ", new), ("again: ", new)]
    ran = at_terminal("credential", "set", "--as", name, cwd=team.root, answers=answers)
    assert (ran.code, ran.out) == (0, f"the passphrase of {name} is set\n"), ran.err


@pytest.fixture
def team(team: Team) -> Team:
    """The policy names people, and the project's passphrase put it in force."""
    team.policy(POLICY)
    team.passphrase()
    team.write("remit.yaml", PEOPLE)
    ran = team.type("activate", question="passphrase, to activate team: ", passphrase=RIGHT)
    assert ran.code == 0, ran.err
    return team


def test_whoever_is_not_invited_does_nothing(team: Team) -> None:
    ran = team("people", "--json")
    assert [(one["name"], one["roles"], one["since"]) for one in json.loads(ran.out)] == [
        ("ann", ["owner"], None),
        ("bob", ["approver"], None),
        ("dan", ["operator"], None),
    ]
    team.write("task.yaml", TASK)
    for args, code in (
        (("capsule", "new", "task.yaml", "--as", "dan"), "set a passphrase first"),
        (("capsule", "new", "task.yaml", "--as", "bob"), "needs the role owner or operator"),
        (("capsule", "new", "task.yaml", "--as", "zed"), "names no person `zed`"),
        (("capsule", "new", "task.yaml"), "say who you are: --as NAME"),
        (("people", "invite", "zed"), "names no person `zed`"),
        (("credential", "set", "--as", "zed"), "names no person `zed`"),
    ):
        ran = team(*args)
        assert ran.code != 0
        assert code in ran.err, (args, ran.err)


@pytest.mark.more
def test_a_release_that_two_have_to_approve_one_of_them_elsewhere(team: Team, tmp_path: Path) -> None:
    for name in ("ann", "bob", "dan"):
        join(team, name)
    team.write("task.yaml", TASK)
    assert typed(team, "capsule", "new", "task.yaml", who="dan", doing="issue T-1 to dev").code == 0
    assert team.call("deploy", "T-1", version="1") == "tier-asks"
    shown = team("approvals")
    assert "0 of 2 approvals, by ann, bob" in shown.out
    ran = typed(team, "approve", "A-1", who="ann", doing="approve A-1")
    assert "A-1 has 1 of 2 approvals, by ann" in ran.out
    assert team.call("deploy", "T-1", version="1") == "tier-asks"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "request.json").write_text(team("approvals", "export", "A-1", "--for", "bob").out)
    answer = at_terminal(
        *("answer", "request.json", "approve", "--because", "seen"),
        cwd=elsewhere,
        answers=[("passphrase of bob, to approve A-1: ", f"{secret('bob')}\n")],
    )
    assert answer.code == 0, answer.err
    assert "dev wants deploy" in answer.err
    taken = team("approvals", "import", team.write("answer.json", answer.out))
    assert "A-1 is approved, by ann, bob; it counts once" in taken.out, taken.err
    assert team.call("deploy", "T-1", version="1") == "deployed 1"
    assert team.call("deploy", "T-1", version="1") == "tier-asks"

    # The owner changes the policy; a grant in it needs the word of whom it names.
    team.write("remit.yaml", PEOPLE + GRANT)
    unapproved = team("activate", "--as", "ann")
    assert "bob has not approved this grant to tester (ADR-7)" in unapproved.err
    assert "bob runs `remit grant approve ADR-7`" in unapproved.err
    assert team("grant", "approve", "ADR-7", "--as", "dan").code != 0
    assert typed(team, "grant", "approve", "ADR-7", who="ann", doing="approve ADR-7").code != 0
    assert typed(team, "grant", "approve", "ADR-7", who="bob", doing="approve ADR-7").code == 0
    assert team("activate", "--as", "bob").code != 0
    ran = typed(team, "activate", who="ann", doing="activate team")
    assert ran.code == 0, ran.err
    assert team("halt", "dev", "--because", "odd").code == 0
    assert team("resume", "dev", "--because", "fine", "--as", "bob").code != 0
    assert typed(team, "resume", "dev", "--because", "fine", who="dan", doing="resume dev").code == 0
    assert team.call("read", "T-1", file="a") == "text"
    assert team("ledger", "verify").code == 0
