"""`remit decide` for one call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.kit import Remit

WRITE = ("--agent", "writer", "--tool", "write", "--arg", "text=")


def test_an_allow(remit: Remit):
    ran = remit("decide", *WRITE, "--arg", "file=docs/a")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "policy: remit.yaml\n✅ allow: allowed [remit.yaml:28:9]\n"


def test_a_deny_offers_the_smallest_change(remit: Remit):
    ran = remit("decide", *WRITE, "--arg", "file=src/a")
    assert ran.code == 0
    assert ran.out == (
        "policy: remit.yaml\n"
        "❌ deny: write is limited to docs/** for writer (not-permitted)\n"
        '   add to `may` of writer: write: {path: "src/a"}\n'
        '   agents: {writer: {may: [write: {path: "src/a"}]}}\n'
    )


def test_an_ask(remit: Remit):
    ran = remit("decide", "--agent", "boss", "--tool", "write", "--args", '{"file": "docs/a", "text": ""}')
    assert "✋ ask: boss must ask human before write (must-ask) [remit.yaml:33:17]\n   an answer of human\n" in ran.out


@pytest.mark.parametrize(
    ("amount", "urgent", "code"),
    [("80", "true", "allowed"), ("80.5", "false", "allowed"), ("500", "true", "not-permitted")]
    + [(wrong, "true", "mistyped-argument") for wrong in ("", "x", '"80"', "true", "NaN", "[80]", "80 80")]
    + [("80", wrong, "mistyped-argument") for wrong in ("", "1", "yes", "True", '"true"')],
)
def test_an_argument_is_of_its_declared_type(remit: Remit, amount: str, urgent: str, code: str):
    remit.policy(
        "remit: 1\ntools: {pay: {args: {amount: number, urgent: flag, note: text}, does: nothing}}\n"
        "agents: {bot: {may: [{pay: {where: {amount: {max: 100}}}}]}}\n"
    )
    given = (f"amount={amount}", f"urgent={urgent}", "note=7")
    call = ("--agent", "bot", "--tool", "pay", *(word for one in given for word in ("--arg", one)))
    assert remit("decide", *call, "--json").lines[0]["code"] == code
    assert ("allow: allowed" if code == "allowed" else f"({code})") in remit("explain", *call).out.splitlines()[1]
    who = remit("who-can", "pay", *call[4:]).out
    assert ("✅ bot" in who or "🔒 bot" in who) == (code == "allowed"), who


def test_for_programs(remit: Remit):
    ran = remit("decide", *WRITE, "--arg", "file=src/a", "--json")
    assert ran.err == "policy: remit.yaml\n"
    (decision,) = ran.lines
    assert (decision["decision"], decision["code"], decision["id"]) == ("deny", "not-permitted", None)
    assert list(decision)[:3] == ["id", "decision", "would"]


def test_a_whole_call(remit: Remit):
    call = '{"id": "7", "agent": "reader", "tool": "cat", "args": {"file": "a"}}'
    (decision,) = remit("decide", "--call", call, "--json").lines
    assert (decision["id"], decision["decision"], decision["tool"]) == ("7", "allow", "read")


@pytest.mark.parametrize(
    ("file", "fail_on", "code"),
    [
        ("src/a", "deny", 0),
        ("docs/a", "deny", 0),
        ("docs/a", "ask", 3),
        ("../a", "deny", 3),
        ("../a", "ask", 3),
    ],
)
def test_fail_on(remit: Remit, file: str, fail_on: str, code: int):
    ran = remit(
        "decide", "--agent", "boss", "--tool", "write", "--arg", f"file={file}", "--arg", "text=", "--fail-on", fail_on
    )
    assert ran.code == code


def test_symlinks_are_followed_below_the_root(remit: Remit, tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "out").symlink_to("/etc")
    ran = remit("decide", *WRITE, "--arg", "file=docs/out/passwd", "--json")
    assert ran.lines[0]["decision"] == "deny"
    ran = remit("decide", *WRITE, "--arg", "file=docs/out/passwd", "--root", "missing", "--json")
    assert ran.lines[0]["decision"] == "allow"
    assert "the root does not exist" in ran.lines[0]["detail"][0]


def test_a_root_that_is_a_file(remit: Remit):
    ran = remit("decide", *WRITE, "--arg", "file=docs/a", "--root", "remit.yaml")
    assert ran.code == 2
    assert "is not a directory" in ran.err
    assert "allow" not in ran.out


def test_facts_and_the_moment(remit: Remit):
    remit.policy("halts: [writer]\n", "facts.yaml")
    ran = remit("decide", *WRITE, "--arg", "file=docs/a", "--facts", "facts.yaml", "--json")
    assert ran.lines[0]["code"] == "halted"
    grant = "grants: [{agent: reader, may: [write], until: 2027-01-01}]\nnow: 2026-06-01\n"
    remit.policy(grant, "facts.yaml")
    call = ("--agent", "reader", "--tool", "write", "--arg", "file=a", "--arg", "text=", "--facts", "facts.yaml")
    assert remit("decide", *call, "--json").lines[0]["decision"] == "allow"
    assert remit("decide", *call, "--now", "2027-01-01", "--json").lines[0]["decision"] == "deny"


def test_resolved_paths_of_the_facts_count(remit: Remit, tmp_path: Path):
    remit.policy(f"root: {tmp_path}\nresolved: {{docs/a: /etc/passwd}}\n", "facts.yaml")
    ran = remit("decide", *WRITE, "--arg", "file=docs/a", "--facts", "facts.yaml", "--json")
    assert ran.lines[0]["decision"] == "deny"


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "remit: no call\n"),
        (("--agent", "a"), "remit: --tool missing\n"),
        (("--tool", "t"), "remit: --agent missing\n"),
        (("--agent", "a", "--tool", "t", "--args", "{"), "remit: --args: not valid JSON"),
        (("--agent", "a", "--tool", "t", "--args", "[]"), "remit: --args: expected a JSON object, got `[]`\n"),
        (
            ("--agent", "a", "--tool", "t", "--args", '{"a":1,"a":2}'),
            "remit: --args: a key appears twice in one object\n",
        ),
        (("--agent", "a", "--tool", "t", "--args", "[" * 10_000), "remit: --args: nested deeper than 64\n"),
        (("--agent", "a", "--tool", "t", "--args", '"\udcff"'), "remit: --args: not UTF-8\n"),
        (("--agent", "\udcff", "--tool", "t"), "remit: --agent: not UTF-8\n"),
        (("--agent", "a", "--tool", "t", "--arg", "x=\udcff"), "remit: --arg: not UTF-8\n"),
        (("--agent", "a", "--tool", "t", "--arg", "x"), "remit: --arg: `x` is not NAME=VALUE\n"),
        (("--agent", "a", "--tool", "t", "--arg", "x=1", "--arg", "x=2"), "remit: --arg: `x` is given twice\n"),
        (("--agent", "a", "--tool", "t", "--context", '{"mode": 1}'), "remit: `context`: Expected `str"),
        (("--agent", "a", "--tool", "t", "--context", '{"x\x1b": 1}'), "remit: --context: not valid JSON"),
        (("--call", "{}"), "remit: --call: `agent` must be text\n"),
        (("--call", "{}", "--agent", "a"), "remit: --call is the whole call: leave out "),
        (("--calls", "-", "--agent", "a"), "remit: --calls brings whole calls: leave out "),
        (("--calls", "missing"), "remit: --calls missing: can't be read: No such file or directory\n"),
        (("--calls", "."), "remit: --calls .: can't be read: Is a directory\n"),
        (("--calls", "a\0b"), "remit: --calls a\\x00b: can't be read: embedded null byte\n"),
        (
            ("--agent", "a", "--tool", "t", "--now", "soon"),
            "policy: remit.yaml\nremit: --now: `soon` is not a moment\n",
        ),
        (("--agent", "a", "--tool", "t", "--fail-on", "x"), "remit: invalid value for '--fail-on': 'x' is not one of"),
    ],
)
def test_bad_usage_is_one_clear_line(remit: Remit, args: tuple[str, ...], said: str):
    ran = remit("decide", *args, "--json")
    assert ran.code == 2
    assert ran.err.startswith(said)
    assert ran.out == ""
    assert len(ran.err.splitlines()) <= 3


@pytest.mark.parametrize("text", ["now: soon\n", "*x\n", "halts: 1\n", "- a\n", "nothing: 1\n"])
def test_facts_that_cannot_be_used(remit: Remit, text: str):
    remit.policy(text, "facts.yaml")
    ran = remit("decide", *WRITE, "--arg", "file=docs/a", "--facts", "facts.yaml", "--json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("remit: --facts facts.yaml: can't be used\n")
    assert ran.err.splitlines()[1].startswith("facts.yaml:")


def test_facts_that_are_not_there(remit: Remit):
    ran = remit("decide", *WRITE, "--facts", "missing", "--json")
    assert (ran.code, ran.out) == (2, "")


def test_a_policy_with_problems_decides_nothing(remit: Remit):
    remit.policy("remit: 1\nagents: {a: {may: [x]}}\n")
    ran = remit("decide", *WRITE, "--arg", "file=docs/a", "--json")
    assert (ran.code, ran.out) == (1, "")
    assert "remit.yaml:2:" in ran.err


@pytest.mark.parametrize("evil", ["\x1b[31m", "[red]x[/red]", "\u202e", "a\nb", "x" * 10_000])
def test_text_of_a_call_steers_nothing(remit: Remit, evil: str):
    for args in (
        ("--agent", evil, "--tool", "t"),
        ("--agent", "reader", "--tool", evil),
        ("--agent", "reader", "--tool", "read", "--arg", f"{evil}=x"),
        ("--agent", "reader", "--tool", "read", "--arg", f"file={evil}"),
    ):
        ran = remit("decide", *args)
        assert ran.code == 0
        assert not [c for c in ran.out if not c.isprintable() and c != "\n"]
        assert len(ran.out) < 2_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"agent": "a", "tool": "t"}]', "a list of calls in one JSON text\n    one call a line: jq -c '.[]' calls\n"),
        ('{\n "agent": "a", "tool": "t"}', "a call on several lines\n    one call a line: jq -c . calls\n"),
        ("- agent: a\n", "no JSON\n    one call a line, such as"),
        ("", "no call is in it\n    one call a line, such as"),
    ],
)
def test_a_file_that_has_no_call_a_line_says_so(remit: Remit, text: str, said: str):
    (remit.folder / "calls").write_text(text)
    remit.patch.chdir(remit.folder)
    ran = remit("decide", "--calls", "calls")
    assert ran.code == 2
    assert ran.err.startswith(f"remit: --calls calls: {said}")


@pytest.mark.parametrize("first", ["[1]", "x", "- a", "", "null", "{"])
def test_a_bad_first_line_does_not_stop_the_rest(remit: Remit, first: str):
    (remit.folder / "calls").write_text(f'{first}\n{{"agent": "a", "tool": "t"}}\n')
    remit.patch.chdir(remit.folder)
    ran = remit("decide", "--calls", "calls")
    assert ran.code == (2 if first == "{" else 0)  # `{` alone begins a call on several lines
    if ran.code == 0:
        assert [json.loads(line)["code"] == "malformed-call" for line in ran.out.splitlines()][-1] is False


def test_the_field_of_another_format_is_named(remit: Remit):
    ran = remit("decide", "--calls", "-", stdin=b'{"agent":"a","tool":"t","arguments":{}}\n')
    assert ran.json["reason"] == "unknown field `arguments`; did you mean `args`?"
