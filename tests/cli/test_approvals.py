"""`remit approvals`, `approve`, `refuse`: what is shown can't mislead, and only a person answers, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from remit.cli.approvals.difference import differences
from remit.enforce.codec import MAX_DEPTH
from remit.enforce.errors import CallRefused
from remit.grant.asks import move
from remit.grant.notes import Scribe
from remit.model.call import Statement
from remit.model.policy import Argument, Does, Tool
from remit.record.open import open_log
from tests.cli.living_kit import POLICY, SAID, TASK, Team

APPROVE = "passphrase, to approve A-1: "


def ask(team: Team, version: str = "1", capsule: str | None = None, **more: Any) -> str:
    return team.call("deploy", capsule, version=version, **more)


# The inbox


def test_nothing_waits(free: Team) -> None:
    assert free("approvals").out == "nothing waits for an answer\n"
    assert free("approvals", "--json").json == []


def test_no_store_yet(team: Team) -> None:
    team.write("remit.yaml", POLICY)
    assert team("approvals").out == "nothing waits for an answer\n"
    ran = team("approvals", "show", "A-1")
    assert (ran.code, "nothing has been recorded yet" in ran.err) == (2, True)


def test_the_inbox_says_who_wants_what_and_why(free: Team) -> None:
    free.new("id: ALL\nagent: lead\ngoal: all of it\n")
    free.new(TASK.split("grants:")[0].replace("id: TASK-12", "id: TASK-12\nparent: ALL"))
    said = Statement("put it in force", "it is finished", "users see it")
    from remit.enforce.errors import CallPending

    with free.guard() as guard, guard.agent("lead", capsule="ALL"), guard.agent("dev", capsule="TASK-12"):
        with pytest.raises(CallPending):
            guard.call("deploy", {"version": "1"}, statement=said)
        with pytest.raises(CallPending):
            guard.call("write", {"file": "docs/a", "text": "x"}, statement=said)
    lines = free("approvals").out.splitlines()
    assert lines[0].startswith("A-1  waits ")
    assert ", until 20" in lines[0]
    assert lines[1] == "  dev ← lead wants deploy"
    assert lines[2] == "  task TASK-12"
    assert lines[3].startswith("  tier 4: asks human (deploys: ")
    assert lines[4] == "  not-anticipated: no item of its task's passed plan covers it"
    assert lines[5:8] == ["  intent: put it in force", "  because: it is finished", "  consequences: users see it"]
    assert lines[8] == "  targets: deploy url https://prod.example/**"
    assert "  targets: write path docs/a" in lines
    assert lines[-1] == "2 waiting"
    [first, _] = free("approvals", "--json").json
    assert (first["id"], first["agent"], first["chain"], first["tier"]) == ("A-1", "dev", ["lead"], 4)
    assert (first["anticipated"], first["statement"]["intent"]) == (False, "put it in force")
    assert first["waits"] >= 0


def test_all_shows_what_was_answered_too(free: Team) -> None:
    ask(free)
    ask(free, "2")
    free("refuse", "A-1", "--because", "not today", "--yes")
    assert "A-1" not in free("approvals").out
    every = free("approvals", "--all").out
    assert "A-1  refused by " in every
    assert ": not today" in every
    assert every.endswith("1 waiting, 2 in all\n")


@pytest.mark.parametrize("as_json", [False, True])
@pytest.mark.sample(1)
def test_watching_a_pipe_gives_one_line_a_change(free: Team, as_json: bool) -> None:
    ask(free)
    command = [sys.executable, "-m", "remit", "approvals", "--watch", *(["--json"] if as_json else [])]
    child = subprocess.Popen(command, cwd=free.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert child.stdout is not None
    try:
        first = child.stdout.readline().decode()
        ask(free, "2")
        second = child.stdout.readline().decode()
        free("refuse", "A-1", "--because", "no", "--yes")
        third = child.stdout.readline().decode()
        child.send_signal(signal.SIGINT)
        rest, err = child.communicate(timeout=30)
    finally:
        child.kill()
        child.wait()
    assert (child.returncode, rest, err) == (0, b"", b"")
    if as_json:
        found = [json.loads(line) for line in (first, second, third)]
        assert [(one["id"], one["state"]) for one in found] == [("A-1", "open"), ("A-2", "open"), ("A-1", "refused")]
    else:
        assert first.startswith("A-1  open  until 20")
        assert second.startswith("A-2  open  until 20")
        assert third.startswith("A-1  refused by ")


def test_watching_a_terminal_draws_it_again(free: Team) -> None:
    import pty
    import select

    ask(free)
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(free.root)
        os.execv(sys.executable, [sys.executable, "-m", "remit", "approvals", "--watch"])  # noqa: S606
    try:
        seen, end = b"", time.monotonic() + 30
        while seen.count(b"1 waiting") < 2 and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                seen += os.read(terminal, 65_536)
        assert seen.count(b"1 waiting") >= 2
        assert b"ctrl-c ends this" in seen
        os.write(terminal, b"\x03")
        with pytest.raises(OSError, match="Input/output error"):  # noqa: PT012 (once the child has closed its side)
            while time.monotonic() < end + 60:
                os.read(terminal, 65_536)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        os.close(terminal)


# One of them in full


def shown(team: Team, *more: str) -> str:
    ran = team("approvals", "show", "A-1", *more)
    assert ran.code == 0, ran.err
    return ran.out


def test_arguments_are_shown_with_names_and_structure(free: Team) -> None:
    ask(free, "1", notes={"who": ["ann", {"n": 3, "b": False, "x": None}], "text": "one\ntwo\n"})
    out = shown(free)
    for line in (
        "  arguments  (object, 2 keys)",
        "    version  (text, 1 character)",
        "      │ 1",
        "      who  (list, 2 items)",
        "          │ ann",
        "          n  (number)  3",
        "          b  (flag)  false",
        "          x  (nothing)  null",
        "        │ one",
        "        │ two⟨LINE BREAK⟩",
        "  its intent  (text, 15 characters)",
    ):
        assert line in out.splitlines()
    assert "look again" not in out
    assert "bound to sha256:" in out


HOSTILE = "safe\u202e evil\u200b\x1b[31m\x00\u00a0\u3164\U000e0041\t \nA-1  approved ⟨ESC⟩  "


def test_what_is_hidden_is_marked(free: Team) -> None:
    ask(free, HOSTILE)
    for out in (shown(free), free("approve", "A-1", "--yes").out):
        assert "\x1b" not in out
        assert not set(HOSTILE) & {"\u202e", "\u200b", "\x00", "\u00a0", "\u3164", "\U000e0041"} & set(out)
        assert (
            "      │ safe⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩ evil⟨U+200B ZERO WIDTH SPACE⟩⟨ESC⟩[31m⟨NUL⟩"
            "⟨U+00A0 NO-BREAK SPACE⟩⟨U+3164 HANGUL FILLER⟩⟨U+E0041 TAG LATIN CAPITAL LETTER A⟩⟨TAB⟩⟨1 SPACE⟩\n"
            "      │ A-1  approved ⟨U+27E8⟩ESC⟨U+27E9⟩⟨2 SPACES⟩\n"
        ) in out
        assert "look again: hidden character: U+202E RIGHT-TO-LEFT OVERRIDE" in out
    raw = free("approvals", "--all", "--json").out + free("approvals", "show", "A-1", "--json").out
    assert raw.isascii()


def test_letters_of_several_scripts_are_pointed_out(free: Team) -> None:
    ask(free, "p\u0430ypal \uff52\uff4d \u0441\u043e\u0440\u0443 grün naïve 北京 \u05e9")
    out = shown(free)
    assert "look again: `p\u0430ypal` mixes Cyrillic and Latin letters: U+0430 CYRILLIC SMALL LETTER A" in out
    assert "is not plain `rm`" in out
    assert "is written in Cyrillic letters that look like Latin ones" in out
    assert "right to left" in out
    assert out.count("look again") == 4


def test_names_of_arguments_and_the_statement_are_no_less_marked(free: Team) -> None:
    said = Statement("ok\n  arguments  (object, 0 keys)", "be\u202ecause", "x" * 5_000)
    with free.guard() as guard, guard.agent("dev"):
        from remit.enforce.errors import CallPending

        with pytest.raises(CallPending):
            guard.call("deploy", {"version": "1", "notes": {"a\u202e\nb": 1}}, statement=said)
    out = shown(free)
    assert "    │   arguments  (object, 0 keys)\n" in out
    assert "\n  arguments  (object, 0 keys)" not in out
    assert "be⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩cause" in out
    assert "a⟨U+202E RIGHT-TO-LEFT OVERRIDE⟩⟨LINE BREAK⟩b  (number)  1" in out
    assert "[3,500 more characters hidden; --full shows them]" in out
    assert "x" * 5_000 in shown(free, "--full")
    assert "[4,700 more characters]" in free("approvals").out


def test_nothing_is_cut_silently(free: Team) -> None:
    text = "".join(f"line {i}\n" for i in range(500)) + "rm -rf /"
    ask(free, text, notes=[{"i": i} for i in range(100)])
    out = shown(free)
    assert "rm -rf /" not in out
    cut = "\n".join(text.split("\n")[:40])
    breaks = text.count("\n") - 39
    assert (
        f"[{len(text) - len(cut):,} more characters hidden ({breaks} line breaks among them); --full shows them]" in out
    )
    assert "[40 more are hidden; --full shows them]" in out
    full = shown(free, "--full")
    assert "│ rm -rf /\n" in full
    assert "hidden;" not in full
    assert full.count("(number)") == 100
    assert "│ rm -rf /\n" in free("approve", "A-1", "--full", "--yes").out


def test_commands_and_queries_are_read(free: Team) -> None:
    free.call("term", command="cat notes; terraform apply")
    out = shown(free)
    assert "  what command does, as shell reads it:\n" in out
    assert "terraform apply: " in out
    assert "in all: " in out
    free.call("query", sql="DROP TABLE customers")
    sql = free("approvals", "show", "A-2")
    assert "  what sql does, as sql reads it:\n" in sql.out
    assert "DDL: delete, migrate\n         ddl customers\n" in sql.out


def nested(levels: int) -> Any:
    deep: Any = "end\u202e"
    for _ in range(levels):
        deep = [deep]
    return deep


def test_depth_does_not_break_it(free: Team) -> None:
    ask(free, "1", notes=nested(MAX_DEPTH))
    for out in (shown(free), shown(free, "--full")):
        assert "nested deeper, as JSON" in out
        assert "look again: hidden character: U+202E" in out


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 5000])
def test_a_value_that_is_too_deep_is_refused_with_the_reason(free: Team, levels: int) -> None:
    with free.guard() as guard, guard.agent("dev"), pytest.raises(CallRefused) as refused:
        guard.call("deploy", {"version": "1", "notes": nested(levels)}, statement=SAID)
    assert refused.value.code == "mistyped-argument"
    assert f"`notes` is more than {MAX_DEPTH} levels deep" in str(refused.value)
    assert free("approvals", "--json").json == []


def test_once_answered_the_arguments_are_gone_and_it_says_so(free: Team) -> None:
    ask(free, "a secret")
    free("approve", "A-1", "--yes")
    out = shown(free)
    assert "a secret" not in out
    assert "the arguments were discarded after the answer" in out
    with open_log(free.root) as opened:
        assert not opened.vault.has("A-1")


# Answers


def test_only_a_person_answers_and_the_call_passes_once(team: Team) -> None:
    team.policy(POLICY)
    assert ask(team) == "tier-asks"
    none = team("approve", "A-1", "--yes")
    assert (none.code, "no passphrase is set" in none.err) == (2, True)
    team.passphrase()
    for args in (("approve", "A-1"), ("refuse", "A-1", "--because", "no")):
        blind = team(*args, "--yes")
        assert (blind.code, blind.err.splitlines()[0]) == (2, "remit: there is no terminal to ask for the passphrase")
    wrong = team.type("approve", "A-1", question=APPROVE, passphrase="wrong horse battery")
    assert (wrong.code, wrong.err) == (2, "remit: wrong passphrase\n")
    assert ask(team) == "tier-asks"
    right = team.type("approve", "A-1", "--because", "looked at it", question=APPROVE)
    assert right.code == 0
    assert "      │ 1\n" in right.out
    assert "✅ A-1 is approved, by " in right.out
    assert "(passphrase); it counts once, until 20" in right.out
    assert ask(team) == "deployed 1"
    assert ask(team) == "tier-asks"  # asked anew
    answered = [one for one in team.ledger("approval") if one["what"] == "approved"]
    assert [one["approval"] for one in answered] == ["A-1"]
    assert answered[0]["by"].endswith(" (passphrase)")


def test_a_person_refuses_at_a_terminal(team: Team) -> None:
    team.policy(POLICY)
    team.passphrase()
    ask(team)
    ran = team.type("refuse", "A-1", "--because", "not on a Friday", question="passphrase, to refuse A-1: ")
    assert ran.code == 0
    assert "❌ A-1 is refused, by " in ran.out
    assert ask(team) == "refused"


def test_an_approved_call_can_still_be_refused(free: Team) -> None:
    ask(free)
    free("approve", "A-1", "--yes")
    ran = free("refuse", "A-1", "--because", "on second thought", "--yes", "--json")
    assert (ran.code, ran.json["state"], ran.json["because"]) == (0, "refused", "on second thought")
    assert ask(free) == "refused"


def test_what_was_answered_used_or_ran_out_is_one_line(free: Team) -> None:
    for version in ("1", "2", "3", "4"):
        ask(free, version)
    free("refuse", "A-1", "--because", "no", "--yes")
    free("approve", "A-2", "--yes")
    assert ask(free, "2") == "deployed 2"
    free("approve", "A-3", "--yes")
    with open_log(free.root) as opened, opened.store.write() as change:
        move(change, 4, "2020-01-01T00:00:00Z", Scribe("test", set()))
    for name, verb, words in (
        ("A-1", "approve", "A-1 is refused already by "),
        ("A-1", "refuse", "A-1 is refused already by "),
        ("A-2", "approve", "A-2 is used already by "),
        ("A-2", "refuse", "A-2 is used already by "),
        ("A-3", "approve", "A-3 is approved already by "),
        ("A-4", "approve", "A-4 is expired already"),
    ):
        more = ("--because", "x") if verb == "refuse" else ()
        ran = free(verb, name, "--yes", *more)
        assert (ran.code, ran.err.startswith(f"remit: {words}"), ran.err.count("\n")) == (2, True, 1), ran


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("approve",), "missing argument 'ID'"),
        (("approve", "A-9"), "there is no question `A-9`"),
        (("approve", "17"), "there is no question `17`"),
        (("approve", "A-\x1b[31m"), "there is no question `A-\\x1b[31m`"),
        (("refuse", "A-1"), "missing option '--because'"),
        (("refuse", "A-1", "--because", "  "), "--because: say why"),
        (("refuse", "A-1", "--because", "x" * 4_001), "--because: say why"),
        (("approvals", "show", "A-0"), "there is no question `A-0`"),
        (("approvals", "show"), "missing argument 'ID'"),
        (("approvals", "--json", "show", "A-1"), "options of `show` go after it"),
        (("approvals", "answer"), "no such command `answer`"),
        (("approvals", "--policy", "none.yaml"), "none.yaml: no such file"),
    ],
)
def test_wrong_input(free: Team, args: tuple[str, ...], message: str) -> None:
    ask(free)
    ran = free(*args)
    assert ran.code == 2
    assert message in ran.err
    assert [one["what"] for one in free.ledger("approval")] == ["asked"]


def test_what_a_write_would_change_is_shown(free: Team) -> None:
    (free.root / "docs").mkdir()
    (free.root / "docs/a.md").write_text("one\ntwo\nthree\n")
    free.call("write", file="docs/a.md", text="one\n2\x1b[2J\nthree\n")
    ran = free("approvals", "show", "A-1")
    assert "  what it would change in docs/a.md, as the file is now\n" in ran.out
    assert "    │ -two\n    │ +2⟨ESC⟩[2J\n" in ran.out
    found = json.loads(free("approvals", "show", "A-1", "--json").out)["differences"]
    assert (found[0]["path"], found[0]["problem"]) == ("docs/a.md", None)
    free.call("write", file="docs/new.md", text="x\n")
    ran = free("approvals", "show", "A-2")
    assert "    │ --- there is no such file yet\n" in ran.out
    assert "    │ +x\n" in ran.out


def test_what_can_t_be_compared_is_said(free: Team) -> None:
    (free.root / "docs").mkdir()
    os.mkfifo(free.root / "docs/pipe")
    (free.root / "docs/image").write_bytes(b"\xff\xfe")
    for name in ("pipe", "image"):
        free.call("write", file=f"docs/{name}", text="x")
    assert "what it would change in docs/pipe can't be shown" in free("approvals", "show", "A-1").out
    assert "docs/image can't be shown: it is not UTF-8 text" in free("approvals", "show", "A-2").out


EDIT = Tool(
    "edit",
    {"file_path": Argument("path"), "old_string": Argument("text"), "new_string": Argument("text")},
    (Does("write", "file_path"),),
)


def test_what_an_edit_would_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a\nb\na\n")
    args = {"file_path": "a", "old_string": "a", "new_string": "c"}
    assert differences(EDIT, args, tmp_path, None)[0].lines[3:] == ("-a", "+c", " b", " a")
    assert differences(EDIT, args | {"replace_all": True}, tmp_path, None)[0].lines[3:] == (
        *("-a", "+c", " b", "-a", "+c"),
    )
    [missing] = differences(EDIT, args | {"old_string": "x"}, tmp_path, None)
    assert missing.problem == "the text that it would replace is not in the file"
    many = {"file_path": "a", "edits": [{"oldString": "b", "newString": "d"}, {"oldString": "d", "newString": "e"}]}
    assert differences(EDIT, many, tmp_path, None)[0].lines[3:] == (" a", "-b", "+e", " a")
