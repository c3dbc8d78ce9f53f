"""Completion in the real shells."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.explain.kit import POLICY

pytestmark = pytest.mark.hosts
BIN = Path(sys.executable).parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "remit.yaml").write_text(POLICY, "utf-8")
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {"PATH": f"{BIN}:{os.environ['PATH']}", "HOME": str(folder), "TERM": "xterm", "LC_ALL": "C.UTF-8"}


def shell(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on PATH")
    return found


def script(folder: Path, name: str) -> str:
    """What `remit --install-completion` puts into the shell's settings."""
    given = {**environment(folder), "_REMIT_COMPLETE": f"source_{name}"}
    ran = subprocess.run([BIN / "remit"], env=given, capture_output=True, text=True, timeout=120, cwd=folder)
    assert ran.returncode == 0, ran.stderr
    assert "remit" in ran.stdout
    return ran.stdout


@pytest.mark.parametrize(("words", "found"), [("report b", "boss"), ("explain --tool te", "term"), ("rep", "report")])
def test_bash(folder: Path, words: str, found: str):
    line = words.split()
    text = (
        f"{script(folder, 'bash')}\nCOMP_WORDS=(remit {words}); COMP_CWORD={len(line)}\n"
        '_remit_completion remit; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    command = [shell("bash"), "--norc", "-c", text]
    ran = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=120, cwd=folder)
    assert found in ran.stdout.split(), ran.stderr


@pytest.mark.parametrize(("words", "found"), [("report b", "boss"), ("explain --tool te", "term"), ("rep", "report")])
def test_fish(folder: Path, words: str, found: str):
    (folder / "remit.fish").write_text(script(folder, "fish"), "utf-8")
    text = f"source remit.fish; complete -C 'remit {words}'"
    command = [shell("fish"), "--no-config", "-c", text]
    ran = subprocess.run(command, env=environment(folder), capture_output=True, text=True, timeout=120, cwd=folder)
    assert found in [line.split("\t")[0] for line in ran.stdout.splitlines()], ran.stderr


@pytest.mark.parametrize(("words", "found"), [("report bo", "boss"), ("explain --tool te", "term"), ("repo", "report")])
def test_zsh(folder: Path, words: str, found: str):
    """In a terminal: the word is completed at the prompt, and the shell is asked what it has then."""
    (folder / ".zshrc").write_text(
        "PS1='READY> '\nautoload -Uz compinit && compinit -u -d $HOME/dump\n" + script(folder, "zsh"), "utf-8"
    )
    program = shell("zsh")
    child, master = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execve(program, ["zsh", "-i"], environment(folder))  # noqa: S606 - the shell itself
    try:
        seen = _until(master, "READY> ")
        os.write(master, f"remit {words}\t".encode())
        seen = _until(master, found)
        assert found in seen
    finally:
        os.write(master, b"\x03\x04exit\n")
        os.close(master)
        os.waitpid(child, 0)


def _until(master: int, wanted: str) -> str:
    """What the terminal shows until it shows this; the whole of it after a minute."""
    seen, end = "", time.monotonic() + 60
    while wanted not in seen and time.monotonic() < end:
        if select.select([master], [], [], 1)[0]:
            seen += os.read(master, 4096).decode("utf-8", "replace")
    return seen
