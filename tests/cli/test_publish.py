"""`remit publish`: tools that are declared in Python only are then like all others, for every command."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.kit import Ran, program
from tests.cli.living_kit import Team

POLICY = """\
remit: 1
name: team
agents:
  dev: {may: [look, {create: {path: "src/**"}}, deploy]}
unsafe_no_credential: true
"""
PROGRAM = '''\
from pathlib import Path
from remit import Guard

guard = Guard("remit.yaml")


@guard.tool(does={"read": "path"})
def look(path: Path) -> str:
    """Looks into a file."""
    return path.read_text()


@guard.tool(does={"write": "path"}, tier=1)
def create(path: Path, content: str = "") -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)


@guard.tool(does={"deploy": "https://prod.example/**"})
def deploy(version: str) -> str:
    return version


def made() -> Guard:
    return guard


class Holder:
    inner = guard


number = 1
'''
FILE = """\
# Tools that Python programs declare at their functions. `remit publish` writes this file; do not edit it.
# A guard whose functions say something else does not start.
remit: 1
published_by:
- "app.py:guard"
tools:
  create:
    args: {path: path, content: text}
    optional: [content]
    defaults:
      content: ""
    does: {write: path}
    tier: 1
  deploy:
    args: {version: text}
    does:
      deploy: "https://prod.example/**"
  look:
    about: Looks into a file.
    args: {path: path}
    does: {read: path}
"""
ASKING = """
import sys
from remit import CallPending
from app import guard
with guard, guard.agent("dev"):
    try:
        guard.call("deploy", {"version": "7"})
    except CallPending as pending:
        print(pending.approval)
