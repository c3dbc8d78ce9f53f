"""`remit check`: everything that is wrong, at once, with its place."""

from __future__ import annotations

import pytest

from tests.cli.kit import Remit

TESTS = """\
remit_tests: 1
now: 2026-11-15
tests:
  - {name: reader reads, call: {agent: reader, tool: read, args: {file: a}}, expect: allow}
  - {name: reader writes, call: {agent: reader, tool: write, args: {file: a, text: x}}, expect: EXPECT}
  - {name: a command, call: {agent: boss, tool: term, args: {command: ls}}, expect: allow}
  - {name: no command, call: {agent: writer, tool: term, args: {command: ls}}, expect: deny}
"""


def test_a_policy_without_tests(remit: Remit):
    ran = remit("check")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == ("policy: remit.yaml\n✅ 4 agents, 2 roles, 1 runner, 7 tools, 12 rules; tests: none\n")


def test_tests_beside_the_policy_are_run(remit: Remit):
    remit.policy(TESTS.replace("EXPECT", "deny"), "x.test.yaml")
    ran = remit("check")
    assert ran.code == 0
    assert ran.out.endswith("; tests: 4 passed\n")


def test_a_test_that_fails(remit: Remit):
    remit.policy(TESTS.replace("EXPECT", "allow"), "x.test.yaml")
    ran = remit("check")
    assert ran.code == 1
    assert "failed: x.test.yaml:5:5: reader writes: expected allow, got deny (not-permitted): " in ran.out
    assert ran.out.endswith("; tests: 3 passed, 1 failed\n")


def test_quiet_says_only_what_is_wrong(remit: Remit):
    assert remit("check", "--quiet").out == ""
    remit.policy(TESTS.replace("EXPECT", "allow"), "x.test.yaml")
    assert len(remit("check", "-q").out.splitlines()) == 1


def test_every_problem_at_once(remit: Remit):
    remit.policy("remit: 1\nagents:\n  a: {may: [raed], mayy: [x]}\n  b: {may: [nothing]}\ntoolz: {}\n")
    ran = remit("check")
    assert ran.code == 1
    problems = [line for line in ran.out.splitlines() if line.startswith("error: ")]
    assert [line.split(": ")[1] for line in problems] == ["remit.yaml:3:20", "remit.yaml:5:1"]
    assert "did you mean `tools`?" in ran.out
    assert ran.out.endswith("❌ 2 problems\n")


def test_a_broken_test_file(remit: Remit):
    remit.policy("remit_tests: 1\ntests: [{call: {}}]\n", "x.test.yaml")
    ran = remit("check")
    assert ran.code == 1
    assert "error: x.test.yaml:2:" in ran.out


def test_for_programs(remit: Remit):
    remit.policy(TESTS.replace("EXPECT", "allow"), "x.test.yaml")
    ran = remit("check", "--json")
    assert ran.code == 1
    assert ran.err == "policy: remit.yaml\n"
    found = ran.json
    assert found["ok"] is False
    assert found["file"] == "remit.yaml"
    assert found["policy"].startswith("sha256:")
    assert found["problems"] == []
    assert {key: found["tests"][key] for key in ("passed", "failed")} == {"passed": 3, "failed": 1}
    assert found["tests"]["results"][1]["at"] == "x.test.yaml:5:5"


def test_problems_for_programs(remit: Remit):
    remit.policy("remit: 1\nagents:\n  a: {may: [*x]}\n")
    ran = remit("check", "--json")
    assert ran.code == 1
    assert ran.json["problems"][0]["code"] == "unquoted"
    assert ran.json["problems"][0]["at"] == "remit.yaml:3:13"
    assert (ran.json["ok"], ran.json["policy"], ran.json["counts"]) == (False, None, None)


@pytest.mark.parametrize("evil", ["\\e[31mred", "\\u202Ex", "\\n\\n# not mine", "[bold]x[/bold]"])
def test_text_of_a_policy_steers_nothing(remit: Remit, evil: str):
    remit.policy(f'remit: 1\nagents:\n  a: {{may: ["{evil}"]}}\n')
    ran = remit("check")
    assert ran.code == 1
    assert not [c for c in ran.out if not c.isprintable() and c != "\n"]
    assert len(ran.out.splitlines()) <= 5


@pytest.mark.parametrize("word", ["test", "validate", "lint"])
def test_the_words_that_people_type(remit: Remit, word: str):
    assert remit(word) == remit("check")
    assert remit(word, "--json").json == remit("check", "--json").json
