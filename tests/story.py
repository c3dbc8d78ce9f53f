"""A page of the documentation as a story: its files are written, its programs and commands run, from top to bottom.

A block's file is named by `<!-- file: NAME -->` on the line before it, or follows from what it holds. A block below
`<!-- not run -->` isn't; `tests/test_docs_pages.py` lists these with their reasons. In what a command prints, `…`
stands for anything within a line, and a line of it alone for any number of lines.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.terminal import at_terminal

FENCE = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?(?P<ticks>```+)(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=ticks)$",
    re.MULTILINE | re.DOTALL,
)
SECRET = "correct horse battery"
ASKED = re.compile(
    r"(?:new passphrase|the new one again|passphrase|the project's passphrase|passphrase of \w+|the code of)\b.*: ?"
)
CODE = re.compile(r"The code, for \w+ alone: (\S+)")
DEFAULTS = {"remit: 1": "remit.yaml", "remit_tests: 1": "remit.test.yaml", "id:": "task.yaml"}


class Block(NamedTuple):
    language: str
    text: str
    mark: str
    """What is said before it: `file: NAME`, `not run`, or nothing."""
    line: int

    @property
    def file(self) -> str | None:
        """Where it is to be written; None if it is no file."""
        if self.mark.startswith("file: "):
            return self.mark.removeprefix("file: ")
        if self.language == "python":
            return "team.py"
        if self.language == "yaml":
            return next((name for start, name in DEFAULTS.items() if self.text.startswith(start)), None)
        return None


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(found["language"], found["text"], found["mark"] or "", text.count("\n", 0, found.start("ticks")) + 1)
        for found in FENCE.finditer(text)
    ]


def outputs(text: str) -> list[tuple[str, list[str]]]:
    """The commands of a console, each with the lines below it. A command goes on after a backslash."""
    found: list[tuple[str, list[str]]] = []
    going_on = False
    for line in text.splitlines():
        if going_on:
            found[-1] = (f"{found[-1][0][:-1]}{line.strip()}", [])
        elif line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
        going_on = not found[-1][1] and found[-1][0].endswith("\\")
    return found


def pattern(lines: list[str]) -> re.Pattern[str]:
    """What the output must be."""
    parts = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in lines]
    return re.compile("".join(parts))


class Story:
    """A folder in which a page happens, with a home and a state of its own."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "project"
        self.folder.mkdir()
        (folder / "home").mkdir()
        self.invitation = ""
        self.ran = 0
        hosts = ("CLAUDE_CONFIG_DIR", "COPILOT_HOME", "CODEX_HOME", "GEMINI_CLI_HOME")
        for name in (*hosts, "REMIT_STORE", "XDG_CONFIG_HOME", "VIRTUAL_ENV", "COLUMNS"):
            patch.delenv(name, raising=False)
        more = {"HOME": str(folder / "home"), "XDG_STATE_HOME": str(folder / "state"), "USER": "you", "LOGNAME": "you"}
        more |= {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        more |= {"NO_COLOR": "1", "PYTHONUTF8": "1", "GIT_CONFIG_NOSYSTEM": "1", "PYTHONWARNINGS": "default"}
        for who in ("AUTHOR", "COMMITTER"):
            more |= {f"GIT_{who}_NAME": "you", f"GIT_{who}_EMAIL": "you@example.com"}
        for name, value in more.items():
            patch.setenv(name, value)

    def tell(self, page: Path) -> None:
        """All of it. Raises AssertionError where something happens that the page does not show."""
        for block in blocks_of(page):
            if block.mark.startswith("not run"):
                continue
            if block.file is not None:
                place = self.folder / block.file
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(block.text, "utf-8")
            if block.language == "console":
                for command, lines in outputs(block.text):
                    self.run(command, lines, f"{page.name}:{block.line}")
            elif block.language == "sh":
                self.script(block.text, f"{page.name}:{block.line}")

    def run(self, command: str, expected: list[str], where: str) -> None:
        asked = [line for line in expected if ASKED.fullmatch(line)]
        said = [line for line in expected if line not in asked]
        if asked:
            words = shlex.split(command, comments=True)
            assert words[0] == "remit", f"{where}: only Remit asks"
            to = words.index(">") if ">" in words else len(words)
            answers = [(line.rstrip(), self.answer(line)) for line in asked]
            typed = at_terminal(*words[1:to], cwd=self.folder, answers=answers)
            text = typed.out + typed.err
            if to < len(words):
                (self.folder / words[to + 1]).write_text(typed.out, "utf-8")
                text = typed.err
        else:
            text = self.shell(command)[1]
        if (found := CODE.search(text)) is not None:
            self.invitation = found[1]
        self.ran += 1
        assert pattern(said).fullmatch(text), f"{where}\n$ {command}\n{text}"

    def answer(self, question: str) -> str:
        return f"{self.invitation if question.startswith('the code of') else SECRET}\n"

    def script(self, text: str, where: str) -> None:
        code, said = self.shell(f"set -euo pipefail\n{text}")
        self.ran += 1
        assert code == 0, f"{where}: {code}\n{text}\n{said}"

    def shell(self, text: str) -> tuple[int, str]:
        ran = subprocess.run(
            ["bash", "-c", text],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
        )
        return ran.returncode, ran.stdout.decode()
