"""The built wheel, installed as users do, in every Python that it says it supports.

An interpreter is taken from PATH, or from a system in a folder of its own: REMIT_ROOTS=/srv/noble:/srv/trixie names
such folders (`debootstrap --include=python3.12,python3.12-venv,git noble /srv/noble` makes one), and needs root. What
is not there is listed as skipped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.hosts
ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
VERSIONS = [
    line.rpartition(" ")[2]
    for line in PROJECT["classifiers"]
    if line.startswith("Programming Language :: Python :: 3.")
]
STORY = """
set -eu
export HOME=$PWD/home XDG_STATE_HOME=$PWD/state NO_COLOR=1 LC_ALL=C.UTF-8
mkdir home project
{python} -m venv venv
venv/bin/python -m pip install --quiet --no-index --find-links wheels wheels/remit-*.whl
venv/bin/python -m pip check
PATH=$PWD/venv/bin:$PATH
remit --version
cd project
remit init --team coding
remit check
remit activate --yes
remit explain --agent reviewer --tool Write --arg file_path=x --arg content=y
remit status || [ $? = 1 ]
remit ledger verify
remit demo
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with what is pinned for it."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-build-isolation", "--no-deps", "-w"]
    subprocess.run([*command, str(folder), str(ROOT)], check=True, timeout=300)
    return next(folder.glob("remit-*.whl"))


def test_what_the_wheel_says_of_itself(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("METADATA"))
        text = archive.read(name).decode()
    assert "Author: The Remit maintainers" in text
    for version in ("3.11", "3.12", "3.13", "3.14"):
        assert f"Classifier: Programming Language :: Python :: {version}\n" in text
    assert "Requires-Python: >=3.11" in text


def test_what_the_wheel_holds(wheel: Path):
    """The package with all of its data, and nothing else."""
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in (source / "remit").rglob("*") if path.is_file()}
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    about = {name for name in held if ".dist-info/" in name}
    assert held - about == {name for name in files if "__pycache__" not in name}
    assert {"remit/py.typed", "remit/catalog/tiers.yaml"} <= held
    assert any(name.endswith("/licenses/LICENSE") for name in about)


@pytest.mark.parametrize("version", VERSIONS)
def test_it_is_installed_and_works(version: str, wheel: Path, tmp_path: Path):
    found = shutil.which(f"python{version}")
    usable = found is not None and _makes_environments(found)
    root = None if usable else _root_with(version)
    if root is None and not usable:
        pytest.skip(f"python{version} is not on PATH, nor in a folder that REMIT_ROOTS names")
    outside = tmp_path if root is None else root / "tmp" / f"remit-{os.getpid()}-{version}"
    (outside / "wheels").mkdir(parents=True)
    try:
        shutil.copy(wheel, outside / "wheels")
        _download(wheel, version, outside / "wheels")
        story = STORY.format(python=f"python{version}")
        inside = outside if root is None else Path("/", outside.relative_to(root))
        command = ["bash", "-c", f"cd '{inside}'\n{story}"]
        if root is not None:
            mounts = 'mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && exec chroot "$0" "$@"'
            command = ["unshare", "--mount", "bash", "-c", mounts, str(root), *command]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
        assert ran.returncode == 0, ran.stdout[-2_000:] + ran.stderr[-4_000:]
        assert "remit 0." in ran.stdout
    finally:
        shutil.rmtree(outside, ignore_errors=True)


def _makes_environments(python: str) -> bool:
    return subprocess.run([python, "-c", "import ensurepip, venv"], capture_output=True, timeout=60).returncode == 0


def _root_with(version: str) -> Path | None:
    roots = [Path(text) for text in os.environ.get("REMIT_ROOTS", "").split(":") if text]
    return next((root for root in roots if (root / "usr" / "bin" / f"python{version}").exists()), None)


def _download(wheel: Path, version: str, folder: Path) -> None:
    """All that it needs, as wheels for that version: the other system needs no network."""
    wanted = ["--python-version", version, "--only-binary", ":all:", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", *wanted, str(wheel)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if ran.returncode:
        pytest.skip(f"no wheels for {version} can be had: {ran.stderr.strip().splitlines()[-1]}")
