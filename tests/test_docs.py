"""The documentation under test: what it shows is run, and every YAML block in it loads."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.declare.cases import read_tests
from remit.declare.format import _never, policy
from remit.declare.nodes import parse
from remit.declare.tasks import read_task
from tests.story import Story, blocks_of

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
LINK = re.compile(r"\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)")


def blocks(language: str, pages: list[Path] = PAGES) -> list[tuple[str, str]]:
    found = []
    for page in dict.fromkeys(pages):
        for block in blocks_of(page):
            if block.language == language and not block.mark.startswith("not run"):
                found.append((f"{page.relative_to(ROOT)}:{block.line}", block.text))
    return found


GUARD = ROOT / "docs" / "guard.md"
OF_PROGRAMS = {GUARD, *(ROOT / "docs" / "howto" / name for name in ("langgraph.md", "quorum.md", "run-commands.md"))}
"""Pages with tools that are functions of their programs: these are run, with the policy."""
YAML = blocks("yaml", [page for page in PAGES if page not in OF_PROGRAMS])


@pytest.mark.parametrize(("where", "text"), YAML, ids=[where for where, _ in YAML])
def test_every_yaml_block_loads(where: str, text: str, tmp_path: Path) -> None:
    if text.startswith("remit_tests:"):
        assert read_tests(text, where).tests
        return
    if text.startswith("id: "):
        assert read_task(parse(text, where), {}).capsule.agent
        return
    assert re.match(r"(?:#.*\n)*remit: 1\n", text), "a YAML block is a whole policy or a whole test file"
    (tmp_path / "remit.yaml").write_text(text, "utf-8")
    assert load_rulebook(tmp_path / "remit.yaml").book.callers


def test_there_are_yaml_blocks() -> None:
    assert len(YAML) >= 8


@pytest.fixture
def readme_project(tmp_path: Path) -> Path:
    _, text = blocks("yaml", [ROOT / "README.md"])[0]
    (tmp_path / "remit.yaml").write_text(text, "utf-8")
    return tmp_path


def commands(text: str) -> list[tuple[str, str]]:
    """Each command of a console with what it prints."""
    found = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [(one.partition("\n")[0], one.partition("\n")[2]) for one in found]


def shows(command: str, expected: str, folder: Path, **env: str) -> None:
    """Runs it; `…` stands for anything."""
    words = shlex.split(command)
    assert words[0] == "remit"
    run = subprocess.run(
        [sys.executable, "-m", *words],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1", **env},
        timeout=120,
    )
    pattern = ".*".join(re.escape(part) for part in expected.split("…"))
    assert re.fullmatch(pattern, run.stdout.decode(), re.DOTALL), f"{command}:\n{run.stdout.decode()}"


def test_the_readme_needs_five_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From agent definitions to an enforced policy, with the commands of the first screen."""
    page = (ROOT / "README.md").read_text("utf-8")
    _, text = blocks("sh", [ROOT / "README.md"])[0]
    assert page.index(text) < 3_000, "it is on the first screen"
    assert page.index("remit credential set") < 3_000, "so is the passphrase"
    named = [line.partition("#")[0].strip() for line in text.splitlines()]
    assert len(named) == 5
    story = Story(tmp_path, monkeypatch)
    agents = story.folder / ".claude" / "agents"
    agents.mkdir(parents=True)
    (agents / "writer.md").write_text("---\nname: writer\ndescription: writes\ntools: Read, Write\n---\nYou write.\n")
    (agents / "helper.md").write_text("---\nname: helper\ndescription: helps\n---\nYou help.\n")
    for command in named:
        asks = command.startswith(("remit activate", "remit install"))
        code, said = story.shell(f"{command} --yes" if asks else command)
        assert code == 0, f"{command}: {said}"
    assert said.startswith("✅ project: enforced as it should be\n")
    assert "denied as they must be" in said


def test_the_readme_console_shows_what_happens(readme_project: Path) -> None:
    found = commands(blocks("console", [ROOT / "README.md"])[0][1])
    assert len(found) >= 3
    for command, expected in found:
        shows(command, expected, readme_project)


