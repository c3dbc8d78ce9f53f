"""`remit check`: everything that is wrong, at once, with its place."""

from __future__ import annotations

from xml.etree import ElementTree

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


def test_an_end_of_observing_that_has_passed_is_told(remit: Remit):
    agents = "agents: {a: {may: []}, b: {may: []}, c: {may: [], enforce: always}}\n"
    remit.policy(f"remit: 1\nenforce: {{observe: {{until: 2020-01-01}}}}\n{agents}")
    said = "remit.yaml:3:13: observing ended at 2020-01-01T00:00:00Z, so the rules are enforced; `observe` can go: a, b"
    assert f"notice: {said}\n" in remit("check", "--no-documents").out
    assert remit("check", "--no-documents", "--json").json["notices"] == [said]
    remit.policy(f"remit: 1\nenforce: {{observe: {{until: 2099-01-01}}}}\n{agents}")
    assert "observing ended" not in remit("check", "--no-documents").out


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
    assert len(ran.out.splitlines()) <= 8


@pytest.mark.parametrize("word", ["test", "validate", "lint"])
def test_the_words_that_people_type(remit: Remit, word: str):
    assert remit(word) == remit("check")
    assert remit(word, "--json").json == remit("check", "--json").json


BAD = """\
remit: 1
agents:
  a:
    mya: [Read]
  b: {may: ["日本 x"], when: {}}
"""


def test_a_problem_is_shown_where_it_stands(remit: Remit):
    remit.policy(BAD)
    lines = remit("check").out.splitlines()
    at = lines.index("error: remit.yaml:4:5: unknown key `mya` in an agent; did you mean `may`? (unknown-key)")
    assert lines[at + 1 : at + 4] == [
        "   3 |   a:",
        "   4 |     mya: [Read]",
        "     |     ^^^",
    ]
    wide = next(number for number, line in enumerate(lines) if "remit.yaml:5:13" in line)
    caret = lines[wide + 3]
    assert caret == "     |             ^^^^^^^^"  # two columns for each of the wide letters, and the quotes


def test_a_test_that_fails_is_shown_too(remit: Remit):
    remit.policy(TESTS.replace("EXPECT", "allow"), "x.test.yaml")
    assert "   5 |   - {name: reader writes" in remit("check").out


def test_of_a_long_line_the_part_with_the_problem_is_shown(remit: Remit):
    remit.policy(f"remit: 1\nagents: {{{', '.join(f'a{n}: {{may: []}}' for n in range(100))}, b: {{mya: []}}}}\n")
    lines = remit("check").out.splitlines()
    frame = [line for line in lines if line.startswith("   2 | ")]
    assert frame[0].startswith("   2 | …")
    assert len(frame[0]) < 250
    assert frame[0][lines[lines.index(frame[0]) + 1].index("^") :].startswith("mya:")


