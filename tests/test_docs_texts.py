"""Blocks of the pages that are neither run nor loaded: each is compared with something here, or says why not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from remit import InvalidToolError, check_tools, load_rulebook
from remit.declare.nodes import parse
from remit.declare.profiles import _KEYS, KINDS, _Compiler, _metas
from remit.forms.texts import plain
from remit.model.errors import Problem
from tests.story import Block, blocks_of, pattern
from tests.test_docs_commands import STARTS
from tests.test_docs_pages import PAGES, RUNS, name_of

ROOT = Path(__file__).parent.parent

TESTED = {
    ("README.md", "Remit: Write is limited"): "tests/test_docs.py: what the hook says",
    ("docs/claude-code.md", "hosts: {claude-code"): "below",
    ("docs/confinement.md", "Remit: `.git/config`"): "below",
    ("docs/confinement.md", "`research/notes.txt`"): "below",
    ("docs/confinement.md", "Remit: the command could not reach"): "below",
    ("docs/documents.md", "<!-- remit:matrix -->"): "tests/test_docs_pages.py goes on with these marks",
    ("docs/formats/profiles.md", "sqlite3:"): "below",
    ("docs/guard.md", "remit: 1\npublished_by:"): "below",
    ("docs/policy.md", "agent_id:"): "below",
    ("docs/runners.md", "unknown tool `Raed`"): "below",
}
"""By the page and the beginning of the block."""

NOT_TESTED = {
    ("docs/architecture.md", "   policy text"): "a drawing",
    ("docs/confinement.md", "apt install"): "the system's own command",
    ("docs/confinement.md", "abi <abi/4.0>"): "needs AppArmor; Ubuntu documents this form",
    ("docs/coverage.md", "python -m bench.coverage"): "needs clones of other repositories",
    ("docs/hosts.md", "---\nname: researcher"): "VS Code's form, from its documentation, as the page says",
    ("docs/ledger.md", "remit.db"): "names of files with what they are for",
    ("docs/ledger.md", "GRANT USAGE"): "needs a server: tests/store/ does the same with a role of its own",
}

ELSEWHERE = ("docs/formats/ledger.md",)  # tests/record/test_format_page.py makes each of its blocks again


def is_of_commands(block: Block) -> bool:
    """Each line is a command of Remit: test_docs_commands.py looks at its words."""
    return all(STARTS.match(line) for line in block.text.splitlines() if line)


def block_of(page: str, beginning: str) -> Block:
    [found] = [block for block in blocks_of(ROOT / page) if block.text.startswith(beginning)]
    return found


def test_every_other_block_is_tested_or_says_why_not() -> None:
    known = TESTED | NOT_TESTED
    left = []
    for page in PAGES:
        for block in blocks_of(page):
            run = block.language in (*RUNS, "yaml", "yaml profile") or block.file is not None
            if run or block.language == "{toctree}" or is_of_commands(block) or name_of(page) in ELSEWHERE:
                continue
            if not any(name_of(page) == name and block.text.startswith(start) for name, start in known):
                left.append(f"{name_of(page)}:{block.line}")
    assert left == []


def test_what_is_listed_is_there() -> None:
    for page, beginning in TESTED | NOT_TESTED:
        assert block_of(page, beginning)


def test_the_record_of_a_team_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "record.yaml").write_text(block_of("docs/policy.md", "agent_id:").text, "utf-8")
    words = [sys.executable, "-m", "remit", "record", "record.yaml", "--skill", "x"]
    run = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    assert "backend-specialist:" in run.stdout


def test_the_published_tools_load(tmp_path: Path) -> None:
    (tmp_path / "remit.yaml").write_text("remit: 1\nagents: {x: {may: [write_file]}}\n", "utf-8")
    (tmp_path / "remit.tools.yaml").write_text(block_of("docs/guard.md", "remit: 1\npublished_by:").text, "utf-8")
    assert load_rulebook(tmp_path / "remit.yaml").book.published_by == ("app.py:guard",)


def test_the_line_about_the_main_agent_loads(tmp_path: Path) -> None:
    line = block_of("docs/claude-code.md", "hosts: {claude-code").text
    (tmp_path / "remit.yaml").write_text(f"remit: 1\nagents: {{orchestrator: {{may: []}}}}\n{line}", "utf-8")
    assert load_rulebook(tmp_path / "remit.yaml").book.callers


def test_the_page_on_runners_says_what_a_wrong_tool_gives(tmp_path: Path) -> None:
    policy = block_of("docs/runners.md", "remit: 1").text
    (tmp_path / "remit.yaml").write_text(policy, "utf-8")
    rulebook = load_rulebook(tmp_path / "remit.yaml")
    shown = block_of("docs/runners.md", "unknown tool").text.splitlines()
    for line, tool in zip(shown, ("Raed", "Bash"), strict=True):
        with pytest.raises(InvalidToolError) as raised:
            check_tools(rulebook, "coder", [tool])
        assert pattern([line]).fullmatch(f"{raised.value}\n"), raised.value


PROFILES = ROOT / "docs/formats/profiles.md"


def test_the_profiles_of_the_page_on_profiles_compile() -> None:
    for block in blocks_of(PROFILES):
        if block.language == "yaml profile":
            raw = plain(parse(block.text, "page"))
            compiler = _Compiler(raw, [], [], [], [], [], [], [])
            assert [compiler.program(name) for name in raw]
            assert compiler.problems == []


def test_the_meta_commands_of_the_page_on_profiles_are_read() -> None:
    problems: list[Problem] = []
    [(client, commands)] = plain(parse(block_of("docs/formats/profiles.md", "sqlite3:").text, "page")).items()
    assert _metas(client, commands, problems)
    assert problems == []


def test_the_page_on_profiles_names_keys_and_kinds_that_exist() -> None:
    first = re.findall(r"^\| (`.+?`) \|", PROFILES.read_text("utf-8"), re.MULTILINE)
    names = {name for cell in first for name in re.findall(r"`(\w+)`", cell)}
    assert len(names) > 60
    assert sorted(names - _KEYS - KINDS) == []


@cache
def messages() -> list[str]:
    """The texts that the source puts together, with `…` for what it puts in."""
    found = []
    for file in (ROOT / "src/remit/confine").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
                found.append("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.append(node.value)
    return found


@pytest.mark.parametrize("beginning", [start for page, start in TESTED if page == "docs/confinement.md"])
def test_a_message_of_a_confined_command_is_one_that_the_source_has(beginning: str) -> None:
    """Each part of it that is not a name; the parts may be put together from several texts."""
    [line] = block_of("docs/confinement.md", beginning).text.splitlines()
    parts = [part.strip(" :") for part in re.split(r"`[^`]*`|[;:] ", line)]
    for part in filter(None, parts):
        assert any(part in text for text in messages()), part
