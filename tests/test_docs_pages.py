"""Every page is run: its policies load, its programs and commands do what it shows, or the list below says why not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.story import Story, blocks_of

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")])
HOW_TO = sorted(
    page.name for page in (ROOT / "docs" / "howto").glob("*.md") if page.name not in ("index.md", "langgraph.md")
)
TOLD = {
    "docs/tasks.md",
    "docs/approvals.md",
    "docs/incidents.md",
    "docs/reviews.md",
    "docs/people.md",
    "docs/tutorial.md",
    *(f"docs/howto/{name}" for name in HOW_TO),
}
"""Pages that are stories: all that can be run on them is run, from top to bottom."""

ELSEWHERE = {
    "README.md": "tests/test_docs.py, section by section",
    "docs/index.md": "tests/test_docs_site.py: its commands are those of the README",
    "docs/guard.md": "tests/test_docs.py: its blocks are one program",
    "docs/howto/langgraph.md": "below, under hosts: it needs LangGraph",
    "docs/formats/verify-by-hand.md": "tests/record/test_format_page.py",
    "docs/formats/ledger.md": "tests/record/test_format_page.py",
    "docs/api.md": "below: each program by itself",
    "docs/init.md": "below: its commands start from different things",
}
"""Pages that another test runs."""

AFTER = {
    "docs/activate.md": "docs/howto/tighten.md",
    "docs/documents.md": "docs/howto/ci.md",
    "docs/scan.md": "docs/howto/agents-to-policy.md",
    "docs/reports.md": "docs/howto/one-task.md",
}
"""Pages that go on where another ends: what they name is there then."""

NOT_RUN = {
    "docs/runners.md": "pushes to a remote; tests/runners/ runs runners",
}
"""Pages whose policies are loaded and whose commands are checked by their words (test_docs_commands.py), and why."""

RUNS = ("console", "sh", "bash", "python", "py")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def test_every_page_with_something_to_run_is_run() -> None:
    found = {name_of(page) for page in PAGES if any(block.language in RUNS for block in blocks_of(page))}
    assert found - TOLD == ELSEWHERE.keys() | AFTER.keys() | NOT_RUN.keys()
    assert len(HOW_TO) >= 12


def test_few_blocks_of_pages_that_are_run_are_not() -> None:
    marked = {(name_of(page), block.language) for page in PAGES for block in blocks_of(page) if "not run" in block.mark}
    assert marked == {
        ("docs/howto/ci.md", "yaml"),  # a workflow of GitHub's, no policy
        ("docs/howto/langgraph.md", "python"),  # one node of a program that the page does not have
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", sorted(TOLD))
def test_a_page_shows_what_happens(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(tmp_path, monkeypatch)
    story.tell(ROOT / name)
    assert story.ran >= 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", sorted(AFTER))
def test_a_page_goes_on_where_another_ends(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(tmp_path, monkeypatch)
    (tmp_path / "service").mkdir()
    story.script("git init --quiet --initial-branch=main && git commit --quiet --allow-empty --message=one", name)
    story.tell(ROOT / AFTER[name])
    before = story.ran
    story.tell(ROOT / name)
    assert story.ran > before


def test_the_commands_of_the_page_on_first_policies_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    story = Story(tmp_path, monkeypatch)
    tools = {"tools": [{"name": "list_issues", "inputSchema": {"type": "object", "properties": {}}}]}
    (story.folder / "tools.json").write_text(json.dumps(tools), "utf-8")
    agent = story.folder / ".claude" / "agents" / "writer.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nname: writer\ndescription: writes\ntools: Read, Write\n---\nYou write.\n", "utf-8")
    program = story.folder / "src" / "app.py"
    program.parent.mkdir()
    program.write_text(
        "from langchain_core.tools import tool\n\n\n@tool\ndef look(path: str) -> str:\n    return path\n", "utf-8"
    )
    story.tell(ROOT / "docs" / "init.md")
    assert {"remit.yaml", "codex.yaml", "team.yaml", "github.yaml", "program.yaml"} <= {
        file.name for file in story.folder.iterdir()
    }


def test_the_programs_of_the_api_page_run(tmp_path: Path) -> None:
    programs = [block.text for block in blocks_of(ROOT / "docs" / "api.md") if block.language == "python"]
    assert len(programs) == 3
    for program in programs:
        run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.hosts
def test_a_program_of_langgraph_is_protected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the real LangGraph, of the hosts' environment."""
    found = list(ROOT.glob(".venv-hosts/lib/python*/site-packages/langgraph"))
    if not found:
        pytest.skip("LangGraph is not in .venv-hosts")
    story = Story(tmp_path, monkeypatch)
    monkeypatch.setenv("PYTHONPATH", str(found[0].parent))
    monkeypatch.setenv("LANGSMITH_TRACING", "false")
    story.tell(ROOT / "docs" / "howto" / "langgraph.md")
    assert story.ran >= 1
