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
from remit.declare.format import policy, schema

ROOT = Path(__file__).parent.parent
PAGES = sorted([ROOT / "README.md", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str, pages: list[Path] = PAGES) -> list[tuple[str, str]]:
    found = []
    for page in dict.fromkeys(pages):
        text = page.read_text("utf-8")
        for match in BLOCK.finditer(text):
            if match[1] == language:
                line = text.count("\n", 0, match.start()) + 1
                found.append((f"{page.relative_to(ROOT)}:{line}", match[2]))
    return found


YAML = blocks("yaml")


@pytest.mark.parametrize(("where", "text"), YAML, ids=[where for where, _ in YAML])
def test_every_yaml_block_loads(where: str, text: str, tmp_path: Path) -> None:
    if text.startswith("remit_tests:"):
        assert read_tests(text, where).tests
        return
    assert text.startswith("remit: 1\n"), "a YAML block is a whole policy or a whole test file"
    (tmp_path / "remit.yaml").write_text(text, "utf-8")
    assert load_rulebook(tmp_path / "remit.yaml").book.callers


def test_there_are_yaml_blocks() -> None:
    assert len(YAML) >= 8


@pytest.fixture
def readme_project(tmp_path: Path) -> Path:
    _, text = blocks("yaml", [ROOT / "README.md"])[0]
    (tmp_path / "remit.yaml").write_text(text, "utf-8")
    return tmp_path


def test_the_readme_console_shows_what_happens(readme_project: Path) -> None:
    [(_, text)] = blocks("console", [ROOT / "README.md"])
    expected: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("$ "):
            expected[line[2:]] = []
        else:
            expected[list(expected)[-1]].append(line)
    assert len(expected) >= 3
    for command, lines in expected.items():
        words = shlex.split(command)
        assert words[0] == "remit"
        run = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=readme_project,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "NO_COLOR": "1", "PYTHONUTF8": "1"},
            timeout=60,
        )
        assert run.stdout.decode().splitlines() == lines, command


def test_the_readme_python_runs(readme_project: Path) -> None:
    [(_, text)] = blocks("python", [ROOT / "README.md"])
    subprocess.run([sys.executable, "-c", text], cwd=readme_project, check=True, timeout=60)


def test_the_readme_names_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\bmake ([a-z-]+)", page.read_text("utf-8")):
            assert target in targets, f"{page.name}: make {target}"


def test_ci_runs_what_the_readme_says() -> None:
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    for command in ("make test", "make lint", "make test-hosts"):
        assert command in script


def test_links_lead_somewhere() -> None:
    for page in dict.fromkeys(PAGES):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)} → {target}"


def test_every_key_of_the_format_is_documented() -> None:
    page = (ROOT / "docs" / "policy.md").read_text("utf-8")
    for key in policy.fields:
        assert f"`{key}`" in page, key


def test_the_published_schema_is_the_generated_one() -> None:
    published = json.loads((ROOT / "docs" / "policy.schema.json").read_text("utf-8"))
    assert published == schema(), "run: .venv/bin/remit schema > docs/policy.schema.json"


def test_no_page_names_what_is_not_in_the_project() -> None:
    for page in dict.fromkeys(PAGES):
        assert "../shared" not in page.read_text("utf-8"), page
