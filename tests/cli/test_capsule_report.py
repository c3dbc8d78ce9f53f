"""`remit capsule report`: files, commands and denials of a task, and the files that no call explains."""

from __future__ import annotations

import json
import os
import subprocess

import pytest

from tests.cli.living_kit import Team

TASK = "id: TASK-12\nagent: dev\ngoal: store sessions in SQLite\nscope: ['**']\n"


def git(team: Team, *words: str) -> str:
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        **{f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    done = subprocess.run(["git", *words], cwd=team.root, env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def worked(free: Team) -> Team:
    """A repository with a commit, and a task whose agent then worked."""
    git(free, "init", "--quiet", "--initial-branch=main")
    (free.root / "src").mkdir()
    for name in ("src/old.py", "src/gone.py", "src/app.py"):
        (free.root / name).write_text("x\n")
    free.new(TASK)
    git(free, "add", ".")
    git(free, "commit", "--quiet", "--message=base")
    with free.guard() as guard, guard.agent("dev", capsule="TASK-12"):
        guard.call("write", {"file": "src/a.py", "text": "x"})
        guard.call("write", {"file": "src/a.py", "text": "y"})
        guard.call("term", {"command": "rm src/gone.py"})
    with free.guard() as guard, guard.agent("dev", capsule="TASK-12", cwd="src"):
        guard.call("write", {"file": "app.py", "text": "z"})
    (free.root / "src/gone.py").unlink()
    (free.root / "src/app.py").write_text("z")
    assert free.call("write", "TASK-12", file="elsewhere/a", text="x") == "not-permitted"
    return free


def test_files_commands_and_denials(worked: Team) -> None:
    found = worked("capsule", "report", "TASK-12", "--json").json
    assert [(one["path"], one["effects"], one["times"], one["agents"]) for one in found["files"]] == [
        ("src/a.py", ["write"], 2, ["dev"]),
        ("src/app.py", ["write"], 1, ["dev"]),
        ("src/gone.py", ["delete"], 1, ["dev"]),
    ]
    assert [one["command"] for one in found["commands"]] == ["rm src/gone.py"]
    assert [(one["tool"], one["code"], one["about"]) for one in found["denied"]] == [
        ("write", "not-permitted", "text: x; file: elsewhere/a")
    ]
    assert (found["untold"], "changes" in found) == (0, False)
    text = worked("capsule", "report", "TASK-12").out
    assert "  wrote src/a.py, 2 times\n  wrote src/app.py\n  deleted src/gone.py\n  ran rm src/gone.py\n" in text


def test_calls_explain_every_change(worked: Team) -> None:
    ran = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json")
    assert ran.code == 0
    assert [(one["path"], one["how"], one["by"]) for one in ran.json["changes"]] == [
        ("src/a.py", "created", "task"),
        ("src/app.py", "changed", "task"),
        ("src/gone.py", "deleted", "task"),
    ]
    text = worked("capsule", "report", "TASK-12", "--against", "HEAD")
    assert (text.code, text.out.splitlines()[0]) == (0, "✅ calls explain all 3 files that differ from HEAD")


def test_what_no_call_explains_comes_first(worked: Team) -> None:
    (worked.root / "src/old.py").write_text("changed around Remit\n")
    (worked.root / "new.txt").write_text("new\n")
    ran = worked("capsule", "report", "TASK-12", "--against", "HEAD")
    assert ran.code == 1
    assert ran.out.splitlines()[:3] == [
        "changed since HEAD, and no call explains it:",
        "  created new.txt",
        "  changed src/old.py",
    ]
    found = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json").json
    assert [(one["path"], one["by"]) for one in found["changes"]][:2] == [
        ("new.txt", "nothing"),
        ("src/old.py", "nothing"),
    ]
    assert (found["unexplained"], found["incident"]) == (2, None)
    page = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--format", "md").out
    assert page.index("no call explains it") < page.index("## Files written")
    assert "## ⚠ Changed since HEAD, and no call explains it\n\n- `new.txt` created\n- `src/old.py` changed\n" in page


def test_a_denied_call_explains_nothing(worked: Team) -> None:
    (worked.root / "elsewhere").mkdir()
    (worked.root / "elsewhere/a").write_text("x\n")
    found = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json").json
    assert [one["path"] for one in found["changes"] if one["by"] == "nothing"] == ["elsewhere/a"]


def test_calls_of_others_and_code_of_the_project(worked: Team) -> None:
    assert worked.call("write", None, file="src/b.py", text="x") == "None"
    found = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json").json
    assert next((one["path"], one["by"]) for one in found["changes"]) == ("src/b.py", "others")
    (worked.root / "generated.txt").write_text("x")
    assert worked.call("term", "TASK-12", command="python3 make_it.py") != "not-permitted"
    found = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json").json
    assert next((one["path"], one["by"], one["agents"]) for one in found["changes"]) == (
        "generated.txt",
        "perhaps",
        ["dev"],
    )
    assert (found["unexplained"], found["untold"]) == (0, 1)


def test_a_call_before_the_base_explains_nothing(worked: Team) -> None:
    git(worked, "add", ".")
    later = {"GIT_COMMITTER_DATE": "2097-01-01T00:00:00Z"}
    env = {**os.environ, "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t", "GIT_COMMITTER_NAME": "t", **later}
    words = ["git", "commit", "--quiet", "--message=later"]
    subprocess.run(words, cwd=worked.root, env={**env, "GIT_COMMITTER_EMAIL": "t"}, check=True)
    (worked.root / "src/a.py").write_text("changed again\n")
    found = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json").json
    assert [(one["path"], one["by"]) for one in found["changes"]] == [("src/a.py", "nothing")]


def test_it_opens_one_incident(worked: Team) -> None:
    (worked.root / "new.txt").write_text("new\n")
    report = ("capsule", "report", "TASK-12", "--against", "HEAD", "--incident")
    assert worked(*report, "--json").json["incident"] == "I-1"
    assert worked(*report, "--json").json["incident"] == "I-1"
    [incident] = worked("incidents", "--json").json["incidents"]
    assert {key: incident[key] for key in ("id", "state", "agent", "code", "capsule", "reason")} == {
        "id": "I-1",
        "state": "open",
        "agent": "dev",
        "code": "unexplained-change",
        "capsule": "TASK-12",
        "reason": "changed since HEAD, and no call explains it: new.txt",
    }
    assert worked("incidents", "--json").json["halts"] == []
    assert worked("incidents", "show", "I-1").code == 0
    assert worked.call("read", "TASK-12", file="src/a.py") == "text"
    assert worked("incidents", "close", "I-1", "--because", "it was me", "--yes").code == 0
    assert worked(*report, "--json").json["incident"] == "I-2"
    assert worked("ledger", "verify").code == 0


def test_no_incident_without_a_finding(worked: Team) -> None:
    assert worked("capsule", "report", "TASK-12", "--against", "HEAD", "--incident").code == 0
    assert worked("incidents").out == "nobody is halted, and no incident is open\n"
    assert worked("capsule", "report", "TASK-12", "--incident").code == 2


@pytest.mark.parametrize("base", ["no-such-commit", "--output=x", "HEAD:src", ""])
def test_a_base_that_is_no_commit(worked: Team, base: str) -> None:
    ran = worked("capsule", "report", "TASK-12", "--against", base)
    assert ran.code == 2
    assert not (worked.root / "x").exists()


def test_a_repository_that_runs_programs_is_not_compared(worked: Team) -> None:
    git(worked, "config", "filter.x.clean", "touch sprung")
    ran = worked("capsule", "report", "TASK-12", "--against", "HEAD")
    assert (ran.code, "`filter.x.clean`" in ran.err) == (2, True)
    assert not (worked.root / "sprung").exists()


def test_pages_escape_what_comes_from_outside(worked: Team) -> None:
    name = "src/<img src=x onerror=alert(1)>`|**b**`.md"
    assert worked.call("write", "TASK-12", file=name, text="x") == "None"
    (worked.root / "a\n# b.txt").write_text("x")
    html = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--format", "html").out
    assert "<img" not in html
    assert "<script" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
    page = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--format", "md").out
    assert f"- ``{name}`` written once" in page
    assert "\n# b.txt" not in page


def test_values_that_were_erased_explain_perhaps(worked: Team) -> None:
    lines = worked("ledger", "show", "--type", "intent", "--tool", "write", "--limit", "0", "--json").out.splitlines()
    for line in lines:
        assert worked("ledger", "erase", "--seq", str(json.loads(line)["seq"]), "--yes").code == 0
    found = worked("capsule", "report", "TASK-12", "--against", "HEAD", "--json").json
    assert [(one["path"], one["by"]) for one in found["changes"]] == [
        ("src/a.py", "perhaps"),
        ("src/app.py", "perhaps"),
        ("src/gone.py", "task"),
    ]
