"""The pages on tasks and approvals under test: their files are written, their programs and commands run, in order.

In what a command prints, `…` stands for anything within a line, and a line of it alone for any number of lines.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from remit.declare.tasks import task
from tests.cli.terminal import at_terminal

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECRET = "correct horse battery\n"
ASKED = ("new passphrase: ", "the new one again: ", "passphrase, to ")


def outputs(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines below it."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What the output must be."""
    parts = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines]
    return re.compile("".join(parts))


def run(command: str, expected: list[str], folder: Path) -> None:
    words = shlex.split(command)
    asked = [line for line in expected if line.startswith(ASKED)]
    said = [line for line in expected if line not in asked]
    if words[0] == "python":
        ran = subprocess.run([sys.executable, *words[1:]], cwd=folder, capture_output=True, timeout=60, text=True)
        text = ran.stdout + ran.stderr
    else:
        assert words[0] == "remit"
        typed = at_terminal(*words[1:], cwd=folder, answers=[(line.rstrip(), SECRET) for line in asked])
        text = typed.out + typed.err
    assert pattern(said).fullmatch(text), f"$ {command}\n{text}"


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ["tasks.md", "approvals.md"])
def test_a_page_shows_what_happens(name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    page = (ROOT / "docs" / name).read_text("utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("NO_COLOR", "1")
        patch.setenv("PYTHONUTF8", "1")
        patch.delenv("REMIT_STORE", raising=False)
        ran = 0
        for language, text in BLOCK.findall(page):
            if language == "yaml":
                file = "remit.yaml" if text.startswith("remit: 1\n") else "task.yaml"
                (tmp_path / file).write_text(text, "utf-8")
            elif language == "python":
                (tmp_path / "team.py").write_text(text, "utf-8")
            elif language == "console":
                for command, lines in outputs(text):
                    run(command, lines, tmp_path)
                    ran += 1
    assert ran >= 5


def test_every_key_of_a_task_is_documented() -> None:
    page = (ROOT / "docs" / "tasks.md").read_text("utf-8")
    for key in task.fields:
        assert f"`{key}`" in page, key
    budget = getattr(task.fields["budget"].shape, "fields", {})
    assert set(budget) == {"calls", "writes", "tools", "sum"}
    for key in budget:
        assert f"`{key}`" in page, key