def test_frames_have_colours_only_where_they_are_seen(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    remit.policy(BAD)
    monkeypatch.setattr("remit.cli.output.coloured", lambda: True)
    assert "\x1b[31m^^^\x1b[0m" in remit("check").out
    monkeypatch.undo()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(remit.folder)
    assert "\x1b" not in remit("check").out


def test_positions_for_programs(remit: Remit):
    remit.policy(BAD)
    assert [one["at"] for one in remit("check", "--json").json["problems"]] == [
        "remit.yaml:4:5",
        "remit.yaml:5:13",
        "remit.yaml:5:22",
    ]


HOSTILE = '\\u001b[31m<b>&\\" ]]> \\u202e'


def test_junit_for_ci(remit: Remit):
    tests = TESTS.replace("EXPECT", "allow").replace("reader reads", '"' + HOSTILE + '"')
    remit.policy(tests, "x.test.yaml")
    assert remit("check", "--junit", "out.xml").code == 1
    found = ElementTree.fromstring((remit.folder / "out.xml").read_bytes())  # noqa: S314 - written by ourselves
    assert found.attrib == {"name": "remit", "tests": "5", "failures": "1", "errors": "0"}
    policy, suite = found
    assert [case.attrib for case in policy] == [{"classname": "policy", "name": "remit.yaml"}]
    assert suite.attrib == {"name": "x.test.yaml", "tests": "4", "failures": "1", "errors": "0"}
    assert suite[0].attrib["name"] == '\\x1b[31m<b>&" ]]> \\u202e'
    assert suite[1].attrib | {"line": "5", "file": "x.test.yaml"} == suite[1].attrib
    assert suite[1][0].tag == "failure"
    assert suite[1][0].attrib["message"].startswith("expected allow, got deny (not-permitted): ")
    assert suite[1][0].text == suite[1][0].attrib["message"]  # some servers show only the text


def test_junit_of_a_policy_that_does_not_load(remit: Remit):
    remit.policy(BAD)
    remit("check", "--junit", "out.xml")
    found = ElementTree.fromstring((remit.folder / "out.xml").read_bytes())  # noqa: S314 - written by ourselves
    assert (found.attrib["errors"], found.attrib["failures"]) == ("3", "0")
    assert [case[0].attrib["type"] for case in found[0]] == ["unknown-key", "bad-value", "unknown-key"]


def test_a_page_of_tests(remit: Remit):
    tests = TESTS.replace("EXPECT", "allow").replace("reader reads", '"' + HOSTILE + '"')
    remit.policy(tests, "x.test.yaml")
    remit("check", "--html", "out.html")
    page = (remit.folder / "out.html").read_text("utf-8")
    assert "3 passed, 1 failed, 0 problems in the policy." in page
    assert page.index('class="failed"') < page.index('class="passed"')
    assert "<b>" not in page
    assert "\u202e" not in page
    assert "\x1b" not in page


@pytest.mark.parametrize("option", ["--junit", "--html"])
def test_a_report_that_can_not_be_written(remit: Remit, option: str):
    ran = remit("check", option, "no/such/folder/x")
    assert ran.code == 2
    assert ran.err == f"remit: {option}: can't write `no/such/folder/x`: No such file or directory\n"


def test_a_report_needs_a_file(remit: Remit):
    ran = remit("check", "--junit", ".")
    assert (ran.code, ran.err) == (2, "remit: --junit: can't write `.`: Is a directory\n")


ONE = "remit_tests: 1\ntests: [{call: {agent: AGENT, tool: TOOL, args: {ARG: x}}, expect: EXPECT}]\n"


@pytest.mark.parametrize(
    ("agent", "tool", "arg", "expect", "said"),
    [
        ("redaer", "read_file", "filePath", "deny", "did you mean `reader`?"),
        ("reader", "raed_file", "filePath", "deny", "did you mean `read_file`?"),
        ("reader", "read_file", "path", "deny", "read_file has no argument `path`"),
        ("reader", "read_file", "filePaht", "deny", "did you mean `filePath`?"),
        ("redaer", "read_file", "filePath", "{decision: deny, code: unknown-agent}", ""),
        ("somebody-else", "read_file", "filePath", "deny", ""),
        ("reader", "terraform", "filePath", "deny", ""),
    ],
)
def test_a_denial_that_no_rule_gives_shows_nothing(
    remit: Remit, agent: str, tool: str, arg: str, expect: str, said: str
):
    remit.policy("remit: 1\nuse: [vscode]\nagents: {reader: {may: [read_file]}}\n")
    text = ONE.replace("AGENT", agent).replace("TOOL", tool).replace("ARG", arg).replace("EXPECT", expect)
    remit.policy(text, "x.test.yaml")
    ran = remit("check")
    assert ran.code == (1 if said else 0), ran.out
    assert said in ran.out
    assert ("denied whatever the rules say" in ran.out) == bool(said)


@pytest.mark.parametrize("name", ["tests.yaml", "remit.tests.yaml", "remit.test.yml", "remit-test.yaml"])
def test_tests_that_nothing_runs_are_told(remit: Remit, name: str):
    remit.policy("remit: 1\nagents: {a: {may: []}}\n")
    remit.policy("# what must hold\nremit_tests: 1\ntests: []\n", name)
    assert f"{name}: nothing runs these tests: rename the file to remit.test.yaml" in remit("check").out


def test_a_test_file_needs_tests_and_a_policy(remit: Remit):
    remit.policy("remit: 1\nagents: {a: {may: []}}\n")
    remit.policy("remit_tests: 1\ntests: []\n", "x.test.yaml")
    assert remit("check").code == 1
    remit.policy(
        "remit_tests: 1\npolicy: gone.yaml\ntests: [{call: {agent: a, tool: t}, expect: deny}]\n", "x.test.yaml"
    )
    ran = remit("check")
    assert ran.code == 1
    assert "`policy: gone.yaml` names no file" in ran.out