"""


@pytest.fixture
def project(team: Team) -> Team:
    """A program, and a policy whose rules name its tools."""
    team.write("app.py", PROGRAM)
    team.write("remit.yaml", POLICY)
    return team


@pytest.fixture
def published(project: Team) -> Team:
    assert project("publish", "app.py:guard").code == 0
    return project


def test_without_it_nobody_can_check_the_policy(project: Team) -> None:
    ran = project("check")
    assert (ran.code, "undeclared tool `look`" in ran.out) == (1, True)
    assert "run `remit publish app.py:guard`" in ran.out


def test_it_writes_a_file_that_people_can_read(project: Team) -> None:
    ran = project("publish", "app.py:guard")
    assert (ran.code, ran.err) == (0, "")
    assert (project.root / "remit.tools.yaml").read_text() == FILE
    assert "+  look:" in ran.out.splitlines()
    assert "remit.tools.yaml written" in ran.out
    assert (project.root / "remit.tools.yaml").stat().st_mode & 0o002 == 0


def test_a_second_run_changes_nothing(published: Team) -> None:
    before = (published.root / "remit.tools.yaml").stat().st_ino
    ran = published("publish", "app.py:guard", "--json")
    assert ran.json == {"state": "same", "file": str(published.root / "remit.tools.yaml"), "difference": []}
    assert (published.root / "remit.tools.yaml").stat().st_ino == before


@pytest.mark.parametrize("name", ["app.py:guard", "app:guard", "app.py:made", "app.py:Holder.inner", "./app.py:guard"])
def test_names_of_a_guard(project: Team, name: str) -> None:
    ran = project("publish", name)
    assert ran.code == 0, ran.err
    first = (project.root / "remit.tools.yaml").read_text().splitlines()[4]
    assert first == f'- "{name.removeprefix("./")}"'


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("app.py", "names no guard"),
        ("app.py:", "names no guard"),
        ("app.py:guard; rm -rf ~", "names no guard"),
        ("$(id):guard", "names no guard"),
        ("app.py:nothing", "has no `nothing`"),
        ("app.py:number", "is int, no Guard"),
        ("gone.py:guard", "no such program"),
        ("no.such.module:guard", "no such program"),
    ],
)
def test_what_names_no_guard(project: Team, name: str, said: str) -> None:
    ran = project("publish", name)
    assert (ran.code, said in ran.err) == (2, True), ran.err
    assert not (project.root / "remit.tools.yaml").exists()


@pytest.mark.parametrize("fault", ["1/0", "raise SystemExit(0)", "import no_such_thing", "("])
def test_a_program_that_cannot_be_imported(project: Team, fault: str) -> None:
    project.write("app.py", f"{PROGRAM}\n{fault}\n")
    ran = project("publish", "app.py:guard")
    assert (ran.code, "can't be imported" in ran.err) == (2, True), ran.err
    assert not (project.root / "remit.tools.yaml").exists()


def test_a_program_that_starts_its_guard_can_be_published_again(published: Team) -> None:
    published.write("app.py", f"{PROGRAM.replace('tier=1', 'tier=2')}\nguard.start()\n")
    ran = published("publish", "app.py:guard")
    assert ran.code == 0, ran.err
    assert "    tier: 2" in (published.root / "remit.tools.yaml").read_text().splitlines()


def test_check_is_for_ci(published: Team) -> None:
    assert published("publish", "--check", "app.py:guard").code == 0
    published.write("app.py", PROGRAM.replace("tier=1", "tier=2"))
    ran = published("publish", "--check", "app.py:guard")
    assert ran.code == 1
    assert {"-    tier: 1", "+    tier: 2"} <= set(ran.out.splitlines())
    assert "run `remit publish app.py:guard`" in ran.out
    assert (published.root / "remit.tools.yaml").read_text() == FILE
    (published.root / "remit.tools.yaml").unlink()
    assert published("publish", "--check", "app.py:guard").code == 1


def test_several_programs_of_one_policy(project: Team) -> None:
    more = 'from app import guard as _, Guard\nguard = Guard("remit.yaml")\n@guard.tool(does="nothing")\n'
    project.write("worker.py", f"{more}def rest(seconds: float) -> None: ...\n")
    ran = project("publish", "app.py:guard", "worker.py:guard")
    assert ran.code == 0, ran.err
    text = (project.root / "remit.tools.yaml").read_text()
    assert '- "app.py:guard"\n- "worker.py:guard"\n' in text
    assert "  rest:" in text.splitlines()
    for name in ("app", "worker"):
        ran = run_program(project, f"from {name} import guard\nwith guard: pass\n")
        assert ran.code == 0, ran.err


def test_programs_that_do_not_agree(project: Team) -> None:
    project.write("worker.py", PROGRAM.replace("tier=1", "tier=2"))
    ran = project("publish", "app.py:guard", "worker.py:guard")
    assert (ran.code, "`create` is another tool in worker.py:guard" in ran.err) == (2, True), ran.err


def test_a_policy_that_does_not_hold_with_the_tools_is_not_published(project: Team) -> None:
    project.write("remit.yaml", POLICY + "never: [{agent: dev, effect: deploy, because: no}]\n")
    ran = project("publish", "app.py:guard")
    assert ran.code == 1
    assert not (project.root / "remit.tools.yaml").exists()


def test_what_the_policy_declares_itself_is_left_to_it(project: Team) -> None:
    project.write("remit.yaml", POLICY + "tools: {look: {args: {path: path}, does: {read: path}}}\n")
    assert project("publish", "app.py:guard").code == 0
    assert "look" not in (project.root / "remit.tools.yaml").read_text()
    assert project("check").code == 0


def test_a_policy_built_in_python_has_no_place_beside_it(project: Team) -> None:
    project.write("app.py", PROGRAM.replace('"remit.yaml"', '{"remit": 1}'))
    ran = project("publish", "app.py:guard")
    assert (ran.code, "built in Python" in ran.err) == (2, True)
    assert project("publish", "app.py:guard", "--policy", "remit.yaml").code == 0


def test_a_symlink_is_not_followed(project: Team, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.yaml"
    elsewhere.write_text("mine")
    os.symlink(elsewhere, project.root / "remit.tools.yaml")
    ran = project("publish", "app.py:guard")
    assert (ran.code, "symlink" in ran.err + ran.out) == (1, True)
    assert elsewhere.read_text() == "mine"


# Every command that people look with


def test_check(published: Team) -> None:
    assert "1 agent, 3 tools, 3 rules" in published("check").out


def test_matrix_report_and_who_can(published: Team) -> None:
    assert "create   🔒" in published("matrix").out
    assert "**Summary**: 3/3 tools accessible" in published("report", "dev").out
    assert published("who-can", "create").code == 0


def test_decide_and_explain(published: Team) -> None:
    call = ("--agent", "dev", "--tool", "create")
    assert published("decide", *call, "--arg", "path=src/a", "--json").json["decision"] == "allow"
    decision = published("decide", *call, "--arg", "path=docs/a", "--json").json
    assert (decision["decision"], decision["code"]) == ("deny", "not-permitted")
    assert "limited to src/**" in published("explain", *call, "--arg", "path=docs/a").out
    assert published("reach", "dev").code == 0


def test_activate_status_and_a_change(published: Team) -> None:
    ran = published("activate", "--yes")
    assert ran.code == 0, ran.err
    assert "3 tools" in ran.out
    status = published("status", "--json").json
    assert status["policy"]["state"] == "same"
    published.write("app.py", PROGRAM.replace("tier=1", "tier=2"))
    assert published("publish", "app.py:guard").code == 0
    ran = published("activate", "--dry-run")
    assert (ran.code, "tier" in ran.out) == (0, True)
    assert "nothing changed" not in published("activate", "--yes").out


def test_a_task_for_such_a_tool(published: Team) -> None:
    published("activate", "--yes")
    task = 'id: T-1\nagent: dev\ngoal: docs\ngrants: [{create: {path: "docs/**"}}]\nexpires: 2099-01-01\n'
    ran = published.new(task)
    assert ran.code == 0, ran.err
    assert 'create: {"path":{"allow":["docs/**"]}}' in ran.out


def run_program(team: Team, text: str) -> Ran:
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", text], cwd=team.root, capture_output=True, text=True, timeout=60)
    return Ran(done.returncode, done.stdout, done.stderr)


def test_approvals_show_explains_the_arguments(published: Team) -> None:
    published("activate", "--yes")
    ran = run_program(published, ASKING)
    assert (ran.code, ran.out) == (0, "A-1\n"), ran.err
    shown = published("approvals", "show", "A-1")
    assert shown.code == 0, shown.err
    assert "https://prod.example/**" in shown.out
    assert "version" in shown.out
    assert published("approve", "A-1", "--yes").code == 0


def test_the_program_itself(project: Team) -> None:
    """In a process of its own, as people run it."""
    ran = program("publish", "app.py:guard", cwd=project.root)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert (project.root / "remit.tools.yaml").read_text() == FILE