def test_the_readme_protects_claude_code(tmp_path: Path) -> None:
    """In a fresh project with three subagents, exactly as the page shows it."""
    project, user = tmp_path / "project", tmp_path / ".claude"
    state = {"XDG_STATE_HOME": str(tmp_path / "state"), "CLAUDE_CONFIG_DIR": str(user)}
    agents = project / ".claude" / "agents"
    agents.mkdir(parents=True)
    for name in ("researcher", "writer", "reviewer"):
        (agents / f"{name}.md").write_text(f"---\nname: {name}\ndescription: the {name}\n---\nYou are the {name}.\n")
    (project / "remit.yaml").write_text(blocks("yaml", [ROOT / "README.md"])[1][1], "utf-8")
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}
    first, second = (commands(text) for _, text in blocks("console", [ROOT / "README.md"])[1:3])
    for command, expected in first:
        shows(command, expected, project, **state)
    hook = json.loads((user / "settings.json").read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    call = {
        "hook_event_name": "PreToolUse",
        "session_id": "s",
        "cwd": str(project),
        "permission_mode": "default",
        "tool_name": "Write",
        "tool_input": {"file_path": str(project / "src/app.py"), "content": ""},
        "tool_use_id": "t",
        "agent_id": "a",
        "agent_type": "researcher",
    }
    words = ["/bin/sh", "-c", hook["command"]]
    run = subprocess.run(words, input=json.dumps(call).encode(), capture_output=True, cwd=project)
    [(_, refused)] = [one for one in blocks("text", [ROOT / "README.md"]) if one[1].startswith("Remit: ")]
    assert json.loads(run.stdout)["hookSpecificOutput"]["permissionDecisionReason"] + "\n" == refused
    for command, expected in second:
        shows(command, expected, project, **state)
    after = {path: path.read_bytes() for path in project.rglob("*") if path.is_file() and ".remit" not in path.parts}
    assert after == before


def test_the_readme_python_runs(readme_project: Path) -> None:
    [(_, text)] = blocks("python", [ROOT / "README.md"])
    subprocess.run([sys.executable, "-c", text], cwd=readme_project, check=True, timeout=60)


def test_the_page_about_guard_is_a_program_that_runs(tmp_path: Path) -> None:
    [(_, policy_text)] = blocks("yaml", [GUARD])
    project = tmp_path / "project"
    project.mkdir()
    (project / "remit.yaml").write_text(policy_text, "utf-8")
    parts = blocks("python", [GUARD])
    assert len(parts) >= 8
    program = "\n".join(text for _, text in parts)
    assert program.count("assert ") >= 15
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=project,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_the_readme_names_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        named = re.findall(r"\bmake ([a-z-]+)", page.read_text("utf-8"))
        assert named
        assert [target for target in named if target not in targets] == [], page.name


def test_ci_runs_what_contributing_says() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    [said] = re.findall(r"^`\.ci/run` is what a change has to pass: (.+)\.$", page, re.MULTILINE)
    targets = [name.removeprefix("make ") for name in re.findall(r"`([a-z -]+)`", said)]
    assert re.findall(r"^make ([a-z-]+)$", script, re.MULTILINE) == targets


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_lead_somewhere() -> None:
    links = [(page, *link) for page in dict.fromkeys(PAGES) for link in LINK.findall(page.read_text("utf-8"))]
    assert len(links) > 50
    for page, target, anchor in links:
        place = page.parent / target if target else page
        assert place.exists(), f"{page.relative_to(ROOT)} → {target}"
        assert not anchor or anchor in anchors(place), f"{page.relative_to(ROOT)} → {target}#{anchor}"


def test_every_key_of_the_format_is_documented() -> None:
    page = (ROOT / "docs" / "policy.md").read_text("utf-8")
    for key in (*policy.fields, *_never.fields):
        assert f"`{key}`" in page, key


def test_no_page_names_what_is_not_in_the_project() -> None:
    assert PAGES
    for page in dict.fromkeys(PAGES):
        assert "../shared" not in page.read_text("utf-8"), page
