"""`grep -rl` lists files: whatever it prints is among what `names_of` says, as grep itself shows."""

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from remit.languages.bash.reader import read_script
from remit.languages.programs.client import Input
from remit.languages.programs.outputs import names_of
from remit.scopes.glob import Glob

LISTS = (
    "grep -rl x src",
    "grep -rlZ x src",
    "grep -rL x src docs",
    "grep -rliE 'x|y' --include='*.py' src",
    "grep -rl -e x src/a.py docs",
    "grep -rl x",
    "grep -rl x .",
    "grep -l x src/*.py",
    "grep -rlw x src/link/",
    "rg -l x src",
    "rg -l0 x src",
    "rg -l -g '*.py' x src docs",
    "rg --files-with-matches x",
)
OTHERS = (
    "grep -r x src",
    "grep -Rl x src",
    "grep -rlf words src",
    "grep -l x",
    "grep -rl x -",
    "grep -rlo x --label=evil src",
    "grep -rlm1 x src",
    "rg -lL x src",
    "rg --follow -l x src",
    "rg -l --pre ./evil x src",
    "rg -c x src",
    "rg -l $x src",
)
"""They print something else, follow links, or could."""


@pytest.mark.parametrize("text", LISTS)
def test_what_is_listed_is_told(tmp_path: Path, text: str) -> None:
    names = names_of(read_script(text).commands[0], Input(None))
    assert names is not None
    if shutil.which(shlex.split(text)[0]) is None:
        pytest.skip("the program is not installed")
    for name in ("src/a.py", "src/deep/b.py", "docs/c.md", "elsewhere/d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x\n")
    (tmp_path / "src/link").symlink_to("../elsewhere")
    run = subprocess.run(
        ["bash", "-c", text], cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    end = "\0" if names.ends == "nul" else "\n"
    listed = [os.path.normpath(name) for name in run.stdout.split(end) if name]
    told = [
        Glob.parse(pattern)
        for word in names.words
        for base in [os.path.normpath(word.text or "")]
        for pattern in ([base, f"{base}/**"] if word.deep and base != "." else ["**" if word.deep else base])
    ]
    assert not [name for name in listed if not any(glob.matches(name) for glob in told)]
    assert all(word.through == "all" for word in names.words)


@pytest.mark.parametrize("text", OTHERS)
def test_anything_else_is_not(text: str) -> None:
    assert names_of(read_script(text).commands[0], Input(None)) is None
