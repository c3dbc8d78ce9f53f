"""A user's program of every shape has no finding of `mypy --strict`, and is a program that starts."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("typed_program.py")


def test_it_declares_all_of_its_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    guard = runpy.run_path(str(PROGRAM))["guard"]
    with guard:
        assert len(guard.tools_for("a")) == 9


@pytest.mark.more
def test_mypy_strict_finds_nothing(tmp_path: Path):
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(PROGRAM)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**os.environ}, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.more
@pytest.mark.parametrize("wrong", ["save(1, 'b')", "save('a')", "edit('x')", "look('a')", "Files().method(1)"])
def test_mypy_sees_wrong_arguments(tmp_path: Path, wrong: str):
    """The decorator hides no types: what is wrong without it is wrong with it."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.read_text() + f"\n\nprint({wrong})\n")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
