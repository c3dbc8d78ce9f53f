"""Programs do no more than their profiles say: each command runs under strace, and what it touches must be covered.

What stands in git's own folder counts as git's; a command that is not understood, or runs code of the project, may do
anything; a touch without a path covers everything.
"""

from __future__ import annotations

import fnmatch
import io
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from remit.languages.programs.understand import Act, understand
from remit.model.terms import UNDERSTOOD
from tests.traced.trace import STRACE, Traced, trace

HERE = Path(__file__).parent
COMMANDS: list[str] = yaml.safe_load((HERE / "commands.yaml").read_text())
pytestmark = [pytest.mark.long, pytest.mark.skipif(STRACE is None, reason="strace is not installed")]

FILES = {
    "a.txt": "one\ntwo\n",
    "b.txt": "one\nthree\n",
    "names.txt": "n1 n2\n",
    "data.json": '{"a": 1}\n',
    "docs/x.md": "# x\n",
    "src/app.py": "one = 1\n",
    "src/old.pyc": "",
    "hello.c": "int main(void) { return 0; }\n",
    "change.patch": "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
    "Makefile": "all:\n\ttrue\n",
    "sums.txt": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a few files and archives."""
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "empty").mkdir()
    with tarfile.open(root / "packed.tar", "w") as archive:
        archive.addfile(tarfile.TarInfo("inner/from-tar.txt"), io.BytesIO(b""))
    with zipfile.ZipFile(root / "packed.zip", "w") as packed:
        packed.writestr("inner/from-zip.txt", "x")
    subprocess.run(["gzip", "-k", "a.txt"], cwd=root, check=True)
    (root / "a.txt.gz").rename(root / "packed.txt.gz")
    if shutil.which("ar"):
        subprocess.run(["ar", "rcs", "members.a", "b.txt"], cwd=root, check=True)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@x.example"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"], ["config", "user.email", "a@x.example"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    (root / "a.txt").write_text("one\ntwo\nthree\n")
    return root


@pytest.mark.parametrize("command", COMMANDS)
def test_it_touches_only_what_its_profile_says(command: str, project: Path) -> None:
    found = understand(command)
    programs = [act.program or "" for act in found.acts]
    missing = [name for name in programs if name and shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    if found.grade != UNDERSTOOD:
        return
    real = trace(command, project)
    assert not uncovered(found.acts, real, project)


def uncovered(acts: tuple[Act, ...], real: Traced, project: Path) -> list[str]:
    """What happened and no touch covers."""
    wrong = [f"changed {path}" for path in sorted(real.changed) if not _covered(acts, ("write", "delete"), path)]
    wrong.extend(f"read {path}" for path in sorted(real.read) if not _covered(acts, ("read", "write", "delete"), path))
    wrong.extend(
        f"changed {path}" for path in sorted(real.outside) if not _covered(acts, ("write", "delete"), path, project)
    )
    if real.connected and not any("network" in act.effects for act in acts):
        wrong.append("connected")
    return wrong


def _covered(acts: tuple[Act, ...], effects: tuple[str, ...], path: str, project: Path | None = None) -> bool:
    for act in acts:
        if act.program == "git" and (path == ".git" or path.startswith(".git/")):
            return True
        told = [touch for touch in (*act.touches, *act.redirected) if touch.effect in effects]
        if not told and not act.effects.isdisjoint(effects):
            return True  # the profile says no target: anywhere
        for touch in told:
            text = touch.path.text
            if text is None:
                return True
            text = str(Path(text))
            if project is not None and not text.startswith("/"):
                text = str((project / text).resolve())
            if (
                path == text
                or text.startswith(path + "/")
                or (touch.deep and (text == "." or path.startswith(text + "/")))
            ):
                return True
            if touch.path.glob and fnmatch.fnmatchcase(path, text.replace("**/", "*")):
                return True
        if path.startswith("/tmp/") and "write" in act.effects:  # noqa: S108  a program's own scratch files
            return True
    return False
