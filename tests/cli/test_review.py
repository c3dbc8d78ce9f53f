"""`remit review`, `check --strict`, and what a change of a role asks for, as people type it."""

from __future__ import annotations

import json

import pytest

from remit.cli.review import _use
from remit.declare.insert import with_value
from remit.record.stats import Use
from tests.cli.living_kit import FREE, Team

POLICY = (
    FREE.replace(
        "  dev:\n", "  dev:\n    roles: [reader]       # a comment\n    reviewed: {on: 2020-01-01, by: sec}   # why\n"
    )
    .replace("  tester: {may: [read]}", "  tester: {roles: [reader], reviewed: {on: 2020-01-01, by: sec}}")
    .replace("agents:\n", "roles:\n  reader: {may: [read]}\nagents:\n")
    + "review: {every: 90d, warn: 100d}\n"
)


def test_from_overdue_to_reviewed(team: Team) -> None:
    team.policy(POLICY)
    ran = team("check", "--strict")
    assert ran.code == 1
    assert [line.split(":")[1] for line in ran.out.splitlines() if line.startswith("overdue")] == [" dev", " tester"]
    assert "due; it was never reviewed" in team("review").out  # lead
    assert team("check").code == 0
    assert team.call("read", file="a") == "text"
    assert team.call("write", file="other", text="") == "not-permitted"
    ran = team("review")
    assert ran.code == 1
    assert ran.out.splitlines()[0].startswith("❌ dev: overdue; last reviewed 2020-01-01T00:00:00Z by sec, ")
    use = "   since then: 1 of 2 calls allowed, 1 denied, only read; tools: read 1, write 1; denied for not-permitted 1"
    assert ran.out.splitlines()[1] == use
    done = team("review", "sign", "dev", "--because", "it reads what it needs", "--ref", "REV-1", "--write", "--yes")
    assert done.code == 0, done.err
    text = (team.root / "remit.yaml").read_text()
    assert "roles: [reader]       # a comment" in text
    assert text.count("2020-01-01") == 1
    assert team("activate", "--yes").code == 0
    assert [one["who"] for one in json.loads(team("review", "--json").out)] == ["tester", "lead"]
    for name in ("tester", "lead"):
        assert team("review", "sign", name, "--because", "fine", "--yes").code == 0
    assert team("review").out.startswith("✅ nothing is due; 3 reviewed")
    assert team("check", "--strict").code == 0
    [entry] = [one for one in team.ledger("review") if one["of"] == "dev"]
    assert (entry["what"], entry["ref"]) == ("signed", "REV-1")


def test_a_changed_role_needs_a_reference_and_makes_its_agents_due(team: Team) -> None:
    team.policy(POLICY.replace("2020-01-01", "2099-01-01"))
    team.write(
        "remit.yaml", POLICY.replace("2020-01-01", "2026-11-01").replace("{may: [read]}", "{may: [read, write]}")
    )
    ran = team("activate", "--yes")
    assert ran.code == 2
    assert "the role reader is changed, and its agents are reviewed" in ran.err
    assert team("activate", "--yes", "--ref", "PRD-7").code == 0
    ran = team("review")
    assert ran.out.count("   the role reader was changed (PRD-7)\n") == 2


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (
            ("sign", "nobody", "--because", "x", "--yes"),
            "nothing in the policy that needs a review is named `nobody`",
        ),
        (("sign", "dev", "--because", "", "--yes"), "--because: say why"),
        (("sign", "reader", "--because", "x", "--write", "--yes"), "`reader` is not an agent"),
    ],
)
def test_what_is_wrong_is_said(team: Team, args: tuple[str, ...], words: str) -> None:
    team.policy(POLICY)
    ran = team("review", *args)
    assert ran.code == 2
    assert words in ran.err
    assert (team.root / "remit.yaml").read_text() == POLICY


def test_a_policy_that_demands_none(free: Team) -> None:
    assert free("review").out == "the policy demands no reviews: say `review: {every: 90d}` in it\n"


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("agents:\n  a:\n    may: [x]\n", "agents:\n  a:\n    k: {v: 1}\n    may: [x]\n"),
        ("agents: {a: {may: [x]}}\n", "agents: {a: {k: {v: 1}, may: [x]}}\n"),
        ("agents:\r\n  a:\r\n    may: [x]\r\n", "agents:\r\n  a:\r\n    k: {v: 1}\r\n    may: [x]\r\n"),
        ("agents:\n  a:\n    k: {old: 2} # why\n    may: [x]\n", "agents:\n  a:\n    k: {v: 1} # why\n    may: [x]\n"),
        ("\ufeffagents:\n  a: {k: {}}\n", "\ufeffagents:\n  a: {k: {v: 1}}\n"),
    ],
)
def test_one_value_is_set_and_every_other_byte_kept(text: str, made: str) -> None:
    assert with_value(text, ("agents", "a"), "k", "{v: 1}") == made


@pytest.mark.parametrize("text", ["agents:\n  a:\n    k:\n      old: 2\n", "agents:\n  b: {}\n", "agents:\n  a: {}\n"])
def test_where_no_place_is_certain(text: str) -> None:
    with pytest.raises(ValueError, match="`"):
        with_value(text, ("agents", "a"), "k", "{v: 1}")


@pytest.mark.parametrize(("allowed", "denied", "often"), [(0, 4, False), (0, 5, True), (20, 5, True), (21, 5, False)])
def test_many_denials_are_said(allowed: int, denied: int, often: bool) -> None:
    use = Use()
    for decision in ["allow"] * allowed + ["deny"] * denied:
        use.add({"decision": decision, "tool": "read", "code": "not-permitted", "effects": ["read"]})
    assert ("denied often" in _use(use)) is often
