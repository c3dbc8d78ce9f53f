"""`remit init` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remit.service.project_commands import project_commands
from tests.cli.kit import Remit
from tests.scan.repositories import REVIEWER, definition, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write(tmp_path / "project", {".claude/agents/code-reviewer.md": REVIEWER})


def test_from_definitions_to_a_checked_policy(remit: Remit, project: Path):
    ran = remit("init", str(project))
    assert ran.code == 0, ran.err
    assert "For you to decide" in ran.out
    assert "call themselves read-only" in ran.out or "calls itself read-only" in ran.out
    checked = remit("check", "--policy", str(project / "remit.yaml"))
    assert checked.code == 0, checked.out
    assert "2 passed" in checked.out


def test_nothing_is_overwritten(remit: Remit, project: Path):
    (project / "remit.yaml").write_text("mine")
    ran = remit("init", str(project))
    assert ran.code == 2
    assert "exists already" in ran.err
    assert (project / "remit.yaml").read_text() == "mine"
    assert remit("init", str(project), "--output", str(project / "draft.yaml")).code == 0
    assert (project / "draft.test.yaml").read_text().count("policy: draft.yaml") == 1


@pytest.mark.parametrize("team", ["coding", "data", "ops", "support"])
def test_a_kind_of_team(remit: Remit, tmp_path: Path, team: str):
    folder = tmp_path / "empty"
    folder.mkdir()
    assert remit("init", str(folder), "--team", team).code == 0
    checked = remit("check", "--policy", str(folder / "remit.yaml"))
    assert checked.code == 0, checked.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--team", "codng"], "did you mean `coding`"),
        ([], "or from a kind of team: --team coding"),
        (["--tools", "nope.json"], "can't read"),
        (["--tools", "x", "--team", "data"], "one of them"),
        (["--tools", "tools.json", "--server", "a b"], "--server"),
    ],
)
def test_wrong_input_writes_nothing(remit: Remit, tmp_path: Path, arguments: list[str], said: str):
    folder = tmp_path / "empty"
    folder.mkdir()
    ran = remit("init", str(folder), *arguments, stdin=b"")
    assert ran.code == 2
    assert said in ran.err
    assert list(folder.iterdir()) == []


def test_from_a_servers_tools(remit: Remit, tmp_path: Path):
    folder = tmp_path / "empty"
    folder.mkdir()
    tools = {
        "tools": [
            {
                "name": "get",
                "inputSchema": {"properties": {"id": {"type": "string"}}},
                "annotations": {"readOnlyHint": True},
            }
        ]
    }
    ran = remit("init", str(folder), "--tools", "-", "--server", "db", "--json", stdin=json.dumps(tools).encode())
    assert ran.code == 0, ran.err
    assert ran.json["tests"] is None
    assert remit("check", "--policy", str(folder / "remit.yaml")).code == 0


def test_a_name_that_is_a_link_is_not_written_through(remit: Remit, tmp_path: Path):
    root = write(tmp_path / "repository", {".claude/agents/a.md": definition("a", "Read")})
    (root / "remit.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    ran = remit("init", str(root))
    assert (ran.code, "exists already" in ran.err) == (2, True)
    assert not (tmp_path / "elsewhere.yaml").exists()


def test_a_draft_that_can_not_be_written(remit: Remit, tmp_path: Path):
    root = write(tmp_path / "repository", {".claude/agents/a.md": definition("a", "Read")})
    ran = remit("init", str(root), "--output", str(root / "no" / "remit.yaml"))
    assert (ran.code, "can't write" in ran.err) == (2, True)


def test_limits_on_commands_are_tried_on_what_the_project_runs(remit: Remit, tmp_path: Path):
    tester = definition("tester", "Read, Bash(npm test), Bash(make lint)")
    workflow = (
        "jobs:\n  a:\n    steps:\n      - run: npm ci\n      - name: x\n        run: |\n"
        "          # a note\n          make lint\n          curl \\\n            -o x ${{ env.URL }}\n"
        "          if true; then\n          pytest -q ${{ matrix.x }}\n          fi\n      - uses: x\n"
    )
    files = {
        ".claude/agents/tester.md": tester,
        "package.json": '{"scripts": {"test": "jest", "build": "tsc", "a b": "x"}}',
        "Makefile": "X := 1\nlint:\n\truff check\ndeploy: lint\n\tx\n.PHONY: lint\n",
        ".github/workflows/ci.yml": workflow,
    }
    project = write(tmp_path / "project", files)
    assert project_commands(project) == [
        *("npm test", "npm run build", "make lint", "make deploy", "npm ci", "pytest -q value"),
    ]
    decided = remit("init", str(project), "--json").json["decide"]
    said = next(text for text in decided if "scripts and CI" in text)
    assert said == (
        "tester: of the 6 commands in the project's scripts and CI, 4 would be denied:"
        " `npm run build`, `make deploy`, `npm ci`, `pytest -q value`"
    )


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"scripts": 1}', "\0", "x" * 2_000_000])
def test_hostile_scripts_give_no_commands(tmp_path: Path, text: str):
    for name in ("package.json", "Makefile", ".github/workflows/x.yml"):
        write(tmp_path, {name: text})
    (tmp_path / ".github/workflows/loop.yml").symlink_to("loop.yml")
    assert project_commands(tmp_path) == []


PROGRAM = """\
from langchain_core.tools import tool

@tool
def add(a: int, b: int) -> int:
    return a + b

@tool
def look(word: str) -> str:
    return database.find(word)
"""


def test_a_python_program(remit: Remit) -> None:
    (remit.folder / "app.py").write_text(PROGRAM)
    (remit.folder / "remit.yaml").unlink(missing_ok=True)
    assert "--python FILE" in remit("init", stdin=b"").err
    said = remit("init", "--python", "app.py").out
    assert "wrote remit.yaml: 1 agent" in said
    assert "`look` (app.py:8): what it does; its text leaves open what `database.find(word)` does" in said
    assert "put `@guard.tool()` on each function" in said
    assert remit("check").code == 0
    (remit.folder / "remit.yaml").unlink()
    assert len(json.loads(remit("init", "--python", "app.py", "--json").out)["decide"]) == 2
    assert "one of them" in remit("init", "--python", "app.py", "--team", "ops", "--output", "b.yaml").err
    assert "no file or folder `nope.py`" in remit("init", "--python", "nope.py", "--output", "b.yaml").err
