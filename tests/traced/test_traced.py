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

from remit.languages.programs.profiles import profile_of
from remit.languages.programs.understand import Act, understand
from remit.model.terms import UNDERSTOOD
from tests.traced.trace import STRACE, Traced, trace

HERE = Path(__file__).parent
COMMANDS: list[str] = yaml.safe_load((HERE / "commands.yaml").read_text())
pytestmark = [pytest.mark.long, pytest.mark.skipif(STRACE is None, reason="strace is not installed")]

PIECES = frozenset(("split", "csplit"))
"""Their touch is one piece of many."""
SHOWS = frozenset(("show", "diff", "log", "grep", "cat-file", "blame"))
"""Subcommands of git that print what is in files."""
GENERATED = tuple(
    """
    b2sum base32 base64 basenc bunzip2 bzip2 cat chgrp chmod chown cksum cmp comm cp csplit cut diff diff3 dir du expand
    fmt fold grep gunzip gzip head hexdump install join link ln look ls md5sum mkdir mkfifo mv namei nl od paste pr ptx
    readlink realpath rev rm rmdir sdiff sed sha1sum sha256sum sha512sum shred shuf sort split stat strings sum tac tail
    tee touch truncate tsort unexpand uniq unlink unxz vdir wc xxd xz zcat zgrep zstd
    """.split()  # noqa: SIM905  a list of names reads better so
)
"""Programs that are run once with each option of their profile that takes no value, or a path."""
WORDS = {
    "read": "a.txt",
    "tree": "src",
    "write": "b.txt",
    "into": "docs",
    "move": "a.txt",
    "delete": "b.txt",
    "sed": "p",
}
VALUES = {"read": "a.txt", "write": "out.txt", "target_dir": "docs", "suffix": ".old", "prefix": "docs/p"}

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


def _generated() -> list[str]:
    found = []
    for program in GENERATED:
        profile = profile_of(program)
        if profile is None:
            continue
        for name, option in profile.options.items():
            if option.refuse or (option.kind is not None and option.kind not in VALUES):
                continue
            kinds = next((other for names, other in profile.args_with if name in names), profile.args)
            words = [WORDS.get(kind.removesuffix("..."), "2") for kind in kinds]
            value = "" if option.kind is None else VALUES[option.kind]
            glue = "=" if name.startswith("--") else "" if option.glued else " "
            found.append(" ".join((program, f"{name}{glue if value else ''}{value}", *words)))
    return found


@pytest.mark.parametrize("command", [*COMMANDS, *_generated()])
def test_it_touches_only_what_its_profile_says(command: str, project: Path) -> None:
    found = understand(command)
    programs = [act.program or "" for act in found.acts]
    missing = [name for name in programs if name and shutil.which(name) is None]
    if missing:
        pytest.skip(f"{missing[0]} is not installed")
    if found.grade != UNDERSTOOD:
        return
    before = {str(path.relative_to(project)) for path in project.rglob("*")}
    real = trace(command, project)
    after = {str(path.relative_to(project)) for path in project.rglob("*")}
    real.changed &= before | after  # not what a program makes and removes on its way
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
        if (
            act.program == "git"
            and "read" in effects
            and act.sub[:1] not in (("show",), ("diff",), ("log",), ("grep",))
        ):
            return True  # it compares files with its index, and shows none
        told = [touch for touch in (*act.touches, *act.redirected) if touch.effect in effects]
        if any(effect in act.effects and effect not in {touch.effect for touch in told} for effect in effects):
            return True  # the profile says no target: anywhere
        if any(path.startswith(word.text or "") for word in act.databases):
            return True
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
                or ((touch.deep or touch.effect == "delete") and (text == "." or path.startswith(text + "/")))
            ):
                return True
            if act.program in PIECES and Path(path).name.startswith(Path(text).name[:-2]):
                return True
            if touch.path.glob and fnmatch.fnmatchcase(path, text.replace("**/", "*")):
                return True
        if path.startswith("/tmp/") and "write" in act.effects:
            return True
    return False
