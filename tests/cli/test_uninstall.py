"""`remit uninstall claude-code`: everything is as it was, whatever happened in between."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.adapters.hosts.claude_code.test_settings import ours, texts
from tests.cli.install_kit import INSTALL, POLICY, REVIEWER, SETTINGS, UNINSTALL, Project
from tests.exchange.test_frontmatter import definitions


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project in which Remit is not installed yet."""
    found = Project(tmp_path)
    found.activate()
    found.put(".claude/settings.json", SETTINGS).chmod(0o640)
    found.put(".claude/agents/reviewer.md", REVIEWER)
    return found


def test_what_people_changed_since_stays_theirs(project: Project):
    project(*INSTALL, "--yes")
    data = json.loads(project.settings.read_text())
    data["theme"] = "dark"
    data["permissions"]["deny"].append("Bash(sudo:*)")
    project.put(".claude/settings.json", json.dumps(data))
    path = project.root / ".claude/agents/reviewer.md"
    path.write_text(path.read_text() + "More.\n")
    ran = project(*UNINSTALL, "--yes", "--json")
    assert [line.partition(";")[0] for line in ran.json["kept"]] == [
        ".claude/agents/reviewer.md: was changed since the installation",
        ".claude/settings.json: was changed since the installation",
    ]
    expected = json.loads(SETTINGS)
    expected["permissions"]["deny"].append("Bash(sudo:*)")
    assert json.loads(project.settings.read_text()) == {**expected, "theme": "dark"}
    assert path.read_text() == REVIEWER + "More.\n"


def test_tools_that_people_set_themselves_stay(project: Project):
    project(*INSTALL, "--yes")
    path = project.root / ".claude/agents/reviewer.md"
    path.write_text(REVIEWER.replace("Read, Write", "Glob"))
    ran = project(*UNINSTALL, "--yes")
    assert "reviewer.md: was changed since the installation; nothing of Remit's was found in it" in ran.out
    assert "tools: Glob" in path.read_text()


def test_broken_settings_are_an_error_that_changes_nothing(project: Project):
    project(*INSTALL, "--yes")
    project.put(".claude/settings.json", project.settings.read_text() + "}")
    before = project.files()
    ran = project(*UNINSTALL, "--yes")
    assert ran.code == 2
    assert "more text after the end" in ran.err
    assert project.files() == before


@settings(max_examples=5, phases=[Phase.explicit, Phase.generate])  # a project for each: slow to shrink
@given(texts, definitions, st.booleans())
def test_install_then_uninstall_gives_the_same_bytes(text: str, definition: str, local: bool):
    there_and_back(text, definition, local)


@pytest.mark.more
@settings(max_examples=30, phases=[Phase.explicit, Phase.generate])
@given(texts, definitions, st.booleans())
def test_install_then_uninstall_gives_the_same_bytes_often(text: str, definition: str, local: bool):
    there_and_back(text, definition, local)


def there_and_back(text: str, definition: str, local: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder).resolve())
        project.activate()
        project.put(".claude/settings.json", text)
        project.put(".claude/agents/reviewer.md", definition)
        before = project.files()
        options = ("--yes", "--local") if local else ("--yes",)
        ran = project(*INSTALL, *options)
        assert ran.code == 0, ran.err
        once = project.files()
        assert "nothing to do" in project(*INSTALL, *options).out
        assert project.files() == once
        assert project(*UNINSTALL, "--yes").code == 0
        after = project.files()
        if ours(json.loads(text)) and not local:  # hooks of Remit's that were there are not put back
            before.pop(".claude/settings.json")
            assert ours(json.loads(after.pop(".claude/settings.json")[0])) == []
        assert after == before


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("n\n", 2), ("\n", 2)])
def test_at_a_terminal_it_asks(project: Project, typed: str, code: int):
    ran, shown = at_terminal(project, typed, *INSTALL)
    assert ran == code
    assert "write these changes? [y/N]" in shown
    assert (project.settings.read_text() == SETTINGS) is (code != 0)


def test_at_a_terminal_it_asks_for_the_main_agent(project: Project):
    project.activate(POLICY.replace("hosts: {claude-code: {main: boss}}\n", ""))
    ran, shown = at_terminal(project, "boss\ny\n", *INSTALL)
    assert ran == 0
    assert "main agent (boss, reviewer, writer, idle):" in shown
    assert (project.root / "remit.yaml").read_text() == POLICY


def at_terminal(project: Project, typed: str, *args: str) -> tuple[int, str]:
    """A command as people run it, with what they type."""
    ours_, theirs = pty.openpty()
    environment = {**os.environ, **project.environment, "TERM": "dumb"}
    command = [sys.executable, "-m", "remit", *args]
    with subprocess.Popen(
        command, cwd=project.root, env=environment, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    ) as process:
        os.close(theirs)
        os.write(ours_, typed.encode())
        shown = b""
        while True:
            try:
                piece = os.read(ours_, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
        code = process.wait(60)
    os.close(ours_)
    return code, shown.decode("utf-8", "replace")
